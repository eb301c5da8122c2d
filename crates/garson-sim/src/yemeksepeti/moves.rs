//! What a restaurant may do with a Yemeksepeti order, and when.

use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    auth,
    errors::{Answer, Refusal},
    states::{ACCEPTED, CANCELLED, DISPATCHING, PICKED_UP, PREPARED, RECEIVED, REJECTED, WAITING},
};
use crate::{
    call::Call,
    clock,
    order::{Cancellation, Order},
    platform::Platform,
    views::Courier,
    world::World,
};

/// The food must not be ready sooner than this after accepting.
const LEAST_NOTICE: SignedDuration = SignedDuration::from_mins(2);

/// Reasons that are taken at any time.
const REASONS: &[&str] = &[
    "ADDRESS_INCOMPLETE_MISSTATED",
    "BLACKLISTED",
    "CLOSED",
    "FRAUD_PRANK",
    "ITEM_UNAVAILABLE",
    "MENU_ACCOUNT_SETTINGS",
    "MOV_NOT_REACHED",
    "NO_COURIER",
    "NO_PICKER",
    "NO_RESPONSE",
    "OUTSIDE_DELIVERY_AREA",
    "TECHNICAL_PROBLEM",
    "TEST_ORDER",
    "TOO_BUSY",
    "WILL_NOT_WORK_WITH_PLATFORM",
];
/// Reasons that can only come up after the order was accepted.
const LATER_REASONS: &[&str] = &[
    "BAD_WEATHER",
    "CARD_READER_NOT_AVAILABLE",
    "CONTENT_WRONG_MISLEADING",
    "FOOD_QUALITY_SPILLAGE",
    "LATE_DELIVERY",
    "UNABLE_TO_FIND",
    "UNABLE_TO_PAY",
    "UNPROFESSIONAL_BEHAVIOUR",
    "WRONG_ORDER_ITEMS_DELIVERED",
];

pub(super) fn status(world: &mut World, call: &Call, user: &str, token: &str) -> Answer {
    let body = call.json().map_err(Refusal::invalid)?;
    let not_found = || {
        Refusal::new(
            StatusCode::BAD_REQUEST,
            "ORDER_NOT_FOUND",
            "there is no such order",
        )
    };
    let number = find(world, user, token, not_found)?;
    let Some(order) = world.orders.get(number) else {
        return Err(not_found());
    };
    match body["status"].as_str() {
        Some("order_accepted") => {
            let remote_order_id = check_acceptance(&body, world.now())?;
            expect(order, &[RECEIVED])?;
            if let Some(order) = world.orders.get_mut(number) {
                order.remote_order_id = Some(remote_order_id);
            }
            world.enter(number, ACCEPTED, "api");
        }
        Some("order_rejected") => {
            let is_new = [DISPATCHING, WAITING, RECEIVED].contains(&order.state.as_str());
            let reason = check_reason(&body, is_new)?;
            expect(order, &[RECEIVED, ACCEPTED, PREPARED])?;
            let note = body["message"].as_str().unwrap_or_default().to_owned();
            if let Some(order) = world.orders.get_mut(number) {
                order.cancellation = Some(Cancellation {
                    by: "restaurant".to_owned(),
                    reason_id: reason.clone(),
                    reason,
                    note,
                });
            }
            world.enter(number, if is_new { REJECTED } else { CANCELLED }, "api");
        }
        Some("order_picked_up") => {
            if order.courier == Courier::Platform {
                return Err(Refusal::conflict(
                    order,
                    "the platform's rider says so, not the restaurant",
                ));
            }
            expect(order, &[ACCEPTED])?;
            world.enter(number, PICKED_UP, "api");
        }
        _ => {
            let message = "status must be order_accepted, order_rejected or order_picked_up";
            return Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                "INVALID_ORDER_STATUS",
                message,
            ));
        }
    }
    Ok(json!({"message": "Order status successfully changed."}))
}

