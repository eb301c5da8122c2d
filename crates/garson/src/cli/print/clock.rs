//! The service's clock. Ages of orders are counted by it, because the clock of a till may be hours off.

use garson_core::clock::{Clock, SystemClock};
use garson_core::printer::CLOCK_TOLERANCE;
use garson_core::time::Timestamp;
use parking_lot::Mutex;

/// A change of the difference below this is the time that answers take, in milliseconds.
const JITTER: i64 = 5_000;

#[derive(Default)]
pub struct ServiceClock {
    /// By how many milliseconds this computer's clock is ahead; `None` before the first answer.
    ahead: Mutex<Option<i64>>,
}

impl ServiceClock {
    pub fn now(&self) -> Timestamp {
        let ahead = self.ahead.lock().unwrap_or(0);
        Timestamp::from_millis(SystemClock.now().as_millis().saturating_sub(ahead))
    }

    /// By how many seconds this computer's clock is ahead, or behind if negative; `None` if it is right.
    pub fn wrong_by(&self) -> Option<i64> {
        self.ahead.lock().and_then(wrong_by)
    }

    /// An answer has just come, with this date.
    pub fn observe(&self, date: Timestamp) {
        self.compare(date, SystemClock.now());
    }

    fn compare(&self, date: Timestamp, own: Timestamp) {
        let found = own.as_millis().saturating_sub(date.as_millis());
        let mut ahead = self.ahead.lock();
        if ahead.is_some_and(|known| known.abs_diff(found) <= JITTER.unsigned_abs()) {
            return;
        }
        let before = ahead.replace(found).and_then(wrong_by);
        drop(ahead);
        match (before, wrong_by(found)) {
            (None, Some(seconds)) => tracing::warn!(
                ahead_seconds = seconds,
                "the clock of this computer is wrong; ages of orders are counted by the clock of the service"
            ),
            (Some(_), None) => tracing::info!("the clock of this computer is right again"),
            _ => {}
        }
    }
}

fn wrong_by(ahead: i64) -> Option<i64> {
    (u128::from(ahead.unsigned_abs()) > CLOCK_TOLERANCE.as_millis()).then_some(ahead / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_above_two_minutes_are_wrong() {
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        let clock = ServiceClock::default();
        assert_eq!(clock.wrong_by(), None);
        for (own, wrong_by) in [
            (1_000, None),
            (1_120, None),
            (1_130, Some(130)),
            // Answers take a while.
            (1_133, Some(130)),
            (1_000 + 3 * 3_600, Some(10_800)),
            (100, Some(-900)),
            (1_000, None),
        ] {
            clock.compare(at(1_000), at(own));
            assert_eq!(clock.wrong_by(), wrong_by, "{own}");
        }
    }

    #[test]
    fn time_is_that_of_the_service() {
        let clock = ServiceClock::default();
        let hours = std::time::Duration::from_secs(3 * 3_600);
        clock.observe(SystemClock.now().minus(hours));
        assert!(clock.now() <= SystemClock.now().minus(hours));
        assert!(SystemClock.now().since(clock.now()) < 2 * hours);
    }
}
