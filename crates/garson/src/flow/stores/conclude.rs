//! Saves the result of a platform request: store, history and event in one transaction, unless the desired state has changed.

use super::load::LoadedStore;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::event::{OptionalEvent, STORE_CHANGED, StoreEvent, StoreEventReason, store_body};
use garson_core::id::{EventId, IntegrationId};
use garson_core::platform::CallError;
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_control::{
    Actual, Outcome, OutcomeKind, Requester, StoreProblem, StoreRecord, ThrottleLevel, ThrottleState,
};
use garson_core::store_status::{StoreActor, StoreChanged, StoreReading, StoreState};
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::accounts::reserve_positions;
use garson_store::tables::events::{NewEvent, write};
use garson_store::tables::{accounts, restaurant_history, store_settings, store_states};
use serde_json::{Value, json};
use std::sync::Arc;

/// Records that sending a version is about to start; `false` if the desired state has changed, or the store belongs to another node.
pub(super) async fn mark_started(app: &App, loaded: &LoadedStore) -> Result<bool, Fault> {
    let (id, version, node) = (loaded.store.integration_id, loaded.store.version, loaded.node);
    let mark = move |tx: &mut Tx<'_>| {
        let Some(mut store) = store_states::lock(tx, id)? else {
            return Ok(false);
        };
        if store.version != version || !store_states::is_held_by(tx, id, node)? {
            return Ok(false);
        }
        store.started_version = version;
        store_states::save(tx, &store)?;
        Ok(true)
    };
    app.store.write(loaded.store.account_id, mark).await
}

/// A change was sent: the platform has answered, or the request failed.
pub(super) async fn sent(
    app: &App,
    loaded: &LoadedStore,
    result: Result<StoreChanged, CallError>,
) -> Result<(), Fault> {
    let now = app.now();
    update(app, loaded, move |store| match &result {
        Ok(changed) => {
            store.succeed(changed, now);
            Note::Finished
        }
        Err(trouble) => {
            if !matches!(trouble, CallError::Unclear { .. }) {
                // The platform has not applied it, so it need not be read before the next attempt.
                store.started_version = store.started_version.min(store.version - 1);
            }
            failed(store, trouble, now)
        }
    })
    .await
}

/// A read shows that the platform has applied the desired state, although its answer was lost.
pub(super) async fn found_done(app: &App, loaded: &LoadedStore, reading: StoreReading) -> Result<(), Fault> {
    let (now, support, is_open) = (app.now(), loaded.support, loaded.is_open_by_hours(app.now()));
    update(app, loaded, move |store| {
        store.succeed(&StoreChanged::LASTING, now);
        store.observe(&reading, &support, is_open, now);
        Note::Finished
    })
    .await
}

/// The state could not be read before sending.
pub(super) async fn not_read(app: &App, loaded: &LoadedStore, trouble: CallError) -> Result<(), Fault> {
    let now = app.now();
    update(app, loaded, move |store| failed(store, &trouble, now)).await
}

/// The platform has closed the store by itself in the meantime: only a user may open it.
pub(super) async fn left_closed(app: &App, loaded: &LoadedStore) -> Result<(), Fault> {
    let now = app.now();
    update(app, loaded, move |store| {
        store.leave_closed(now);
        Note::Finished
    })
    .await
}

/// A desired state has expired: another one takes effect.
pub(super) async fn reconsidered(app: &App, loaded: &LoadedStore) -> Result<(), Fault> {
    let now = app.now();
    update(app, loaded, move |store| {
        if store.reconsider(now) {
            Note::Requested
        } else {
            Note::Nothing
        }
    })
    .await
}

