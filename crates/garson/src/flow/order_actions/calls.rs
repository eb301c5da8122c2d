//! Calls to platforms that were written down are made: at once, again after a pause, and after every restart.

mod in_flight;
mod slots;
mod waker;
mod worker;

pub use in_flight::InFlight;
pub use waker::{CallWaker, Hints, OrderWaiters};
pub use worker::{run, step};

use slots::Went;

use super::attempt::{Attempt, Verdict};
use super::conclude::conclude;
use crate::app::App;
use crate::flow::persist::sync_of;
use crate::flow::{Fault, persist};
use garson_core::order::{Actor, Order, ProviderSync};
use garson_core::platform::Trouble;
use garson_core::retry::backoff;
use garson_core::time::Timestamp;
use garson_store::tables::calls;
use garson_store::tables::calls::{CallEnd, Delay, DueCall};
use garson_store::tables::integrations::Connected;
use garson_store::tables::{integrations, orders};
use garson_store::{StoreErrorKind, Tx};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long an attempt may take. The call is this node's while it lives; after the time of the lease, which is longer, the
/// node has lost sight of it, and takes it up again.
pub const DEADLINE: Duration = Duration::from_secs(10);
pub const LEASE: Duration = Duration::from_secs(15);
/// After so many tries, about a day, a platform that stays away is given up on.
const MAX_ATTEMPTS: i64 = 300;
/// How long the service goes on asking by itself where the platform names no deadline.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// How long a refusal that may not last is answered with another try, before it is final.
const REFUSED_FOR: Duration = Duration::from_secs(10 * 60);
/// How long it is tried to find out what became of a client's question.
const FIND_OUT: Duration = Duration::from_secs(60 * 60);
/// How often a client's question is looked after, its own attempt included, before it is taken for not done, and how long
/// after each other.
const LOOKS: i64 = 3;
const LOOK_ONCE_MORE: Duration = Duration::from_secs(5);

/// An order's call with everything that is needed to make it.
struct Material {
    order: Order,
    connected: Connected,
    preparation_minutes: Option<u32>,
}

/// Makes a call that was leased, and writes down what came of it.
async fn make(app: &App, call: &DueCall) -> Result<Went, Fault> {
    match make_readable(app, call).await {
        Err(Fault::Store(error)) if error.kind == StoreErrorKind::Corrupt => {
            // Trying again would not help: its order or its integration is damaged.
            let why = format!("what the call needs cannot be read: {error}");
            tracing::error!(call = %call.id, order = %call.order_id, %error, "a platform call cannot be made");
            end_unsent(app, call, CallEnd::Failed, why).await?;
            Ok(Went::Unsent)
        }
        made => made,
    }
}

async fn make_readable(app: &App, call: &DueCall) -> Result<Went, Fault> {
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
        let why = "the integration was removed".to_owned();
        end_unsent(app, call, CallEnd::Abandoned, why).await?;
        return Ok(Went::Unsent);
    };
    let Some(contact) = app.contact(&connected) else {
        let why = "the platform is not one of this version".to_owned();
        end_unsent(app, call, CallEnd::Abandoned, why).await?;
        return Ok(Went::Unsent);
    };
    if !app.may_make(call) {
        // Others may have given this node up, and taken the call up; or it was stopped for longer than the lease.
        return Ok(Went::Unsent);
    }
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
    let went = match &verdict {
        Verdict::Trouble(Trouble::HeldBack { room_in, .. }) => Went::HeldBack(*room_in),
        Verdict::Trouble(trouble) if trouble.is_away() => Went::Away,
        _ => Went::Answered,
    };
    let next = match &verdict {
        Verdict::Trouble(trouble) => next_try(app, call, &order, trouble),
        // A platform may still be at work on what we stopped waiting for.
        Verdict::NotDone if call.attempts < LOOKS => Some(Delay {
            planned_at: app.now(),
            due_at: app.now().plus(LOOK_ONCE_MORE),
            is_attempt: true,
            is_unclear: true,
            not_yet_since: None,
            message: "the platform has not done it yet".to_owned(),
        }),
        _ => None,
    };
    match (next, verdict) {
        (Some(next), Verdict::Trouble(trouble)) => postpone(app, call, next, trouble.is_away()).await?,
        (Some(next), _) => postpone(app, call, next, false).await?,
        (None, verdict) => drop(conclude(app, call, &contact, verdict).await?),
    }
    Ok(went)
}

