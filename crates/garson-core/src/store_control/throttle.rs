//! The automatic throttle: too many orders make a restaurant busy or close it, and fewer open it again.

use super::desired::DesiredState;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The largest number of orders that a threshold can have.
pub const MAX_COUNT: u32 = 500;
/// The longest minimum duration of a step.
pub const MAX_MINIMUM_MINUTES: u32 = 240;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThrottleMeasure {
    OpenOrders,
    /// Orders that arrived in the last 15 minutes.
    RecentOrders,
}

impl ThrottleMeasure {
    pub const ALL: [Self; 2] = [Self::OpenOrders, Self::RecentOrders];
    /// The period in which recent orders are counted.
    pub const RECENT: Duration = Duration::from_secs(15 * 60);

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenOrders => "open_orders",
            Self::RecentOrders => "recent_orders",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.as_str() == name)
    }
}

/// The settings of a restaurant. A step is entered above one number and left at or below another, lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Throttle {
    pub measure: ThrottleMeasure,
    pub busy: Option<Threshold>,
    pub close: Option<Threshold>,
    /// A step lasts at least this long.
    pub minimum_minutes: u32,
    /// The minutes added to the delivery time while the store is busy.
    pub busy_minutes: Option<u32>,
}

/// When a step begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Threshold {
    pub above: u32,
    /// The step ends at this number of orders or fewer.
    pub down_to: u32,
}

impl Threshold {
    /// A threshold that ends a fifth below its start.
    #[must_use]
    pub const fn with_default_end(above: u32) -> Self {
        Self {
            above,
            down_to: above - above.div_ceil(5),
        }
    }
}

/// How far a restaurant is throttled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThrottleLevel {
    #[default]
    None,
    Busy,
    Closed,
}

impl ThrottleLevel {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Busy => "busy",
            Self::Closed => "closed",
        }
    }

    #[must_use]
    pub const fn desired_state(self) -> Option<DesiredState> {
        match self {
            Self::None => None,
            Self::Busy => Some(DesiredState::Busy),
            Self::Closed => Some(DesiredState::Closed),
        }
    }
}

/// The current state of a restaurant's throttle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThrottleState {
    pub level: ThrottleLevel,
    pub since: Option<Timestamp>,
    /// A user has opened the store: the throttle is suspended until the number of orders has fallen.
    #[serde(default)]
    pub is_suspended: bool,
}

impl Throttle {
    /// The state after `count` orders were counted.
    #[must_use]
    pub fn next(&self, state: ThrottleState, count: u32, now: Timestamp) -> ThrottleState {
        let rising = self.rising(count);
        if state.is_suspended {
            // Suspended until the lowest step would have ended.
            return if self.has_fallen(count) {
                ThrottleState::default()
            } else {
                state
            };
        }
        let level = match state.level {
            level if rising > level => rising,
            level if self.may_end(state, now) => self.falling(level, count),
            level => level,
        };
        if level == state.level {
            return state;
        }
        ThrottleState {
            level,
            since: (level != ThrottleLevel::None).then_some(now),
            is_suspended: false,
        }
    }

    /// The step that `count` orders start.
    fn rising(&self, count: u32) -> ThrottleLevel {
        let is_above = |threshold: Option<Threshold>| threshold.is_some_and(|it| count > it.above);
        if is_above(self.close) {
            ThrottleLevel::Closed
        } else if is_above(self.busy) {
            ThrottleLevel::Busy
        } else {
            ThrottleLevel::None
        }
    }

    /// The step that remains at `count` orders.
    fn falling(&self, from: ThrottleLevel, count: u32) -> ThrottleLevel {
        let stays = |threshold: Option<Threshold>| threshold.is_some_and(|it| count > it.down_to);
        match from {
            ThrottleLevel::Closed if stays(self.close) => ThrottleLevel::Closed,
            ThrottleLevel::Closed | ThrottleLevel::Busy if stays(self.busy) => ThrottleLevel::Busy,
            _ => ThrottleLevel::None,
        }
    }

    fn has_fallen(&self, count: u32) -> bool {
        let lowest = self.busy.or(self.close);
        lowest.is_none_or(|it| count <= it.down_to)
    }

    fn may_end(&self, state: ThrottleState, now: Timestamp) -> bool {
        let minimum = Duration::from_secs(u64::from(self.minimum_minutes) * 60);
        // A time in the future was recorded before the clock was set back.
        state
            .since
            .is_none_or(|since| since > now || now.since(since) >= minimum)
    }

    /// The largest number of orders that has to be counted.
    #[must_use]
    pub fn count_up_to(&self) -> u32 {
        let above = |threshold: Option<Threshold>| threshold.map_or(0, |it| it.above);
        above(self.busy).max(above(self.close)) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(minutes: u32) -> Timestamp {
        Timestamp::from_millis(1_767_225_600_000 + i64::from(minutes) * 60_000)
    }

    fn throttle() -> Throttle {
        Throttle {
            measure: ThrottleMeasure::OpenOrders,
            busy: Some(Threshold {
                above: 10,
                down_to: 7,
            }),
            close: Some(Threshold {
                above: 20,
                down_to: 15,
            }),
            minimum_minutes: 5,
            busy_minutes: None,
        }
    }

    fn after(counts: &[(u32, u32)]) -> Vec<ThrottleLevel> {
        let mut state = ThrottleState::default();
        counts
            .iter()
            .map(|(minute, count)| {
                state = throttle().next(state, *count, at(*minute));
                state.level
            })
            .collect()
    }

    #[test]
    fn steps_begin_above_and_end_below() {
        use ThrottleLevel::{Busy, Closed, None};
        assert_eq!(
            after(&[
                (0, 10),
                (1, 11),
                (7, 8),
                (8, 7),
                (9, 21),
                (15, 16),
                (16, 15),
                (17, 7),
                (22, 7)
            ]),
            [None, Busy, Busy, None, Closed, Closed, Busy, Busy, None]
        );
    }

    #[test]
    fn step_lasts_at_least_its_minimum() {
        use ThrottleLevel::{Busy, Closed, None};
        assert_eq!(
            after(&[(0, 11), (1, 0), (4, 0), (5, 0)]),
            [Busy, Busy, Busy, None]
        );
        // Upwards it never waits.
        assert_eq!(after(&[(0, 11), (1, 30)]), [Busy, Closed]);
    }

    #[test]
    fn throttle_rests_after_a_person_has_opened() {
        let suspended = ThrottleState {
            is_suspended: true,
            ..ThrottleState::default()
        };
        assert_eq!(throttle().next(suspended, 30, at(0)), suspended);
        assert_eq!(throttle().next(suspended, 7, at(1)), ThrottleState::default());
    }

    #[test]
    fn default_end_is_below_the_beginning() {
        for above in 1..=MAX_COUNT {
            assert!(Threshold::with_default_end(above).down_to < above);
        }
    }

    proptest! {
        #[test]
        fn one_number_for_long_settles_on_one_level(count in 0u32..40, first in 0u32..40) {
            let mut state = throttle().next(ThrottleState::default(), first, at(0));
            for minute in [10, 20, 30] {
                state = throttle().next(state, count, at(minute));
            }
            prop_assert_eq!(throttle().next(state, count, at(40)).level, state.level);
            prop_assert!(count <= 20 || state.level == ThrottleLevel::Closed);
            prop_assert!(count > 7 || state.level == ThrottleLevel::None);
        }
    }
}
