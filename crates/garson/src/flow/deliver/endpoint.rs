//! One account's receiver: what waits for it in memory, what is in flight to it, and how many attempts it may have at once.
//!
//! Nothing in here does I/O. A due delivery enters memory once, handed over at its commit or read from the database, and stays
//! *taken* until its result is stored. The rest of a backlog stays in the database: everything fresh up to place `cursor` has
//! been taken, and `known` is the last place that exists.

mod address;
mod attempts;
mod in_flight;
mod loading;
mod pace;
mod state;

pub use address::{Address, AttemptKind};
pub use in_flight::SLOW_AFTER;
pub use loading::{Load, Wanted};
pub use state::Endpoint;
#[cfg(test)]
pub use state::{RETRY_ROOM, ROOM};
