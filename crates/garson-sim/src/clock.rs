//! The platforms' clock: the real one, unless the control API has put it ahead.

use jiff::{SignedDuration, Timestamp};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    ahead: SignedDuration,
}

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "reads the system clock for the rest of the program"
    )]
    pub(crate) fn now(&self) -> Timestamp {
        add(Timestamp::now(), self.ahead)
    }

    /// Advances the clock, so that tests need not wait for a platform's pauses.
    pub(crate) fn advance(&mut self, seconds: u32) {
        self.ahead = self
            .ahead
            .saturating_add(SignedDuration::from_secs(i64::from(seconds)));
    }
}

/// Adds a duration; returns the same timestamp on overflow.
pub(crate) fn add(moment: Timestamp, by: SignedDuration) -> Timestamp {
    moment.checked_add(by).unwrap_or(moment)
}

pub(crate) fn add_seconds(moment: Timestamp, seconds: u64) -> Timestamp {
    add(
        moment,
        SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX)),
    )
}

/// RFC 3339 with milliseconds, in UTC.
pub(crate) fn text(moment: Timestamp) -> String {
    format!("{moment:.3}")
}
