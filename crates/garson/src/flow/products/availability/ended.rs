//! The result of sending an item, and when the item is due again.

use garson_core::explanation::Explanation;
use garson_core::time::Timestamp;
use garson_store::tables::desired_items::{Conclusion, DesiredItem, Timer};
use std::time::Duration;

/// How late a platform's own timer may be before the platform is read.
const TIMER_TOLERANCE: Duration = Duration::from_secs(120);

/// The result of sending an item.
pub enum Ended {
    /// The result is known, or the next attempt is planned.
    Concluded(Conclusion),
    /// Nothing was sent; the item is due again at `due_at`.
    Released { due_at: Timestamp },
    /// It may have been applied: the platform is read at `due_at`.
    Unclear { message: Explanation, due_at: Timestamp },
}

/// When an item is due again after the platform has accepted its availability.
pub fn due_after(desired: &DesiredItem, timer: Option<Timer>) -> Option<Timestamp> {
    let ends_at = desired.ends_at()?;
    Some(match timer {
        Some(Timer::Platform) => ends_at.plus(TIMER_TOLERANCE),
        Some(Timer::Garson) | None => ends_at,
    })
}
