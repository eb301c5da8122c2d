//! A store on a platform: its desired state, the progress of applying it, and the state that the platform reports.

use super::desired::{Desired, DesiredBySource};
use crate::explanation::Explanation;
use crate::id::{AccountId, IntegrationId, RestaurantId};
use crate::opening_hours::Week;
use crate::platform::Provider;
use crate::store_status::{StoreActor, StoreOffer, StoreReason, StoreState};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A store on a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreRecord {
    pub integration_id: IntegrationId,
    pub account_id: AccountId,
    pub restaurant_id: RestaurantId,
    pub provider: Provider,
    pub control: Control,
    /// Increases with every change of the desired state in effect; 0 before the first one.
    pub version: i64,
    /// The last version whose sending was started: the platform may have received it.
    pub started_version: i64,
    /// The last version that is finished: accepted, refused or dropped.
    pub finished_version: i64,
    pub actual: Actual,
    pub checked_at: Option<Timestamp>,
    pub problem: Option<StoreProblem>,
    pub hours: HoursRecord,
}

/// The desired states of a store, the one in effect, and the progress of applying it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Control {
    pub by_source: DesiredBySource,
    /// The one in effect.
    pub desired: Option<Desired>,
    /// The result of the last finished version.
    pub outcome: Option<Outcome>,
    /// Why the pending version has not been applied yet.
    pub trouble: Option<Explanation>,
    pub attempts: u32,
    pub retry_at: Option<Timestamp>,
    /// When to read the state back.
    pub read_at: Option<Timestamp>,
    /// Until then a read may still show the state before the change.
    pub settles_until: Option<Timestamp>,
    /// Busy mode was switched on and may still be on.
    pub busy_is_set: bool,
}

/// The result of a desired state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    pub kind: OutcomeKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Explanation>,
    /// What ends a closing that has an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<Timer>,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    Done,
    Refused,
    /// The platform has closed the store by itself in the meantime, so it was not opened.
    LeftClosed,
    /// It was done, but the platform has since shown a different state.
    Undone,
}

impl OutcomeKind {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::LeftClosed => "left_closed",
            Self::Undone => "undone",
        }
    }
}

/// What opens a store at the end of a timed closing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    Platform,
    Garson,
}

impl Timer {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Garson => "garson",
        }
    }
}

/// The state that the platform reports, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Actual {
    pub state: StoreState,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub by: Option<StoreActor>,
    pub reason: Option<StoreReason>,
    /// The reason in the requester's own words.
    pub note: Option<String>,
    /// The platform currently accepts no changes.
    pub is_locked: bool,
    pub offer: Option<StoreOffer>,
}

/// A problem that staff have to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreProblem {
    /// The platform has closed the store by itself.
    ClosedByPlatform,
    /// The store could not be opened at the end of its closing.
    NotReopened,
    /// The store is open although it was closed.
    NotClosed,
}

impl StoreProblem {
    pub const ALL: [Self; 3] = [Self::ClosedByPlatform, Self::NotReopened, Self::NotClosed];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClosedByPlatform => "closed_by_platform",
            Self::NotReopened => "not_reopened",
            Self::NotClosed => "not_closed",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|problem| problem.as_str() == name)
    }
}

/// The opening hours on the platform.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HoursRecord {
    /// The last version of the restaurant's hours that the platform has accepted or refused.
    pub answered_version: i64,
    pub answered_at: Option<Timestamp>,
    pub attempts: u32,
    /// Why the platform refused them.
    pub refusal: Option<Explanation>,
    /// Why they could not be written or read yet.
    pub trouble: Option<Explanation>,
    pub theirs: Option<Week>,
    pub checked_at: Option<Timestamp>,
    pub due_at: Option<Timestamp>,
}

impl StoreRecord {
    #[must_use]
    pub fn new(
        (account_id, restaurant_id): (AccountId, RestaurantId),
        integration_id: IntegrationId,
        provider: Provider,
    ) -> Self {
        Self {
            integration_id,
            account_id,
            restaurant_id,
            provider,
            control: Control::default(),
            version: 0,
            started_version: 0,
            finished_version: 0,
            actual: Actual::default(),
            checked_at: None,
            problem: None,
            hours: HoursRecord::default(),
        }
    }

    /// Is there a version that is not finished?
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.version > self.finished_version
    }
}

impl Actual {
    /// Does it look the same to staff: state, end, reason, and who is responsible?
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let code = |it: &Self| it.reason.as_ref().map(|reason| reason.code);
        let until = match (self.until, other.until) {
            // Platforms round the end to whole minutes, or restart the countdown.
            (Some(a), Some(b)) => a.since(b).max(b.since(a)) < Duration::from_secs(120),
            (a, b) => a == b,
        };
        until && (self.state, self.by, code(self)) == (other.state, other.by, code(other))
    }
}
