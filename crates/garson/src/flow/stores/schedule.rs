//! Special days: the worker that closes and opens stores on time, because no platform supports special days.

use super::set_desired::set_all;
use crate::app::App;
use crate::flow::Fault;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_control::{Requester, schedule_step};
use garson_core::store_status::StoreActor;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::store_settings::StoreSettings;
use garson_store::tables::{restaurant_history, restaurants, store_settings};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(2);
/// Restaurants that are evaluated in one turn.
const AT_ONCE: i64 = 200;

/// Evaluates opening hours until the service stops.
pub async fn run(app: Arc<App>) {
    loop {
        let turn = step(&app).await;
        app.workers.note_turn(&turn);
        let pause = match turn {
            Ok(true) => Duration::from_millis(50),
            Ok(false) => INTERVAL,
            Err(fault) => {
                tracing::error!(?fault, "opening hours could not be evaluated");
                INTERVAL
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = app.store_signals.hours_changed.notified() => {}
        }
    }
}

/// Evaluates the hours of the restaurants that are due; `false` if there were none.
pub async fn step(app: &App) -> Result<bool, Fault> {
    if app.store.node_id().is_none() || !app.node_lease.is_valid() {
        return Ok(false);
    }
    let now = app.now();
    let due = app
        .store
        .read(move |tx| store_settings::schedules_due(tx, now, AT_ONCE))
        .await?;
    let mut has_evaluated = false;
    for (account, restaurant) in due {
        let evaluated = app
            .store
            .write(account, move |tx| evaluate_due(tx, (account, restaurant), now))
            .await;
        match evaluated {
            Ok(is_due) => has_evaluated |= is_due,
            Err(fault @ Fault::Store(_)) => return Err(fault),
            Err(fault) => {
                tracing::error!(%restaurant, ?fault, "opening hours of a restaurant could not be evaluated")
            }
        }
    }
    if has_evaluated {
        app.store_signals.wake();
    }
    Ok(has_evaluated)
}

fn evaluate_due(
    tx: &mut Tx<'_>,
    (account, restaurant): (AccountId, RestaurantId),
    now: Timestamp,
) -> Result<bool, Fault> {
    let exists = restaurants::lock(tx, account, restaurant)?;
    let mut settings = store_settings::find(tx, restaurant)?;
    // Another node may have evaluated them in the meantime.
    if !exists || settings.schedule_due_at.is_none_or(|at| at > now) {
        return Ok(false);
    }
    evaluate(tx, (account, restaurant), &mut settings, now)?;
    store_settings::save(tx, account, restaurant, &settings)?;
    Ok(true)
}

/// Evaluates the hours of a locked restaurant and sets the desired state of its stores. The caller saves the settings.
pub(super) fn evaluate(
    tx: &mut Tx<'_>,
    (account, restaurant): (AccountId, RestaurantId),
    settings: &mut StoreSettings,
    now: Timestamp,
) -> Result<(), Fault> {
    let before = settings.schedule.take();
    let (desired, due_at) = match &settings.hours {
        Some(hours) => {
            let step = schedule_step(hours, before.as_ref(), now);
            (step.desired, step.evaluate_at)
        }
        None => (None, None),
    };
    settings.schedule_due_at = due_at;
    if desired != before {
        let has_work = set_all(
            tx,
            (account, restaurant),
            StoreActor::Schedule,
            desired.as_ref(),
            now,
        )?;
        if has_work {
            let detail = json!({
                "state": desired.as_ref().map(|it| it.state), "until": desired.as_ref().and_then(|it| it.until),
            });
            let whose = (StoreActor::Schedule, Requester::Service);
            let entry = HistoryEntry::new(restaurant, now, whose, HistoryAction::StoreRequested, detail);
            restaurant_history::record(tx, account, &[entry], now)?;
        }
    }
    settings.schedule = desired;
    Ok(())
}
