//! The stores of an account as its boards show them.

use garson_core::explanation::Explanation;
use garson_core::id::RestaurantId;
use garson_core::platform::{Provider, StoreSupport};
use garson_core::store_control::{DesiredState, OutcomeKind, StoreProblem, StoreRecord};
use garson_core::store_status::{ReasonCode, StoreActor, StoreReason, StoreState};
use garson_core::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The stores of all restaurants of an account.
#[derive(Clone, Debug)]
pub struct StoreOverview {
    pub restaurants: Arc<Vec<RestaurantStores>>,
    /// When reading it began: what was committed later may be missing.
    pub began: Instant,
    /// How long it may be used.
    pub usable_for: Duration,
}

/// The stores of a restaurant that can be controlled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestaurantStores {
    pub id: RestaurantId,
    pub name: String,
    pub timezone: String,
    pub stores: Vec<ShownStore>,
}

/// What is shown of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownStore {
    pub provider: Provider,
    pub support: StoreSupport,
    pub state: StoreState,
    pub until: Option<Timestamp>,
    pub by: Option<StoreActor>,
    pub reason: Option<StoreReason>,
    /// The reason in the requester's own words.
    pub note: Option<String>,
    pub problem: Option<StoreProblem>,
    pub desired: Option<ShownDesired>,
}

/// The last requested state and its progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownDesired {
    pub state: DesiredState,
    pub until: Option<Timestamp>,
    pub busy_minutes: Option<u32>,
    pub by: StoreActor,
    pub progress: Progress,
}

/// The progress of a desired state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    Done,
    /// It is sent in the background; with the reason for a delay, if there is one.
    Pending(Option<Explanation>),
    Refused(Option<Explanation>),
    /// The platform had closed the store by itself, so it was not opened.
    LeftClosed,
    /// The platform shows a different state from the one that it accepted.
    Undone,
}

impl ShownStore {
    #[must_use]
    pub fn new(provider: Provider, support: StoreSupport, store: Option<&StoreRecord>) -> Self {
        let actual = store.map(|store| store.actual.clone()).unwrap_or_default();
        Self {
            provider,
            support,
            state: actual.state,
            until: actual.until,
            by: actual.by,
            reason: actual.reason,
            note: actual.note,
            problem: store.and_then(|store| store.problem),
            desired: store.and_then(ShownDesired::new),
        }
    }

    fn progress(&self) -> Option<&Progress> {
        self.desired.as_ref().map(|desired| &desired.progress)
    }

    /// Is it open, with nothing else to be said about it?
    #[must_use]
    pub fn is_plainly_open(&self) -> bool {
        self.state == StoreState::Open
            && self.problem.is_none()
            && matches!(self.progress(), None | Some(Progress::Done))
    }

    /// Do people have to do something about it?
    #[must_use]
    pub fn needs_attention(&self) -> bool {
        self.problem.is_some() || matches!(self.progress(), Some(Progress::Refused(_)))
    }

    #[must_use]
    pub fn is_pending(&self) -> bool {
        matches!(self.progress(), Some(Progress::Pending(_)))
    }

    /// Is it closed by its usual hours?
    #[must_use]
    pub fn is_outside_hours(&self) -> bool {
        let is_by_hours = |reason: &StoreReason| reason.code == ReasonCode::OutsideHours;
        self.state == StoreState::Closed && self.reason.as_ref().is_some_and(is_by_hours)
    }

    /// May a person open it? A store that is closed by its hours opens with them.
    #[must_use]
    pub fn can_open(&self) -> bool {
        let is_opening = self
            .desired
            .as_ref()
            .is_some_and(|it| it.state == DesiredState::Open && matches!(it.progress, Progress::Pending(_)));
        matches!(self.state, StoreState::Closed | StoreState::Busy) && !self.is_outside_hours() && !is_opening
    }
}

impl ShownDesired {
    fn new(store: &StoreRecord) -> Option<Self> {
        let desired = store.control.desired.as_ref()?;
        let outcome = store.control.outcome.as_ref().filter(|_| !store.is_pending());
        let message = || outcome.and_then(|it| it.message.clone());
        Some(Self {
            state: desired.state,
            until: desired.until,
            busy_minutes: desired.busy_minutes,
            by: desired.by,
            progress: match outcome.map(|it| it.kind) {
                None => Progress::Pending(store.control.trouble.clone()),
                Some(OutcomeKind::Done) => Progress::Done,
                Some(OutcomeKind::Refused) => Progress::Refused(message()),
                Some(OutcomeKind::LeftClosed) => Progress::LeftClosed,
                Some(OutcomeKind::Undone) => Progress::Undone,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::id::{AccountId, IntegrationId};
    use garson_core::store_control::{Desired, Requester};

    fn record() -> (StoreSupport, StoreRecord) {
        let platform = garson_platforms::find("getir").unwrap();
        let support = platform.capability().store.unwrap();
        let nil = uuid::Uuid::nil();
        let owner = (AccountId(nil), RestaurantId(nil));
        let mut store = StoreRecord::new(owner, IntegrationId(nil), platform.provider());
        store.actual.state = StoreState::Open;
        (support, store)
    }

    fn shown(support: StoreSupport, store: &StoreRecord) -> ShownStore {
        ShownStore::new(store.provider, support, Some(store))
    }

    #[test]
    fn refused_closing_is_shown_until_something_else_is_asked_for() {
        let (support, mut store) = record();
        assert!(shown(support, &store).is_plainly_open());
        let now = Timestamp::from_millis(1_767_225_600_000);
        let desired = |state| Desired::new(state, now, StoreActor::Account, Requester::Panel);
        store.set_desired(StoreActor::Account, Some(desired(DesiredState::Closed)), now);
        assert!(shown(support, &store).is_pending());
        store.refuse(Explanation::text("kapatılamaz"), now);
        let refused = shown(support, &store);
        assert!(refused.needs_attention() && !refused.is_plainly_open());
        assert_eq!(
            refused.desired.map(|it| it.progress),
            Some(Progress::Refused(Some(Explanation::text("kapatılamaz"))))
        );
        store.set_desired(StoreActor::Account, Some(desired(DesiredState::Open)), now);
        assert!(!shown(support, &store).needs_attention());
    }

    #[test]
    fn store_that_is_closed_by_its_hours_has_nothing_to_open() {
        let (support, mut store) = record();
        store.actual.state = StoreState::Closed;
        assert!(shown(support, &store).can_open());
        store.actual.reason = Some(ReasonCode::OutsideHours.into());
        assert!(!shown(support, &store).can_open());
    }

    #[test]
    fn store_that_was_never_read_is_unknown() {
        let (support, store) = record();
        let unknown = ShownStore::new(store.provider, support, None);
        assert_eq!(unknown.state, StoreState::Unknown);
        assert!(!unknown.is_plainly_open() && !unknown.can_open());
    }
}
