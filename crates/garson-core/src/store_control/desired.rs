//! The desired state of a store: what each source wants, and which of them takes effect.

use crate::id::KeyId;
use crate::store_status::{ClosingEnd, ReasonCode, StoreActor, StoreState, StoreTarget};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How early or late a platform's own timer may be, at most.
pub(super) const TIMER_TOLERANCE: Duration = Duration::from_secs(60);
/// How long a platform may show the old state after a change, at most.
const SETTLES_WITHIN: Duration = Duration::from_secs(60);

/// The longest time for which a store can be closed or busy with an end.
pub const LONGEST_DURATION: Duration = Duration::from_secs(30 * 24 * 3600);

/// A state that can be requested for a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DesiredState {
    Open,
    Busy,
    Closed,
}

impl DesiredState {
    pub const ALL: [Self; 3] = [Self::Open, Self::Busy, Self::Closed];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.state().as_str()
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    #[must_use]
    pub const fn state(self) -> StoreState {
        match self {
            Self::Open => StoreState::Open,
            Self::Busy => StoreState::Busy,
            Self::Closed => StoreState::Closed,
        }
    }
}

/// Who requested a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Requester {
    /// A program with this key.
    Key(KeyId),
    /// A user of the panel.
    Panel,
    /// The service itself: opening hours, throttle, or the end of a closing.
    Service,
}

/// The state that one source wants for a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    pub state: DesiredState,
    /// When it expires; none for `open`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The end is the next opening by the restaurant's hours.
    #[serde(default)]
    pub until_next_opening: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_minutes: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ReasonCode>,
    /// The reason in the requester's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub at: Timestamp,
    pub by: StoreActor,
    pub requester: Requester,
}

impl Desired {
    /// How early or late a platform's own timer may be. A short closing would be over before it could be seen that the platform has
    /// not made it, so the tolerance is a part of its duration.
    #[must_use]
    pub fn timer_tolerance(&self) -> Duration {
        let part = |time: Duration| TIMER_TOLERANCE.min(time / 4);
        self.duration().map_or(TIMER_TOLERANCE, part)
    }

    /// How long the platform may show the old state after a change. The rest of a short closing is left to see the new one.
    #[must_use]
    pub fn settles_within(&self) -> Duration {
        let part = |time: Duration| SETTLES_WITHIN.min(time / 2);
        self.duration().map_or(SETTLES_WITHIN, part)
    }

    fn duration(&self) -> Option<Duration> {
        self.until.map(|until| until.since(self.at))
    }

    #[must_use]
    pub const fn new(state: DesiredState, at: Timestamp, by: StoreActor, requester: Requester) -> Self {
        Self {
            state,
            until: None,
            until_next_opening: false,
            busy_minutes: None,
            reason: None,
            note: None,
            at,
            by,
            requester,
        }
    }

    fn is_active(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| until > now)
    }

    /// Does it result in the same platform request as another one?
    pub(super) fn is_same_request(&self, other: &Self) -> bool {
        let parts = |it: &Self| (it.state, it.until, it.busy_minutes);
        parts(self) == parts(other)
    }

    /// Was it requested by the service, so that no client waits for its result?
    #[must_use]
    pub fn is_automatic(&self) -> bool {
        self.requester == Requester::Service
    }

    /// Does the service open the store by itself, at the end of a closing or by the hours?
    pub(super) fn is_automatic_opening(&self) -> bool {
        self.is_automatic() && self.state == DesiredState::Open
    }

    /// What to request from the platform.
    #[must_use]
    pub fn target(&self, busy_minutes: &[u32]) -> StoreTarget {
        match self.state {
            DesiredState::Open => StoreTarget::Open,
            DesiredState::Busy => StoreTarget::Busy {
                minutes: fitting_minutes(self.busy_minutes, busy_minutes),
            },
            DesiredState::Closed => StoreTarget::Closed {
                end: match (self.until, self.until_next_opening) {
                    (None, _) => ClosingEnd::Never,
                    (Some(until), true) => ClosingEnd::NextOpening(Some(until)),
                    (Some(until), false) => ClosingEnd::At(until),
                },
                reason: self.reason,
            },
        }
    }
}

