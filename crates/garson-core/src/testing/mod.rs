//! What tests of several crates share: sample orders, a clock that tests set, and the conformance suite of platforms.
//!
//! Only with the cargo feature `testing`, which dev-dependencies enable.

mod conformance;
mod settable_clock;

pub use crate::sample_order::{a_new_order, an_order};
pub use conformance::{PlatformCase, check_platform};
pub use settable_clock::SettableClock;
