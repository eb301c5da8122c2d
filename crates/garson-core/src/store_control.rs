//! Control of a store on a platform: the desired state of each source, which one takes effect, and the result of applying it.

mod conclude;
mod decide;
mod desired;
mod observe;
mod record;
mod schedule;
#[cfg(test)]
mod tests;
mod throttle;

pub use decide::Plan;
pub use desired::{Desired, DesiredBySource, DesiredState, LONGEST_DURATION, Requester, fitting_minutes};
pub use observe::{Observed, is_satisfied};
pub use record::{Actual, Control, HoursRecord, Outcome, OutcomeKind, StoreProblem, StoreRecord, Timer};
pub use schedule::{ScheduleStep, schedule_step};
pub use throttle::{
    MAX_COUNT, MAX_MINIMUM_MINUTES, Threshold, Throttle, ThrottleLevel, ThrottleMeasure, ThrottleState,
};
