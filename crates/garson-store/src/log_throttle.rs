//! One log line for many failures of the same kind: in an outage every request fails alike, and a line for each would fill the
//! disk and hide everything else.

use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// Lets one line through per interval, and counts the others.
#[derive(Debug)]
pub struct Throttle {
    interval: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    last: Option<Instant>,
    suppressed: u64,
}

impl Throttle {
    /// For lines about unavailable storage.
    #[must_use]
    pub const fn for_outages() -> Self {
        Self::new(Duration::from_secs(5))
    }

    #[must_use]
    pub const fn new(interval: Duration) -> Self {
        Self {
            interval,
            state: Mutex::new(State {
                last: None,
                suppressed: 0,
            }),
        }
    }

    /// Whether to write a line now; if so, how many were suppressed since the last one.
    pub fn pass(&self) -> Option<u64> {
        self.pass_at(Instant::now())
    }

    fn pass_at(&self, now: Instant) -> Option<u64> {
        let mut state = self.state.lock();
        if state
            .last
            .is_some_and(|last| now.saturating_duration_since(last) < self.interval)
        {
            state.suppressed += 1;
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_passes_per_interval() {
        let throttle = Throttle::new(Duration::from_secs(5));
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(throttle.pass_at(start), Some(0), "the first is written at once");
        for seconds in [0, 1, 4] {
            assert_eq!(throttle.pass_at(after(seconds)), None);
        }
        assert_eq!(throttle.pass_at(after(5)), Some(3));
        assert_eq!(throttle.pass_at(after(6)), None);
        assert_eq!(throttle.pass_at(after(60)), Some(1));
        assert_eq!(throttle.pass_at(after(120)), Some(0));
    }
}
