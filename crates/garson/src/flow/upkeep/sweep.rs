//! Removes deleted and expired rows in small chunks between other writes.

use super::retention;
use crate::app::App;
use crate::flow::admin::FORGET_FAILURES;
use crate::flow::admin::printers::KEEP_PRINT_JOBS;
use crate::flow::admin::{audit, integrations, keys};
use crate::flow::idempotency::KEEP_ANSWERS;
use crate::flow::{By, Fault};
use garson_store::Partition;
use garson_store::tables::endpoint_stats::HourStats;
use garson_store::tables::endpoint_stats::KEPT_HOURS;
use garson_store::tables::{
    endpoint_stats, idempotency, inbox, messages, printers, restaurant_history, sessions, user_tokens,
    webhook_endpoints,
};
use garson_store::upkeep::sweep;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rows removed in one job: a few milliseconds of the writer's time.
const CHUNK: i64 = 100;
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);
const KEEP_ENDED_LINKS: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Sweeps until the service stops.
pub async fn run(app: Arc<App>) {
    loop {
        let started = Instant::now();
        let turn = step(&app).await;
        app.workers.note_turn(&turn);
        let pause = match turn {
            // A pause as long as the work: other jobs get at least half of the writer's time.
            Ok(true) => started.elapsed(),
            Ok(false) => SWEEP_INTERVAL,
            Err(fault) => {
                tracing::error!(?fault, "sweeping failed");
                Duration::from_secs(5)
            }
        };
        tokio::select! {
            () = app.wake_sweep.notified(), if pause == SWEEP_INTERVAL => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Removes one chunk of each kind; `false` when there was nothing to do. A failed part does not stop the others: it is logged,
/// or returned when no part removed anything.
pub async fn step(app: &App) -> Result<bool, Fault> {
    let parts = [
        sweep_deleted(app).await,
        sweep_endpoints(app).await,
        switch_off_uncovered(app).await,
        remove_expired(app).await,
        retention::step(app).await,
        audit::remove_old(app).await,
        keys::end_expired(app, CHUNK).await,
        remove_raw_messages(app).await,
    ];
    let has_worked = parts.iter().any(|part| matches!(part, Ok(true)));
    match parts.into_iter().find_map(Result::err) {
        Some(fault) if has_worked => tracing::error!(?fault, "sweeping failed in part"),
        Some(fault) => return Err(fault),
        None => {}
    }
    Ok(has_worked)
}

/// Removes a chunk of the first deleted restaurant that can be swept.
async fn sweep_deleted(app: &App) -> Result<bool, Fault> {
    let mut failed = None;
    loop {
        let after = failed;
        let next = app.store.read(move |tx| sweep::next_deleted(tx, after)).await?;
        let Some((account, restaurant)) = next else {
            return Ok(false);
        };
        let swept = app
            .store
            .write(account, move |tx| {
                sweep::remove_chunk(tx, account, restaurant, CHUNK)
            })
            .await;
        match swept {
            Ok(_) => return Ok(true),
            Err(error) if error.is_temporary() => return Err(error.into()),
            Err(error) => {
                tracing::error!(%account, %restaurant, %error, "a deleted restaurant could not be swept")
            }
        }
        failed = next;
    }
}

/// Removes a chunk of the first deleted endpoint that can be swept.
async fn sweep_endpoints(app: &App) -> Result<bool, Fault> {
    let mut failed = None;
    loop {
        let next = app
            .store
            .read(move |tx| webhook_endpoints::next_deleted(tx, failed))
            .await?;
        let Some((account, endpoint)) = next else {
            return Ok(false);
        };
        let swept = app
            .store
            .write(account, move |tx| {
                sweep::remove_endpoint_chunk(tx, account, endpoint, CHUNK)
            })
            .await;
        match swept {
            Ok(_) => return Ok(true),
            Err(error) if error.is_temporary() => return Err(error.into()),
            Err(error) => {
                tracing::error!(%account, %endpoint, %error, "a deleted endpoint could not be swept")
            }
        }
        failed = Some(endpoint);
    }
}

/// Switches off integrations whose package has ended.
async fn switch_off_uncovered(app: &App) -> Result<bool, Fault> {
    let now = app.now();
    let uncovered = app
        .store
        .read(move |tx| garson_store::tables::integrations::with_ended_package(tx, now, CHUNK))
        .await?;
    let mut has_switched = false;
    for (account, restaurant) in uncovered {
        let switched = app
            .store
            .write(account, move |tx| {
                integrations::switch_off_uncovered(tx, &By::system(account), restaurant, now)
            })
            .await;
        match switched {
            Ok(()) => has_switched = true,
            Err(fault) => {
                tracing::error!(%account, %restaurant, ?fault, "an integration without a package could not be switched off");
            }
        }
    }
    Ok(has_switched)
}

/// Removes platforms' messages as they were received after some time: they hold personal data.
async fn remove_raw_messages(app: &App) -> Result<bool, Fault> {
    let kept = Duration::from_secs(u64::from(app.settings.inbox.keep_days) * 24 * 3600);
    let before = app.now().minus(kept);
    let (removed, unprocessed) = app
        .store
        .write(Partition::COMMON, move |tx| {
            Ok::<_, Fault>(inbox::sweep(tx, before, CHUNK)?)
        })
        .await?;
    if unprocessed > 0 {
        let days = app.settings.inbox.keep_days;
        tracing::warn!(
            unprocessed,
            days,
            "removed messages that could not be processed before they expired"
        );
    }
    Ok(removed > 0)
}

/// Removes expired answers, sessions, resends and messages.
async fn remove_expired(app: &App) -> Result<bool, Fault> {
    let now = app.now();
    let (oldest_answer, oldest_resend) = (now.minus(KEEP_ANSWERS), now.minus(retention::kept_for(app)));
    let oldest_failure = now.minus(FORGET_FAILURES);
    // The page of users says for a while that an invitation was not accepted in time.
    let oldest_token = now.minus(KEEP_ENDED_LINKS);
    let oldest_print_job = now.minus(KEEP_PRINT_JOBS);
    let history = Duration::from_secs(u64::from(app.settings.stores.history_days) * 24 * 3600);
    let oldest_history = now.minus(history);
    let oldest_hour = HourStats::hour_of(now) - KEPT_HOURS;
    let removed = app
        .store
        .write(Partition::COMMON, move |tx| {
            Ok::<_, Fault>(
                idempotency::sweep(tx, oldest_answer, CHUNK)?
                    + sessions::sweep(tx, now, oldest_failure, CHUNK)?
                    + user_tokens::sweep(tx, oldest_token, CHUNK)?
                    + printers::sweep(tx, oldest_print_job, CHUNK)?
                    + garson_store::upkeep::retention::remove_resends(tx, oldest_resend, CHUNK)?
                    + messages::sweep(tx, oldest_resend, CHUNK)?
                    + restaurant_history::sweep(tx, oldest_history, CHUNK)?
                    + endpoint_stats::sweep(tx, oldest_hour, CHUNK)?,
            )
        })
        .await?;
    Ok(removed > 0)
}
