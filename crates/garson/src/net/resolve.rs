//! Resolving names to addresses.

mod resolver;
mod shared;
mod system;

pub use resolver::{Resolve, Resolving};
pub use shared::SharedResolver;
pub use system::SystemResolver;
