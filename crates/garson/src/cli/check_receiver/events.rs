//! Test events: real in their form, of orders that do not exist.

use garson_core::clock::{Clock, SystemClock};
use garson_core::event::{EventKind, NewEvent, order_body};
use garson_core::id::{EventId, OrderId, RestaurantId, uuid_at};
use garson_core::order::{Actor, Cancellation, Order, Reason, Status};
use garson_core::sample_order::an_order;
use garson_core::time::Timestamp;
use serde_json::Value;

/// The prefix of the ids of all test orders, so that they are not mistaken for real ones.
pub const PREFIX: &str = "GARSON-CHECK";

pub struct Events {
    restaurant: RestaurantId,
    /// Distinguishes the orders of this run from those of others.
    run: String,
}

impl Events {
    pub fn new(restaurant: RestaurantId, at: Timestamp) -> Self {
        // The end of a UUIDv7 is random.
        let mut run = uuid_at(at).simple().to_string().to_uppercase();
        let run = run.split_off(run.len() - 6);
        Self { restaurant, run }
    }

    /// An order that does not exist, named after its check.
    pub fn order(&self, purpose: &str) -> Order {
        let name = format!("{PREFIX}-{}-{purpose}", self.run);
        Order {
            id: OrderId::at(SystemClock.now()),
            restaurant_id: self.restaurant,
            ..an_order(&name)
        }
    }
}

fn body(order: &Order, sequence: i64, kind: EventKind) -> String {
    let now = SystemClock.now();
    order_body(EventId::at(now), order, &NewEvent { sequence, kind }, now)
}

/// The first event of an order.
pub fn created(order: &Order) -> String {
    body(order, 1, EventKind::Created { status: Status::New })
}

/// The second event of an order.
pub fn moved(order: &Order) -> String {
    let kind = EventKind::Moved {
        from: Status::New,
        to: Status::Preparing,
        by: Actor::Account,
    };
    body(order, 2, kind)
}

/// The second event of an order that the customer cancels with a note.
pub fn cancelled(order: &Order, note: &str) -> String {
    let cancellation = Cancellation {
        by: Actor::Customer,
        reason: Some(Reason {
            id: "0".to_owned(),
            name: "Müşteri vazgeçti".to_owned(),
        }),
        note: Some(note.to_owned()),
        at: SystemClock.now(),
    };
    let kind = EventKind::Cancelled {
        status: Status::CancelledByPlatform,
        cancellation,
    };
    body(order, 2, kind)
}

/// The same event with a field in `veri` that no event has yet.
pub fn with_field(event: &str, name: &str, value: Value) -> String {
    changed(event, |document| document["veri"][name] = value)
}

/// The same event under another name.
pub fn renamed(event: &str, olay: &str) -> String {
    changed(event, |document| document["olay"] = olay.into())
}

fn changed(event: &str, change: impl FnOnce(&mut Value)) -> String {
    // Our own JSON always parses.
    let mut document: Value = serde_json::from_str(event).unwrap_or_default();
    change(&mut document);
    document.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use uuid::Uuid;

    #[test]
    fn events_are_real_in_form_and_of_nobody() {
        let events = Events::new(RestaurantId(Uuid::nil()), SystemClock.now());
        let order = events.order("DUPLICATE");
        let first: Value = serde_json::from_str(&created(&order)).unwrap();
        let second: Value = serde_json::from_str(&moved(&order)).unwrap();
        let name = first["veri"]["providerOrderId"].as_str().unwrap();
        assert!(
            name.starts_with("GARSON-CHECK-") && name.ends_with("-DUPLICATE"),
            "{name}"
        );
        assert_eq!(first["veri"]["restaurantId"], Uuid::nil().to_string());
        assert_eq!(
            (&first["veri"]["sequence"], &second["veri"]["sequence"]),
            (&json!(1), &json!(2))
        );
        assert_eq!(first["veri"]["orderId"], second["veri"]["orderId"]);
        assert_ne!(first["veri"]["id"], second["veri"]["id"]);
        assert_eq!(second["olay"], "siparis.durum_degisti");
    }

    #[test]
    fn events_can_be_changed() {
        let events = Events::new(RestaurantId(Uuid::nil()), SystemClock.now());
        let event = created(&events.order("X"));
        let changed = renamed(&with_field(&event, "more", json!([1])), "siparis.yeni");
        let changed: Value = serde_json::from_str(&changed).unwrap();
        assert_eq!(
            (&changed["olay"], &changed["veri"]["more"]),
            (&json!("siparis.yeni"), &json!([1]))
        );
        assert_eq!(changed["veri"]["status"], 400);
    }
}
