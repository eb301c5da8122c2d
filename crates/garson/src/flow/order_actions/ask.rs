//! A platform is asked while a client waits: the question is put, and what came of it is written down.

use super::act::Step;
use super::attempt::{Attempt, Verdict};
use super::conclude::conclude;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::platform_client::Contact;
use garson_core::id::{CallId, OrderId};
use garson_core::order::{Action, CallKind, Order, Refusal, Status};
use garson_core::platform::{RefusalCause, Trouble};
use garson_store::tables::calls;
use garson_store::tables::calls::{CallEnd, Delay, DueCall};
use garson_store::tables::integrations::Connected;
use garson_store::tables::orders;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long to wait before a question is put again while its client waits, after a refusal that may not last, and at most.
const AFTER_A_REFUSAL: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// It is not put again when there is less time left than this.
const TIME_FOR_AN_ANSWER: Duration = Duration::from_secs(1);

/// A question to a platform, written down and leased.
pub struct Question {
    pub call: DueCall,
    pub order: Order,
    pub connected: Connected,
    pub preparation_minutes: Option<u32>,
}

/// Puts a question to the platform and writes down what came of it.
pub async fn ask(app: Arc<App>, question: Question, until: Instant) -> Result<Step, Fault> {
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
        kind: call.kind,
        argument: &call.argument,
        preparation_minutes,
        is_unclear: false,
        may_send: true,
        until,
    };
    let _flight = app.in_flight.begin(&call);
    if !app.may_make(&call) {
        // This process was stopped, or its node was away, and others may be finding out by now what became of the question.
        leave_open(&app, &call, "nobody put it in time".to_owned()).await?;
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
    if matches!(&verdict, Verdict::Trouble(Trouble::Unclear { .. })) && Instant::now() < until {
        // There is time left to see for ourselves.
        attempt.is_unclear = true;
        attempt.may_send = false;
        verdict = attempt.make(&app).await;
        if let Verdict::Trouble(Trouble::HeldBack { message, .. }) = verdict {
            verdict = Verdict::Trouble(Trouble::unclear(message));
        }
    }
    let trouble = match &verdict {
        Verdict::Done(_) => None,
        Verdict::Overtaken(message, _) => Some(Fault::ProviderRefused {
            message: message.clone(),
        }),
        Verdict::NotDone => Some(Fault::ProviderUnreachable {
            message: "the platform failed, and has not done it".to_owned(),
        }),
        Verdict::Trouble(trouble @ Trouble::Unclear { .. }) => {
            leave_open(&app, &call, trouble.to_string()).await?;
            return Err(Fault::ProviderTimeout);
        }
        Verdict::Trouble(trouble @ Trouble::Refused { .. }) => Some(Fault::ProviderRefused {
            message: trouble.to_string(),
        }),
        // It has had no time for it while the client waited.
        Verdict::Trouble(Trouble::NotYet { .. }) => Some(Fault::ProviderTimeout),
        Verdict::Trouble(trouble) => Some(Fault::ProviderUnreachable {
            message: trouble.to_string(),
        }),
    };
    let after = settle(&app, &call, &contact, verdict, order.id).await?;
    match trouble {
        Some(fault) => Err(fault),
        None => answer(&call, order.status, after),
    }
}

/// A conflict may be temporary, and the service's own question is put again. A client hears of it at once: it sees the order, and
/// decides itself whether to repeat its request.
fn for_client(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Trouble(Trouble::RetryableRefusal {
            message,
            cause: RefusalCause::Conflict,
        }) => Verdict::Trouble(Trouble::Refused { message }),
        other => other,
    }
}

/// How long to wait before a question is put again that the platform has neither agreed to nor refused for good; nothing when
/// it is not to be put again, or the client's time is over.
fn pause_before_repeat(verdict: &Verdict, until: Instant) -> Option<Duration> {
    let pause = match verdict {
        Verdict::Trouble(Trouble::NotYet { pause, .. }) => (*pause).min(LONGEST_PAUSE),
        Verdict::Trouble(Trouble::RetryableRefusal { .. }) => AFTER_A_REFUSAL,
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
        .ok_or_else(|| Fault::not_found("order", order))
}

/// What a client hears of an order whose platform has agreed. Another may have cancelled it first.
fn answer(call: &DueCall, before: Status, after: Order) -> Result<Step, Fault> {
    if call.kind == CallKind::Verify && after.status.is_cancelled() {
        return Err(Fault::Refused(Refusal::IsCancelled(after.status)));
    }
    Ok(Step { before, after })
}

/// Leaves a question open whose answer nobody knows: `flow/call` reads the order until it does.
async fn leave_open(app: &App, call: &DueCall, message: String) -> Result<(), Fault> {
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
        .write(call.account_id, move |tx| calls::postpone(tx, &left, &delay))
        .await?;
    app.wake_calls.look_at(call.integration_id);
    Ok(())
}

/// How long to wait before looking again: another node may be making the call, whose end nobody tells us.
#[derive(Default)]
pub struct Pauses(u32);

impl Pauses {
    pub fn longer(&mut self) -> Duration {
        self.0 = (self.0 + 1).min(5);
        Duration::from_millis(100) * self.0
    }
}

/// Waits for the end of a question that another request is putting; nothing when it was withdrawn before it was put.
pub async fn join(
    app: &App,
    call: CallId,
    order: &Order,
    action: &Action,
    until: Instant,
) -> Result<Option<Step>, Fault> {
    let (id, before) = (order.id, order.status);
    let waiter = app.calls_ended.join(id);
    let mut pauses = Pauses::default();
    loop {
        let mut ended = pin!(waiter.ended());
        ended.as_mut().enable();
        let (end, after) = app
            .store
            .read(move |tx| Ok::<_, Fault>((calls::end(tx, call)?, orders::by_id(tx, id)?)))
            .await?;
        let after = after.ok_or_else(|| Fault::not_found("order", id))?;
        match end {
            Some((CallEnd::Done, _)) => return Ok(Some(Step { before, after })),
            Some((CallEnd::Failed, message)) => {
                return Err(Fault::ProviderRefused {
                    message: message.unwrap_or_default(),
                });
            }
            Some((CallEnd::Abandoned, Some(message))) if message == calls::WITHDRAWN => return Ok(None),
            Some((CallEnd::Abandoned, message)) => {
                match (after.status.is_cancelled(), action) {
                    (true, Action::Cancel { .. }) => return Ok(Some(Step { before, after })),
                    (true, _) => return Err(Fault::Refused(Refusal::IsCancelled(after.status))),
                    (false, _) => {}
                }
                return Err(Fault::ProviderUnreachable {
                    message: message.unwrap_or_default(),
                });
            }
            None if Instant::now() >= until => return Err(Fault::ProviderTimeout),
            None => drop(tokio::time::timeout(pauses.longer(), ended).await),
        }
    }
}
