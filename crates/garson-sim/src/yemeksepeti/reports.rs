//! Delivery Hero's order report: ids of accepted and cancelled orders, and one of those in full.

use http::StatusCode;
use jiff::SignedDuration;
use serde_json::json;

use super::{
    auth,
    errors::{Answer, Refusal},
    orders,
    states::{ACCEPTED, CANCELLED, DELIVERED, PICKED_UP, PREPARED, REJECTED},
};
use crate::{call::Call, clock, order::Order, platform::Platform, world::World};

/// The report's word for an order, which has none for those that wait for an answer.
fn word(order: &Order) -> Option<&'static str> {
    match order.state.as_str() {
        ACCEPTED | PREPARED | PICKED_UP | DELIVERED => Some("accepted"),
        CANCELLED | REJECTED => Some("cancelled"),
        _ => None,
    }
}

pub(super) fn ids(world: &World, call: &Call, user: &str) -> Answer {
    let stores = auth::chain(world, call, user)?;
    let status = call.query("status").unwrap_or_default();
    if !["cancelled", "accepted"].contains(&status) {
        return Err(Refusal::new(
            StatusCode::BAD_REQUEST,
            "INVALID_ORDER_STATUS",
            "status is cancelled or accepted",
        ));
    }
    let hours = call.query("pastNumberOfHours").map_or(Ok(24), str::parse::<i64>);
    let hours = hours.ok().filter(|hours| (1..=24).contains(hours));
    let hours = hours.ok_or_else(|| Refusal::invalid("pastNumberOfHours is 1 to 24"))?;
    let since = clock::add(world.now(), SignedDuration::from_hours(-hours));
    let stores = stores
        .iter()
        .filter(|store| call.query("vendorId").is_none_or(|id| id == store.remote_id));
    let keys: Vec<_> = stores.map(|store| store.key()).collect();
    let orders = keys.iter().flat_map(|key| world.orders.of_store(key));
    let wanted = orders.filter(|order| word(order) == Some(status) && order.placed_at >= since);
    let ids: Vec<_> = wanted.filter_map(|order| order.token.clone()).collect();
    Ok(json!({"count": ids.len(), "orderIdentifiers": ids}))
}

pub(super) fn order(world: &World, call: &Call, user: &str, id: &str) -> Answer {
    let stores = auth::chain(world, call, user)?;
    let not_found = || {
        Refusal::new(
            StatusCode::BAD_REQUEST,
            "ORDER_NOT_FOUND",
            "there is no such order",
        )
    };
    let order = world
        .orders
        .find(Platform::Yemeksepeti, id)
        .ok_or_else(not_found)?;
    let store = stores
        .iter()
        .find(|store| store.remote_id == order.remote_id)
        .ok_or_else(not_found)?;
    let status = word(order).ok_or_else(not_found)?;
    let mut body = orders::render(order, store, &world.public_url);
    body["status"] = json!(status);
    body["reason"] = json!(
        order
            .cancellation
            .as_ref()
            .map(|cancellation| &cancellation.reason_id)
    );
    Ok(json!({"order": body}))
}
