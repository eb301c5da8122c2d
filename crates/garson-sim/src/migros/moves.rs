//! What a restaurant may do with a Migros order, and in which order.

use serde_json::{Value, json};

use super::{
    envelope::{Answer, Refusal},
    orders::find,
    states::{APPROVED, CANCELLED, COMPLETED, DELIVERY, NEW, PREPARED, REJECTED},
};
use crate::{
    order::{Cancellation, Order},
    store::Store,
    views::Courier,
    world::World,
};

/// The real ids are not public; these are the simulator's own.
const REASONS: &[(u64, &str)] = &[
    (101, "Ürün stokta yok"),
    (102, "Restoran kapalı"),
    (103, "Restoran yoğun"),
    (104, "Adres teslimat bölgesi dışında"),
    (105, "Müşteri talebi"),
    (106, "Teknik sorun"),
];

pub(super) fn reasons() -> Value {
    REASONS
        .iter()
        .map(|(id, text)| json!({"reasonId": id, "description": text}))
        .collect()
}

/// One step along Approved, Prepared, Delivery, Completed; or Rejected instead of the first.
pub(super) fn update(world: &mut World, store: &Store, body: &Value) -> Answer {
    let order = find(world, store, body)?;
    let number = order.number;
    let wanted = body["orderStatus"].as_str().unwrap_or_default();
    let (from, to) = match wanted {
        "Approved" => (NEW, APPROVED),
        "Rejected" => (NEW, REJECTED),
        "Prepared" => (APPROVED, PREPARED),
        "Delivery" => (PREPARED, DELIVERY),
        "Completed" => (DELIVERY, COMPLETED),
        _ => {
            return Err(Refusal::invalid(
                "orderStatus is none of Approved, Rejected, Prepared, Delivery, Completed",
            ));
        }
    };
    if [DELIVERY, COMPLETED].contains(&to) && order.courier == Courier::Platform {
        return Err(Refusal::invalid("Migros delivers this order"));
    }
    if order.state != from {
        return Err(Refusal::conflict(format!("the order is {}", order.state)));
    }
    if to == REJECTED {
        return end(world, number, body, REJECTED);
    }
    world.enter(number, to, "api");
    Ok(json!(true))
}

/// Cancels an order that was approved before.
pub(super) fn cancel(world: &mut World, store: &Store, body: &Value) -> Answer {
    let order = find(world, store, body)?;
    if body["userId"].as_u64() != Some(super::orders::customer_id(order)) {
        return Err(Refusal::invalid("userId is not the order's customer"));
    }
    if !body["notifyUser"].is_boolean() {
        return Err(Refusal::invalid("notifyUser must be true or false"));
    }
    if !may_cancel(order) {
        return Err(Refusal::conflict(format!("the order is {}", order.state)));
    }
    let number = order.number;
    end(world, number, body, CANCELLED)
}

fn may_cancel(order: &Order) -> bool {
    let on_own_way = order.state == DELIVERY && order.courier == Courier::Restaurant;
    on_own_way || [NEW, APPROVED, PREPARED].contains(&order.state.as_str())
}

fn end(world: &mut World, number: u64, body: &Value, state: &str) -> Answer {
    let reason = REASONS
        .iter()
        .find(|(id, _)| body["cancelReasonId"].as_u64() == Some(*id));
    let (id, text) = reason.ok_or_else(|| Refusal::invalid("cancelReasonId is not in the list"))?;
    if let Some(order) = world.orders.get_mut(number) {
        order.cancellation = Some(Cancellation {
            by: "restaurant".to_owned(),
            reason_id: id.to_string(),
            reason: (*text).to_owned(),
            note: String::new(),
        });
    }
    world.enter(number, state, "api");
    Ok(json!(true))
}
