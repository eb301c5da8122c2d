//! The control panel as a browser without script meets it, and the stream that its script follows.

mod board;
mod businesses;
mod connecting;
mod integrations;
mod keys;
mod live;
mod matching;
mod menu;
mod order;
mod orders;
mod packages;
pub mod pages;
mod payments;
mod platforms;
mod reports;
mod restaurants;
mod sessions;
mod signing;
mod status;
mod tokens;
mod webhook;
