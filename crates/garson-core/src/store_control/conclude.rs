//! Records the result of sending a desired state to the platform: done, refused, or to be retried.

use super::desired::DesiredState;
use super::record::{Actual, Outcome, OutcomeKind, StoreProblem, StoreRecord, Timer};
use crate::explanation::{Explanation, PlatformFailure};
use crate::platform::CallError;
use crate::store_status::{Reopening, StoreChanged, StoreReason};
use crate::time::Timestamp;
use std::time::Duration;

/// The pause before a change is read back.
const READ_BACK_AFTER: Duration = Duration::from_secs(3);
/// How long a requested change is retried.
pub(super) const GIVE_UP_AFTER: Duration = Duration::from_secs(2 * 3600);
/// How long opening a store at the end of a closing is retried.
pub(super) const GIVE_UP_OPENING_AFTER: Duration = Duration::from_secs(24 * 3600);
/// Temporary refusals become final after this many attempts.
const MAX_REFUSALS: u32 = 4;
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

impl StoreRecord {
    /// Finishes the current version without sending it.
    pub fn leave_closed(&mut self, now: Timestamp) {
        self.end(OutcomeKind::LeftClosed, None, None, now);
    }

    fn end(&mut self, kind: OutcomeKind, message: Option<Explanation>, timer: Option<Timer>, now: Timestamp) {
        self.finished_version = self.version;
        self.control.attempts = 0;
        self.control.trouble = None;
        self.control.retry_at = None;
        self.control.outcome = Some(Outcome {
            kind,
            message,
            timer,
            at: now,
        });
    }

    /// The platform has applied the desired state.
    pub fn succeed(&mut self, changed: &StoreChanged, now: Timestamp) {
        let Some(desired) = self.control.desired.clone() else {
            return;
        };
        let timer = match changed.reopening {
            _ if desired.until.is_none() || desired.state != DesiredState::Closed => None,
            Reopening::Platform => Some(Timer::Platform),
            Reopening::Ours | Reopening::None => Some(Timer::Garson),
        };
        self.end(OutcomeKind::Done, None, timer, now);
        let control = &mut self.control;
        control.read_at = Some(now.plus(READ_BACK_AFTER));
        control.settles_until = Some(now.plus(desired.settles_within()));
        control.busy_is_set = match desired.state {
            DesiredState::Open => false,
            DesiredState::Busy => true,
            // Busy mode may outlive a closing.
            DesiredState::Closed => control.busy_is_set,
        };
        let state = desired.state.state();
        let is_same = self.actual.state == state;
        self.actual = Actual {
            state,
            since: self.actual.since.filter(|_| is_same).or(Some(now)),
            until: desired.until,
            by: Some(desired.by),
            reason: desired.reason.map(StoreReason::from),
            note: desired.note,
            is_locked: false,
            offer: self.actual.offer.take(),
        };
        self.problem = None;
    }

    /// The platform has not applied the desired state; returns whether that is final.
    pub fn fail(&mut self, trouble: &CallError, now: Timestamp) -> bool {
        let Some(desired) = self.control.desired.clone() else {
            return true;
        };
        if let CallError::HeldBack { message, room_in } = trouble {
            self.control.trouble = Some(message.clone());
            self.control.retry_at = Some(now.plus(*room_in));
            return false;
        }
        self.control.attempts = self.control.attempts.saturating_add(1);
        let attempts = self.control.attempts;
        let is_opening = desired.is_automatic_opening();
        let give_up_after = if is_opening {
            GIVE_UP_OPENING_AFTER
        } else {
            GIVE_UP_AFTER
        };
        let (is_refused, pause) = match trouble {
            CallError::Refused { .. } => (true, None),
            CallError::RetryableRefusal { .. } => (attempts >= MAX_REFUSALS, None),
            CallError::Later { pause, .. } => (false, *pause),
            CallError::NotYet { pause, .. } => (false, Some(*pause)),
            CallError::HeldBack { .. } | CallError::Unclear { .. } | CallError::SessionOver => (false, None),
        };
        if is_opening && (is_refused || attempts >= 3) {
            self.problem = Some(StoreProblem::NotReopened);
        }
        let is_over = now.since(desired.at) > give_up_after;
        if is_over || is_refused && !is_opening {
            let message = if is_refused {
                trouble.explanation()
            } else {
                PlatformFailure::NotSentInTime.into()
            };
            self.refuse(message, now);
            return true;
        }
        self.control.trouble = Some(trouble.explanation());
        let shortest = if is_refused { 30 } else { 2 };
        let backoff = Duration::from_secs(shortest * 2u64.saturating_pow(attempts.saturating_sub(1).min(8)));
        let pause = pause.unwrap_or_default().max(backoff).min(LONGEST_PAUSE);
        self.control.retry_at = Some(now.plus(pause));
        false
    }

    /// Finishes the current version as refused. A refused closing or busy mode is no longer desired.
    pub fn refuse(&mut self, message: Explanation, now: Timestamp) {
        self.end(OutcomeKind::Refused, Some(message), None, now);
        if let Some(desired) = &self.control.desired {
            let by = desired.by;
            if desired.state != DesiredState::Open {
                self.control.by_source.set(by, None);
            }
        }
        self.control.read_at = Some(now);
    }
}
