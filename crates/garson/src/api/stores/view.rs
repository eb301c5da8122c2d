//! The stores of a restaurant as the API shows them.

use crate::flow::stores::{RequestResult, StoreView};
use garson_core::platform::StoreSupport;
use garson_core::store_control::{Actual, Desired, StoreProblem, StoreRecord, Timer};
use garson_core::store_status::{ReasonCode, StoreState};
use garson_core::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// The stores of a restaurant, one for each platform that it is connected to.
#[derive(Serialize, ToSchema)]
pub struct Stores {
    pub(super) platforms: Vec<PlatformStore>,
}

/// The restaurant's store on a platform. This is whether the platform takes orders for the restaurant; whether Garson uses the
/// platform at all is `enabled`, the integration's `isActive`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PlatformStore {
    provider: String,
    /// Whether the integration is switched on. The store of one that is off is neither read nor changed.
    enabled: bool,
    #[schema(value_type = StoreStateSchema)]
    state: &'static str,
    #[schema(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// When it opens again automatically.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// Who is responsible for the state, if known.
    #[schema(value_type = Option<StoreActorSchema>)]
    by: Option<&'static str>,
    reason: Option<StoreReasonView>,
    /// When the platform was last read; null if it never was.
    #[schema(value_type = Option<String>, format = DateTime)]
    checked_at: Option<Timestamp>,
    /// Whether the platform currently accepts changes, as far as it reports that.
    can_change: bool,
    #[schema(value_type = Option<StoreProblemSchema>)]
    problem: Option<&'static str>,
    /// The last requested state and its progress; null if none was ever requested.
    wanted: Option<WantedStore>,
    /// What the platform offers; null if its stores cannot be controlled.
    supports: Option<SupportView>,
    /// In the answer to a change: the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<StoreResultSchema>)]
    result: Option<&'static str>,
    /// In the answer to a change: why it was refused or is pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Why a store is in its state.
#[derive(Serialize, ToSchema)]
struct StoreReasonView {
    code: &'static str,
    /// The text for staff, in Turkish, or the requester's own words.
    text: String,
    /// The platform's own word.
    word: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WantedStore {
    #[schema(value_type = WantedStateSchema)]
    state: &'static str,
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    busy_minutes: Option<u32>,
    #[schema(value_type = StoreActorSchema)]
    by: &'static str,
    reason: Option<StoreReasonView>,
    #[schema(value_type = String, format = DateTime)]
    requested_at: Timestamp,
    /// Increases with every change of the desired state.
    version: i64,
    /// The last version that is finished: the platform has done or refused it.
    finished_version: i64,
    #[schema(value_type = WantedResultSchema)]
    result: &'static str,
    message: Option<String>,
    /// What opens the store at `until`: the platform's own timer, or Garson.
    #[schema(value_type = Option<TimerSchema>)]
    timer: Option<&'static str>,
}

/// What a platform offers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SupportView {
    /// The lengths of a closing, in minutes, for which the platform has its own timer. Garson keeps any other end.
    durations: Vec<u32>,
    /// The reasons that are passed on to the platform.
    reasons: Vec<StoreReasonView>,
    /// The minutes by which busy mode lengthens the delivery time; empty: there is no busy mode.
    busy_minutes: Vec<u32>,
    /// The platform can close the store until its next opening.
    until_next_opening: bool,
    /// The platform may close the store by itself.
    closes_by_itself: bool,
}

/// `unknown`: the platform was not read yet, or its answer was not understood. `unsupported`: the platform does not
/// offer it.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = StoreState, rename_all = "snake_case")]
enum StoreStateSchema {
    Open,
    Busy,
    Closed,
    Unknown,
    Unsupported,
}

#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = WantedStoreState, rename_all = "snake_case")]
pub(super) enum WantedStateSchema {
    Open,
    Busy,
    Closed,
}

/// `account`: a key, the panel, or staff on the platform's own screen. `platform`: the platform by itself. `schedule`: the
/// opening hours. `throttle`: too many orders.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = StoreActor, rename_all = "snake_case")]
enum StoreActorSchema {
    Account,
    Platform,
    Schedule,
    Throttle,
}

/// `done`: the platform has done it. `pending`: it is sent in the background. `refused`: the platform has refused it, with its
/// message. `unsupported`: the platform does not offer it. `replaced`: a later change has replaced it.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = StoreResult, rename_all = "snake_case")]
enum StoreResultSchema {
    Done,
    Pending,
    Refused,
    Unsupported,
    Replaced,
}