/// A read has shown a change.
pub(super) async fn observed(app: &App, loaded: &LoadedStore, reading: StoreReading) -> Result<(), Fault> {
    let (now, support, is_open) = (app.now(), loaded.support, loaded.is_open_by_hours(app.now()));
    update(app, loaded, move |store| {
        let was_unknown = store.actual.state == StoreState::Unknown;
        let seen = store.observe(&reading, &support, is_open, now);
        if seen.is_undone {
            Note::Undone
        } else if seen.has_changed && !(was_unknown && store.problem.is_none()) {
            Note::Seen
        } else {
            Note::Nothing
        }
    })
    .await
}

/// A read failed; it is retried later.
pub(super) async fn postpone_reading(app: &App, loaded: &LoadedStore, until: Timestamp) -> Result<(), Fault> {
    update(app, loaded, move |store| {
        for at in [&mut store.control.read_at, &mut store.hours.due_at] {
            *at = at.map(|at| at.max(until));
        }
        Note::Nothing
    })
    .await
}

/// The history entry to write for a change of a store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Note {
    Nothing,
    Requested,
    Finished,
    Retried,
    Seen,
    Undone,
}

fn failed(store: &mut StoreRecord, trouble: &CallError, now: Timestamp) -> Note {
    let had_problem = store.problem == Some(StoreProblem::NotReopened);
    if store.fail(trouble, now) {
        Note::Finished
    } else if !had_problem && store.problem == Some(StoreProblem::NotReopened) {
        Note::Retried
    } else {
        Note::Nothing
    }
}

/// Changes a store if its version is still the loaded one, and writes history and event.
async fn update(
    app: &App,
    loaded: &LoadedStore,
    change: impl Fn(&mut StoreRecord) -> Note + Send + Sync + 'static,
) -> Result<(), Fault> {
    let (id, version): (IntegrationId, i64) = (loaded.store.integration_id, loaded.store.version);
    let (account, restaurant, now) = (loaded.store.account_id, loaded.store.restaurant_id, app.now());
    let change = Arc::new(change);
    let job = move |tx: &mut Tx<'_>| {
        let Some(mut store) = store_states::lock(tx, id)? else {
            return Ok(());
        };
        if store.version != version {
            // A later version takes effect; the worker continues with that one.
            return Ok(());
        }
        let before = store.clone();
        let note = change(&mut store);
        if store == before {
            return Ok(());
        }
        store_states::save(tx, &store)?;
        let entry = entry(&store, note, now);
        if let Some(entry) = entry
            .as_ref()
            .filter(|_| matches!(note, Note::Seen | Note::Undone))
        {
            let action = Recorded::new(RecordKind::Store, Verb::Changed)
                .id(store.provider)
                .restaurant(restaurant)
                .before(actual_detail(&before.actual))
                .after(entry.detail.clone());
            By::platform(account, store.provider).record(tx, action, now);
        }
        restaurant_history::record(tx, account, entry.as_slice(), now)?;
        suspend_throttle(tx, &before, &store)?;
        write_event(tx, &before.actual, &store, now)?;
        tx.wake_watchers(account);
        Ok::<_, Fault>(())
    };
    app.store.write(account, job).await?;
    app.store_waiters.wake(restaurant);
    Ok(())
}

fn entry(store: &StoreRecord, note: Note, now: Timestamp) -> Option<HistoryEntry> {
    let desired = store.control.desired.as_ref();
    let whose = desired.map_or((StoreActor::Platform, Requester::Service), |desired| {
        (desired.by, desired.requester)
    });
    let platform = (
        store.actual.by.unwrap_or(StoreActor::Platform),
        Requester::Service,
    );
    let (action, whose, detail) = match note {
        Note::Nothing => return None,
        Note::Requested => (HistoryAction::StoreRequested, whose, desired_detail(store)),
        Note::Finished => (HistoryAction::StoreResult, whose, result_detail(store)),
        Note::Retried => (HistoryAction::StoreRetried, whose, result_detail(store)),
        Note::Seen => (HistoryAction::StoreSeen, platform, actual_detail(&store.actual)),
        Note::Undone => (HistoryAction::StoreUndone, platform, actual_detail(&store.actual)),
    };
    let entry = HistoryEntry::new(store.restaurant_id, now, whose, action, detail);
    Some(entry.on(store.provider))
}

