//! The worker that reconciles the stores of this node.

use super::stores_due::StoreSchedule;
use crate::app::App;
use crate::flow::Fault;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How often due stores are searched; this node's own requests wake the worker.
const INTERVAL: Duration = Duration::from_secs(1);
/// How often the list of stores is refreshed, and the delay after a change.
const REFRESH_EVERY: Duration = Duration::from_secs(20);
const REFRESH_AFTER_CHANGE: Duration = Duration::from_millis(500);

/// Reconciles stores until the service stops.
pub async fn run(app: Arc<App>) {
    let mut schedule = StoreSchedule::default();
    let mut refresh_at = Instant::now();
    let mut refreshed_at = refresh_at;
    let mut search_at = refresh_at;
    let mut stopping = app.stopping.subscribe();
    while !*stopping.borrow_and_update() {
        if app.store_signals.take_integrations_changed() {
            // The restaurants of a chain may be connected one by one.
            refresh_at = refresh_at.min(refreshed_at + REFRESH_AFTER_CHANGE);
        }
        if Instant::now() >= refresh_at {
            let turn = schedule.refresh(&app).await;
            note(&app, &turn);
            refreshed_at = Instant::now();
            refresh_at = refreshed_at + REFRESH_EVERY;
        }
        if app.store_signals.take_read_all() {
            let turn = schedule.refresh(&app).await;
            note(&app, &turn);
            schedule.read_all_now();
        }
        if Instant::now() >= search_at {
            let turn = schedule.start_due(&app).await;
            note(&app, &turn);
            search_at = Instant::now() + INTERVAL;
        }
        tokio::select! {
            Some(round) = schedule.join_next() => match round {
                Ok(round) => schedule.finish(&app, round),
                Err(error) => tracing::error!(%error, "a round of a store was aborted"),
            },
            () = app.store_signals.woken() => search_at = Instant::now(),
            () = tokio::time::sleep_until(search_at.min(refresh_at)) => {}
            _ = stopping.changed() => {}
        }
    }
    // The times of recent reads are saved; if that fails, the stores are read again after the next start.
    let _ = schedule.save_readings(&app).await;
}

fn note(app: &App, turn: &Result<(), Fault>) {
    app.workers.note_turn(turn);
    if let Err(fault) = turn {
        tracing::error!(?fault, "stores could not be reconciled");
    }
}
