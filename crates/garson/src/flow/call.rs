//! Calls to platforms that were written down are made: at once, again after a pause, and after every restart.

use super::attempt::{Attempt, Verdict};
use super::conclude::conclude;
use super::{Fault, persist};
use crate::app::App;
use garson_core::id::IntegrationId;
use garson_core::order::{Actor, Order, ProviderSync};
use garson_core::platform::Trouble;
use garson_core::retry::backoff;
use garson_store::calls::{self, CallEnd, Delay, DueCall};
use garson_store::integrations::Connected;
use garson_store::{Lane, Tx, integrations, orders};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::Instant;

/// How long an attempt may take. The call is this node's while it lives; after the time of the lease, which is longer, the
/// node has lost sight of it, and takes it up again.
pub const DEADLINE: Duration = Duration::from_secs(10);
pub const LEASE: Duration = Duration::from_secs(15);
/// After so many tries, about a day, a platform that stays away is given up on.
const MAX_ATTEMPTS: i64 = 300;
/// How long the service goes on asking by itself where the platform names no deadline.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// How long it is tried to find out what became of a client's question.
const FIND_OUT: Duration = Duration::from_secs(60 * 60);
/// How often a client's question is looked after, its own attempt included, before it is taken for not done, and how long
/// after each other.
const LOOKS: i64 = 3;
const LOOK_ONCE_MORE: Duration = Duration::from_secs(5);
/// Calls leased at once, running at once, and running at once for one integration.
const BATCH: usize = 32;
const MAX_RUNNING: usize = 512;
const MAX_FOR_ONE: usize = 16;
/// When a call is tried again whose target is busy enough.
const BUSY_PAUSE: Duration = Duration::from_secs(1);
/// A row may have been written by another process; nothing wakes us for that.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Makes calls until the service ends.
pub async fn run(app: Arc<App>) {
    let mut desk = Desk::default();
    loop {
        match desk.start_due(&app).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(fault) => tracing::error!(?fault, "platform calls cannot be made"),
        }
        let pause = pause(&app).await;
        tokio::select! {
            Some(ended) = desk.running.join_next_with_id(), if !desk.running.is_empty() => desk.note_end(ended),
            () = app.wake_calls.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// How long until the next call is due.
async fn pause(app: &App) -> Duration {
    let Some(maker) = app.maker() else {
        return LOOK_AGAIN;
    };
    let next = app.store.read(move |tx| calls::next_due_at(tx, maker)).await;
    match next {
        Ok(Some(due_at)) => due_at
            .since(app.now())
            .clamp(Duration::from_millis(50), LOOK_AGAIN),
        _ => LOOK_AGAIN,
    }
}

/// Makes the calls that are due and waits for them; `false` when there were none.
pub async fn step(app: &Arc<App>) -> Result<bool, Fault> {
    let mut desk = Desk::default();
    let any = desk.start_due(app).await?;
    while desk.running.join_next().await.is_some() {}
    Ok(any)
}

/// The calls that are being made. None waits for another's target.
#[derive(Default)]
struct Desk {
    running: JoinSet<()>,
    /// For which integration each of them is.
    targets: HashMap<task::Id, IntegrationId>,
    busy: HashMap<IntegrationId, usize>,
}

impl Desk {
    /// Leases the calls that are due and starts them; `false` when there were none, or no room.
    async fn start_due(&mut self, app: &Arc<App>) -> Result<bool, Fault> {
        let room = MAX_RUNNING.saturating_sub(self.running.len()).min(BATCH);
        let now = app.now();
        let Some(maker) = app.maker().filter(|_| app.lease.is_valid()) else {
            return Ok(false);
        };
        // Looking costs the writer nothing; only what is really due is leased.
        let is_due = app
            .store
            .read(move |tx| calls::next_due_at(tx, maker))
            .await?
            .is_some_and(|due_at| due_at <= now);
        if room == 0 || !is_due {
            return Ok(false);
        }
        let limit = i64::try_from(room).unwrap_or(1);
        let lease = move |tx: &mut Tx<'_>| calls::lease_due(tx, now, maker, LEASE, limit);
        let due = app.store.write(Lane::COMMON, lease).await?;
        let any = !due.is_empty();
        for call in due {
            let busy = self.busy.entry(call.integration_id).or_default();
            if *busy >= MAX_FOR_ONE {
                let (account, later) = (call.account_id, now.plus(BUSY_PAUSE));
                app.store
                    .write(account, move |tx| calls::give_back(tx, &call, later))
                    .await?;
                continue;
            }
            *busy += 1;
            let (app, integration) = (Arc::clone(app), call.integration_id);
            let started = self.running.spawn(async move {
                if let Err(fault) = make(&app, &call).await {
                    // Its lease runs out, and the call is made again.
                    tracing::error!(call = %call.id, ?fault, "a platform call could not be made");
                }
            });
            self.targets.insert(started.id(), integration);
        }
        Ok(any)
    }

    fn note_end(&mut self, ended: Result<(task::Id, ()), JoinError>) {
        let id = match ended {
            Ok((id, ())) => id,
            Err(error) => {
                tracing::error!(%error, "a platform call ended badly");
                error.id()
            }
        };
        if let Some(busy) = self
            .targets
            .remove(&id)
            .and_then(|target| self.busy.get_mut(&target))
        {
            *busy = busy.saturating_sub(1);
        }
        self.busy.retain(|_, busy| *busy > 0);
    }
}

/// An order's call with everything that is needed to make it.
struct Material {
    order: Order,
    connected: Connected,
    preparation_minutes: Option<u32>,
}

async fn make(app: &App, call: &DueCall) -> Result<(), Fault> {
    let until = Instant::now() + DEADLINE;
    let vault = Arc::clone(&app.vault);
    let (order_id, integration_id) = (call.order_id, call.integration_id);
    let found = app
        .store
        .read(move |tx| {
            let order = orders::by_id(tx, order_id)?;
            let connected = integrations::by_id(tx, &vault, integration_id)?;
            let Some((order, connected)) = order.zip(connected) else {
                return Ok::<_, Fault>(None);
            };
            Ok(Some(Material {
                preparation_minutes: persist::preparation_minutes(tx, &order)?,
                order,
                connected,
            }))
        })
        .await?;
    let Some(Material {
        order,
        connected,
        preparation_minutes,
    }) = found
    else {
        return drop_call(app, call, "the integration was removed").await;
    };
    if !app.lease.is_valid() {
        // Others may have given this node up, and taken the call up.
        return Ok(());
    }
    let Some(contact) = app.contact(&connected) else {
        return drop_call(app, call, "the platform is not one of this version").await;
    };
    let asked_by_client = call.kind.is_question() && call.argument.by == Actor::Account;
    let attempt = Attempt {
        contact: &contact,
        order: &order,
        kind: call.kind,
        argument: &call.argument,
        preparation_minutes,
        // A question whose client has gone is only found again after something went wrong.
        is_unclear: call.is_unclear || asked_by_client,
        may_send: !asked_by_client,
        until,
    };
    let verdict = attempt.make(app).await;
    let next = match &verdict {
        Verdict::Trouble(trouble) => next_try(app, call, &order, trouble),
        // A platform may still be at work on what we stopped waiting for.
        Verdict::NotDone if call.attempts < LOOKS => Some(Delay {
            due_at: app.now().plus(LOOK_ONCE_MORE),
            is_unclear: true,
            not_yet_since: None,
            message: "the platform has not done it yet".to_owned(),
        }),
        _ => None,
    };
    match (next, verdict) {
        (Some(next), Verdict::Trouble(trouble)) => postpone(app, call, next, trouble.is_away()).await,
        (Some(next), _) => postpone(app, call, next, false).await,
        (None, verdict) => conclude(app, call, &contact, verdict).await.map(drop),
    }
}

/// Is a call in trouble tried again, and when? Not after a refusal, and not for ever.
fn next_try(app: &App, call: &DueCall, order: &Order, trouble: &Trouble) -> Option<Delay> {
    let now = app.now();
    let attempts = u32::try_from(call.attempts).unwrap_or(u32::MAX);
    // The random part of the call's id is jitter enough, and the same on every node.
    let usual = backoff(attempts, call.id.0.as_u128() as u32);
    let (pause, is_unclear) = match trouble {
        Trouble::Refused { .. } => return None,
        Trouble::NotYet { pause, patience, .. } => match call.not_yet_since {
            Some(since) if now.plus(*pause) > since.plus(*patience) => return None,
            _ => (*pause, false),
        },
        Trouble::Later { pause, .. } => (pause.unwrap_or(usual), false),
        Trouble::Unclear { .. } => (usual, true),
        Trouble::SessionOver => (usual, false),
    };
    let due_at = now.plus(pause);
    let gives_up_at = match (call.kind.is_question(), call.argument.by) {
        (true, Actor::Account) => Some(call.created_at.plus(FIND_OUT)),
        (true, _) => Some(order.accept_by.unwrap_or(call.created_at.plus(PATIENCE))),
        (false, _) => None,
    };
    let has_time = gives_up_at.is_none_or(|end| due_at <= end);
    let is_early = matches!(trouble, Trouble::NotYet { .. });
    (has_time && call.attempts < MAX_ATTEMPTS).then(|| Delay {
        due_at,
        is_unclear,
        not_yet_since: is_early.then(|| call.not_yet_since.unwrap_or(now)),
        message: trouble.to_string(),
    })
}

async fn postpone(app: &App, call: &DueCall, next: Delay, is_away: bool) -> Result<(), Fault> {
    let (kept, now) = (call.clone(), app.now());
    let shows = !call.kind.is_question() || call.argument.by == Actor::System;
    let write = move |tx: &mut Tx<'_>| {
        // The integration first, then the order, as everybody else does who changes both.
        if is_away {
            integrations::note_trouble(tx, kept.integration_id, &next.message, now)?;
        }
        postpone_in(tx, &kept, &next, shows)
    };
    app.store.write(call.account_id, write).await
}

fn postpone_in(tx: &mut Tx<'_>, call: &DueCall, next: &Delay, shows: bool) -> Result<(), Fault> {
    orders::lock(tx, call.order_id)?;
    if calls::postpone(tx, call, next)? && shows {
        orders::set_sync(tx, call.order_id, &ProviderSync::Pending { due_at: next.due_at })?;
    }
    Ok(())
}

async fn drop_call(app: &App, call: &DueCall, why: &'static str) -> Result<(), Fault> {
    let (kept, order, now) = (call.clone(), call.order_id, app.now());
    app.store
        .write(call.account_id, move |tx| {
            orders::lock(tx, order)?;
            if calls::finish(tx, &kept, CallEnd::Abandoned, Some(why), now)?
                && calls::open_of_order(tx, order)? == 0
            {
                orders::set_sync(tx, order, &ProviderSync::NotNeeded)?;
            }
            Ok::<_, Fault>(())
        })
        .await?;
    app.calls_ended.notify_waiters();
    Ok(())
}
