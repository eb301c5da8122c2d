//! The only door outward: whoever wants to call an address, on whosever behalf, goes through here.

pub mod client;
pub mod guard;
pub mod headers;
mod pool;
pub mod resolve;

pub use client::{Answer, Client, Outgoing, SendError};
