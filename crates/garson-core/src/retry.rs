//! Retry schedule: growing pauses, with jitter that only makes them longer.

use std::time::Duration;

/// The pauses before each retry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule(pub Vec<Duration>);

/// The most that jitter may add, in thousandths of the pause.
const JITTER_PER_MILLE: u32 = 200;

impl Schedule {
    /// The pause after `failures` attempts have failed, or `None` when no attempt is left.
    /// `draw` is a random number from which the jitter is computed.
    #[must_use]
    pub fn pause_after(&self, failures: usize, draw: u32) -> Option<Duration> {
        let pause = self.0.get(failures.checked_sub(1)?)?;
        let per_mille = draw % (JITTER_PER_MILLE + 1);
        Some(*pause + *pause * per_mille / 1000)
    }

    /// The schedule for endpoints that may be down for long: the first pauses of the usual one, then growing ones, within three days
    /// with all jitter.
    #[must_use]
    pub fn three_days() -> Self {
        const MINUTE: u64 = 60;
        const HOUR: u64 = 60 * MINUTE;
        let seconds = [
            10,
            MINUTE,
            4 * MINUTE,
            15 * MINUTE,
            HOUR,
            2 * HOUR,
            4 * HOUR,
            8 * HOUR,
            12 * HOUR,
            14 * HOUR,
            18 * HOUR,
        ];
        Self(seconds.into_iter().map(Duration::from_secs).collect())
    }

    /// The longest that each pause can become.
    #[must_use]
    pub fn longest_pauses(&self) -> Vec<Duration> {
        let longest = |pause: &Duration| *pause + *pause * JITTER_PER_MILLE / 1000;
        self.0.iter().map(longest).collect()
    }
}

/// The pause before another try at something that is tried without end: doubling from one second to five minutes.
#[must_use]
pub fn backoff(failures: u32, draw: u32) -> Duration {
    let seconds = 1u64 << failures.saturating_sub(1).min(8);
    Schedule(vec![Duration::from_secs(seconds.min(300))])
        .pause_after(1, draw)
        .unwrap_or(Duration::from_secs(300))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn jitter_only_adds_and_at_most_a_fifth(draw: u32, failures in 1usize..4) {
            let schedule = Schedule(vec![Duration::from_secs(10), Duration::from_secs(60), Duration::from_secs(240)]);
            let plain = schedule.0[failures - 1];
            let pause = schedule.pause_after(failures, draw).unwrap_or_default();
            prop_assert!(pause >= plain && pause <= plain * 6 / 5);
        }

        #[test]
        fn backoff_stays_between_a_second_and_six_minutes(draw: u32, failures: u32) {
            let pause = backoff(failures, draw);
            prop_assert!(pause >= Duration::from_secs(1) && pause <= Duration::from_secs(360));
        }
    }

    #[test]
    fn long_schedule_ends_within_three_days() {
        let three_days = Duration::from_secs(3 * 24 * 3600);
        let longest: Duration = Schedule::three_days().longest_pauses().iter().sum();
        assert!(
            longest <= three_days && longest > three_days * 9 / 10,
            "{longest:?}"
        );
    }

    #[test]
    fn there_is_an_end() {
        let schedule = Schedule(vec![Duration::from_secs(10)]);
        assert_eq!(schedule.pause_after(0, 0), None);
        assert_eq!(schedule.pause_after(1, 0), Some(Duration::from_secs(10)));
        assert_eq!(schedule.pause_after(2, 0), None);
    }
}
