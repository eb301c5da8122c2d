//! The story, in order: an order is received, acted upon, its platform called, its account told, and swept away.
//!
//! This is the only place where platforms and storage meet. The API, the hooks and the command line all enter here,
//! so that a rule stands once.

pub mod admin;
pub mod deliver;
pub mod fault;
pub mod idempotency;
pub mod intake;
pub mod order_actions;
mod persist;
pub mod platform_client;
pub mod read;
pub mod upkeep;

pub use fault::Fault;