/// The best fit among the lengths that a platform offers: the same, the next longer one, or the longest.
#[must_use]
pub fn fitting_minutes(desired: Option<u32>, offered: &[u32]) -> u32 {
    let desired = desired.unwrap_or(0);
    let longer = offered
        .iter()
        .copied()
        .filter(|minutes| *minutes >= desired)
        .min();
    longer.or(offered.iter().copied().max()).unwrap_or(desired)
}

/// The desired states of one store, one for each source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredBySource {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<Desired>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Desired>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle: Option<Desired>,
}

impl DesiredBySource {
    /// The desired state that takes effect now, given the one before. A closing by a user takes precedence over the opening hours,
    /// and these over the throttle. A user who opens the store overrides a closing that began earlier.
    #[must_use]
    pub fn effective(&self, before: Option<&Desired>, now: Timestamp) -> Option<Desired> {
        use DesiredState::{Busy, Closed};
        let opened_at = self.account.as_ref().filter(|it| it.state == DesiredState::Open);
        let opened_at = opened_at.map(|it| it.at);
        let is_overridden = |it: &Desired| opened_at.is_some_and(|at| at > it.at);
        let by_precedence = [
            (&self.account, Closed),
            (&self.schedule, Closed),
            (&self.throttle, Closed),
            (&self.account, Busy),
            (&self.throttle, Busy),
        ];
        let strongest = by_precedence.into_iter().find_map(|(source, state)| {
            let desired = source.as_ref().filter(|it| it.state == state)?;
            (desired.is_active(now) && !is_overridden(desired)).then(|| desired.clone())
        });
        if let Some(mut desired) = strongest {
            self.extend_by_schedule(&mut desired, now);
            return Some(desired);
        }
        self.open(before, now)
    }

    /// A closing that would end while the opening hours keep the store closed ends with them.
    fn extend_by_schedule(&self, desired: &mut Desired, now: Timestamp) {
        let Some(schedule) = self.schedule.as_ref().filter(|it| it.is_active(now)) else {
            return;
        };
        if desired.state == DesiredState::Closed
            && schedule.state == DesiredState::Closed
            && let (Some(until), Some(schedule_until)) = (desired.until, schedule.until)
            && until < schedule_until
        {
            desired.until = Some(schedule_until);
        }
    }

    fn open(&self, before: Option<&Desired>, now: Timestamp) -> Option<Desired> {
        let is_open = |it: &&Desired| it.state == DesiredState::Open;
        let account = self.account.as_ref().filter(is_open);
        let extension = self.schedule.as_ref().filter(is_open);
        match before {
            // What kept it closed or busy has ended.
            Some(before)
                if before.state != DesiredState::Open && account.is_none_or(|it| it.at < before.at) =>
            {
                let requester = Requester::Service;
                Some(Desired::new(DesiredState::Open, now, before.by, requester))
            }
            _ => {
                let newest = match (account, extension) {
                    (Some(account), Some(schedule)) if schedule.at > account.at => Some(schedule),
                    (account, schedule) => account.or(schedule),
                };
                newest
                    .map(|desired| Desired {
                        until: None,
                        ..desired.clone()
                    })
                    .or_else(|| before.cloned())
            }
        }
    }

    /// When the first of them expires.
    #[must_use]
    pub fn first_end(&self) -> Option<Timestamp> {
        [&self.account, &self.schedule, &self.throttle]
            .into_iter()
            .flatten()
            .filter_map(|desired| desired.until)
            .min()
    }

    /// The desired state of a source.
    #[must_use]
    pub fn of(&self, by: StoreActor) -> Option<&Desired> {
        match by {
            StoreActor::Account => self.account.as_ref(),
            StoreActor::Schedule => self.schedule.as_ref(),
            StoreActor::Throttle => self.throttle.as_ref(),
            StoreActor::Platform => None,
        }
    }

    /// Replaces the desired state of a source.
    pub fn set(&mut self, by: StoreActor, desired: Option<Desired>) {
        match by {
            StoreActor::Account => self.account = desired,
            StoreActor::Schedule => self.schedule = desired,
            StoreActor::Throttle => self.throttle = desired,
            StoreActor::Platform => {}
        }
    }

    /// Removes closings and busy times that have expired.
    pub fn drop_ended(&mut self, now: Timestamp) {
        for desired in [&mut self.account, &mut self.schedule, &mut self.throttle] {
            desired.take_if(|desired| !desired.is_active(now));
        }
    }
}

#[cfg(test)]
#[path = "desired_tests.rs"]
mod tests;