/// The food waits for the platform's rider.
pub(super) fn prepared(world: &mut World, user: &str, token: &str) -> Answer {
    let not_found = || Refusal::new(StatusCode::NOT_FOUND, "NOT_FOUND", "there is no such order");
    let number = find(world, user, token, not_found)?;
    let Some(order) = world.orders.get(number) else {
        return Err(not_found());
    };
    if order.courier != Courier::Platform || order.state != ACCEPTED {
        let message = format!(
            "an order that is {} and not carried by a rider, or not accepted",
            order.state
        );
        return Err(Refusal::new(
            StatusCode::CONFLICT,
            "INVALID_ORDER_STATUS",
            message,
        ));
    }
    world.enter(number, PREPARED, "api");
    Ok(json!({"code": "OK"}))
}

/// The user's order, brought out of its waiting time if that is over.
fn find(world: &mut World, user: &str, token: &str, not_found: impl Fn() -> Refusal) -> Result<u64, Refusal> {
    let order = world.orders.find(Platform::Yemeksepeti, token);
    // The human code does not open the callbacks.
    let order = order
        .filter(|order| order.token.as_deref() == Some(token))
        .ok_or_else(&not_found)?;
    let store = world
        .store(Platform::Yemeksepeti, &order.remote_id)
        .ok_or_else(not_found)?;
    if auth::of(&store).is_none_or(|credentials| credentials.username != user) {
        return Err(Refusal::forbidden());
    }
    let waited = order
        .seconds_since("acknowledged", world.now())
        .unwrap_or_default();
    let (number, waits) = (order.number, order.state == WAITING);
    if waits && waited.unsigned_abs() >= world.settings.not_ready_seconds {
        world.enter(number, RECEIVED, "platform");
    }
    Ok(number)
}

fn expect(order: &Order, states: &[&str]) -> Result<(), Refusal> {
    if states.contains(&order.state.as_str()) {
        Ok(())
    } else {
        Err(Refusal::conflict(order, "the order's state does not allow this"))
    }
}

fn check_acceptance(body: &Value, now: Timestamp) -> Result<String, Refusal> {
    let time = body["acceptanceTime"]
        .as_str()
        .and_then(|text| text.parse::<Timestamp>().ok());
    let time = time.ok_or_else(|| Refusal::invalid("acceptanceTime must be a timestamp in RFC 3339"))?;
    if time < clock::add(now, LEAST_NOTICE) {
        return Err(Refusal::invalid(
            "acceptanceTime must be at least two minutes from now",
        ));
    }
    let id = body["remoteOrderId"].as_str().filter(|id| !id.is_empty());
    id.map(str::to_owned)
        .ok_or_else(|| Refusal::invalid("remoteOrderId is required"))
}

fn check_reason(body: &Value, is_new: bool) -> Result<String, Refusal> {
    let reason = body["reason"].as_str().unwrap_or_default();
    if REASONS.contains(&reason) || (!is_new && LATER_REASONS.contains(&reason)) {
        return Ok(reason.to_owned());
    }
    if LATER_REASONS.contains(&reason) {
        Err(Refusal::invalid(format!(
            "{reason} is only for orders that were accepted"
        )))
    } else {
        Err(Refusal::invalid("reason is none of those that can be given"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twenty_four_reasons() {
        assert_eq!(REASONS.len() + LATER_REASONS.len(), 24);
    }

    #[test]
    fn acceptance_looks_ahead() {
        let now: Timestamp = "2026-03-14T17:45:00Z".parse().unwrap();
        let accept =
            |time: &str| check_acceptance(&json!({"acceptanceTime": time, "remoteOrderId": "1"}), now);
        assert!(accept("2026-03-14T17:47:00.000Z").is_ok());
        assert!(accept("2026-03-14T20:50:00+03:00").is_ok());
        assert!(accept("2026-03-14T17:46:59Z").is_err());
        assert!(accept("17:50").is_err());
    }
}
