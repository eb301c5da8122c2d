//! Whether a store takes orders on a platform: changes to make, and the state that the platform reports.

mod change;
mod reading;
mod reason;
mod state;

pub use change::{
    ClosingEnd, ClosingTimer, Reopening, StoreChange, StoreChanged, StoreTarget, closing_timer,
};
pub use reading::{StoreOffer, StoreReading};
pub use reason::{ReasonCode, StoreReason};
pub use state::{StoreActor, StoreState, UnknownWord};
