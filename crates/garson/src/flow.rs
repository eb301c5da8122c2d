//! The application layer, in reading order: orders come in, clients act on them, platforms are called, accounts get events.
//!
//! Platforms and storage meet only here. The API, the panel, the hooks and the command line all call this layer, so that each
//! rule exists once.

pub mod fault;
pub mod platform_client;

mod persist;
pub(crate) mod platform_documents;

pub mod idempotency;
pub mod intake;
pub mod order_actions;

pub mod deliver;

pub mod read;

pub mod admin;

pub mod upkeep;

pub use fault::Fault;
