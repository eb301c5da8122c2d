//! A change of a store's state, and how the platform's own timers fit it.

use super::reason::ReasonCode;
use super::state::StoreState;
use crate::time::Timestamp;
use std::time::Duration;

/// A change of a store's state to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreChange {
    pub to: StoreTarget,
    /// The state that the platform was last known to have.
    pub from: StoreState,
    /// Busy mode was switched on by an earlier change and may still be on.
    pub busy_is_set: bool,
    pub now: Timestamp,
}

/// The state that a store should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreTarget {
    Open,
    Busy {
        /// The minutes added to the delivery time.
        minutes: u32,
    },
    Closed {
        end: ClosingEnd,
        reason: Option<ReasonCode>,
    },
}

impl StoreTarget {
    #[must_use]
    pub const fn state(&self) -> StoreState {
        match self {
            Self::Open => StoreState::Open,
            Self::Busy { .. } => StoreState::Busy,
            Self::Closed { .. } => StoreState::Closed,
        }
    }
}

/// How long a store stays closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosingEnd {
    /// Until it is opened again.
    Never,
    At(Timestamp),
    /// Until the next opening by its hours, with its time if known.
    NextOpening(Option<Timestamp>),
}

impl ClosingEnd {
    #[must_use]
    pub const fn at(self) -> Option<Timestamp> {
        match self {
            Self::Never => None,
            Self::At(at) => Some(at),
            Self::NextOpening(at) => at,
        }
    }
}

/// The result of a change, according to the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreChanged {
    pub reopening: Reopening,
    /// When the platform opens the store by itself, which may be later than requested.
    pub platform_until: Option<Timestamp>,
}

impl StoreChanged {
    /// A change without an end.
    pub const LASTING: Self = Self {
        reopening: Reopening::None,
        platform_until: None,
    };
}

/// What opens the store again at the end of a timed closing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reopening {
    /// The closing has no end.
    None,
    /// The platform's own timer.
    Platform,
    /// The service, because the platform has no timer or its timer ends later than requested.
    Ours,
}

/// How the platform's lengths fit a closing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosingTimer {
    /// This length fits exactly.
    Exact(u32),
    /// The shortest length that is long enough: the service opens the store earlier; if that fails, the platform opens it.
    Longer(u32),
    /// None is long enough.
    None,
}

/// A closing that differs from one of the platform's lengths by no more than this has that length, because sending takes time.
const TOLERANCE: Duration = Duration::from_secs(60);

/// The length that fits a closing until `until` best.
#[must_use]
pub fn closing_timer(minutes: &[u32], now: Timestamp, until: Timestamp) -> ClosingTimer {
    let wanted = until.since(now);
    let length = |minutes: u32| Duration::from_secs(u64::from(minutes) * 60);
    let mut sorted: Vec<u32> = minutes.iter().copied().filter(|minutes| *minutes > 0).collect();
    sorted.sort_unstable();
    let exact = sorted
        .iter()
        .copied()
        .find(|minutes| length(*minutes).abs_diff(wanted) <= TOLERANCE);
    if let Some(minutes) = exact {
        return ClosingTimer::Exact(minutes);
    }
    sorted
        .into_iter()
        .find(|minutes| length(*minutes) > wanted)
        .map_or(ClosingTimer::None, ClosingTimer::Longer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(seconds: u64) -> ClosingTimer {
        let now = Timestamp::from_millis(1_767_225_600_000);
        closing_timer(&[45, 15, 30], now, now.plus(Duration::from_secs(seconds)))
    }

    #[test]
    fn a_length_of_the_platform_is_used_where_it_fits() {
        assert_eq!(after(30 * 60), ClosingTimer::Exact(30));
        assert_eq!(after(30 * 60 - 12), ClosingTimer::Exact(30));
        assert_eq!(after(30 * 60 + 60), ClosingTimer::Exact(30));
    }

    #[test]
    fn a_longer_one_is_a_safety_net_and_none_is_too_short() {
        assert_eq!(after(20 * 60), ClosingTimer::Longer(30));
        assert_eq!(after(0), ClosingTimer::Longer(15));
        assert_eq!(after(60 * 60), ClosingTimer::None);
        let now = Timestamp::default();
        assert_eq!(closing_timer(&[], now, now), ClosingTimer::None);
        assert_eq!(closing_timer(&[0], now, now), ClosingTimer::None);
    }

    proptest! {
        #[test]
        fn a_timer_never_ends_before_the_closing_should(
            minutes in prop::collection::vec(0u32..2_000, 0..8),
            seconds in 0u64..200_000,
        ) {
            let now = Timestamp::from_millis(1_767_225_600_000);
            let until = now.plus(Duration::from_secs(seconds));
            let ends = |minutes: u32| now.plus(Duration::from_secs(u64::from(minutes) * 60));
            match closing_timer(&minutes, now, until) {
                ClosingTimer::Exact(length) => prop_assert!(ends(length).plus(TOLERANCE) >= until),
                ClosingTimer::Longer(length) => prop_assert!(ends(length) > until),
                ClosingTimer::None => prop_assert!(minutes.iter().all(|length| ends(*length) < until)),
            }
        }
    }
}
