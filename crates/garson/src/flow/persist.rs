//! Writes a decision in the current transaction: order, timeline, events, totals and calls.

use super::Fault;
use crate::flow::platform_client::Contact;
use garson_core::escalation::{Step, waits_for_acceptance};
use garson_core::event::order_body;
use garson_core::id::{AccountId, CallId, EventId, OrderId};
use garson_core::order::{
    Actor, CallArgument, CallKind, Change, Decision, Input, Order, ProviderSync, Reason, Status, apply,
};
use garson_core::restaurant::Config;
use garson_core::time::Timestamp;
use garson_store::tables::accounts::{Positions, reserve_positions};
use garson_store::tables::calls::NewCall;
use garson_store::tables::events::{NewEvent, write};
use garson_store::tables::{calls, escalation_steps, order_notices, orders, restaurants};
use garson_store::{Tx, totals};
use std::time::Duration;

/// More feed places than any decision needs: the order itself, new or changed, and two events.
const PLACES: i64 = 4;

pub fn reserve_places(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<Positions, Fault> {
    Ok(reserve_positions(tx, account, PLACES, now)?)
}

/// Applies an input to a locked order and writes the result; returns the order as it is then. A cancellation drops all open calls
/// except `concluding`, the call whose result is being written.
pub fn apply_and_write(
    tx: &mut Tx<'_>,
    contact: &Contact,
    before: &Order,
    input: &Input,
    concluding: Option<CallId>,
    now: Timestamp,
) -> Result<Order, Fault> {
    let asks = contact.platform.capability().asks;
    let input = &with_own_cancel_details(tx, before, input)?;
    let trial = apply(before, input, now, asks)?;
    if trial.ask.is_none() && trial.tell.is_empty() && !trial.is_change(before) {
        return Ok(trial.order);
    }
    let mut places = reserve_places(tx, before.account_id, now)?;
    let mut decision = apply(before, input, places.at, asks)?;
    if decision.order.status.is_cancelled() {
        calls::abandon_open(tx, before.id, concluding, places.at)?;
        // No call is left to make, and failed calls no longer matter.
        if !before.status.is_cancelled() && decision.order.sync != ProviderSync::Done {
            decision.order.sync = ProviderSync::NotNeeded;
        }
    } else if let Input::Report(Change::Moved { to, .. }) = input
        && matches!(before.sync, ProviderSync::Failed { .. })
        && calls::sync_state(tx, before.id)?.is_settled_by(to.code())
    {
        // The platform has reached the state without our call.
        decision.order.sync = ProviderSync::Done;
    }
    note_cancellation(tx, before, &decision.order, input, now)?;
    write_calls(tx, contact, &mut decision, now)?;
    if before.status != Status::Preparing {
        plan_ready(tx, contact, &decision.order, now)?;
    }
    // Lists of changes are sorted by the place and its timestamp.
    decision.order.updated_at = places.at;
    orders::update(tx, &decision.order, places.take())?;
    totals::update_order(tx, before, &decision.order)?;
    write_history(tx, &decision, false, &mut places)?;
    Ok(decision.order)
}

/// The kitchen must learn that an order which it prepares was cancelled elsewhere. A refused action of the past no longer matters
/// when the order has moved on.
fn note_cancellation(
    tx: &mut Tx<'_>,
    before: &Order,
    after: &Order,
    input: &Input,
    now: Timestamp,
) -> Result<(), Fault> {
    if before.status == after.status {
        return Ok(());
    }
    order_notices::settle_refused(tx, before.id)?;
    let is_in_kitchen = matches!(before.status, Status::Preparing | Status::OnTheWay);
    let is_reported = matches!(input, Input::Report(Change::Cancelled { .. }));
    if is_in_kitchen
        && is_reported
        && after.status.is_cancelled()
        && calls::open_question(tx, before.id, CallKind::Cancel)?.is_none()
    {
        order_notices::record_cancelled(tx, before, now)?;
    }
    Ok(())
}

/// A platform may report our own cancellation before it has answered our call, and some do not say who cancelled: it gets the
/// actor, reason and note of our call.
fn with_own_cancel_details(tx: &mut Tx<'_>, order: &Order, input: &Input) -> Result<Input, Fault> {
    let mut input = input.clone();
    if let Input::Report(Change::Cancelled { by, reason, note, .. }) = &mut input
        && !order.status.is_cancelled()
        && matches!(by, Actor::Account | Actor::Platform)
        && let Some(ours) = calls::open_question(tx, order.id, CallKind::Cancel)?
        && (*by == Actor::Account || is_same_reason(reason.as_ref(), ours.argument.reason.as_ref()))
    {
        *by = ours.argument.by;
        *reason = ours.argument.reason.or(reason.take());
        *note = ours.argument.note.or(note.take());
    }
    Ok(input)
}

/// Does the platform give no reason, or ours?
fn is_same_reason(theirs: Option<&Reason>, ours: Option<&Reason>) -> bool {
    theirs.is_none_or(|theirs| ours.is_some_and(|ours| ours.id == theirs.id))
}

/// Writes the calls that the platform wants, and sets the order's sync state. Calls are due by the clock (`now`): the timestamps of
/// an account's orders never go back, and may be ahead of it.
pub fn write_calls(
    tx: &mut Tx<'_>,
    contact: &Contact,
    decision: &mut Decision,
    now: Timestamp,
) -> Result<(), Fault> {
    let Decision { order, ask, tell, .. } = decision;
    let wants = |call: CallKind, order: &Order| contact.platform.wants(call, order, &contact.credentials);
    if let Some(question) = ask.filter(|question| wants(*question, order)) {
        // The service asks by itself until the platform agrees; no client waits for the answer.
        let argument = CallArgument::by(Actor::System);
        write_call(tx, order, question, Some(&argument), now, now)?;
        order.sync = ProviderSync::Pending { due_at: now };
    }
    let wanted: Vec<_> = tell.iter().copied().filter(|call| wants(*call, order)).collect();
    let due_at = if wanted.is_empty() {
        now
    } else {
        after_last_call(tx, contact, order, now, now)?
    };
    for call in &wanted {
        // A call that was planned for later is made now instead.
        if *call != CallKind::Ready || !calls::make_due(tx, order.id, *call, now, due_at)? {
            write_call(tx, order, *call, None, now, due_at)?;
        }
    }
    if !wanted.is_empty() {
        order.sync = ProviderSync::Pending { due_at };
    } else if !tell.is_empty() && matches!(order.sync, ProviderSync::Done | ProviderSync::NotNeeded) {
        // Earlier calls that are pending or have failed stay so.
        order.sync = ProviderSync::NotNeeded;
    }
    Ok(())
}

/// Repeats the failed calls of a locked order; returns the order as it is then. Calls that the platform must agree to are not
/// repeated: the client has to request them again.
pub fn repeat_failed_calls(
    tx: &mut Tx<'_>,
    contact: &Contact,
    stored: &Order,
    now: Timestamp,
) -> Result<Order, Fault> {
    let mut order = stored.clone();
    if order.status.is_cancelled() {
        return Ok(order);
    }
    let failed = calls::sync_state(tx, order.id)?.failed;
    let is_wanted =
        |kind: &CallKind| !kind.is_question() && contact.platform.wants(*kind, &order, &contact.credentials);
    let wanted: Vec<_> = failed.iter().map(|step| step.kind).filter(is_wanted).collect();
    if wanted.is_empty() {
        return Ok(order);
    }
    let due_at = after_last_call(tx, contact, &order, now, now)?;
    for kind in wanted {
        write_call(tx, &order, kind, None, now, due_at)?;
    }
    order.sync = ProviderSync::Pending { due_at };
    orders::set_progress(tx, stored, &mut order, now)?;
    Ok(order)
}

/// An order's sync state by its calls: pending if a call is open, failed if one has failed and no later one makes up for it,
/// `otherwise` if neither.
pub fn sync_of(tx: &mut Tx<'_>, order: OrderId, otherwise: ProviderSync) -> Result<ProviderSync, Fault> {
    let standing = calls::sync_state(tx, order)?;
    Ok(match (standing.due_at, standing.failed.into_iter().next()) {
        (Some(due_at), _) => ProviderSync::Pending { due_at },
        (None, Some(step)) => ProviderSync::Failed {
            message: step.message,
        },
        (None, None) => otherwise,
    })
}

fn write_call(
    tx: &mut Tx<'_>,
    order: &Order,
    kind: CallKind,
    argument: Option<&CallArgument>,
    now: Timestamp,
    due_at: Timestamp,
) -> Result<(), Fault> {
    let call = NewCall {
        id: CallId::at(now),
        order,
        kind,
        argument,
        due_at,
        lease: None,
        created_at: now,
    };
    Ok(calls::create(tx, &call)?)
}

/// The first time, not before `earliest`, at which the platform accepts another call for this order.
fn after_last_call(
    tx: &mut Tx<'_>,
    contact: &Contact,
    order: &Order,
    now: Timestamp,
    earliest: Timestamp,
) -> Result<Timestamp, Fault> {
    let gap = contact.terms.between_moves;
    if gap.is_zero() {
        return Ok(earliest);
    }
    // A time in the future was noted before the clock was set back.
    let last = calls::last_done_at(tx, order.id)?.map(|at| at.min(now));
    Ok(last.map_or(earliest, |at| at.plus(gap).max(earliest)))
}

/// Plans the call that an order is ready, for the end of its restaurant's preparation time, unless it is made earlier.
fn plan_ready(tx: &mut Tx<'_>, contact: &Contact, order: &Order, now: Timestamp) -> Result<(), Fault> {
    let is_wanted = order.status == Status::Preparing
        && order.ready_at.is_none()
        && contact
            .platform
            .wants(CallKind::Ready, order, &contact.credentials);
    if !is_wanted {
        return Ok(());
    }
    if let Some(minutes) = preparation_minutes(tx, order)? {
        let preparation = Duration::from_secs(u64::from(minutes) * 60);
        let due_at = after_last_call(tx, contact, order, now, now.plus(preparation))?;
        let argument = CallArgument::by(Actor::System);
        write_call(tx, order, CallKind::Ready, Some(&argument), now, due_at)?;
    }
    Ok(())
}

/// The preparation time of an order: as it was chosen when the order was accepted, or the usual one of its restaurant, if its
/// `config` sets one.
pub fn preparation_minutes(tx: &mut Tx<'_>, order: &Order) -> Result<Option<u32>, Fault> {
    if order.preparation_minutes.is_some() {
        return Ok(order.preparation_minutes);
    }
    let config = restaurants::config(tx, order.restaurant_id)?;
    Ok(Config::read(config.as_deref())
        .unwrap_or_default()
        .preparation_minutes)
}

/// Plans the steps of a new order's escalation, if it waits to be accepted.
pub fn plan_escalation(tx: &mut Tx<'_>, order: &Order, steps: &[Step]) -> Result<(), Fault> {
    if steps.is_empty() || !waits_for_acceptance(order.status) {
        return Ok(());
    }
    Ok(escalation_steps::plan(tx, order, steps)?)
}

/// Writes timeline and events. The timeline has an entry for each event, each version of the content, and each flag.
pub fn write_history(
    tx: &mut Tx<'_>,
    decision: &Decision,
    is_new: bool,
    places: &mut Positions,
) -> Result<(), Fault> {
    let order = &decision.order;
    if is_new {
        orders::add_timeline(tx, order.id, 1, &decision.timeline)?;
    } else {
        orders::append_timeline(tx, order.id, &decision.timeline)?;
    }
    for event in &decision.events {
        let id = EventId::at(places.at);
        let body = order_body(id, order, event, places.at);
        let to_write = NewEvent {
            id,
            account_id: order.account_id,
            restaurant_id: order.restaurant_id,
            order_id: Some(order.id),
            sequence: Some(event.sequence),
            name: event.kind.name(),
            body: &body,
        };
        write(tx, &to_write, places)?;
    }
    Ok(())
}
