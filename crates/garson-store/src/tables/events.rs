//! Events with their exact bodies and the state of their delivery.

use crate::engine::Insert;
use crate::tables::accounts::Positions;
use crate::tables::deliveries::Delivery;
use crate::tables::endpoint_deliveries::NewDelivery;
use crate::tables::row::{column_list, columns, each, value};
use crate::tables::{deliveries, endpoint_deliveries};
use crate::{Result, StoreError, Tx, params};
use garson_core::delivery::{DeliveryState, UndeliveredReason};
use garson_core::id::{AccountId, EndpointId, EventId, OrderId, RestaurantId};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use garson_core::webhook_endpoint::{EndpointState, Route};
use serde::Deserialize;

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

/// Writes an event. If the account has a webhook, its delivery is due now, or after the previous event of its order. The same
/// applies to each of the other endpoints that want it.
pub fn write(tx: &mut Tx<'_>, event: &NewEvent<'_>, positions: &mut Positions) -> Result<()> {
    let position = positions.take();
    let routes = positions.routes.clone().unwrap_or_default();
    let default = EndpointId::default_of(event.account_id);
    let (of_default, others): (Vec<&Route>, Vec<&Route>) =
        routes.iter().partition(|route| route.endpoint == default);
    let is_filtered = of_default.iter().any(|route| !is_wanted(route, event));
    let is_sent = positions.has_webhook && !is_filtered;
    let held = match event.order_id.zip(event.sequence) {
        Some((order, sequence)) if is_sent && sequence > 1 => {
            deliveries::has_pending_predecessor(tx, order, sequence)?
        }
        _ => false,
    };
    let (state, reason) = match (is_sent, held) {
        (true, false) => (DeliveryState::Pending, UndeliveredReason::Waiting),
        (true, true) => (DeliveryState::Pending, UndeliveredReason::Earlier),
        (false, _) if positions.has_webhook => (DeliveryState::Skipped, UndeliveredReason::Filtered),
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
            is_sent.then_some(positions.at),
            positions.at,
        ],
    )?;
    let delivery = || Delivery {
        id: event.id,
        order_id: event.order_id,
        position,
        attempts: 0,
        failures: 0,
        body: event.body.to_owned(),
        created_at: positions.at,
    };
    if is_sent && !held {
        tx.hand_off_delivery(event.account_id, None, delivery);
    }
    let wanted: Vec<&Route> = others
        .into_iter()
        .filter(|route| is_wanted(route, event))
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let holding = match event.order_id.zip(event.sequence) {
        Some((order, sequence)) if sequence > 1 => endpoint_deliveries::holding(tx, order)?,
        _ => Vec::new(),
    };
    for route in wanted {
        let is_held = holding.contains(&route.endpoint);
        let (state, reason) = match route.state {
            EndpointState::Active if is_held => (DeliveryState::Pending, UndeliveredReason::Earlier),
            EndpointState::Active => (DeliveryState::Pending, UndeliveredReason::Waiting),
            EndpointState::Paused => (DeliveryState::Skipped, UndeliveredReason::EndpointPaused),
            EndpointState::Disabled => (DeliveryState::Skipped, UndeliveredReason::EndpointDisabled),
        };
        let is_pending = state == DeliveryState::Pending;
        let new = NewDelivery {
            event: event.id,
            endpoint: route.endpoint,
            account: event.account_id,
            order: event.order_id,
            position,
            state,
            reason,
            is_held: is_held && is_pending,
            at: positions.at,
        };
        endpoint_deliveries::write(tx, &new)?;
        if is_pending && !is_held {
            tx.hand_off_delivery(event.account_id, Some(route.endpoint), delivery);
        }
    }
    Ok(())
}

fn is_wanted(route: &Route, event: &NewEvent<'_>) -> bool {
    route
        .filter
        .allows(event.name, event.restaurant_id, || provider_of(event.body))
}

/// The platform that an event's body names.
fn provider_of(body: &str) -> Option<Provider> {
    #[derive(Deserialize)]
    struct Body {
        veri: Veri,
    }
    #[derive(Deserialize)]
    struct Veri {
        provider: Option<Provider>,
    }
    let body: Body = serde_json::from_str(body).ok()?;
    body.veri.provider
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
