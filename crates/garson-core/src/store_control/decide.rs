//! Decides which desired state of a store takes effect, and what to do next for the store.

use super::desired::{Desired, TIMER_TOLERANCE};
use super::record::{StoreRecord, Timer};
use crate::store_status::{StoreActor, StoreState};
use crate::time::Timestamp;

/// What to do next for a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// A desired state has expired: decide again which one takes effect.
    Reconsider,
    /// Send the desired state to the platform.
    Send,
    /// The platform may have received it already: read its state before sending again.
    ReadBeforeSending,
    /// Read the state back.
    Read,
    Hours,
    Idle,
}

impl StoreRecord {
    /// Sets the desired state of a source; returns whether there is something to send. A request of a user is sent even if it
    /// changes nothing.
    pub fn set_desired(&mut self, by: StoreActor, desired: Option<Desired>, now: Timestamp) -> bool {
        let is_asked = by == StoreActor::Account && desired.is_some();
        self.control.by_source.set(by, desired);
        self.decide(is_asked, now)
    }

    /// Decides which desired state takes effect now; returns whether there is something to send.
    pub fn reconsider(&mut self, now: Timestamp) -> bool {
        self.decide(false, now)
    }

    fn decide(&mut self, is_asked: bool, now: Timestamp) -> bool {
        let control = &mut self.control;
        let before = control.desired.take();
        let desired = control.by_source.effective(before.as_ref(), now);
        control.by_source.drop_ended(now);
        let is_same = match (&before, &desired) {
            (Some(before), Some(desired)) => before.is_same_request(desired),
            (None, None) => true,
            _ => false,
        };
        control.desired = desired;
        if is_same && !is_asked {
            return false;
        }
        let Some(desired) = &control.desired else {
            return false;
        };
        self.version += 1;
        control.attempts = 0;
        control.trouble = None;
        control.retry_at = Some(now);
        control.settles_until = None;
        if desired.is_automatic_opening() {
            // The platform's own timer may have opened it, or may be late.
            self.started_version = self.version;
            let has_timer = control.outcome.as_ref().and_then(|it| it.timer) == Some(Timer::Platform);
            if has_timer {
                let tolerance = before.map_or(TIMER_TOLERANCE, |it| it.timer_tolerance());
                control.retry_at = Some(now.plus(tolerance));
            }
        }
        true
    }

    /// When the store needs work.
    #[must_use]
    pub fn due_at(&self) -> Option<Timestamp> {
        let pending = self.control.retry_at.filter(|_| self.is_pending());
        let times = [
            pending,
            self.control.read_at,
            self.control.by_source.first_end(),
            self.hours.due_at,
        ];
        times.into_iter().flatten().min()
    }

    /// What to do now.
    #[must_use]
    pub fn plan(&self, now: Timestamp) -> Plan {
        let is_due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        if is_due(self.control.by_source.first_end()) {
            Plan::Reconsider
        } else if self.is_pending() && is_due(self.control.retry_at) {
            if self.started_version == self.version {
                Plan::ReadBeforeSending
            } else {
                Plan::Send
            }
        } else if is_due(self.control.read_at) {
            Plan::Read
        } else if is_due(self.hours.due_at) {
            Plan::Hours
        } else {
            Plan::Idle
        }
    }

    /// Has the platform closed the store by itself, so that only a user may open it?
    #[must_use]
    pub fn must_stay_closed(&self) -> bool {
        let desired = self.control.desired.as_ref();
        desired.is_some_and(Desired::is_automatic_opening)
            && self.actual.state == StoreState::Closed
            && self.actual.by == Some(StoreActor::Platform)
    }
}
