//! Events with their exact bodies and the state of their delivery.

use crate::engine::Insert;
use crate::tables::accounts::Positions;
use crate::tables::deliveries;
use crate::tables::deliveries::Delivery;
use crate::tables::row::{column_list, columns, each, value};
use crate::{Result, StoreError, Tx, params};
use garson_core::delivery::{DeliveryState, UndeliveredReason};
use garson_core::id::{AccountId, EventId, OrderId, RestaurantId};
use garson_core::time::Timestamp;

/// An event to write.
pub struct NewEvent<'a> {
    pub id: EventId,
    pub account_id: AccountId,
    pub restaurant_id: RestaurantId,
    pub order_id: Option<OrderId>,
    pub sequence: Option<i64>,
    pub name: &'a str,
    pub body: &'a str,
}

const INSERT: Insert<'_> = Insert {
    constants: &[("attempts", "0"), ("failures", "0")],
    ..Insert::into(
        "events",
        column_list!(events {
            id,
            account_id,
            restaurant_id,
            order_id,
            position,
            sequence,
            name,
            body,
            state,
            reason,
            held,
            due_at,
            created_at
        }),
    )
};

/// Writes an event. If the account has a webhook, its delivery is due now, or after the previous event of its order.
pub fn write(tx: &mut Tx<'_>, event: &NewEvent<'_>, positions: &mut Positions) -> Result<()> {
    let position = positions.take();
    let held = match event.order_id.zip(event.sequence) {
        Some((order, sequence)) if positions.has_webhook && sequence > 1 => {
            deliveries::has_pending_predecessor(tx, order, sequence)?
        }
        _ => false,
    };
    let (state, reason) = match (positions.has_webhook, held) {
        (true, false) => (DeliveryState::Pending, UndeliveredReason::Waiting),
        (true, true) => (DeliveryState::Pending, UndeliveredReason::Earlier),
        (false, _) => (DeliveryState::Skipped, UndeliveredReason::NoUrl),
    };
    tx.insert(
        &INSERT,
        params![
            &event.id,
            &event.account_id,
            &event.restaurant_id,
            event.order_id.as_ref(),
            position,
            event.sequence,
            event.name,
            event.body,
            state.as_str(),
            reason.as_str(),
            held,
            positions.has_webhook.then_some(positions.at),
            positions.at,
        ],
    )?;
    if positions.has_webhook && !held {
        tx.hand_off_delivery(event.account_id, || Delivery {
            id: event.id,
            order_id: event.order_id,
            position,
            attempts: 0,
            failures: 0,
            body: event.body.to_owned(),
            created_at: positions.at,
        });
    }
    Ok(())
}

/// A stored event.
#[derive(Clone, Debug)]
pub struct StoredEvent {
    pub id: EventId,
    pub restaurant_id: RestaurantId,
    pub order_id: Option<OrderId>,
    pub name: String,
    pub body: String,
    pub state: DeliveryState,
    pub reason: Option<String>,
    pub attempts: i64,
    /// When the next attempt is due, if one is.
    pub due_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

columns! {
    pub(crate) const COLUMNS = "events." of events {
        id, restaurant_id, order_id, name, body, state: String, reason, attempts, due_at, created_at
    }
    fn event() -> StoredEvent {
        let state =
            DeliveryState::named(&state).ok_or_else(|| StoreError::corrupt("an event has an unknown state"))?;
        Ok(StoredEvent {
            id,
            restaurant_id,
            order_id,
            name,
            body,
            state,
            reason,
            attempts,
            due_at,
            created_at,
        })
    }
}

/// The position of an event in its account's list.
pub fn position(tx: &mut Tx<'_>, account: AccountId, id: EventId) -> Result<Option<i64>> {
    let sql = "SELECT position FROM events WHERE account_id = ?1 AND id = ?2";
    tx.query_opt(sql, params![&account, &id], value)
}

/// The events of one order, newest first.
pub fn of_order(tx: &mut Tx<'_>, order: OrderId) -> Result<Vec<StoredEvent>> {
    let sql = format!("SELECT {COLUMNS} FROM events WHERE order_id = ?1 ORDER BY sequence DESC");
    tx.query(&sql, params![&order], each(event))
}

pub fn find(tx: &mut Tx<'_>, account: AccountId, id: EventId) -> Result<Option<StoredEvent>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM events JOIN restaurants r ON r.id = events.restaurant_id AND r.deleted_at IS NULL
         WHERE events.account_id = ?1 AND events.id = ?2"
    );
    tx.query_opt(&sql, params![&account, &id], each(event))
}
