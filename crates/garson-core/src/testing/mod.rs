//! What tests of several crates share: builders, a clock that is set by hand, and the suite that every
//! platform must pass.

mod builders;
mod conformance;
mod settable_clock;

pub use builders::{a_new_order, an_order};
pub use conformance::{PlatformCase, check_platform};
pub use settable_clock::SettableClock;
