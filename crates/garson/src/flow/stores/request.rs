//! A user or program requests a state for the stores of a restaurant.

use super::conclude::desired_detail;
use super::set_desired::{is_connected, lock_or_create, support};
use super::view;
use super::view::StoreView;
use super::wait::wait_until;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, IntegrationId, RestaurantId};
use garson_core::integration::Integration;
use garson_core::opening_hours::OpeningHours;
use garson_core::platform::{Provider, StoreSupport};
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_control::{
    Desired, DesiredState, LONGEST_DURATION, OutcomeKind, Requester, StoreRecord, ThrottleLevel,
    ThrottleState,
};
use garson_core::store_status::{ReasonCode, StoreActor};
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::{integrations, restaurant_history, restaurants, store_settings, store_states};
use std::collections::HashMap;
use std::time::Duration;

/// Closings whose ends differ by no more than this are the same: the request was repeated.
const SAME_END: Duration = Duration::from_secs(60);

/// The requested state.
#[derive(Clone, Debug)]
pub struct StoreRequest {
    pub state: DesiredState,
    pub end: Option<RequestedEnd>,
    pub busy_minutes: Option<u32>,
    pub reason: Option<ReasonCode>,
    /// The reason in the requester's own words.
    pub note: Option<String>,
    /// Only these platforms; none: all connected ones.
    pub providers: Option<Vec<Provider>>,
    pub requester: Requester,
}

/// When a closing or a busy time ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestedEnd {
    At(Timestamp),
    Minutes(u32),
    /// At the next opening by the restaurant's hours.
    NextOpening,
}

/// The result of a request on a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestResult {
    Done,
    /// It is sent in the background.
    Pending(Option<Explanation>),
    Refused(Option<Explanation>),
    /// The platform does not offer it.
    Unsupported,
    /// A later request has replaced it.
    Replaced,
}

impl RequestResult {
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Pending(_) => "pending",
            Self::Refused(_) => "refused",
            Self::Unsupported => "unsupported",
            Self::Replaced => "replaced",
        }
    }

    #[must_use]
    pub const fn message(&self) -> Option<&Explanation> {
        match self {
            Self::Pending(message) | Self::Refused(message) => message.as_ref(),
            Self::Done | Self::Unsupported | Self::Replaced => None,
        }
    }
}

/// What was written for a request on a platform.
#[derive(Clone, Debug)]
enum Written {
    /// It is finished with this version.
    Version(i64),
    /// The store already has the requested state.
    Already,
    Off,
    Unsupported,
}

/// Requests a state for the stores of a restaurant, and waits some seconds for the platforms.
pub async fn change(
    app: &App,
    by: By,
    restaurant: RestaurantId,
    request: StoreRequest,
) -> Result<Vec<(StoreView, RequestResult)>, Fault> {
    let (account, now) = (by.account, app.now());
    check(&request, now)?;
    let written = app
        .store
        .write(account, move |tx| write(tx, (&by, restaurant), &request, now))
        .await?;
    app.store_signals.wake();
    let waiting = written.clone();
    let views = wait_until(
        app,
        restaurant,
        move |tx| view::read(tx, account, restaurant),
        move |views| views.iter().any(|view| is_pending(view, &waiting)),
    )
    .await?;
    let named = |view: StoreView| {
        let written = written.get(&view.integration.id)?;
        let result = result(&view, written);
        Some((view, result))
    };
    Ok(views.into_iter().filter_map(named).collect())
}

