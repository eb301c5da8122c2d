//! The application layer, in reading order: orders come in, clients act on them, platforms are called, accounts get events.
//!
//! Platforms and storage meet only here. The API, the panel, the hooks and the command line all call this layer, so that each
//! rule exists once.

pub mod by;
pub mod fault;

pub mod find_order;
pub(crate) mod manual_sends;
mod persist;
pub mod platform_client;
pub(crate) mod platform_documents;
pub mod platform_names;
pub mod platform_trouble;
pub(crate) mod polled_platforms;
pub(crate) mod record_action;

pub mod intake;

pub mod order_actions;

pub mod deliver;

pub mod messages;

pub mod stores;

pub mod escalation;

pub mod notices;

pub mod import;

pub mod presence;

pub mod privacy;

pub mod products;

pub mod read;

pub mod admin;

pub mod idempotency;

pub mod upkeep;

pub use by::By;
pub use fault::Fault;
