//! The `direct` dialect against its fixtures.

use super::*;
use garson_core::order::{Actor, Change, NewOrder, Status};
use garson_core::platform::{News, Which};
use garson_core::testing::{PlatformCase, an_order, check_platform};
use proptest::prelude::*;
use serde_json::{Value, json};

const ORDER: &str = include_str!("fixtures/order.json");

fn credentials() -> Credentials {
    let secret = |text: &str| Secret::new(text.to_owned());
    Credentials::from([
        (INBOUND_KEY.to_owned(), secret("shop-key")),
        (CALLBACK_URL.to_owned(), secret("https://shop.example/status")),
    ])
}

fn request(kind: &'static str, body: &str) -> HookRequest {
    HookRequest {
        kind,
        params: vec![("providerOrderId".to_owned(), "WEB-2026-1041".to_owned())],
        headers: vec![("x-api-key".to_owned(), "shop-key".to_owned())],
        body: body.as_bytes().to_vec(),
        ..HookRequest::default()
    }
}

fn read_body(kind: &'static str, body: &str) -> Result<Message, Unreadable> {
    let request = request(kind, body);
    let verified = Direct.verify(&request, &credentials());
    verified.map_or_else(
        || unreachable!("the key is right"),
        |message| Direct.read(&message),
    )
}

fn read_order(body: &str) -> Result<NewOrder, Unreadable> {
    read_body(NEW_ORDER, body).map(|message| match message.news {
        News::Order(sighting) => sighting.order,
        _ => unreachable!("an order arrived"),
    })
}

#[test]
fn conforms() {
    let pickup = with("/fulfilment", Some(json!({ "type": "pickup" })));
    let case = PlatformCase {
        platform: &Direct,
        credentials: credentials(),
        new_orders: vec![request(NEW_ORDER, ORDER), request(NEW_ORDER, &pickup)],
        others: vec![request(CANCEL, r#"{"storeId":"moda-1"}"#)],
        branch: "moda-1",
        provider_order_id: "WEB-2026-1041",
        refusals: vec![(409, "kapalı", "kapalı")],
    };
    assert_eq!(check_platform(&case), Ok(()));
}

#[test]
fn what_can_be_worked_out_is() {
    let order = read_order(ORDER);
    let content = order.map(|order| order.content);
    let totals = content
        .as_ref()
        .map(|c| c.items.iter().map(|i| i.total.0).collect::<Vec<_>>());
    assert_eq!(totals, Ok(vec![30_000, 6_000]));
    assert_eq!(
        content.as_ref().map(|c| (c.amount.subtotal.0, c.amount.total.0)),
        Ok((36_000, 37_500))
    );
    assert_eq!(
        content.as_ref().map(|c| (c.payment.is_paid, c.payment.collect.0)),
        Ok((false, 37_500))
    );
}

/// Sets one place of the sample to a value, or removes it.
fn with(pointer: &str, value: Option<Value>) -> String {
    let mut document: Value = serde_json::from_str(ORDER).unwrap_or_default();
    let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
    let place = document.pointer_mut(parent);
    match (place, value) {
        (Some(Value::Object(fields)), Some(value)) => drop(fields.insert(name.to_owned(), value)),
        (Some(Value::Object(fields)), None) => drop(fields.remove(name)),
        _ => unreachable!("{pointer} is not in the sample"),
    }
    document.to_string()
}

#[test]
fn every_limit_is_named_where_it_is_broken() {
    let long = "x".repeat(3_000);
    let deep = (0..6).fold(json!([]), |inner, _| json!([{ "name": "x", "options": inner }]));
    for (pointer, value, path) in [
        ("/storeId", None, "storeId"),
        ("/storeId", Some(json!(7)), "storeId"),
        ("/storeId", Some(json!("")), "storeId"),
        ("/providerOrderId", Some(json!(" 1")), "providerOrderId"),
        ("/providerOrderId", Some(json!("a\nb")), "providerOrderId"),
        ("/items", Some(json!([])), "items"),
        ("/items", Some(json!({})), "items"),
        ("/items/0/name", Some(json!("  ")), "items[0].name"),
        ("/items/0/quantity", Some(json!(0)), "items[0].quantity"),
        ("/items/0/quantity", Some(json!(1.5)), "items[0].quantity"),
        ("/items/1/unitPrice", Some(json!("30")), "items[1].unitPrice"),
        ("/items/1/unitPrice", Some(json!(30.5)), "items[1].unitPrice"),
        (
            "/items/0/options",
            Some(deep),
            "items[0].options[0].options[0].options[0].options[0].options[0].options",
        ),
        ("/amount/total", Some(json!(-1)), "amount.total"),
        (
            "/amount/total",
            Some(json!(99_999_999_999_999i64)),
            "amount.total",
        ),
        ("/amount/currency", Some(json!("lira")), "amount.currency"),
        ("/payment/type", Some(json!("gold")), "payment.type"),
        ("/note", Some(json!(long)), "note"),
        ("/note", Some(json!("a\0b")), "note"),
        (
            "/items/0/options",
            Some(
                json!([{ "name": "x", "price": 99_999_999_999i64, "quantity": 10_000,
                "options": [{ "name": "y", "price": 99_999_999_999i64, "quantity": 10_000 }] }]),
            ),
            "items[0].total",
        ),
        ("/placedAt", Some(json!("yesterday")), "placedAt"),
        ("/customer/address/lat", Some(json!(91)), "customer.address.lat"),
    ] {
        let found = read_order(&with(pointer, value)).map_err(|unreadable| unreadable.path);
        assert_eq!(found.map(drop), Err(path.to_owned()), "{pointer}");
    }
}

#[test]
fn the_shop_cancels_for_its_customer_unless_it_says_otherwise() {
    let by = |body: &str| match read_body(CANCEL, body).map(|message| message.news) {
        Ok(News::Changed {
            change: Change::Cancelled { by, reason, .. },
            order: Which::Identity(identity),
        }) => Some((by, reason.map(|r| r.name), identity)),
        _ => None,
    };
    let id = "WEB-2026-1041".to_owned();
    assert_eq!(
        by(r#"{"storeId":"moda-1"}"#),
        Some((Actor::Customer, None, id.clone()))
    );
    let ours = by(r#"{"storeId":"moda-1","by":"restaurant","reason":"closed"}"#);
    assert_eq!(
        ours,
        Some((Actor::Account, Some("The restaurant is closed".to_owned()), id))
    );
}

#[test]
fn the_shop_is_told_where_it_wants_to_be() {
    let order = an_order("WEB-1");
    let call = CallKind::Tell(Status::OnTheWay);
    assert!(Direct.wants(call, &order, &credentials()));
    assert!(!Direct.wants(call, &order, &Credentials::new()));
    let credentials = credentials();
    let call_request = CallRequest {
        call,
        order: &order,
        reason: None,
        note: None,
        preparation_minutes: None,
        now: order.updated_at,
    };
    let link = Link {
        base: "",
        branch: "moda-1",
        credentials: &credentials,
        token: None,
        callback_hosts: &[],
    };
    let body = Direct
        .write(&call_request, &link)
        .map(|request| request.body.unwrap_or_default());
    let body: Value = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
    assert_eq!(body["status"], json!(600));
    assert_eq!(body["providerOrderId"], json!("WEB-1"));
}

proptest! {
    #[test]
    fn no_bytes_panic(body in prop::collection::vec(any::<u8>(), 0..400)) {
        let request = HookRequest { body, ..request(NEW_ORDER, "") };
        if let Some(message) = Direct.verify(&request, &credentials()) {
            let _ = Direct.read(&message);
        }
    }
}
