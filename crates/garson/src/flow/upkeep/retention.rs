//! Events are kept for some weeks; then they go, with their attempts, whether they were delivered or not.

use crate::app::App;
use crate::flow::Fault;
use garson_core::id::AccountId;
use garson_store::upkeep::retention;
use garson_store::upkeep::retention::Removed;
use std::time::{Duration, Instant};

/// Events removed in one job: a few milliseconds of the writer's time.
const CHUNK: i64 = 100;
/// Accounts that are looked at together.
const PAGE: i64 = 500;
/// Chunks in one step; then others that sweep have their turn.
const CHUNKS_IN_A_STEP: usize = 50;

/// How long events are kept.
#[must_use]
pub fn kept_for(app: &App) -> Duration {
    Duration::from_secs(u64::from(app.settings.webhook.keep_days) * 24 * 60 * 60)
}

/// Goes through all accounts and removes a chunk of each that has events which are too old; `false` when none had.
pub async fn step(app: &App) -> Result<bool, Fault> {
    let now = app.now();
    let oldest = now.minus(kept_for(app));
    let mut all = Removed::default();
    let mut chunks = 0;
    let mut after = None;
    while chunks < CHUNKS_IN_A_STEP {
        let looked = app
            .store
            .read(move |tx| retention::accounts_with_old_events(tx, after, oldest, PAGE))
            .await?;
        for account in looked.accounts {
            chunks += 1;
            match chunk(app, account).await {
                Ok(gone) => {
                    all.events += gone.events;
                    all.pending += gone.pending;
                }
                // It is tried again with the next step; the others do not wait for it.
                Err(fault) => {
                    tracing::error!(%account, ?fault, "an account's old events could not be removed");
                }
            }
        }
        after = looked.last;
        if after.is_none() {
            break;
        }
    }
    if all.pending > 0 {
        tracing::warn!(
            undelivered = all.pending,
            days = app.settings.webhook.keep_days,
            "events were removed that had not been delivered: they are kept no longer than that"
        );
    }
    Ok(all.events > 0)
}

async fn chunk(app: &App, account: AccountId) -> Result<Removed, Fault> {
    let now = app.now();
    let oldest = now.minus(kept_for(app));
    let began = Instant::now();
    let gone = app
        .store
        .write(account, move |tx| {
            retention::remove_chunk(tx, account, oldest, now, CHUNK)
        })
        .await?;
    // As long as it took: others get at least half of the writer.
    tokio::time::sleep(began.elapsed()).await;
    Ok(gone)
}
