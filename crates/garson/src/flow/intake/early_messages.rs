//! Messages that come before their order, or while it is being committed.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::intake::inbox_retry::{Reach, retry_for};
use garson_core::id::{InboxId, IntegrationId};
use garson_core::platform::{Platform, Reception, Which};
use garson_store::Tx;
use garson_store::tables::{inbox, orders};
use std::sync::Arc;
use std::time::Duration;

/// By what the order of a message is known while it has not come.
pub(crate) fn identity_of(which: &Which) -> String {
    match which {
        Which::Identity(identity) => identity.clone(),
        Which::Ours(id) => id.to_string(),
    }
}

/// Is an order known that a message may be about, which was not when it was read?
pub(crate) fn is_known(
    tx: &mut Tx<'_>,
    platform: &dyn Platform,
    which: &Which,
    among: &[IntegrationId],
) -> Result<bool, Fault> {
    let found = match which {
        Which::Identity(identity) => orders::find_among(tx, platform.provider(), identity, among)?,
        Which::Ours(id) => orders::by_id(tx, *id)?.filter(|order| {
            order.provider == platform.provider()
                && (among.is_empty() || among.contains(&order.integration_id))
        }),
    };
    Ok(found.is_some())
}

/// When it is looked again for the orders of messages for which no account was locked: longer than a transaction can take
/// that was under way when they were kept.
const LOOK_AGAIN: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];
/// How far back messages are looked for: a little longer than that, and further after a start, since the process may have
/// ended before it looked.
const RECENT: Duration = Duration::from_mins(1);
const AFTER_START: Duration = Duration::from_hours(24);
/// How many messages are read at once.
const AT_ONCE: i64 = 100;
/// After a failure of storage.
const PAUSE: Duration = Duration::from_secs(5);

/// Takes messages that were kept because their order was not known, and missed it because it was being committed.
pub async fn run(app: Arc<App>) {
    let mut stopping = app.stopping.subscribe();
    let work = async {
        take_missed_patiently(&app, AFTER_START).await;
        loop {
            app.early_kept.notified().await;
            for pause in LOOK_AGAIN {
                tokio::time::sleep(pause).await;
                take_missed_patiently(&app, RECENT).await;
            }
        }
    };
    tokio::select! {
        () = work => {}
        _ = stopping.wait_for(|stops| *stops) => {}
    }
}

async fn take_missed_patiently(app: &Arc<App>, age: Duration) {
    loop {
        let turn = take_missed(app, age).await;
        app.workers.note_turn(&turn);
        let Err(fault) = turn else { return };
        tracing::warn!(?fault, "early messages could not be looked through");
        tokio::time::sleep(PAUSE).await;
    }
}

async fn take_missed(app: &Arc<App>, age: Duration) -> Result<(), Fault> {
    let mut after = (app.now().minus(age), InboxId(uuid::Uuid::nil()));
    loop {
        let from = after;
        let found = app
            .store
            .read(move |tx| inbox::unmatched_with_order(tx, from, AT_ONCE))
            .await?;
        let Some(last) = found.last() else {
            return Ok(());
        };
        after = *last;
        for (_, id) in found {
            match retry_for(app, id, Reach::SameSecret).await {
                Ok(Reception::Taken { order_id }) => {
                    tracing::info!(message = %id, order = %order_id, "a message was taken that had missed its order");
                }
                // Not for this order: it may be another integration's.
                Ok(_) => {}
                Err(fault) => {
                    tracing::warn!(?fault, message = %id, "a message whose order has come could not be taken")
                }
            }
        }
    }
}
