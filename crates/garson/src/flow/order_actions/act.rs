//! The account acts on an order: verify, advance, ready, cancel.
//!
//! An action that the platform is only notified of moves the order at once. An action that the platform must agree to is a
//! question: its call is written first, made while the client waits, and the order moves when the platform has agreed.

use super::ask::ask;
use super::calls::DEADLINE;
use super::reasons;
use super::request::{ActionRequest, Progress};
use super::transition::Transition;
use super::wait::{wait_for_question, wait_until_unblocked};
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::find_order::lock_one;
use crate::flow::{By, Fault, persist};
use crate::telemetry::{Span, SpanId, SpanKind, Stopwatch};
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::{AccountId, CallId};
use garson_core::order::{Action, Order, Status};
use garson_store::StoreError;
use garson_store::tables::idempotency::KeyedRequest;
use garson_store::tables::{calls, integrations};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a withdrawal is retried while storage is unavailable, and the pause between tries. After that the call runner finds
/// the call when its lease has ended.
const WITHDRAW_FOR: Duration = Duration::from_secs(60);
const WITHDRAW_PAUSE: Duration = Duration::from_millis(500);

/// Accepts an order; with the time that the kitchen needs, where it was chosen.
pub async fn verify(
    app: &Arc<App>,
    by: By,
    path_id: String,
    preparation_minutes: Option<u32>,
) -> Result<Transition, Fault> {
    let request = ActionRequest::new(by, path_id, Action::Verify { preparation_minutes });
    act(app, request, client_deadline()).await
}

/// One step forward. With an idempotency key the step is taken once, even if an earlier run was interrupted.
pub async fn advance(
    app: &Arc<App>,
    by: By,
    path_id: String,
    keyed: Option<Arc<KeyedRequest>>,
) -> Result<Transition, Fault> {
    let request = ActionRequest {
        keyed,
        ..ActionRequest::new(by, path_id, Action::Advance)
    };
    act(app, request, client_deadline()).await
}

/// One step forward from the status that the client saw; refused if the order has another status by now.
pub async fn advance_from(
    app: &Arc<App>,
    by: By,
    path_id: String,
    seen: Status,
) -> Result<Transition, Fault> {
    let request = ActionRequest {
        expected_status: Some(seen),
        ..ActionRequest::new(by, path_id, Action::Advance)
    };
    act(app, request, client_deadline()).await
}

pub async fn ready(app: &Arc<App>, by: By, path_id: String) -> Result<Transition, Fault> {
    let request = ActionRequest::new(by, path_id, Action::Ready);
    act(app, request, client_deadline()).await
}

/// Repeats the calls to the platform that have failed; without failed calls the order stays as it is.
pub async fn tell_again(app: &Arc<App>, by: By, path_id: String) -> Result<Transition, Fault> {
    let (holder, account, now) = (Arc::clone(app), by.account, app.now());
    let transition = app
        .store
        .write(account, move |tx| {
            let order = lock_one(tx, account, &path_id)?;
            let connected = integrations::by_id(tx, &holder.vault, order.integration_id)?;
            let after = match connected.and_then(|connected| holder.contact(&connected)) {
                Some(contact) => persist::repeat_failed_calls(tx, &contact, &order, now)?,
                // The integration was removed: there is no platform to notify.
                None => order.clone(),
            };
            let before = order.status;
            let action = Recorded::new(RecordKind::Order, Verb::Repeated).id(order.id);
            by.record(tx, action.restaurant(order.restaurant_id), now);
            Ok::<_, Fault>(Transition { before, after })
        })
        .await?;
    app.call_waker.wake(transition.after.integration_id);
    Ok(transition)
}

/// Cancels with a reason that the platform accepts: the given one, the integration's default, or the first of the list.
pub async fn cancel(
    app: &Arc<App>,
    by: By,
    path_id: String,
    reason: Option<String>,
    note: Option<String>,
) -> Result<Transition, Fault> {
    let until = client_deadline();
    let reason = reasons::choose(app, by.account, path_id.clone(), reason, until).await?;
    let action = Action::Cancel { reason, note };
    act(app, ActionRequest::new(by, path_id, action), until).await
}