/// `left_closed`: it was not opened, because the platform had closed it by itself. `undone`: it was done, but the platform
/// has since shown a different state.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = WantedResult, rename_all = "snake_case")]
enum WantedResultSchema {
    Done,
    Pending,
    Refused,
    LeftClosed,
    Undone,
}

/// `closed_by_platform`: the platform has closed it by itself. `not_reopened`: it could not be opened at the end of a closing; that
/// is tried again. `not_closed`: it is open although it was closed.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = StoreProblem, rename_all = "snake_case")]
enum StoreProblemSchema {
    ClosedByPlatform,
    NotReopened,
    NotClosed,
}

#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = StoreTimer, rename_all = "snake_case")]
enum TimerSchema {
    Platform,
    Garson,
}

impl StoreReasonView {
    fn new(code: ReasonCode, note: Option<&String>, word: Option<String>) -> Self {
        Self {
            code: code.as_str(),
            text: note.cloned().unwrap_or_else(|| code.texts().0.to_owned()),
            word,
        }
    }
}

impl SupportView {
    fn new(support: &StoreSupport, actual: Option<&Actual>) -> Self {
        let offer = actual.and_then(|actual| actual.offer.as_ref());
        let reasons = match offer {
            Some(offer) if !offer.reasons.is_empty() => offer.reasons.as_slice(),
            _ => support.reasons,
        };
        let durations = match offer {
            Some(offer) if !offer.minutes.is_empty() => offer.minutes.clone(),
            _ => support.durations.minutes().to_vec(),
        };
        Self {
            durations,
            reasons: reasons
                .iter()
                .map(|code| StoreReasonView::new(*code, None, None))
                .collect(),
            busy_minutes: support.busy_minutes.to_vec(),
            until_next_opening: support.until_next_opening,
            closes_by_itself: support.closes_by_itself,
        }
    }
}

impl WantedStore {
    fn new(store: &StoreRecord, desired: &Desired) -> Self {
        let outcome = store.control.outcome.as_ref().filter(|_| !store.is_pending());
        let message = outcome
            .and_then(|it| it.message.as_ref())
            .or(store.control.trouble.as_ref());
        Self {
            state: desired.state.as_str(),
            until: desired.until,
            busy_minutes: desired.busy_minutes,
            by: desired.by.as_str(),
            reason: desired
                .reason
                .map(|code| StoreReasonView::new(code, desired.note.as_ref(), None)),
            requested_at: desired.at,
            version: store.version,
            finished_version: store.finished_version,
            result: outcome.map_or("pending", |it| it.kind.as_str()),
            message: message.map(ToString::to_string),
            timer: outcome.and_then(|it| it.timer).map(Timer::as_str),
        }
    }
}

impl From<StoreView> for PlatformStore {
    fn from(view: StoreView) -> Self {
        let store = view.store.as_ref();
        let actual = store.map(|store| &store.actual);
        let state = match (view.support, actual) {
            (None, _) => StoreState::Unsupported,
            (Some(_), Some(actual)) => actual.state,
            (Some(_), None) => StoreState::Unknown,
        };
        let reason = actual.and_then(|actual| {
            let reason = actual.reason.as_ref()?;
            Some(StoreReasonView::new(
                reason.code,
                actual.note.as_ref(),
                reason.word.clone(),
            ))
        });
        Self {
            provider: view.integration.provider.to_string(),
            enabled: view.integration.is_active,
            state: state.as_str(),
            since: actual.and_then(|actual| actual.since),
            until: actual.and_then(|actual| actual.until),
            by: actual.and_then(|actual| actual.by).map(|by| by.as_str()),
            reason,
            checked_at: store.and_then(|store| store.checked_at),
            can_change: view.support.is_some() && actual.is_none_or(|actual| !actual.is_locked),
            problem: store.and_then(|store| store.problem).map(StoreProblem::as_str),
            wanted: store.and_then(|store| {
                let desired = store.control.desired.as_ref()?;
                Some(WantedStore::new(store, desired))
            }),
            supports: view.support.map(|support| SupportView::new(&support, actual)),
            result: None,
            message: None,
        }
    }
}

impl From<(StoreView, RequestResult)> for PlatformStore {
    fn from((view, result): (StoreView, RequestResult)) -> Self {
        Self {
            result: Some(result.as_str()),
            message: result.message().map(ToString::to_string),
            ..view.into()
        }
    }
}
