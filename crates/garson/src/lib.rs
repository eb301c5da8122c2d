//! The service: order integration for restaurants.

pub mod api;
pub mod app;
pub mod cli;
pub mod config;
mod fair;
pub mod flow;
pub mod hooks;
pub mod net;
mod panel;
pub mod server;
pub mod telemetry;
