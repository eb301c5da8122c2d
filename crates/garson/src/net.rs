//! The only door outward: whoever wants to call an address, on whosever behalf, goes through here.

mod certificates;
pub mod client;
pub mod client_address;
mod connection;
mod connection_pool;
mod explain;
pub mod guard;
mod header_case;
pub mod headers;
mod outgoing;
mod pool;
pub mod resolve;
mod sent;
pub mod write_hook;

pub use certificates::Certificates;
pub use client::Client;
pub use header_case::HeaderCase;
pub use outgoing::{Log, Outgoing};
pub use sent::{Answer, SendError, Sent, Stage, Timing};
