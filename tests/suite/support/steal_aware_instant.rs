//! Measures time for assertions, without the time that the host took from this machine.

use std::time::{Duration, Instant};

/// `/proc/stat` counts CPU time in ticks of this length, whatever the kernel's own frequency is.
const TICK: Duration = Duration::from_millis(10);

/// An instant that knows how much CPU time had been stolen until then.
///
/// Virtual machines share processors. While the hypervisor runs other machines, nothing here can keep a time limit. So that time
/// is left out, and assertions are about the service's own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StealAwareInstant {
    at: Instant,
    stolen: Duration,
}

impl StealAwareInstant {
    pub fn now() -> Self {
        Self {
            at: Instant::now(),
            stolen: stolen(),
        }
    }

    pub fn elapsed(&self) -> Duration {
        Self::now().since(self)
    }

    /// The time from `earlier` until this, less the CPU time of all processors that was stolen meanwhile.
    pub fn since(&self, earlier: &Self) -> Duration {
        let wall = self.at.saturating_duration_since(earlier.at);
        wall.saturating_sub(self.stolen.saturating_sub(earlier.stolen))
    }
}

/// The CPU time that was stolen from all processors since boot: the eighth figure of the first line of `/proc/stat`.
fn stolen() -> Duration {
    let stat = std::fs::read_to_string("/proc/stat").unwrap();
    let ticks = stat.split_whitespace().nth(8).unwrap();
    TICK.saturating_mul(ticks.parse().unwrap())
}

#[test]
fn stolen_time_is_left_out() {
    let start = StealAwareInstant::now();
    let end = StealAwareInstant {
        at: start.at + Duration::from_secs(5),
        stolen: start.stolen + Duration::from_secs(2),
    };
    assert_eq!(end.since(&start), Duration::from_secs(3));
    assert_eq!(start.since(&end), Duration::ZERO);
}