/// The desired state, for the history.
pub(super) fn desired_detail(store: &StoreRecord) -> Value {
    let Some(desired) = &store.control.desired else {
        return json!({});
    };
    json!({
        "state": desired.state, "until": desired.until, "busyMinutes": desired.busy_minutes,
        "reason": desired.reason, "note": desired.note,
    })
}

fn result_detail(store: &StoreRecord) -> Value {
    let mut detail = desired_detail(store);
    let outcome: Option<&Outcome> = store.control.outcome.as_ref().filter(|_| !store.is_pending());
    let result = outcome.map_or("pending", |it| it.kind.as_str());
    let message = outcome
        .and_then(|it| it.message.as_ref())
        .or(store.control.trouble.as_ref());
    if let Value::Object(fields) = &mut detail {
        fields.insert("result".to_owned(), json!(result));
        fields.insert("timer".to_owned(), json!(outcome.and_then(|it| it.timer)));
        fields.insert("message".to_owned(), json!(message.map(ToString::to_string)));
        // For the panel, which shows it in the user's language.
        fields.insert("cause".to_owned(), json!(message));
    }
    detail
}

fn actual_detail(actual: &Actual) -> Value {
    json!({
        "state": actual.state, "until": actual.until,
        "reason": actual.reason.as_ref().map(|reason| reason.code),
        "message": actual.reason.as_ref().and_then(|reason| reason.word.as_ref()),
    })
}

/// A closing by the throttle that the platform refused or undid is not repeated until the number of orders has fallen.
fn suspend_throttle(tx: &mut Tx<'_>, before: &StoreRecord, store: &StoreRecord) -> Result<(), Fault> {
    let was_dropped =
        before.control.by_source.throttle.is_some() && store.control.by_source.throttle.is_none();
    let has_failed = store
        .control
        .outcome
        .as_ref()
        .is_some_and(|it| matches!(it.kind, OutcomeKind::Refused | OutcomeKind::Undone));
    if !was_dropped || !has_failed {
        return Ok(());
    }
    let mut settings = store_settings::find(tx, store.restaurant_id)?;
    if settings.throttle.is_some() && settings.throttle_state.level != ThrottleLevel::None {
        settings.throttle_state = ThrottleState {
            is_suspended: true,
            ..ThrottleState::default()
        };
        store_settings::save(tx, store.account_id, store.restaurant_id, &settings)?;
    }
    Ok(())
}

/// Writes the event for accounts that have opted in.
fn write_event(tx: &mut Tx<'_>, before: &Actual, store: &StoreRecord, now: Timestamp) -> Result<(), Fault> {
    let actual = &store.actual;
    if before.is_same(actual) || before.state == StoreState::Unknown {
        return Ok(());
    }
    if !accounts::optional_events(tx, store.account_id)?.contains(OptionalEvent::Store) {
        return Ok(());
    }
    let mut places = reserve_positions(tx, store.account_id, 1, now)?;
    let id = EventId::at(places.at);
    let text = |code: garson_core::store_status::ReasonCode| {
        actual.note.as_deref().unwrap_or_else(|| code.texts().0)
    };
    let news = StoreEvent {
        old_state: before.state,
        state: actual.state,
        since: actual.since,
        until: actual.until,
        by: actual.by,
        reason: actual.reason.as_ref().map(|reason| StoreEventReason {
            code: reason.code,
            text: text(reason.code),
        }),
    };
    let body = store_body(id, store.restaurant_id, store.provider, &news, places.at);
    let event = NewEvent {
        id,
        account_id: store.account_id,
        restaurant_id: store.restaurant_id,
        order_id: None,
        sequence: None,
        name: STORE_CHANGED,
        body: &body,
    };
    Ok(write(tx, &event, &mut places)?)
}
