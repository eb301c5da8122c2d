//! Puts a question to a platform while the client waits, and records the outcome.

use super::calls::attempt::{Attempt, Verdict};
use super::calls::conclude::conclude;
use super::request::Question;
use super::transition::Transition;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::fault::Thing;
use crate::flow::platform_client::Contact;
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::id::OrderId;
use garson_core::order::{CallKind, Order, Refusal, Status};
use garson_core::platform::{CallError, RefusalCause};
use garson_store::tables::calls::{Delay, DueCall};
use garson_store::tables::{calls, order_notices, orders};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The pause before a question is repeated while its client waits: after a refusal that may be temporary, and at most.
const AFTER_A_REFUSAL: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// A question is not repeated when less time is left than this.
const TIME_FOR_AN_ANSWER: Duration = Duration::from_secs(1);

/// Puts a question to the platform and records the outcome.
pub async fn ask(app: Arc<App>, question: Question, until: Instant) -> Result<Transition, Fault> {
    let Question {
        call,
        order,
        connected,
        preparation_minutes,
    } = question;
    let contact = app.contact(&connected).ok_or_else(|| Fault::UnknownProvider {
        provider: order.provider.to_string(),
    })?;
    let mut attempt = Attempt {
        contact: &contact,
        order: &order,
        call: &call,
        preparation_minutes,
        is_unclear: false,
        may_send: true,
        until,
    };
    let _in_flight = app.calls_in_flight.begin(&call);
    if !app.may_make(&call) {
        // This process was suspended or lost its lease, and another node may already be checking the outcome of the question.
        leave_open(&app, &call, PlatformFailure::NotSentInTime.into()).await?;
        return Err(Fault::ProviderTimeout);
    }
    let mut verdict = for_client(attempt.make(&app).await);
    while let Some(pause) = pause_before_repeat(&verdict, until) {
        tokio::time::sleep(pause).await;
        if !app.may_make(&call) {
            break;
        }
        verdict = for_client(attempt.make(&app).await);
    }
    if matches!(&verdict, Verdict::CallError(CallError::Unclear { .. })) && Instant::now() < until {
        // There is time left to read the order.
        attempt.is_unclear = true;
        attempt.may_send = false;
        verdict = attempt.make(&app).await;
        if let Verdict::CallError(CallError::HeldBack { message, .. }) = verdict {
            verdict = Verdict::CallError(CallError::unclear(message));
        }
    }
    let trouble = match &verdict {
        Verdict::Done(_) => None,
        Verdict::Overtaken(message, _) => Some(Fault::ProviderRefused {
            message: message.clone(),
        }),
        Verdict::NotDone => Some(Fault::ProviderUnreachable {
            message: PlatformFailure::FailedAndNotDone.into(),
        }),
        Verdict::CallError(trouble @ CallError::Unclear { .. }) => {
            leave_open(&app, &call, trouble.explanation()).await?;
            return Err(unclear(trouble.explanation()));
        }
        Verdict::CallError(trouble @ CallError::Refused { .. }) => Some(Fault::ProviderRefused {
            message: trouble.explanation(),
        }),
        // The platform was not ready for it while the client waited.
        Verdict::CallError(CallError::NotYet { .. }) => Some(Fault::ProviderTimeout),
        Verdict::CallError(trouble) => Some(Fault::ProviderUnreachable {
            message: trouble.explanation(),
        }),
    };
    let after = settle(&app, &call, &contact, verdict, order.id).await?;
    match trouble {
        Some(fault) => Err(fault),
        None => answer(&call, order.status, after),
    }
}

/// The outcome is unknown: the platform answered with an error, or did not answer in time.
fn unclear(message: Explanation) -> Fault {
    match message.status() {
        Some(_) => Fault::ProviderUnclear { message },
        None => Fault::ProviderTimeout,
    }
}

/// A conflict may be temporary, so the service repeats its own questions. A client gets the refusal at once: it sees the order
/// and decides itself whether to repeat its request.
fn for_client(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::CallError(CallError::RetryableRefusal {
            message,
            cause: RefusalCause::Conflict,
        }) => Verdict::CallError(CallError::Refused { message }),
        other => other,
    }
}

/// The pause before a question is repeated that the platform has neither agreed to nor finally refused; none when it is not
/// to be repeated, or the client's time is over.
fn pause_before_repeat(verdict: &Verdict, until: Instant) -> Option<Duration> {
    let pause = match verdict {
        Verdict::CallError(CallError::NotYet { pause, .. }) => (*pause).min(LONGEST_PAUSE),
        Verdict::CallError(CallError::RetryableRefusal { .. }) => AFTER_A_REFUSAL,
        _ => return None,
    };
    let left = until.saturating_duration_since(Instant::now());
    (left >= pause + TIME_FOR_AN_ANSWER).then_some(pause)
}

async fn settle(
    app: &App,
    call: &DueCall,
    contact: &Contact,
    verdict: Verdict,
    order: OrderId,
) -> Result<Order, Fault> {
    conclude(app, call, contact, verdict)
        .await?
        .ok_or_else(|| Fault::not_found(Thing::Order, order))
}

/// The answer to the client after the platform has agreed. The order may have been cancelled first.
fn answer(call: &DueCall, before: Status, after: Order) -> Result<Transition, Fault> {
    if call.kind == CallKind::Verify && after.status.is_cancelled() {
        return Err(Fault::Refused(Refusal::IsCancelled(after.status)));
    }
    Ok(Transition { before, after })
}

/// Leaves a question open whose outcome is unknown: the call runner reads the order until it is known.
async fn leave_open(app: &App, call: &DueCall, message: Explanation) -> Result<(), Fault> {
    let now = app.now();
    let delay = Delay {
        planned_at: now,
        due_at: now,
        is_attempt: true,
        is_unclear: true,
        not_yet_since: None,
        message,
    };
    let left = call.clone();
    app.store
        .write(call.account_id, move |tx| {
            let order = orders::lock(tx, left.order_id)?;
            if calls::postpone(tx, &left, &delay)?
                && let Some(order) = order.filter(|order| !order.status.is_over())
            {
                order_notices::record_refused(tx, &order, left.kind, &delay.message, now)?;
            }
            Ok::<_, Fault>(())
        })
        .await?;
    app.call_waker.wake(call.integration_id);
    Ok(())
}
