//! Retries messages that were stored without their order because the order was being committed at the same time.

use super::inbox_retry::{RetryScope, retry_for};
use crate::app::App;
use crate::flow::Fault;
use garson_core::id::InboxId;
use garson_core::platform::IntakeOutcome;
use garson_store::tables::inbox;
use std::sync::Arc;
use std::time::Duration;

/// Pauses before the retries. Together they are longer than a transaction that was open when the message was stored.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];
/// The age of the messages to retry: a little more than the pauses, and much more after a start, because the process may have
/// ended before it could retry.
const RECENT: Duration = Duration::from_mins(1);
const AFTER_START: Duration = Duration::from_hours(24);
const BATCH: i64 = 100;
const PAUSE_AFTER_STORE_ERROR: Duration = Duration::from_secs(5);

pub async fn run(app: Arc<App>) {
    let mut stopping = app.stopping.subscribe();
    let work = async {
        retry_until_read(&app, AFTER_START).await;
        loop {
            app.early_message_stored.notified().await;
            for pause in PAUSES {
                tokio::time::sleep(pause).await;
                retry_until_read(&app, RECENT).await;
            }
        }
    };
    tokio::select! {
        () = work => {}
        _ = stopping.wait_for(|stops| *stops) => {}
    }
}

async fn retry_until_read(app: &Arc<App>, age: Duration) {
    loop {
        let turn = retry_all(app, age).await;
        app.workers.note_turn(&turn);
        let Err(fault) = turn else { return };
        tracing::warn!(?fault, "early messages could not be read");
        tokio::time::sleep(PAUSE_AFTER_STORE_ERROR).await;
    }
}

async fn retry_all(app: &Arc<App>, age: Duration) -> Result<(), Fault> {
    let mut after = (app.now().minus(age), InboxId(uuid::Uuid::nil()));
    loop {
        let from = after;
        let found = app
            .store
            .read(move |tx| inbox::unmatched_with_order(tx, from, BATCH))
            .await?;
        let Some(last) = found.last() else {
            return Ok(());
        };
        after = *last;
        for (_, id) in found {
            match retry_for(app, id, RetryScope::SameSecret).await {
                Ok(IntakeOutcome::Taken { order_id }) => {
                    tracing::info!(message = %id, order = %order_id, "applied a message that had missed its order");
                }
                // The order may be another integration's.
                Ok(_) => {}
                Err(fault) => {
                    tracing::warn!(?fault, message = %id, "a message that had missed its order could not be applied")
                }
            }
        }
    }
}
