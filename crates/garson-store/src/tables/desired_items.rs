//! The desired availability of platform items, and how far each has been applied.
//!
//! An item has one row with the last desired availability. A worker claims the due rows of an integration, sends them to the platform
//! and concludes the version that it has claimed: a version written in the meantime stays pending.

mod query;
mod read_back;
mod row;
mod send;
mod set;

pub use query::{DueIntegrations, accepted, due_integrations, next_due, of_products};
pub use read_back::{record_reading, remove, remove_orphans};
pub use row::{DesiredItem, DesiredItemState, DesiredOrigin, Timer};
pub use send::{Conclusion, claim, conclude, release, release_unclear};
pub use set::{NewDesiredItem, end_time, set};
