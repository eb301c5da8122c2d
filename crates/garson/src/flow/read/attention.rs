//! What of an account needs attention now: a failing receiver, events that were given up, platforms in trouble.
//!
//! Every page shows it, so it is read from short ranges of indexes and kept for some seconds.

use super::board;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::platform_trouble::TroubleRule;
use garson_core::id::AccountId;
use garson_store::tables::{accounts, deliveries, webhook_endpoints};
use std::sync::Arc;
use std::time::Duration;

pub use crate::app::attention::{Attention, PlatformProblem};

/// How long a result is reused.
const CACHED_FOR: Duration = Duration::from_secs(5);
/// How far events are counted.
const MAX_COUNT: i64 = 100;
/// A receiver may fail for this time before it is reported: it may just be restarting.
const GRACE: Duration = Duration::from_secs(15);
/// Events that were given up longer ago are not reported.
const LATELY: Duration = Duration::from_secs(24 * 60 * 60);

/// What needs attention, at most some seconds old.
pub async fn attention(app: &App, account: AccountId) -> Result<Arc<Attention>, Fault> {
    if let Some(cached) = app.attention.get(&account, CACHED_FOR) {
        return Ok(cached);
    }
    load(app, account).await
}

async fn load(app: &App, account: AccountId) -> Result<Arc<Attention>, Fault> {
    let (now, rule) = (app.now(), TroubleRule::of(app));
    let found = app
        .store
        .read(move |tx| {
            let (failing_events, failing_since) =
                deliveries::count_failing(tx, account, now.minus(GRACE), MAX_COUNT)?;
            Ok::<_, Fault>(Attention {
                failing_events,
                failing_since,
                given_up: deliveries::count_given_up(tx, account, now.minus(LATELY), MAX_COUNT)?,
                disabled_endpoints: webhook_endpoints::disabled(tx, account)?.len(),
                platforms: board::platform_problems(tx, account, &rule, now)?,
            })
        })
        .await?;
    let found = Arc::new(found);
    app.attention.put(account, Arc::clone(&found));
    Ok(found)
}

/// Stops reporting the events that were given up until now.
pub async fn acknowledge_given_up(app: &App, account: AccountId) -> Result<(), Fault> {
    app.store
        .write(account, move |tx| accounts::acknowledge_given_up(tx, account))
        .await?;
    load(app, account).await?;
    Ok(())
}
