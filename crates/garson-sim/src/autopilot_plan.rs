//! The settings of the autopilot, and when it places the next order.

use jiff::{SignedDuration, Timestamp};

use crate::{clock, views::Autopilot};

#[derive(Debug)]
pub(crate) struct AutopilotPlan {
    pub settings: Autopilot,
    next_order: Timestamp,
}

impl AutopilotPlan {
    pub(crate) fn new(settings: Autopilot, now: Timestamp) -> Self {
        Self {
            settings,
            next_order: now,
        }
    }

    /// Whether an order is due, which makes the next one due after a pause.
    pub(crate) fn take_due_order(&mut self, now: Timestamp) -> bool {
        let is_due = self.next_order <= now;
        if is_due {
            let pause =
                SignedDuration::from_millis(60_000 / i64::from(self.settings.orders_per_minute.max(1)));
            self.next_order = clock::add(self.next_order, pause);
        }
        is_due
    }

    /// When the platform's courier takes its next step.
    pub(crate) fn courier_after(&self, now: Timestamp) -> Timestamp {
        clock::add_seconds(now, self.settings.courier_seconds)
    }
}
