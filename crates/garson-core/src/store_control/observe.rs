//! Takes over what a read of the platform has shown: the state, who is responsible for it, and problems that need attention.

use super::desired::{Desired, DesiredState};
use super::record::{Actual, OutcomeKind, StoreProblem, StoreRecord};
use crate::platform::StoreSupport;
use crate::store_status::{ReasonCode, StoreActor, StoreReading, StoreReason, StoreState};
use crate::time::Timestamp;
use std::time::Duration;

/// The pause before a state that does not show a change yet is read again.
const READ_AGAIN_AFTER: Duration = Duration::from_secs(20);

/// What a read has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// The state, its end, its reason, or who is responsible for it has changed.
    pub has_changed: bool,
    /// The platform shows a different state from the one that it accepted.
    pub is_undone: bool,
}

impl StoreRecord {
    /// Updates the store from a read of the platform. `is_open_by_hours`: whether the restaurant is open now by its hours, if known.
    pub fn observe(
        &mut self,
        reading: &StoreReading,
        support: &StoreSupport,
        is_open_by_hours: Option<bool>,
        now: Timestamp,
    ) -> Observed {
        self.checked_at = Some(now);
        self.control.read_at = None;
        let hides_busy = !support.shows_busy && self.control.busy_is_set;
        let state = match reading.state {
            StoreState::Open if hides_busy => StoreState::Busy,
            state => state,
        };
        // A platform may end a closing a little early by its own clock.
        let is_ending = |desired: &&Desired| {
            let early = desired.timer_tolerance();
            desired.until.is_some_and(|until| until <= now.plus(early))
        };
        let accepted = self.accepted().filter(|desired| !is_ending(desired)).cloned();
        let is_as_accepted = accepted
            .as_ref()
            .is_none_or(|desired| shows(desired.state, state));
        if !is_as_accepted
            && let Some(until) = self.control.settles_until
            && until > now
        {
            self.control.read_at = Some(now.plus(READ_AGAIN_AFTER).min(until));
            return Observed::default();
        }
        self.control.settles_until = None;
        let ours = accepted.filter(|_| is_as_accepted);
        let seen = self.seen(state, reading, ours.as_ref(), is_open_by_hours, now);
        let has_changed = !self.actual.is_same(&seen);
        self.actual = seen;
        if !is_as_accepted && state != StoreState::Unknown {
            self.undo();
        }
        self.note_problem(reading, is_open_by_hours);
        Observed {
            has_changed,
            is_undone: !is_as_accepted && state != StoreState::Unknown,
        }
    }

    /// The desired state that the platform has accepted and, as far as is known, still shows.
    fn accepted(&self) -> Option<&Desired> {
        let is_done = self
            .control
            .outcome
            .as_ref()
            .is_some_and(|it| it.kind == OutcomeKind::Done);
        self.control
            .desired
            .as_ref()
            .filter(|_| is_done && !self.is_pending())
    }

    fn seen(
        &self,
        state: StoreState,
        reading: &StoreReading,
        ours: Option<&Desired>,
        is_open_by_hours: Option<bool>,
        now: Timestamp,
    ) -> Actual {
        let is_same_state = state == self.actual.state;
        let before = self.actual.reason.as_ref().map(|reason| reason.code);
        let was_outside_hours = before == Some(ReasonCode::OutsideHours);
        let since = reading
            .since
            .or(self.actual.since.filter(|_| is_same_state))
            .or(Some(now));
        let base = Actual {
            state,
            since,
            until: reading.until,
            by: None,
            reason: reading.reason.clone(),
            note: None,
            is_locked: !reading.can_change,
            offer: reading.offer.clone(),
        };
        match (state, ours) {
            (StoreState::Unknown, _) => base,
            (_, Some(desired)) => Actual {
                until: desired
                    .until
                    .or(reading.until.filter(|_| state == StoreState::Closed)),
                by: Some(desired.by),
                reason: desired.reason.map(StoreReason::from).or(base.reason.clone()),
                note: desired.note.clone(),
                ..base
            },
            (StoreState::Closed, None) if reading.by.is_none() && is_open_by_hours == Some(false) => Actual {
                by: Some(StoreActor::Schedule),
                reason: base.reason.clone().or(Some(ReasonCode::OutsideHours.into())),
                ..base
            },
            (StoreState::Closed, None) => Actual {
                // A store that the service closed, and that has not been open since, keeps its actor unless the platform names another.
                by: reading
                    .by
                    .or(self.actual.by.filter(|_| is_same_state && !was_outside_hours))
                    .or(Some(StoreActor::Platform)),
                ..base
            },
            (_, None) => Actual {
                by: reading.by,
                ..base
            },
        }
    }

    /// The platform shows a different state from the one that it accepted. This is reported; the request is not repeated.
    fn undo(&mut self) {
        if let Some(outcome) = &mut self.control.outcome {
            outcome.kind = OutcomeKind::Undone;
        }
        self.control.busy_is_set = false;
        let closes = |desired: &&Desired| desired.state != DesiredState::Open;
        if let Some(desired) = self.control.desired.as_ref().filter(closes) {
            let by = desired.by;
            self.control.by_source.set(by, None);
            if desired.state == DesiredState::Closed {
                self.problem = Some(StoreProblem::NotClosed);
            }
        }
    }

    fn note_problem(&mut self, reading: &StoreReading, is_open_by_hours: Option<bool>) {
        let is_ours = self.accepted().is_some();
        let is_reported = reading.by == Some(StoreActor::Platform);
        let is_likely = reading.by.is_none() && (is_open_by_hours == Some(true) || !reading.can_change);
        let is_platforms = self.actual.by == Some(StoreActor::Platform) && (is_reported || is_likely);
        match self.actual.state {
            StoreState::Closed if self.problem == Some(StoreProblem::NotReopened) => {}
            StoreState::Closed if !is_ours && is_platforms && !self.is_pending() => {
                self.problem = Some(StoreProblem::ClosedByPlatform);
            }
            StoreState::Closed => self.problem = None,
            // A store that should be closed remains a problem until it is closed or another state is requested.
            _ if self.problem == Some(StoreProblem::NotClosed) => {}
            StoreState::Open | StoreState::Busy => self.problem = None,
            StoreState::Unknown | StoreState::Unsupported => {}
        }
    }
}

/// Does a state of the platform match a desired state?
fn shows(desired: DesiredState, state: StoreState) -> bool {
    match desired {
        DesiredState::Open => state.takes_orders(),
        DesiredState::Busy => state == StoreState::Busy,
        DesiredState::Closed => state == StoreState::Closed,
    }
}

/// Does a read show that the platform has applied the desired state, although its answer was lost?
#[must_use]
pub fn is_satisfied(desired: &Desired, reading: &StoreReading, busy_is_set: bool) -> bool {
    match desired.state {
        // The platform may not show whether busy mode has ended.
        DesiredState::Open => reading.state == StoreState::Open && !busy_is_set,
        DesiredState::Busy => reading.state == StoreState::Busy,
        DesiredState::Closed => reading.state == StoreState::Closed,
    }
}
