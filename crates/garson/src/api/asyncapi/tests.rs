use super::*;
use garson_core::event::{
    self, EventKind, MenuEvent, NAMES, NewEvent, ProductEvent, StoreEvent, integration_body, menu_body,
    order_body, product_body, store_body, test_body,
};
use garson_core::id::{EventId, ProductId, RestaurantId};
use garson_core::order::{Actor, Cancellation, Status};
use garson_core::store_status::StoreState;
use garson_core::testing::an_order;
use garson_core::time::Timestamp;
use std::collections::BTreeSet;
use uuid::Uuid;

fn at() -> Timestamp {
    Timestamp::from_millis(0)
}

/// The body of an event of every kind, as the service writes it.
fn bodies() -> Vec<Value> {
    let id = EventId(Uuid::nil());
    let order = an_order("S-1");
    let (restaurant, provider) = (RestaurantId(Uuid::nil()), order.provider);
    let cancellation = Cancellation {
        by: Actor::Customer,
        reason: None,
        note: None,
        at: at(),
    };
    let kinds = [
        EventKind::Created { status: Status::New },
        EventKind::Moved {
            from: Status::New,
            to: Status::Preparing,
            by: Actor::Account,
        },
        EventKind::Cancelled {
            status: Status::CancelledByPlatform,
            cancellation,
        },
        EventKind::Updated {
            revision: 2,
            changes: Vec::new(),
        },
    ];
    let store = StoreEvent {
        old_state: StoreState::Open,
        state: StoreState::Closed,
        since: None,
        until: None,
        by: None,
        reason: None,
    };
    let product = ProductEvent {
        product_id: ProductId(Uuid::nil()),
        item_id: "4711",
        name: "Künefe",
        available: false,
        until: None,
        by: "account",
    };
    let mut bodies: Vec<String> = kinds
        .into_iter()
        .map(|kind| order_body(id, &order, &NewEvent { sequence: 1, kind }, at()))
        .collect();
    bodies.extend([
        integration_body(id, restaurant, provider, true, at()),
        store_body(id, restaurant, provider, &store, at()),
        product_body(id, restaurant, provider, &product, at()),
        menu_body(id, restaurant, provider, &MenuEvent::default(), at()),
        test_body(id, at()),
    ]);
    bodies
        .iter()
        .map(|body| serde_json::from_str(body).unwrap())
        .collect()
}

/// Does a value have one of the types of a schema?
fn has_type(schema: &Value, value: &Value) -> bool {
    let one = |kind: &Value| match kind.as_str() {
        Some("null") => value.is_null(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        other => panic!("{other:?} in {schema}"),
    };
    match (&schema["type"], schema["oneOf"].as_array()) {
        (Value::Array(kinds), _) => kinds.iter().any(one),
        (Value::String(_), _) => one(&schema["type"]),
        (_, Some(variants)) => variants.iter().any(|variant| has_type(variant, value)),
        _ => schema["$ref"].is_string() && value.is_object(),
    }
}

/// Checks a body against the schema of its event: the same fields, with the right types.
fn check(document: &Value, body: &Value) {
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let of_event = |schema: &&Value| schema["properties"]["olay"]["const"] == body["olay"];
    let schema = schemas.values().find(of_event).unwrap();
    let veri = &schema["properties"]["veri"];
    let described = veri["properties"].as_object().unwrap();
    let names = |map: &Map<String, Value>| map.keys().cloned().collect::<BTreeSet<_>>();
    let mut known = names(described);
    known.remove("order");
    let given = body["veri"].as_object().unwrap();
    assert_eq!(names(given), known, "{}", body["olay"]);
    let required: BTreeSet<String> = serde_json::from_value(veri["required"].clone()).unwrap();
    assert_eq!(required, known, "{}", body["olay"]);
    for (name, value) in given {
        assert!(
            has_type(&described[name], value),
            "{name} of {}: {value}",
            body["olay"]
        );
    }
}

#[test]
fn payloads_have_exactly_the_fields_that_are_sent() {
    let document = document();
    let bodies = bodies();
    let kinds: BTreeSet<&str> = bodies.iter().filter_map(|body| body["olay"].as_str()).collect();
    assert_eq!(kinds, NAMES.into_iter().chain([event::TEST]).collect());
    for body in bodies {
        check(&document, &body);
    }
}

#[test]
fn examples_match_their_schemas() {
    let document = document();
    for (id, message) in document["components"]["messages"].as_object().unwrap() {
        let example = &message["examples"][0];
        assert_eq!(example["payload"]["olay"], message["name"], "{id}");
        check(&document, &example["payload"]);
    }
}

#[test]
fn a_field_that_is_never_null_does_not_allow_null() {
    let document = document();
    let veri =
        |event: &str| document["components"]["schemas"][event]["properties"]["veri"]["properties"].clone();
    assert_eq!(veri("OrderCreatedEvent")["sequence"]["type"], "integer");
    assert_eq!(veri("OrderUpdatedEvent")["changes"]["type"], "array");
    assert!(has_type(&veri("OrderCancelledEvent")["reason"], &Value::Null));
    assert!(!has_type(&veri("OrderCancelledEvent")["by"], &Value::Null));
}

#[test]
fn every_event_is_on_its_channels() {
    let document = document();
    let on = |channel: &str| {
        let messages = document["channels"][channel]["messages"].as_object().unwrap();
        let names = messages
            .keys()
            .map(|id| document["components"]["messages"][id]["name"].as_str().unwrap());
        names.collect::<BTreeSet<_>>()
    };
    let stored: BTreeSet<&str> = NAMES.into_iter().collect();
    assert_eq!(on("stream"), stored);
    assert_eq!(on("webhook"), stored.into_iter().chain([event::TEST]).collect());
}

#[test]
fn every_reference_has_a_target() {
    fn references<'a>(part: &'a Value, found: &mut BTreeSet<&'a str>) {
        match part {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|field| references(field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let document = document();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for reference in found {
        let target = document.pointer(reference.strip_prefix('#').unwrap());
        assert!(target.is_some_and(Value::is_object), "{reference}");
    }
}

#[test]
fn the_address_of_the_service_is_in_the_document() {
    let served = served_at("https://orders.example.com:8443/garson/");
    let server = &served["servers"]["garson"];
    assert_eq!(server["host"], "orders.example.com:8443");
    assert_eq!(server["pathname"], "/garson");
    assert_eq!(server["protocol"], "https");
    assert_eq!(document()["servers"]["garson"]["host"], "{host}");
}
