//! Sends all events again that failed since a given time: background work in small chunks that survives a restart.
//!
//! The node that delivers for the account does it, since it is notified at once of due deliveries; for an account without a
//! node, any node does. While enough requeued events wait for their attempt, no more are requeued: new events must not wait
//! behind all those that failed before.

use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::{AccountId, EndpointId, ResendId};
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::accounts;
use garson_store::tables::resends;
use garson_store::tables::resends::{OpenResend, Resend};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Events requeued in one job: a few milliseconds of the writer's time.
const CHUNK: usize = 100;
/// No more are requeued while this many of the newest requeued ones have not been tried.
const ENOUGH: i64 = 128;
const NEWEST: i64 = 256;
/// Resends that one account may run at the same time.
const MAX_OF_ACCOUNT: usize = 10;
/// The pause while a receiver has enough for now, and the pause before new resends are searched.
const SOON: Duration = Duration::from_millis(25);
const IDLE: Duration = Duration::from_secs(1);
/// The pause after the database has failed.
const ERROR_PAUSE: Duration = Duration::from_secs(5);
/// How many resends are listed.
const LISTED: i64 = 50;

/// Starts to resend events that failed since a given time, or returns the same resend if it is already running. If an earlier
/// run of the same idempotent request has already created the id, that one is returned.
pub async fn start(
    app: &App,
    by: By,
    endpoint: Option<EndpointId>,
    id: ResendId,
    since: Timestamp,
    with_skipped: bool,
) -> Result<Resend, Fault> {
    let wanted = Wanted {
        endpoint,
        since,
        with_skipped,
    };
    let (account, now) = (by.account, app.now());
    // Counting may take long: readers do not block other jobs.
    let planned = app
        .store
        .read(move |tx| match known(tx, account, id, wanted)? {
            Some(resend) => Ok::<_, Fault>(resend),
            None => Ok(resends::plan(
                tx,
                id,
                account,
                endpoint,
                since,
                with_skipped,
                now,
            )?),
        })
        .await?;
    let started = app
        .store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            if let Some(resend) = known(tx, account, id, wanted)? {
                return Ok(resend);
            }
            if !resends::has_receiver(tx, account, endpoint)? {
                return Err(Fault::NoWebhook);
            }
            if resends::open_of(tx, account)?.len() >= MAX_OF_ACCOUNT {
                return Err(Fault::TooManyRetries);
            }
            let fresh = Resend {
                id,
                ..planned.clone()
            };
            resends::start(tx, &fresh)?;
            let fields = json!({
                "since": since, "includeSkipped": with_skipped, "events": fresh.found, "endpoint": endpoint,
            });
            by.record(
                tx,
                Recorded::new(RecordKind::Event, Verb::Retried)
                    .id(id)
                    .after(fields),
                now,
            );
            // The first chunk is done at once, unless the receiver has enough already.
            if resends::count_untried(tx, account, endpoint, fresh.last_position, NEWEST)? >= ENOUGH {
                return Ok(fresh);
            }
            Ok(resends::step(tx, account, id, CHUNK, now)?.unwrap_or(fresh))
        })
        .await?;
    if started.finished_at.is_none() {
        app.wake_resend.notify_one();
    }
    Ok(started)
}

/// What is to be resent.
#[derive(Clone, Copy)]
struct Wanted {
    endpoint: Option<EndpointId>,
    since: Timestamp,
    with_skipped: bool,
}

/// The resend with that id, or a running one that does the same.
fn known(tx: &mut Tx<'_>, account: AccountId, id: ResendId, wanted: Wanted) -> Result<Option<Resend>, Fault> {
    if let Some(resend) = resends::find(tx, account, id)? {
        return Ok(Some(resend));
    }
    let is_same = |open: &Resend| {
        open.endpoint == wanted.endpoint
            && open.since == wanted.since
            && open.with_skipped == wanted.with_skipped
    };
    Ok(resends::open_of(tx, account)?.into_iter().find(is_same))
}

pub async fn find(app: &App, account: AccountId, id: ResendId) -> Result<Resend, Fault> {
    let found = app
        .store
        .read(move |tx| Ok::<_, Fault>(resends::find(tx, account, id)?))
        .await?;
    found.ok_or_else(|| Fault::not_found(Thing::Retry, id))
}

/// The account's newest resends, the newest first.
pub async fn list(app: &App, account: AccountId) -> Result<Vec<Resend>, Fault> {
    app.store
        .read(move |tx| Ok(resends::list(tx, account, LISTED)?))
        .await
}

/// Runs until the service stops.
pub async fn run(app: Arc<App>) {
    loop {
        let turn = round(&app).await;
        app.workers.note_turn(&turn);
        let pause = match turn {
            Ok(pause) => pause,
            Err(fault) => {
                tracing::error!(?fault, "resending failed and is retried");
                ERROR_PAUSE
            }
        };
        tokio::select! {
            () = app.wake_resend.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Requeues a chunk for each account with an open resend and room for it; returns the pause before the next round.
async fn round(app: &App) -> Result<Duration, Fault> {
    let (mut pause, mut has_failed) = (IDLE, false);
    let mut after = None;
    loop {
        let next = app
            .store
            .read(move |tx| resends::next_open(tx, after, NEWEST))
            .await?;
        let Some(open) = next else {
            return Ok(if has_failed { IDLE } else { pause });
        };
        let account = open.account;
        after = Some((account, open.id));
        let node = app.store.node_id();
        if open.node.is_some() && open.node != node {
            continue;
        }
        pause = SOON;
        if open.untried < ENOUGH {
            let began = Instant::now();
            // It is retried in the next round; the other accounts continue.
            if let Err(fault) = chunk(app, open).await {
                tracing::error!(?fault, %account, "an account's events could not be resent");
                has_failed = true;
            }
            // A pause as long as the work: other jobs get at least half of the writer's time.
            tokio::time::sleep(began.elapsed()).await;
        }
    }
}

async fn chunk(app: &App, open: OpenResend) -> Result<(), Fault> {
    let now = app.now();
    let OpenResend { account, id, .. } = open;
    let done = app
        .store
        .write(account, move |tx| resends::step(tx, account, id, CHUNK, now))
        .await?;
    if let Some(resend) = done.filter(|resend| resend.finished_at.is_some()) {
        tracing::info!(%account, %id, found = resend.found, requeued = resend.requeued, "resend finished");
    }
    Ok(())
}
