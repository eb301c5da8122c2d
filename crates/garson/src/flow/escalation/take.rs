//! Takes one step of an order in the current transaction.

use crate::app::App;
use crate::flow::find_order::platform_of;
use crate::flow::platform_client::Contact;
use crate::flow::{Fault, persist};
use garson_core::escalation::{Step, StepAction, waits_for_acceptance};
use garson_core::id::{ChannelId, IntegrationId, MessageId};
use garson_core::message::MessageContent;
use garson_core::order::{Action, Actor, CallKind, Input, Order, TimelineReason};
use garson_core::presence::Presence;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::escalation_steps::DueStep;
use garson_store::tables::messages::NewMessage;
use garson_store::tables::{calls, channels, escalation_steps, integrations, messages, orders, restaurants};
use std::time::Duration;

/// Messages of a channel that may wait; a step adds no more to them.
const MAX_WAITING: i64 = 500;
/// When a step is tried again that cannot be decided now: it is not known who is watching, or the platform is just being asked.
const SHORT_PAUSE: Duration = Duration::from_secs(3);

/// Who watches an account's restaurants.
#[derive(Clone, Debug)]
pub enum Watched {
    /// No step depends on it, or the process has just started and its clients have not connected again.
    Unknown,
    By(Vec<Presence>),
}

/// What was done with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The platform may have to be called.
    Verified(IntegrationId),
    MessageWritten,
    /// It rang, was dropped, or was skipped.
    Other,
    /// It is due again later.
    Postponed,
}

/// The order of a step if it still waits to be accepted; otherwise all its steps are dropped.
pub fn waiting_order(tx: &mut Tx<'_>, step: &DueStep) -> Result<Option<Order>, Fault> {
    let order = orders::lock(tx, step.order_id)?.filter(|order| waits_for_acceptance(order.status));
    if order.is_none() {
        escalation_steps::drop_all(tx, step.order_id)?;
    }
    Ok(order)
}

/// Takes a step, unless its order was accepted or has ended.
pub fn take(
    tx: &mut Tx<'_>,
    app: &App,
    due: &DueStep,
    watched: &Watched,
    now: Timestamp,
) -> Result<Taken, Fault> {
    let Some(order) = waiting_order(tx, due)? else {
        return Ok(Taken::Other);
    };
    if let Some(Step {
        only_if_unwatched: true,
        ..
    }) = due.step
    {
        match watched {
            Watched::Unknown => {
                return postpone(tx, due, now);
            }
            Watched::By(found) if found.iter().any(|it| it.watches(due.restaurant_id)) => {
                escalation_steps::take(tx, due.order_id, due.number)?;
                return Ok(Taken::Other);
            }
            Watched::By(_) => {}
        }
    }
    let verifies = due
        .step
        .as_ref()
        .is_some_and(|step| step.action == StepAction::Verify);
    if verifies && is_being_decided(tx, &order)? {
        return postpone(tx, due, now);
    }
    if !escalation_steps::take(tx, due.order_id, due.number)? {
        return Ok(Taken::Other);
    }
    match due.step.as_ref().map(|step| &step.action) {
        Some(StepAction::Ring) => {
            escalation_steps::add_line(tx, &order, TimelineReason::EscalationRang, now)?;
            escalation_steps::mark_escalated(tx, &order, now)?;
            Ok(Taken::Other)
        }
        Some(StepAction::Message { channel_id }) => write_message(tx, &order, *channel_id, now),
        Some(StepAction::Verify) => verify(tx, app, &order, now),
        // A cancellation is not taken here, and a damaged step is dropped.
        Some(StepAction::Cancel { .. }) | None => Ok(Taken::Other),
    }
}

fn postpone(tx: &mut Tx<'_>, due: &DueStep, now: Timestamp) -> Result<Taken, Fault> {
    escalation_steps::postpone(tx, due.order_id, due.number, now.plus(SHORT_PAUSE))?;
    Ok(Taken::Postponed)
}

/// Is the platform just being asked to cancel the order, or to verify it for a client? A person's decision must not be crossed: the
/// step waits for the answer, and is dropped with it if the order was cancelled or verified.
fn is_being_decided(tx: &mut Tx<'_>, order: &Order) -> Result<bool, Fault> {
    if calls::open_question(tx, order.id, CallKind::Cancel)?.is_some() {
        return Ok(true);
    }
    let question = calls::open_question(tx, order.id, CallKind::Verify)?;
    Ok(question.is_some_and(|call| call.argument.by == Actor::Account))
}

fn write_message(
    tx: &mut Tx<'_>,
    order: &Order,
    channel_id: ChannelId,
    now: Timestamp,
) -> Result<Taken, Fault> {
    let channel = channels::name(tx, channel_id)?;
    let is_sendable = channels::exists(tx, order.account_id, channel_id)?
        && messages::count_open(tx, channel_id, MAX_WAITING)? < MAX_WAITING;
    if !is_sendable {
        let why = TimelineReason::EscalationMessageFailed { channel };
        escalation_steps::add_line(tx, order, why, now)?;
        return Ok(Taken::Other);
    }
    let content = MessageContent::OrderWaiting {
        restaurant: restaurants::name(tx, order.restaurant_id)?,
        platform: order.provider.to_string(),
        order: order
            .short_code
            .clone()
            .unwrap_or_else(|| order.provider_order_id.clone()),
        arrived_at: order.created_at,
        accept_by: order.accept_by,
    };
    messages::create(
        tx,
        &NewMessage {
            id: MessageId::at(now),
            account_id: order.account_id,
            channel_id,
            order_id: Some(order.id),
            content: &content,
            at: now,
        },
    )?;
    escalation_steps::add_line(tx, order, TimelineReason::EscalationMessage { channel }, now)?;
    Ok(Taken::MessageWritten)
}

fn verify(tx: &mut Tx<'_>, app: &App, order: &Order, now: Timestamp) -> Result<Taken, Fault> {
    if calls::open_question(tx, order.id, CallKind::Verify)?.is_some() {
        // The service is asking the platform already.
        return Ok(Taken::Verified(order.integration_id));
    }
    let platform = platform_of(order)?;
    // The integration may have been removed; then there is no platform to ask.
    let connected = integrations::by_id(tx, &app.vault, order.integration_id)?;
    let contact = Contact::new(app, platform, connected.as_ref());
    let input = match connected {
        Some(_) => Input::Want(
            Action::Verify {
                preparation_minutes: None,
            },
            Actor::System,
        ),
        None => Input::Agreed(
            Action::Verify {
                preparation_minutes: None,
            },
            Actor::System,
        ),
    };
    escalation_steps::add_line(tx, order, TimelineReason::EscalationVerified, now)?;
    persist::apply_and_write(tx, &contact, order, &input, None, now)?;
    Ok(Taken::Verified(order.integration_id))
}