fn check(request: &StoreRequest, now: Timestamp) -> Result<(), Fault> {
    if request.state == DesiredState::Open && request.end.is_some() {
        return Err(Fault::invalid(
            "until",
            FieldProblem::text("is not possible with open"),
        ));
    }
    if request.state != DesiredState::Busy && request.busy_minutes.is_some() {
        return Err(Fault::invalid(
            "busyMinutes",
            FieldProblem::text("is possible with busy only"),
        ));
    }
    match request.end {
        Some(RequestedEnd::At(until)) if until <= now => Err(Fault::invalid(
            "until",
            FieldProblem::text("must be in the future"),
        )),
        Some(RequestedEnd::At(until)) if until > now.plus(LONGEST_DURATION) => {
            Err(Fault::invalid("until", FieldProblem::PeriodTooLong { days: 30 }))
        }
        Some(RequestedEnd::Minutes(minutes)) if !(1..=30 * 24 * 60).contains(&minutes) => {
            let (min, max) = (1, 30 * 24 * 60);
            Err(Fault::invalid(
                "minutes",
                FieldProblem::NotWholeNumber { min, max },
            ))
        }
        Some(RequestedEnd::NextOpening) if request.state == DesiredState::Busy => Err(Fault::invalid(
            "until",
            FieldProblem::text("must be a timestamp with busy"),
        )),
        _ => Ok(()),
    }
}

fn write(
    tx: &mut Tx<'_>,
    (by, restaurant): (&By, RestaurantId),
    request: &StoreRequest,
    now: Timestamp,
) -> Result<HashMap<IntegrationId, Written>, Fault> {
    let account = by.account;
    if !restaurants::lock(tx, account, restaurant)? {
        return Err(Fault::not_found(Thing::Restaurant, restaurant));
    }
    let desired = desired(tx, restaurant, request, now)?;
    let integrations = integrations::of_restaurant(tx, restaurant)?;
    check_providers(request, &integrations)?;
    let mut written = HashMap::new();
    let mut entries = Vec::new();
    for integration in &integrations {
        let is_named = match &request.providers {
            Some(providers) => providers.contains(&integration.provider),
            None => is_connected(integration),
        };
        if !is_named {
            continue;
        }
        let step = match support(integration) {
            None => Written::Unsupported,
            Some(support) if desired.state == DesiredState::Busy && support.busy_minutes.is_empty() => {
                Written::Unsupported
            }
            Some(_) if !is_connected(integration) => Written::Off,
            Some(support) => {
                let before = store_states::lock(tx, integration.id)?.map(|store| desired_detail(&store));
                let (step, entry) = request_store(tx, integration, &support, &desired, now)?;
                if let Some(entry) = &entry {
                    let action = Recorded::new(RecordKind::Store, Verb::Changed)
                        .id(integration.provider)
                        .restaurant(restaurant)
                        .before(before.unwrap_or_default())
                        .after(entry.detail.clone());
                    by.record(tx, action, now);
                }
                entries.extend(entry);
                step
            }
        };
        written.insert(integration.id, step);
    }
    restaurant_history::record(tx, account, &entries, now)?;
    if desired.state == DesiredState::Open {
        suspend_throttle(tx, account, restaurant)?;
    }
    Ok(written)
}

fn check_providers(request: &StoreRequest, integrations: &[Integration]) -> Result<(), Fault> {
    for provider in request.providers.iter().flatten() {
        if !integrations.iter().any(|it| it.provider == *provider) {
            return Err(Fault::NotConnected {
                provider: provider.to_string(),
            });
        }
    }
    Ok(())
}

fn desired(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    request: &StoreRequest,
    now: Timestamp,
) -> Result<Desired, Fault> {
    let mut until_next_opening = false;
    let until = match request.end {
        None => None,
        Some(RequestedEnd::At(until)) => Some(until),
        Some(RequestedEnd::Minutes(minutes)) => Some(now.plus(Duration::from_secs(u64::from(minutes) * 60))),
        Some(RequestedEnd::NextOpening) => {
            let hours = store_settings::find(tx, restaurant)?.hours;
            let next = hours.as_ref().and_then(|hours| hours.next_opening_after(now));
            // A platform knows only the weekly hours: on a special day its next opening differs.
            until_next_opening =
                next.is_some() && hours.and_then(|hours| weekly_opening(&hours, now)) == next;
            let problem = FieldProblem::text("needs opening hours: PUT /restaurants/{restaurantId}/hours");
            Some(next.ok_or_else(|| Fault::invalid("until", problem))?)
        }
    };
    Ok(Desired {
        until,
        until_next_opening,
        busy_minutes: request.busy_minutes,
        reason: request.reason,
        note: request.note.clone(),
        ..Desired::new(request.state, now, StoreActor::Account, request.requester)
    })
}

