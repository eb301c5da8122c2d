//! The bodies of events about orders and integrations, and of test messages.

use super::names::{INTEGRATION_TOGGLED, TEST};
use super::order_event::{EventKind, NewEvent};
use crate::id::{EventId, RestaurantId};
use crate::money::{Currency, Minor};
use crate::order::{Actor, ContentChange, Order, Reason};
use crate::platform::Provider;
use crate::time::Timestamp;
use serde::Serialize;

#[derive(Serialize)]
struct Envelope<'a> {
    olay: &'a str,
    veri: Veri<'a>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Veri<'a> {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_order_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    restaurant_id: Option<RestaurantId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<i64>,
    occurred_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_status: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_status: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Option<&'a Reason>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_active: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<Minor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<Currency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<&'a [ContentChange]>,
}

fn write(olay: &str, veri: Veri<'_>) -> String {
    // Strings, numbers and booleans under fixed names cannot fail to serialise.
    serde_json::to_string(&Envelope { olay, veri }).unwrap_or_default()
}

/// The body of an order's event. It is made once, stored, and the same on every attempt.
#[must_use]
pub fn order_body(id: EventId, order: &Order, event: &NewEvent, at: Timestamp) -> String {
    let mut veri = Veri {
        id: id.to_string(),
        provider_order_id: Some(&order.provider_order_id),
        restaurant_id: Some(order.restaurant_id),
        order_id: Some(order.id.to_string()),
        pid: Some(&order.provider_order_id),
        provider: Some(order.provider.as_str()),
        sequence: Some(event.sequence),
        occurred_at: at,
        ..Veri::default()
    };
    match &event.kind {
        EventKind::Created { status } => veri.status = Some(status.code()),
        EventKind::Moved { from, to, by } => {
            veri.old_status = Some(from.code());
            veri.new_status = Some(to.code());
            veri.by = Some(by.as_str());
        }
        EventKind::Cancelled { status, cancellation } => {
            veri.status = Some(status.code());
            veri.by = Some(cancellation.by.as_str());
            veri.reason = Some(cancellation.reason.as_ref());
            veri.note = Some(cancellation.note.as_deref());
        }
        EventKind::Updated { revision, changes } => {
            veri.status = Some(order.status.code());
            veri.by = Some(Actor::Platform.as_str());
            veri.revision = Some(*revision);
            veri.total = Some(order.total);
            veri.currency = Some(order.currency);
            veri.changes = Some(changes);
        }
    }
    write(event.kind.name(), veri)
}

/// The body of the event that an integration was switched on or off.
#[must_use]
pub fn integration_body(
    id: EventId,
    restaurant_id: RestaurantId,
    provider: Provider,
    is_active: bool,
    at: Timestamp,
) -> String {
    let veri = Veri {
        id: id.to_string(),
        restaurant_id: Some(restaurant_id),
        provider: Some(provider.as_str()),
        is_active: Some(is_active),
        occurred_at: at,
        ..Veri::default()
    };
    write(INTEGRATION_TOGGLED, veri)
}

/// The body of a test message.
#[must_use]
pub fn test_body(id: EventId, at: Timestamp) -> String {
    write(
        TEST,
        Veri {
            id: id.to_string(),
            occurred_at: at,
            ..Veri::default()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::{Cancellation, Status};
    use crate::testing::an_order;
    use uuid::Uuid;

    #[test]
    fn body_of_a_new_order_is_as_agreed() {
        let order = an_order("S-1");
        let event = NewEvent {
            sequence: 1,
            kind: EventKind::Created { status: Status::New },
        };
        let body = order_body(EventId(Uuid::nil()), &order, &event, Timestamp::from_millis(0));
        let nil = Uuid::nil();
        assert_eq!(
            body,
            format!(
                r#"{{"olay":"siparis.olusturuldu","veri":{{"id":"{nil}","providerOrderId":"S-1","restaurantId":"{nil}","orderId":"{nil}","pid":"S-1","provider":"direct","sequence":1,"occurredAt":"1970-01-01T00:00:00.000Z","status":400}}}}"#
            )
        );
    }

    #[test]
    fn cancellation_without_reason_and_note_has_null_fields() {
        let order = an_order("S-1");
        let cancellation = Cancellation {
            by: Actor::Customer,
            reason: None,
            note: None,
            at: Timestamp::default(),
        };
        let kind = EventKind::Cancelled {
            status: Status::CancelledByPlatform,
            cancellation,
        };
        let body = order_body(
            EventId(Uuid::nil()),
            &order,
            &NewEvent { sequence: 2, kind },
            Timestamp::default(),
        );
        assert!(
            body.ends_with(r#""status":1500,"by":"customer","reason":null,"note":null}}"#),
            "{body}"
        );
    }
}
