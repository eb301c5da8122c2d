//! Storage: one set of portable SQL over SQLite and PostgreSQL.
//!
//! Functions here take a running transaction and do one thing. The caller decides which of them belong together in one
//! transaction, in the job that it passes to the [`Engine`].

pub mod engine;
pub mod error;
pub mod lists;
pub mod log_throttle;
pub mod publish;
mod store;
pub mod tables;
pub mod totals;
mod transaction;
pub mod upkeep;
pub mod vault;

pub use engine::{Location, Options, Partition};
pub use error::{Result, StoreError, StoreErrorKind};
pub use publish::{Watcher, WatcherKind};
pub use store::Engine;
pub use transaction::{ACCOUNTS, ALL_TABLES, AUDIT, INTEGRATIONS, ORDER_STATS, PAYMENT_TOTALS, Tx};
pub use vault::Vault;
