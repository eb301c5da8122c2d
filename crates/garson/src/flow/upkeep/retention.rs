//! Removes events and their attempts after some weeks, whether they were delivered or not.

use crate::app::App;
use crate::flow::Fault;
use garson_core::id::AccountId;
use garson_store::upkeep::retention;
use garson_store::upkeep::retention::Removed;
use std::time::{Duration, Instant};

/// Events removed in one job: a few milliseconds of the writer's time.
const CHUNK: i64 = 100;
/// Accounts read at once.
const PAGE: i64 = 500;
/// Chunks in one step; then the other sweeps get their turn.
const CHUNKS_IN_A_STEP: usize = 50;

/// How long events are kept.
#[must_use]
pub fn kept_for(app: &App) -> Duration {
    Duration::from_secs(u64::from(app.settings.webhook.keep_days) * 24 * 60 * 60)
}

/// Removes a chunk of expired events of each account; `false` when there were none.
pub async fn step(app: &App) -> Result<bool, Fault> {
    let now = app.now();
    let oldest = now.minus(kept_for(app));
    let mut removed = Removed::default();
    let mut chunks = 0;
    let mut after = None;
    while chunks < CHUNKS_IN_A_STEP {
        let page = app
            .store
            .read(move |tx| retention::accounts_with_old_events(tx, after, oldest, PAGE))
            .await?;
        for account in page.accounts {
            chunks += 1;
            match remove_chunk(app, account).await {
                Ok(chunk) => {
                    removed.events += chunk.events;
                    removed.pending += chunk.pending;
                }
                // It is retried in the next step; the other accounts continue.
                Err(fault) => {
                    tracing::error!(%account, ?fault, "an account's old events could not be removed");
                }
            }
        }
        after = page.last;
        if after.is_none() {
            break;
        }
    }
    if removed.pending > 0 {
        tracing::warn!(
            undelivered = removed.pending,
            days = app.settings.webhook.keep_days,
            "removed events that had not been delivered before they expired"
        );
    }
    Ok(removed.events > 0)
}

async fn remove_chunk(app: &App, account: AccountId) -> Result<Removed, Fault> {
    let now = app.now();
    let oldest = now.minus(kept_for(app));
    let began = Instant::now();
    let removed = app
        .store
        .write(account, move |tx| {
            retention::remove_chunk(tx, account, oldest, now, CHUNK)
        })
        .await?;
    // A pause as long as the work: other jobs get at least half of the writer's time.
    tokio::time::sleep(began.elapsed()).await;
    Ok(removed)
}