/// Whether and when a failed call is retried: not after a final refusal, and not forever.
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
        Trouble::RetryableRefusal { .. } => match call.not_yet_since {
            Some(since) if now.plus(usual) > since.plus(REFUSED_FOR) => return None,
            _ => (usual, false),
        },
        Trouble::Later { pause, .. } => (pause.unwrap_or(usual), false),
        Trouble::Unclear { .. } => (usual, true),
        Trouble::SessionOver => (usual, false),
        // Nothing was sent: what was unclear still is, and what was not yet in doubt is not.
        Trouble::HeldBack { room_in, .. } => (*room_in, call.is_unclear),
    };
    let due_at = now.plus(pause);
    let gives_up_at = match (call.kind.is_question(), call.argument.by) {
        (true, Actor::Account) => Some(call.created_at.plus(FIND_OUT)),
        (true, _) => Some(order.accept_by.unwrap_or(call.created_at.plus(PATIENCE))),
        (false, _) => None,
    };
    let has_time = gives_up_at.is_none_or(|end| due_at <= end);
    let is_attempt = !matches!(trouble, Trouble::HeldBack { .. });
    let not_yet_since = match trouble {
        Trouble::NotYet { .. } | Trouble::RetryableRefusal { .. } => Some(call.not_yet_since.unwrap_or(now)),
        Trouble::HeldBack { .. } => call.not_yet_since,
        _ => None,
    };
    (has_time && (call.attempts < MAX_ATTEMPTS || !is_attempt)).then(|| Delay {
        planned_at: now,
        due_at,
        is_attempt,
        is_unclear,
        not_yet_since,
        message: trouble.to_string(),
    })
}

async fn postpone(app: &App, call: &DueCall, next: Delay, is_away: bool) -> Result<(), Fault> {
    let (kept, now) = (call.clone(), app.now());
    let shows = !call.kind.is_question() || call.argument.by == Actor::System;
    let write = move |tx: &mut Tx<'_>| {
        // The integration first, then the order, as everybody else does who changes both.
        if is_away {
            integrations::record_trouble(tx, kept.integration_id, &next.message, now)?;
        }
        postpone_in(tx, &kept, &next, shows, now)
    };
    app.store.write(call.account_id, write).await
}

fn postpone_in(
    tx: &mut Tx<'_>,
    call: &DueCall,
    next: &Delay,
    shows: bool,
    now: Timestamp,
) -> Result<(), Fault> {
    let order = orders::lock(tx, call.order_id)?;
    if let (true, true, Some(stored)) = (calls::postpone(tx, call, next)?, shows, order) {
        let mut order = stored.clone();
        order.sync = ProviderSync::Pending { due_at: next.due_at };
        orders::set_progress(tx, &stored, &mut order, now)?;
    }
    Ok(())
}

/// Ends a call that cannot be made.
async fn end_unsent(app: &App, call: &DueCall, end: CallEnd, why: String) -> Result<(), Fault> {
    let (kept, now) = (call.clone(), app.now());
    app.store
        .write(call.account_id, move |tx| {
            if calls::finish(tx, &kept, end, Some(&why), now)? {
                let sync = sync_of(tx, kept.order_id, ProviderSync::NotNeeded)?;
                orders::set_sync_unread(tx, kept.order_id, &sync, now)?;
            }
            Ok::<_, Fault>(())
        })
        .await?;
    app.calls_ended.wake(call.order_id);
    Ok(())
}
