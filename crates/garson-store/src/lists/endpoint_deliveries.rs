//! Deliveries to endpoints with their events.

use crate::tables::events::{COLUMNS as EVENT, StoredEvent, event};
use crate::tables::row::{Cells, each};
use crate::{Result, StoreError, Tx, params};
use garson_core::delivery::DeliveryState;
use garson_core::id::{AccountId, EndpointId, EventId, OrderId};
use garson_core::time::Timestamp;

/// An event and how its delivery to an endpoint stands: `state`, `reason`, `attempts` and `due_at` of the event are those of this
/// delivery.
#[derive(Clone, Debug)]
pub struct EndpointDelivery {
    pub endpoint: EndpointId,
    pub position: i64,
    pub event: StoredEvent,
}

const COLUMNS: &str = "d.endpoint_id, d.position, d.state, d.reason, d.attempts, d.due_at";
const LIVE: &str = "JOIN events ON events.id = d.event_id
                    JOIN restaurants r ON r.id = events.restaurant_id AND r.deleted_at IS NULL";

fn row(cells: &mut Cells<'_, '_>) -> Result<EndpointDelivery> {
    let (endpoint, position) = (cells.read()?, cells.read()?);
    let state: String = cells.read()?;
    let state = DeliveryState::named(&state)
        .ok_or_else(|| StoreError::corrupt("a delivery to an endpoint has an unknown state"))?;
    let reason: Option<String> = cells.read()?;
    let attempts: i64 = cells.read()?;
    let due_at: Option<Timestamp> = cells.read()?;
    let event = event(cells)?;
    Ok(EndpointDelivery {
        endpoint,
        position,
        event: StoredEvent {
            state,
            reason,
            attempts,
            due_at,
            ..event
        },
    })
}

/// The deliveries of an endpoint between two positions, both excluded, in one state or in any.
pub fn page(
    tx: &mut Tx<'_>,
    (account, endpoint): (AccountId, EndpointId),
    state: Option<DeliveryState>,
    (low, high): (i64, i64),
    newest_first: bool,
    limit: i64,
) -> Result<Vec<EndpointDelivery>> {
    let way = if newest_first { "DESC" } else { "ASC" };
    // The conditions and the orders are those of the partial indexes.
    let (condition, order) = match state {
        None => ("", format!("d.position {way}")),
        Some(DeliveryState::Failed) => (
            "AND d.state IN ('failed', 'skipped') AND d.state = 'failed'",
            format!("d.state {way}, d.position {way}"),
        ),
        Some(DeliveryState::Skipped) => (
            "AND d.state IN ('failed', 'skipped') AND d.state = 'skipped'",
            format!("d.state {way}, d.position {way}"),
        ),
        Some(DeliveryState::Pending) => ("AND d.state = 'pending'", format!("d.position {way}")),
        Some(DeliveryState::Delivered) => ("AND d.state = 'delivered'", format!("d.position {way}")),
    };
    let sql = format!(
        "SELECT {COLUMNS}, {EVENT} FROM endpoint_deliveries d {LIVE}
         WHERE d.account_id = ?1 AND d.endpoint_id = ?2 AND d.position > ?3 AND d.position < ?4 {condition}
         ORDER BY {order} LIMIT ?5"
    );
    tx.query(&sql, params![&account, &endpoint, low, high, limit], each(row))
}

/// The deliveries of an order's events to an endpoint, newest first.
pub fn of_order(tx: &mut Tx<'_>, endpoint: EndpointId, order: OrderId) -> Result<Vec<EndpointDelivery>> {
    let sql = format!(
        "SELECT {COLUMNS}, {EVENT} FROM events JOIN endpoint_deliveries d ON d.event_id = events.id
         WHERE events.order_id = ?1 AND d.endpoint_id = ?2 ORDER BY d.position DESC"
    );
    tx.query(&sql, params![&order, &endpoint], each(row))
}

pub fn find(
    tx: &mut Tx<'_>,
    account: AccountId,
    endpoint: EndpointId,
    event: EventId,
) -> Result<Option<EndpointDelivery>> {
    let sql = format!(
        "SELECT {COLUMNS}, {EVENT} FROM endpoint_deliveries d {LIVE}
         WHERE d.event_id = ?1 AND d.endpoint_id = ?2 AND d.account_id = ?3"
    );
    tx.query_opt(&sql, params![&event, &endpoint, &account], each(row))
}

/// The deliveries of an event to the endpoints besides the default one.
pub fn of_event(tx: &mut Tx<'_>, account: AccountId, event: EventId) -> Result<Vec<EndpointDelivery>> {
    let sql = format!(
        "SELECT {COLUMNS}, {EVENT} FROM endpoint_deliveries d {LIVE}
         WHERE d.event_id = ?1 AND d.account_id = ?2 ORDER BY d.endpoint_id"
    );
    tx.query(&sql, params![&event, &account], each(row))
}
