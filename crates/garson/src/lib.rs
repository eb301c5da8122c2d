//! The service: order integration for restaurants.

pub mod api;
pub mod app;
pub mod cli;
pub mod config;
pub mod fair_slots;
pub mod flow;
pub mod hooks;
pub mod http;
pub mod net;
mod panel;
pub mod router;
pub mod server;
pub mod supervisor;
pub mod telemetry;
pub mod ttl_cache;

pub use panel::kit::access as panel_access;
