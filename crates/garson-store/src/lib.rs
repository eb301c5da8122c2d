//! Everything durable: one set of portable SQL over two small engines.
//!
//! Functions here take a running transaction and do one thing that has a name in the trade; which of them
//! belong together in one transaction is decided by the caller, in the job that it gives the [`Engine`].

pub mod accounts;
pub mod board;
pub mod branches;
pub mod businesses;
pub mod calls;
mod candidates;
pub mod copy;
pub mod deliveries;
pub mod engine;
pub mod error;
pub mod events;
pub mod feed;
pub mod idempotency;
pub mod inbox;
pub mod integrations;
pub mod keys;
mod late;
pub mod lock;
mod many;
pub mod nodes;
pub mod order_flags;
pub mod order_line;
pub mod orders;
pub mod packages;
pub mod resends;
pub mod restaurants;
pub mod retention;
pub mod revisions;
pub mod room;
pub mod search;
pub mod sessions;
pub mod sweep;
pub mod throttle;
pub mod timeline;
pub mod totals;
pub mod vault;

pub use engine::{Crowd, Engine, Lane, Location, Options, Tx, Watch};
pub use error::{StoreError, StoreErrorKind};
pub use vault::Vault;

/// The result of a storage function.
pub type Result<T> = std::result::Result<T, StoreError>;
