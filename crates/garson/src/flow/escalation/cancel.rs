//! Takes a step that cancels: its platform is asked for the reasons that it accepts before the transaction.

use super::take::waiting_order;
use crate::app::App;
use crate::flow::find_order::platform_of;
use crate::flow::order_actions::reasons;
use crate::flow::platform_client::Contact;
use crate::flow::presence;
use crate::flow::{Fault, persist};
use garson_core::escalation::StepAction;
use garson_core::id::CallId;
use garson_core::order::{
    Action, Actor, CallArgument, CallKind, Input, Order, ProviderSync, Reason, TimelineReason,
};
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::calls::{LeaseHolder, NewCall};
use garson_store::tables::escalation_steps::DueStep;
use garson_store::tables::{calls, escalation_steps, integrations, orders};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long the platform may take to list its reasons.
const DEADLINE: Duration = Duration::from_secs(20);
/// The pause before the next try, and how many tries there are.
const PAUSE: Duration = Duration::from_secs(20);
const MAX_ATTEMPTS: i64 = 5;
/// The pause while the platform is just being asked to verify the order, or it is not known who watches.
const SHORT_PAUSE: Duration = Duration::from_secs(3);

/// Takes a step that cancels an order.
pub async fn cancel(app: &Arc<App>, due: &DueStep) -> Result<(), Fault> {
    let Some(step) = &due.step else {
        return drop_step(app, due).await;
    };
    let StepAction::Cancel { reason, note } = step.action.clone() else {
        return drop_step(app, due).await;
    };
    if step.only_if_unwatched {
        if !app.presence.is_settled(app.now()) {
            return postpone(app, due, SHORT_PAUSE).await;
        }
        let found = presence::of_account(app, due.account_id).await?;
        if found.iter().any(|it| it.watches(due.restaurant_id)) {
            return drop_step(app, due).await;
        }
    }
    match choose(app, due, reason).await {
        Ok(reason) => write(app, due, reason, note).await,
        // The order was deleted.
        Err(Fault::NotFound(_)) => drop_step(app, due).await,
        Err(fault @ Fault::Store(_)) => Err(fault),
        Err(_) if due.attempts + 1 < MAX_ATTEMPTS => postpone(app, due, PAUSE).await,
        Err(_) => give_up(app, due).await,
    }
}

/// The given reason where the platform accepts it, otherwise the integration's default or the platform's first.
async fn choose(app: &App, due: &DueStep, given: Option<String>) -> Result<Option<Reason>, Fault> {
    let until = Instant::now() + DEADLINE;
    let id = due.order_id.to_string();
    match reasons::choose(app, due.account_id, id.clone(), given, until).await {
        Err(Fault::ReasonNotAccepted { .. }) => reasons::choose(app, due.account_id, id, None, until).await,
        chosen => chosen,
    }
}

async fn postpone(app: &App, due: &DueStep, pause: Duration) -> Result<(), Fault> {
    let (order, number, at) = (due.order_id, due.number, app.now().plus(pause));
    app.store
        .write(due.account_id, move |tx| {
            Ok(escalation_steps::postpone(tx, order, number, at)?)
        })
        .await
}

async fn drop_step(app: &App, due: &DueStep) -> Result<(), Fault> {
    let (order, number) = (due.order_id, due.number);
    app.store
        .write(due.account_id, move |tx| {
            escalation_steps::take(tx, order, number)?;
            Ok(())
        })
        .await
}

/// Records that the order could not be cancelled.
async fn give_up(app: &App, due: &DueStep) -> Result<(), Fault> {
    let (due, now) = (due.clone(), app.now());
    app.store
        .write(due.account_id, move |tx| {
            if let Some(order) = waiting_order(tx, &due)?
                && escalation_steps::take(tx, due.order_id, due.number)?
            {
                escalation_steps::add_line(tx, &order, TimelineReason::EscalationCancelFailed, now)?;
            }
            Ok(())
        })
        .await
}

/// Cancels the order, or writes the question for its platform.
async fn write(
    app: &Arc<App>,
    due: &DueStep,
    reason: Option<Reason>,
    note: Option<String>,
) -> Result<(), Fault> {
    let (holder, due, now) = (Arc::clone(app), due.clone(), app.now());
    let integration = app
        .store
        .write(due.account_id, move |tx| {
            let Some(order) = waiting_order(tx, &due)? else {
                return Ok(None);
            };
            let maker = holder.maker().unwrap_or_else(LeaseHolder::none);
            if !is_unblocked(tx, &order, maker, now)? {
                escalation_steps::postpone(tx, due.order_id, due.number, now.plus(SHORT_PAUSE))?;
                return Ok(None);
            }
            if !escalation_steps::take(tx, due.order_id, due.number)? {
                return Ok(None);
            }
            escalation_steps::add_line(tx, &order, TimelineReason::EscalationCancelled, now)?;
            let platform = platform_of(&order)?;
            let connected = integrations::by_id(tx, &holder.vault, order.integration_id)?;
            let action = Action::Cancel {
                reason: reason.clone(),
                note: note.clone(),
            };
            if platform.capability().asks && connected.is_some() {
                let argument = CallArgument {
                    by: Actor::System,
                    reason: reason.clone(),
                    note: note.clone(),
                    preparation_minutes: None,
                };
                write_question(tx, &order, &argument, now)?;
            } else {
                let contact = Contact::new(&holder, platform, connected.as_ref());
                let input = match connected {
                    Some(_) => Input::Want(action, Actor::System),
                    None => Input::Agreed(action, Actor::System),
                };
                persist::apply_and_write(tx, &contact, &order, &input, None, now)?;
            }
            Ok::<_, Fault>(Some(order.integration_id))
        })
        .await?;
    if let Some(integration) = integration {
        app.call_waker.wake(integration);
    }
    Ok(())
}

/// Can the order be cancelled now? Not while its platform is being asked something. A question of the service that only waits
/// for its next try is abandoned.
fn is_unblocked(tx: &mut Tx<'_>, order: &Order, maker: LeaseHolder, now: Timestamp) -> Result<bool, Fault> {
    let Some(other) = calls::blocking_call(tx, order.id, maker)? else {
        return Ok(true);
    };
    let question = calls::open_question(tx, order.id, CallKind::Verify)?;
    let is_own = question.is_some_and(|call| call.id == other.id && call.argument.by == Actor::System);
    Ok(is_own && calls::abandon_unless_running(tx, order.id, other.id, maker, now)?)
}

/// Writes the question; the call runner puts it until the platform has decided.
fn write_question(
    tx: &mut Tx<'_>,
    order: &Order,
    argument: &CallArgument,
    now: Timestamp,
) -> Result<(), Fault> {
    let call = NewCall {
        id: CallId::at(now),
        order,
        kind: CallKind::Cancel,
        argument: Some(argument),
        due_at: now,
        lease: None,
        created_at: now,
    };
    calls::create(tx, &call)?;
    let mut after = order.clone();
    after.sync = ProviderSync::Pending { due_at: now };
    Ok(orders::set_progress(tx, order, &mut after, now)?)
}