/// Until when a client waits for its answer.
fn client_deadline() -> Instant {
    Instant::now() + DEADLINE
}

/// What is left to do for a client after its first transaction.
enum Begun {
    Ended(Box<Transition>),
    /// Wait for the same question, which is already being put.
    Join(CallId, Box<Order>),
    /// Wait for another call of the order, then begin again.
    Blocked(Box<Order>),
}

async fn act(app: &Arc<App>, request: ActionRequest, until: Instant) -> Result<Transition, Fault> {
    let (began, name) = (Stopwatch::start(app.now()), name(&request.action));
    let transition = act_untraced(app, Arc::new(request), until).await?;
    if let Some(trace) = app.traces.of(transition.after.id) {
        let span = Span::new(trace, SpanId::at(app.now()), name, SpanKind::Server);
        app.traces.add(span.ending_now(&began));
    }
    Ok(transition)
}

fn name(action: &Action) -> &'static str {
    match action {
        Action::Verify { .. } => "verify",
        Action::Advance => "advance",
        Action::Ready => "ready",
        Action::Cancel { .. } => "cancel",
    }
}

async fn act_untraced(
    app: &Arc<App>,
    request: Arc<ActionRequest>,
    until: Instant,
) -> Result<Transition, Fault> {
    loop {
        // In its own task: a client may disconnect, and a question that was written and leased must still be put.
        let beginning = tokio::spawn(begin(Arc::clone(app), Arc::clone(&request), until));
        match beginning.await.unwrap_or(Err(Fault::ProviderTimeout))? {
            Begun::Ended(transition) => return Ok(*transition),
            Begun::Join(call, before) => {
                app.call_waker.wake(before.integration_id);
                if let Some(transition) =
                    wait_for_question(app, call, &before, &request.action, until).await?
                {
                    return Ok(transition);
                }
            }
            Begun::Blocked(order) => {
                app.call_waker.wake(order.integration_id);
                wait_until_unblocked(app, order.id, until).await?;
            }
        }
    }
}

/// Moves the order, or puts the question to its platform, unless another call is in the way.
async fn begin(app: Arc<App>, request: Arc<ActionRequest>, until: Instant) -> Result<Begun, Fault> {
    let (account, now) = (request.by.account, app.now());
    let id = CallId::at(now);
    let holder = Arc::clone(&app);
    let progress = app
        .store
        .write(account, move |tx| request.begin(tx, &holder, id, now))
        .await;
    match progress {
        Ok(Progress::Finished(transition)) => {
            app.call_waker.wake(transition.after.integration_id);
            Ok(Begun::Ended(transition))
        }
        Ok(Progress::Ask(question)) => Ok(Begun::Ended(Box::new(ask(app, *question, until).await?))),
        Ok(Progress::Join(call, before)) => Ok(Begun::Join(call, before)),
        Ok(Progress::Blocked(order)) => Ok(Begun::Blocked(order)),
        Err(fault) => {
            if matches!(&fault, Fault::Store(error) if error.is_temporary()) {
                // The commit may have succeeded, but the client gets an error that says nothing was done.
                tokio::spawn(withdraw(app, account, id));
            }
            Err(fault)
        }
    }
}

/// Ends a question that was written but never put, as soon as storage allows. A repeat by the client is then a new question,
/// and does not wait for one that this process does not make.
async fn withdraw(app: Arc<App>, account: AccountId, id: CallId) {
    let began = Instant::now();
    loop {
        let now = app.now();
        match app
            .store
            .write(account, move |tx| calls::withdraw(tx, id, now))
            .await
        {
            Ok(Some((order, integration))) => {
                app.call_waiters.wake(order);
                app.call_waker.wake(integration);
                return;
            }
            Ok(None) => return,
            Err(error) if StoreError::is_temporary(&error) && began.elapsed() < WITHDRAW_FOR => {
                tokio::time::sleep(WITHDRAW_PAUSE).await;
            }
            Err(error) => {
                tracing::warn!(%error, call = %id, "an unsent question could not be withdrawn");
                return;
            }
        }
    }
}
