//! Simulates the server side of four Turkish delivery platforms in one process, as strict as the real ones, with orders,
//! couriers and faults on demand.
//!
//! [`Sim::start`] opens one listener. Below `/getir`, `/yemeksepeti`, `/trendyol` and `/migros` are the platforms' own
//! paths; below `/control` is the API for customers, couriers and faults.

pub mod client;
pub mod settings;
pub mod views;

mod autopilot;
mod autopilot_plan;
mod call;
mod clock;
mod control;
mod crypt;
mod faults;
mod gateway;
mod generate;
mod getir;
mod http_client;
mod journal;
mod limits;
mod message;
mod migros;
mod money;
mod order;
mod orders;
mod placing;
mod platform;
mod random;
mod raw_names;
mod refusal;
mod registry;
mod sender;
mod server;
mod shared;
mod shop;
mod simulated_platform;
mod store;
mod trendyol;
mod world;
mod yemeksepeti;

pub use client::ControlClient;
pub use platform::Platform;
pub use registry::sample_store;
pub use server::Sim;
pub use settings::SimSettings;
