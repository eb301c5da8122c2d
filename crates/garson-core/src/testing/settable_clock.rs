//! A clock that changes only when a test sets it.

use crate::clock::Clock;
use crate::time::Timestamp;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A clock for tests; clones share the time.
#[derive(Clone, Debug)]
pub struct SettableClock(Arc<Mutex<Setting>>);

#[derive(Clone, Copy, Debug)]
struct Setting {
    now: Timestamp,
    set_at: Instant,
    /// How far settings were ahead of the time that had passed.
    skipped: Duration,
}

impl SettableClock {
    #[must_use]
    pub fn at(moment: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(Setting {
            now: moment,
            set_at: Instant::now(),
            skipped: Duration::ZERO,
        })))
    }

    pub fn advance(&self, by: Duration) {
        self.change(|now| now.plus(by));
    }

    pub fn set(&self, moment: Timestamp) {
        self.change(|_| moment);
    }

    fn change(&self, change: impl FnOnce(Timestamp) -> Timestamp) {
        let mut setting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, set_at) = (change(setting.now), Instant::now());
        let passed = set_at.saturating_duration_since(setting.set_at);
        *setting = Setting {
            now,
            set_at,
            skipped: setting.skipped + now.since(setting.now).saturating_sub(passed),
        };
    }

    fn setting(&self) -> Setting {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for SettableClock {
    fn now(&self) -> Timestamp {
        self.setting().now
    }

    /// Goes on between settings, and skips what they skip.
    fn monotonic(&self) -> Instant {
        Instant::now() + self.setting().skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monotonic_time_skips_ahead_and_never_goes_back() {
        let start = Timestamp::from_millis(1_767_225_600_000);
        let began = Instant::now();
        let clock = SettableClock::at(start);
        let minute = Duration::from_secs(60);
        clock.advance(minute);
        assert_eq!(clock.now(), start.plus(minute));
        let later = clock.monotonic();
        assert!(later.duration_since(began) >= minute);
        clock.set(start);
        assert!(clock.monotonic() >= later);
    }
}
