//! Whether and when a failed call is retried.

use crate::app::App;
use crate::flow::Fault;
use garson_core::order::{Actor, Order, ProviderSync};
use garson_core::platform::CallError;
use garson_core::retry::backoff;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::calls::{Delay, DueCall};
use garson_store::tables::{calls, integrations, orders};
use std::time::Duration;

/// After this many attempts, about a day, an unavailable platform is given up.
const MAX_ATTEMPTS: i64 = 300;
/// How long the service repeats its own questions if the platform names no deadline.
const OWN_QUESTION_FOR: Duration = Duration::from_secs(15 * 60);
/// How long a refusal that may be temporary is retried before it is final.
const REFUSED_FOR: Duration = Duration::from_secs(10 * 60);
/// How long the outcome of a client's question is read for.
const CLIENT_QUESTION_FOR: Duration = Duration::from_secs(60 * 60);

/// When a failed call is retried; none after a final refusal, or when the time for it is over.
pub fn next_try(app: &App, call: &DueCall, order: &Order, trouble: &CallError) -> Option<Delay> {
    let now = app.now();
    let attempts = u32::try_from(call.attempts).unwrap_or(u32::MAX);
    // The random part of the call's id is jitter enough, and the same on every node.
    let usual = backoff(attempts, call.id.0.as_u128() as u32);
    let (pause, is_unclear) = match trouble {
        CallError::Refused { .. } => return None,
        CallError::NotYet { pause, patience, .. } => match call.not_yet_since {
            Some(since) if now.plus(*pause) > since.plus(*patience) => return None,
            _ => (*pause, false),
        },
        CallError::RetryableRefusal { .. } => match call.not_yet_since {
            Some(since) if now.plus(usual) > since.plus(REFUSED_FOR) => return None,
            _ => (usual, false),
        },
        CallError::Later { pause, .. } => (pause.unwrap_or(usual), false),
        CallError::Unclear { .. } => (usual, true),
        CallError::SessionOver => (usual, false),
        // Nothing was sent: the call is as unclear as it was before.
        CallError::HeldBack { room_in, .. } => (*room_in, call.is_unclear),
    };
    let due_at = now.plus(pause);
    let gives_up_at = match (call.kind.is_question(), call.argument.by) {
        (true, Actor::Account) => Some(call.created_at.plus(CLIENT_QUESTION_FOR)),
        (true, _) => Some(order.accept_by.unwrap_or(call.created_at.plus(OWN_QUESTION_FOR))),
        (false, _) => None,
    };
    let has_time = gives_up_at.is_none_or(|end| due_at <= end);
    let is_attempt = !matches!(trouble, CallError::HeldBack { .. });
    let not_yet_since = match trouble {
        CallError::NotYet { .. } | CallError::RetryableRefusal { .. } => {
            Some(call.not_yet_since.unwrap_or(now))
        }
        CallError::HeldBack { .. } => call.not_yet_since,
        _ => None,
    };
    (has_time && (call.attempts < MAX_ATTEMPTS || !is_attempt)).then(|| Delay {
        planned_at: now,
        due_at,
        is_attempt,
        is_unclear,
        not_yet_since,
        message: trouble.explanation(),
    })
}

/// Writes when a call is due again, and whether its platform was unavailable.
pub async fn postpone(app: &App, call: &DueCall, next: Delay, is_away: bool) -> Result<(), Fault> {
    let (copy, now) = (call.clone(), app.now());
    let write = move |tx: &mut Tx<'_>| {
        // The integration is locked before the order, as everywhere, against deadlocks.
        if is_away {
            integrations::record_trouble(tx, copy.integration_id, &next.message, now)?;
        }
        postpone_in(tx, &copy, &next, now)
    };
    app.store.write(call.account_id, write).await
}

fn postpone_in(tx: &mut Tx<'_>, call: &DueCall, next: &Delay, now: Timestamp) -> Result<(), Fault> {
    let order = orders::lock(tx, call.order_id)?;
    // A client's question does not show in its order.
    let shows = !call.kind.is_question() || call.argument.by == Actor::System;
    if let (true, true, Some(stored)) = (calls::postpone(tx, call, next)?, shows, order) {
        let mut order = stored.clone();
        order.sync = ProviderSync::Pending { due_at: next.due_at };
        orders::set_progress(tx, &stored, &mut order, now)?;
    }
    Ok(())
}
