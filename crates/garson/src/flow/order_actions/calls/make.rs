//! Makes one leased call and records its outcome.

use super::attempt::{Attempt, Verdict};
use super::conclude::conclude;
use super::retry::{next_try, postpone};
use super::slots::PlatformAnswer;
use super::timing::DEADLINE;
use crate::app::App;
use crate::flow::{Fault, persist};
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::order::{Actor, Order, ProviderSync};
use garson_core::platform::CallError;
use garson_store::StoreErrorKind;
use garson_store::tables::calls::{CallEnd, Delay, DueCall};
use garson_store::tables::integrations::Connected;
use garson_store::tables::{calls, integrations, orders};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How often the outcome of a client's question is read, its own attempt included, before it counts as not done, and the pause
/// between reads.
const MAX_READS: i64 = 3;
const READ_PAUSE: Duration = Duration::from_secs(5);

/// What a call needs.
struct CallContext {
    order: Order,
    connected: Connected,
    preparation_minutes: Option<u32>,
}

pub async fn make(app: &App, call: &DueCall) -> Result<PlatformAnswer, Fault> {
    match make_readable(app, call).await {
        Err(Fault::Store(error)) if error.kind == StoreErrorKind::Corrupt => {
            // A retry would not help: its order or its integration is damaged.
            let why = PlatformFailure::CallUnreadable {
                error: error.to_string(),
            };
            tracing::error!(call = %call.id, order = %call.order_id, %error, "a platform call cannot be made");
            end_unsent(app, call, CallEnd::Failed, why.into()).await?;
            Ok(PlatformAnswer::Unsent)
        }
        made => made,
    }
}

async fn make_readable(app: &App, call: &DueCall) -> Result<PlatformAnswer, Fault> {
    let until = Instant::now() + DEADLINE;
    let Some(context) = load(app, call).await? else {
        let why = PlatformFailure::IntegrationRemoved;
        end_unsent(app, call, CallEnd::Abandoned, why.into()).await?;
        return Ok(PlatformAnswer::Unsent);
    };
    let Some(contact) = app.contact(&context.connected) else {
        let why = PlatformFailure::UnknownPlatform;
        end_unsent(app, call, CallEnd::Abandoned, why.into()).await?;
        return Ok(PlatformAnswer::Unsent);
    };
    if !app.may_make(call) {
        // Another node may be making the call, or this process was suspended for longer than the lease.
        return Ok(PlatformAnswer::Unsent);
    }
    let asked_by_client = call.kind.is_question() && call.argument.by == Actor::Account;
    let attempt = Attempt {
        contact: &contact,
        order: &context.order,
        call,
        preparation_minutes: call.argument.preparation_minutes.or(context.preparation_minutes),
        // A client's question comes here only after its own attempt went wrong.
        is_unclear: call.is_unclear || asked_by_client,
        may_send: !asked_by_client,
        until,
    };
    let verdict = attempt.make(app).await;
    let answer = match &verdict {
        Verdict::CallError(CallError::HeldBack { room_in, .. }) => PlatformAnswer::HeldBack(*room_in),
        Verdict::CallError(trouble) if trouble.is_away() => PlatformAnswer::PlatformProblem,
        _ => PlatformAnswer::Answered,
    };
    match &verdict {
        Verdict::CallError(trouble) if let Some(next) = next_try(app, call, &context.order, trouble) => {
            postpone(app, call, next, trouble.is_away()).await?;
        }
        // The platform may still be processing the request that timed out.
        Verdict::NotDone if call.attempts < MAX_READS => {
            postpone(app, call, read_again(app), false).await?;
        }
        _ => {
            conclude(app, call, &contact, verdict).await?;
        }
    }
    Ok(answer)
}

async fn load(app: &App, call: &DueCall) -> Result<Option<CallContext>, Fault> {
    let vault = Arc::clone(&app.vault);
    let (order_id, integration_id) = (call.order_id, call.integration_id);
    app.store
        .read(move |tx| {
            let order = orders::by_id(tx, order_id)?;
            let connected = integrations::by_id(tx, &vault, integration_id)?;
            let Some((order, connected)) = order.zip(connected) else {
                return Ok::<_, Fault>(None);
            };
            Ok(Some(CallContext {
                preparation_minutes: persist::preparation_minutes(tx, &order)?,
                order,
                connected,
            }))
        })
        .await
}

fn read_again(app: &App) -> Delay {
    let now = app.now();
    Delay {
        planned_at: now,
        due_at: now.plus(READ_PAUSE),
        is_attempt: true,
        is_unclear: true,
        not_yet_since: None,
        message: PlatformFailure::NotDoneYet.into(),
    }
}

/// Ends a call that cannot be made.
async fn end_unsent(app: &App, call: &DueCall, end: CallEnd, why: Explanation) -> Result<(), Fault> {
    let (copy, now) = (call.clone(), app.now());
    app.store
        .write(call.account_id, move |tx| {
            if calls::finish(tx, &copy, end, Some(&why), now)? {
                let sync = persist::sync_of(tx, copy.order_id, ProviderSync::NotNeeded)?;
                orders::set_sync_unread(tx, copy.order_id, &sync, now)?;
            }
            Ok::<_, Fault>(())
        })
        .await?;
    app.call_waiters.wake(call.order_id);
    Ok(())
}
