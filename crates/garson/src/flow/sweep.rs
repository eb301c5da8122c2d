//! What is deleted, expired or over is removed in small chunks between everybody else's writes.

use super::sessions::FORGET_FAILURES;
use super::{Fault, integrations, retention};
use crate::app::App;
use garson_store::{Lane, idempotency, sessions, sweep};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rows removed in one job: a few milliseconds of the writer's time.
const CHUNK: i64 = 100;
const LOOK_AGAIN: Duration = Duration::from_secs(60);
/// How long an answer is kept under its key.
pub const KEEP_ANSWERS: Duration = Duration::from_secs(24 * 60 * 60);

/// Sweeps until the service ends.
pub async fn run(app: Arc<App>) {
    loop {
        let started = Instant::now();
        let pause = match step(&app).await {
            // As long as it took: others get at least half of the writer.
            Ok(true) => started.elapsed(),
            Ok(false) => LOOK_AGAIN,
            Err(fault) => {
                tracing::error!(?fault, "sweeping failed");
                Duration::from_secs(5)
            }
        };
        tokio::select! {
            () = app.wake_sweep.notified(), if pause == LOOK_AGAIN => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Removes one chunk; `false` when there was nothing to do.
pub async fn step(app: &App) -> Result<bool, Fault> {
    let now = app.now();
    if let Some((account, restaurant)) = app.store.read(sweep::next_deleted).await? {
        app.store
            .write(account, move |tx| sweep::chunk(tx, account, restaurant, CHUNK))
            .await?;
        return Ok(true);
    }
    let uncovered = app
        .store
        .read(move |tx| garson_store::integrations::with_an_ended_package(tx, now, CHUNK))
        .await?;
    for integration in &uncovered {
        let (account, restaurant) = (integration.account_id, integration.restaurant_id);
        app.store
            .write(account, move |tx| {
                integrations::switch_off_uncovered(tx, account, restaurant, now)
            })
            .await?;
    }
    let (oldest_answer, oldest_resend) = (now.minus(KEEP_ANSWERS), now.minus(retention::kept_for(app)));
    let oldest_failure = now.minus(FORGET_FAILURES);
    let removed = app
        .store
        .write(Lane::COMMON, move |tx| {
            Ok::<_, Fault>(
                idempotency::sweep(tx, oldest_answer, CHUNK)?
                    + sessions::sweep(tx, now, oldest_failure, CHUNK)?
                    + garson_store::retention::resends(tx, oldest_resend, CHUNK)?,
            )
        })
        .await?;
    let has_forgotten = retention::step(app).await?;
    Ok(removed > 0 || has_forgotten || !uncovered.is_empty())
}
