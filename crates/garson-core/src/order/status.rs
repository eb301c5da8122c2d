//! The status of an order, as a number on one scale for every platform.

use std::fmt;

/// The status of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Scheduled,
    ScheduledAccepted,
    New,
    Preparing,
    OnTheWay,
    Delivered,
    CancelledByPlatform,
    Cancelled,
}

impl Status {
    /// All of them, in the order in which an order can meet them.
    pub const ALL: [Self; 8] = [
        Self::Scheduled,
        Self::ScheduledAccepted,
        Self::New,
        Self::Preparing,
        Self::OnTheWay,
        Self::Delivered,
        Self::CancelledByPlatform,
        Self::Cancelled,
    ];

    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::Scheduled => 325,
            Self::ScheduledAccepted => 350,
            Self::New => 400,
            Self::Preparing => 500,
            Self::OnTheWay => 600,
            Self::Delivered => 900,
            Self::CancelledByPlatform => 1500,
            Self::Cancelled => 1600,
        }
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::ScheduledAccepted => "scheduled_accepted",
            Self::New => "new",
            Self::Preparing => "preparing",
            Self::OnTheWay => "on_the_way",
            Self::Delivered => "delivered",
            Self::CancelledByPlatform => "cancelled_by_platform",
            Self::Cancelled => "cancelled",
        }
    }

    #[must_use]
    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.code() == code)
    }

    #[must_use]
    pub const fn is_cancelled(self) -> bool {
        matches!(self, Self::Cancelled | Self::CancelledByPlatform)
    }

    /// Has the order come to its end?
    #[must_use]
    pub const fn is_over(self) -> bool {
        self.code() >= Self::Delivered.code()
    }

    /// May a report move an order from here to there? Only forward, and nowhere from a cancellation.
    #[must_use]
    pub const fn can_move_to(self, to: Self) -> bool {
        !self.is_cancelled() && self.code() < to.code()
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.code(), self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_name_one_status_each() {
        for status in Status::ALL {
            assert_eq!(Status::from_code(status.code()), Some(status));
        }
        assert_eq!(Status::from_code(0), None);
    }

    #[test]
    fn nothing_leads_out_of_a_cancellation() {
        for to in Status::ALL {
            assert!(!Status::Cancelled.can_move_to(to));
            assert!(!Status::CancelledByPlatform.can_move_to(to));
        }
    }
}
