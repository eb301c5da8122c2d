//! Switches products and options on and off on every platform that has them.
//!
//! The desired availability of an item is a row, which a later request replaces; a worker sends it to the platform within its rate
//! limits. Where a platform has no timer, the row is due again at the end of the time, also after a restart. The platform's menu is
//! read afterwards and compared.

mod apply;
mod day_end;
mod ended;
mod opening;
mod send;
mod set;
mod worker;

pub use day_end::end_of_day;
pub use opening::tomorrows_opening;
pub use set::{
    ItemOutcome, ProductOutcome, ProductSwitch, Switch, SwitchTo, outcomes, set, set_named, set_within,
};
pub use worker::run;
