//! Opening hours: a week, special days, and a time zone. Spans may go past midnight.

mod calendar;
mod day;
mod hours;
mod problem;
mod week;

#[cfg(test)]
mod tests;

pub use calendar::HoursChange;
pub use day::{Span, TimeOfDay, Weekday};
pub use hours::{MAX_SPECIAL_DAYS, OpeningHours, SpecialDay};
pub use problem::HoursProblem;
pub use week::{DayDifference, HoursShape, MAX_SPANS_PER_DAY, Week};
