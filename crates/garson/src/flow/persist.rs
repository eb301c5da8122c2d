//! Writing a decision down: order, timeline, events, sums and calls, in the transaction that is running.

use super::Fault;
use garson_core::event::order_body;
use garson_core::id::{AccountId, CallId, EventId};
use garson_core::integration::Credentials;
use garson_core::order::{Decision, Input, Order, ProviderSync, apply};
use garson_core::platform::Platform;
use garson_core::time::Timestamp;
use garson_store::accounts::{Places, reserve};
use garson_store::events::{EventToWrite, write};
use garson_store::{Tx, calls, orders, totals};

/// More places than any decision needs: the order itself and two events.
const PLACES: i64 = 4;

pub fn reserve_places(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<Places, Fault> {
    Ok(reserve(tx, account, PLACES, now)?)
}

/// Puts an input to a locked order and writes what follows; says what the order is then.
pub fn apply_and_write(
    tx: &mut Tx<'_>,
    platform: &dyn Platform,
    credentials: &Credentials,
    before: &Order,
    input: &Input,
    now: Timestamp,
) -> Result<Order, Fault> {
    let asks = platform.capability().asks;
    let trial = apply(before, input, now, asks)?;
    if trial.ask.is_none() && !trial.is_change(before) {
        return Ok(trial.order);
    }
    let mut places = reserve_places(tx, before.account_id, now)?;
    let mut decision = apply(before, input, places.at, asks)?;
    if decision.order.status.is_cancelled() {
        calls::abandon_open(tx, before.id, places.at)?;
        if matches!(decision.order.sync, ProviderSync::Pending { .. }) {
            decision.order.sync = ProviderSync::NotNeeded;
        }
    }
    write_calls(tx, platform, credentials, &mut decision)?;
    orders::update(tx, &decision.order)?;
    totals::follow(tx, before, &decision.order)?;
    write_history(tx, &decision, before.sequence, &mut places)?;
    Ok(decision.order)
}

/// Writes the calls that the platform wants, and what that means for the order.
pub fn write_calls(
    tx: &mut Tx<'_>,
    platform: &dyn Platform,
    credentials: &Credentials,
    decision: &mut Decision,
) -> Result<(), Fault> {
    let Decision { order, ask, tell, .. } = decision;
    let due_at = order.updated_at;
    let wanted: Vec<_> = ask
        .iter()
        .chain(tell.iter())
        .filter(|call| platform.wants(**call, order, credentials))
        .copied()
        .collect();
    for call in &wanted {
        calls::write(tx, CallId::at(due_at), order, *call, due_at)?;
    }
    if !wanted.is_empty() {
        order.sync = ProviderSync::Pending { due_at };
    } else if !tell.is_empty() && !matches!(order.sync, ProviderSync::Pending { .. }) {
        // What is still open from an earlier step stays pending.
        order.sync = ProviderSync::NotNeeded;
    }
    Ok(())
}

/// Writes timeline and events; an order's timeline has a line for each of its events.
pub fn write_history(
    tx: &mut Tx<'_>,
    decision: &Decision,
    events_before: i64,
    places: &mut Places,
) -> Result<(), Fault> {
    let order = &decision.order;
    orders::add_timeline(tx, order.id, events_before + 1, &decision.timeline)?;
    for event in &decision.events {
        let id = EventId::at(places.at);
        let body = order_body(id, order, event, places.at);
        let to_write = EventToWrite {
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
