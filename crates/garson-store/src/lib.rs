//! Everything durable: one set of portable SQL over two small engines.
//!
//! Functions here take a running transaction and do one thing that has a name in the trade; which of them
//! belong together in one transaction is decided by the caller, in the job that it gives the [`Engine`].

pub mod engine;
pub mod error;
pub mod lists;
pub mod log_throttle;
pub mod tables;
pub mod totals;
pub mod upkeep;
pub mod vault;

pub use engine::{Crowd, Engine, Lane, Location, Options, Tx, Watch};
pub use error::{StoreError, StoreErrorKind};
pub use vault::Vault;

/// The result of a storage function.
pub type Result<T> = std::result::Result<T, StoreError>;
