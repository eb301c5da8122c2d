//! Control of stores on platforms: users, opening hours and the throttle open and close them or make them busy, and a worker reconciles.
//!
//! Each integration has a row with the desired state, the last version of it that is finished, and the state that the platform reports
//! ([`garson_core::store_control`]). One node is responsible for a store: a round of its worker reads the row, sends requests to the
//! platform, and saves the result if the version is still the same. A request that may have reached the platform is not repeated before
//! the state was read.

mod conclude;
mod history;
mod hours;
mod load;
mod overview;
mod platform_hours;
mod request;
mod round;
mod round_result;
mod schedule;
mod set_desired;
mod stores_due;
mod throttle;
mod throttle_input;
mod view;
mod wait;
mod worker;

pub use history::list as list_history;
pub use hours::{HoursState, HoursView, PlatformHours, get_hours, set_hours, write_hours_again};
pub use overview::{Overview, overview, overview_now};
pub use request::{RequestResult, RequestedEnd, StoreRequest, change};
pub use schedule::{run as run_schedules, step as schedule_step};
pub use throttle::{get_throttle, run as run_throttles, set_throttle, step as throttle_step};
pub use throttle_input::ThrottleInput;
pub use view::{StoreView, get};
pub use worker::run;
