//! Sending again everything that has failed since a moment: work that goes on by itself, in small chunks, and after a
//! restart from where it was.
//!
//! The node that delivers for the account does it, since it hears at once of what has become due; for an account that nobody
//! delivers for, any node does. While enough of what was made due still waits for its first attempt, the rest stays where it
//! is: what happens now must not wait behind everything that failed before.

use crate::app::App;
use crate::flow::Fault;
use garson_core::id::{AccountId, ResendId};
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::resends;
use garson_store::tables::resends::{OpenResend, Resend};
use garson_store::tables::{accounts, deliveries};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Events made due in one job: a few milliseconds of the writer's time.
const CHUNK: usize = 100;
/// No more are made due while so many of the newest that were have not been tried.
const ENOUGH: i64 = 128;
const NEWEST: i64 = 256;
/// What one account may have under way at the same time.
const MAX_OF_ACCOUNT: usize = 10;
/// How often a receiver is looked at that has enough for now, and how often others' beginnings are looked for.
const SOON: Duration = Duration::from_millis(25);
const LOOK: Duration = Duration::from_secs(1);
/// The pause after the database has failed.
const TROUBLE_PAUSE: Duration = Duration::from_secs(5);
/// How many are listed.
const LISTED: i64 = 50;

/// Begins to send again what has failed since a moment, or answers the same that is under way already. The id is there
/// already when an earlier run of the same keyed request got this far: then it is that one.
pub async fn start(
    app: &App,
    account: AccountId,
    id: ResendId,
    since: Timestamp,
    with_skipped: bool,
) -> Result<Resend, Fault> {
    let now = app.now();
    // Counting takes as long as there is to count: readers do not keep anybody waiting.
    let planned = app
        .store
        .read(move |tx| match known(tx, account, id, since, with_skipped)? {
            Some(resend) => Ok::<_, Fault>(resend),
            None => Ok(resends::plan(tx, id, account, since, with_skipped, now)?),
        })
        .await?;
    let started = app
        .store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            if let Some(resend) = known(tx, account, id, since, with_skipped)? {
                return Ok(resend);
            }
            if accounts::webhook(tx, account)?.is_none() {
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
            // A few are done at once, unless the receiver has enough already.
            if deliveries::count_untried(tx, account, fresh.last_position, NEWEST)? >= ENOUGH {
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

/// The one of that id, or one that is under way and does the same.
fn known(
    tx: &mut Tx<'_>,
    account: AccountId,
    id: ResendId,
    since: Timestamp,
    with_skipped: bool,
) -> Result<Option<Resend>, Fault> {
    if let Some(resend) = resends::find(tx, account, id)? {
        return Ok(Some(resend));
    }
    let is_same = |open: &Resend| open.since == since && open.with_skipped == with_skipped;
    Ok(resends::open_of(tx, account)?.into_iter().find(is_same))
}

pub async fn find(app: &App, account: AccountId, id: ResendId) -> Result<Resend, Fault> {
    let found = app
        .store
        .read(move |tx| Ok::<_, Fault>(resends::find(tx, account, id)?))
        .await?;
    found.ok_or_else(|| Fault::not_found("retry", id))
}

/// The account's newest ones, the newest first.
pub async fn list(app: &App, account: AccountId) -> Result<Vec<Resend>, Fault> {
    app.store
        .read(move |tx| Ok(resends::list(tx, account, LISTED)?))
        .await
}

/// Works until the service ends.
pub async fn run(app: Arc<App>) {
    loop {
        let turn = round(&app).await;
        app.workers.note_turn(&turn);
        let pause = match turn {
            Ok(pause) => pause,
            Err(fault) => {
                tracing::error!(?fault, "sending again failed; it goes on");
                TROUBLE_PAUSE
            }
        };
        tokio::select! {
            () = app.wake_resend.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Does a chunk for each account that has something to do and room for it; says when to look again.
async fn round(app: &App) -> Result<Duration, Fault> {
    let (mut pause, mut has_failed) = (LOOK, false);
    let mut after = None;
    loop {
        let next = app
            .store
            .read(move |tx| resends::next_open(tx, after, NEWEST))
            .await?;
        let Some(open) = next else {
            return Ok(if has_failed { LOOK } else { pause });
        };
        let account = open.account;
        after = Some(account);
        let node = app.store.desk().node();
        if open.node.is_some() && open.node != node {
            continue;
        }
        pause = SOON;
        if open.untried < ENOUGH {
            let began = Instant::now();
            // It is tried again with the next round; the other accounts do not wait for it.
            if let Err(fault) = chunk(app, open).await {
                tracing::error!(?fault, %account, "an account's events could not be sent again");
                has_failed = true;
            }
            // As long as it took: others get at least half of the writer.
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
        tracing::info!(%account, %id, found = resend.found, requeued = resend.requeued, "sent again");
    }
    Ok(())
}