/// The next opening by the weekly hours alone.
fn weekly_opening(hours: &OpeningHours, now: Timestamp) -> Option<Timestamp> {
    let week = OpeningHours::weekly_in(hours.timezone(), hours.week().clone());
    week.ok()?.next_opening_after(now)
}

/// Writes the desired state of one store.
fn request_store(
    tx: &mut Tx<'_>,
    integration: &Integration,
    support: &StoreSupport,
    desired: &Desired,
    now: Timestamp,
) -> Result<(Written, Option<HistoryEntry>), Fault> {
    let mut store = lock_or_create(tx, integration)?;
    if is_repeated(&store, desired, support) {
        return Ok((Written::Already, None));
    }
    store.problem = None;
    if desired.state == DesiredState::Open {
        store.control.by_source.throttle = None;
    }
    store.set_desired(StoreActor::Account, Some(desired.clone()), now);
    store_states::save(tx, &store)?;
    let whose = (desired.by, desired.requester);
    let entry = HistoryEntry::new(
        store.restaurant_id,
        now,
        whose,
        HistoryAction::StoreRequested,
        desired_detail(&store),
    );
    Ok((Written::Version(store.version), Some(entry.on(store.provider))))
}

/// Was the same requested shortly before, and done? A second press of a button is not a second change.
fn is_repeated(store: &StoreRecord, new: &Desired, support: &StoreSupport) -> bool {
    let Some(current) = &store.control.desired else {
        return false;
    };
    let is_done = store
        .control
        .outcome
        .as_ref()
        .is_some_and(|it| it.kind == OutcomeKind::Done);
    let is_same_end = match (current.until, new.until) {
        (Some(a), Some(b)) => a.since(b).max(b.since(a)) <= SAME_END,
        (None, None) => true,
        _ => false,
    };
    let minutes =
        |it: &Desired| garson_core::store_control::fitting_minutes(it.busy_minutes, support.busy_minutes);
    !store.is_pending()
        && is_done
        && is_same_end
        && current.by == StoreActor::Account
        && current.state == new.state
        && minutes(current) == minutes(new)
        && store.actual.state == new.state.state()
        && new.at.since(current.at) <= SAME_END
}

/// A user who opens the stores overrides the throttle until the number of orders has fallen.
fn suspend_throttle(tx: &mut Tx<'_>, account: AccountId, restaurant: RestaurantId) -> Result<(), Fault> {
    let mut settings = store_settings::find(tx, restaurant)?;
    if settings.throttle.is_none() || settings.throttle_state.level == ThrottleLevel::None {
        return Ok(());
    }
    settings.throttle_state = ThrottleState {
        is_suspended: true,
        ..ThrottleState::default()
    };
    Ok(store_settings::save(tx, account, restaurant, &settings)?)
}

fn is_pending(view: &StoreView, written: &HashMap<IntegrationId, Written>) -> bool {
    match written.get(&view.integration.id) {
        Some(written @ Written::Version(_)) => matches!(result(view, written), RequestResult::Pending(_)),
        _ => false,
    }
}

fn result(view: &StoreView, written: &Written) -> RequestResult {
    let version = match written {
        Written::Version(version) => *version,
        Written::Already => return RequestResult::Done,
        Written::Off => return RequestResult::Refused(Some(PlatformFailure::IntegrationOff.into())),
        Written::Unsupported => return RequestResult::Unsupported,
    };
    let Some(store) = &view.store else {
        return RequestResult::Refused(Some(PlatformFailure::IntegrationRemoved.into()));
    };
    if store.version > version {
        return RequestResult::Replaced;
    }
    if store.is_pending() {
        return RequestResult::Pending(store.control.trouble.clone());
    }
    match &store.control.outcome {
        Some(outcome) if outcome.kind == OutcomeKind::Done => RequestResult::Done,
        Some(outcome) => RequestResult::Refused(outcome.message.clone()),
        None => RequestResult::Pending(None),
    }
}
