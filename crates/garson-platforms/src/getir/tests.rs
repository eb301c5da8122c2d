//! The `getir` dialect against its fixtures.

mod answers;
mod calls;
mod edges;
mod orders;
mod random;
mod schema;

use super::*;
use garson_core::order::{NewOrder, OrderOwner, Status, place};
use garson_core::platform::{FETCHED, News, Sighting};
use garson_core::testing::{PlatformCase, an_order, check_platform};
use garson_core::time::Timestamp;
use serde_json::Value;

const NEW: &str = include_str!("fixtures/new-order.json");
const WRAPPED: &str = include_str!("fixtures/new-order-wrapped.json");
const SCHEDULED: &str = include_str!("fixtures/scheduled-order.json");
const CANCELLED: &str = include_str!("fixtures/cancel-order.json");
const ORDER: &str = include_str!("fixtures/order.json");
const ACTIVE: &str = include_str!("fixtures/active.json");
const CANCELLED_LIST: &str = include_str!("fixtures/cancelled.json");
const OPTIONS: &str = include_str!("fixtures/cancel-options.json");
const LOGIN: &str = include_str!("fixtures/login.json");
const ERROR: &str = include_str!("fixtures/error.json");
const MENU: &str = include_str!("fixtures/menu.json");

const BRANCH: &str = "65f1c0de8a4b2f0012abffff";
const ID: &str = "65f1c0de8a4b2f0012ab34cd";
const BASE: &str = "https://getir.example";

fn credentials() -> Credentials {
    let secret = |text: &str| Secret::new(text.to_owned());
    Credentials::from([
        (APP_KEY.to_owned(), secret("app-key")),
        (RESTAURANT_KEY.to_owned(), secret("restaurant-key")),
        (INBOUND_KEY.to_owned(), secret("inbound-key")),
    ])
}

fn with_link<T>(use_it: impl FnOnce(&Link<'_>) -> T) -> T {
    let (credentials, token) = (credentials(), Secret::new("the-token".to_owned()));
    use_it(&Link {
        base: BASE,
        branch: BRANCH,
        credentials: &credentials,
        token: Some(&token),
        callback_hosts: &[],
    })
}

fn answer(status: u16, body: &str) -> HttpResponse {
    HttpResponse {
        status,
        body: body.as_bytes().to_vec(),
    }
}

fn request(kind: &'static str, body: &str) -> HookRequest {
    HookRequest {
        kind,
        headers: vec![("x-api-key".to_owned(), "inbound-key".to_owned())],
        body: body.as_bytes().to_vec(),
        received_at: timestamp("2026-03-01T17:30:02Z"),
        ..HookRequest::default()
    }
}

fn timestamp(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn read(kind: &'static str, body: &str) -> Result<Message, Unreadable> {
    Getir.read(&Verified::ours(&request(kind, body)))
}

/// The order of a message, which must be one.
fn seen(kind: &'static str, body: &str) -> Sighting {
    match read(kind, body).map(|message| message.news) {
        Ok(News::Order(sighting)) => *sighting,
        other => panic!("not an order: {other:?}"),
    }
}

/// The order's record, at that status.
fn record(new: &NewOrder, status: Status) -> Order {
    let somewhere = an_order("1");
    let home = OrderOwner {
        account_id: somewhere.account_id,
        restaurant_id: somewhere.restaurant_id,
        integration_id: somewhere.integration_id,
        provider: Getir.provider(),
    };
    let mut order = place(somewhere.id, home, new, Timestamp::default(), true, false).order;
    order.status = status;
    order
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Sets one place of a document to a value, or removes it.
fn with(document: &str, pointer: &str, value: Option<Value>) -> String {
    let mut document = json_of(document);
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let fields = document
        .pointer_mut(parent)
        .and_then(Value::as_object_mut)
        .unwrap();
    match value {
        Some(value) => fields.insert(name.to_owned(), value),
        None => fields.remove(name),
    };
    document.to_string()
}

/// The same order with one product and without white space: the suite damages every byte of it.
fn slim(document: &str) -> String {
    let mut document = json_of(document);
    let order = match document.get("foodOrder") {
        Some(_) => &mut document["foodOrder"],
        None => &mut document,
    };
    if let Some(products) = order["products"].as_array_mut() {
        products.truncate(1);
    }
    document.to_string()
}

#[test]
fn conforms() {
    let case = PlatformCase {
        platform: &Getir,
        credentials: credentials(),
        new_orders: vec![request(NEW_ORDER, &slim(NEW)), request(NEW_ORDER, WRAPPED)],
        others: vec![
            request(CANCEL_ORDER, &slim(CANCELLED)),
            request(CANCEL_ORDER, r#"{"id":"65f1c0de8a4b2f0012ab34cd","status":1600}"#),
            request(RESTAURANT_STATUS, r#"{"status":200}"#),
            request(COURIER_ARRIVAL, r#"{"foodOrderId":"65f1c0de8a4b2f0012ab34cd"}"#),
        ],
        branch: BRANCH,
        provider_order_id: ID,
        refusals: vec![
            (400, ERROR, "kapalı"),
            (404, r#"{"code":1,"error":"Nope"}"#, "Nope"),
        ],
    };
    assert_eq!(check_platform(&case), Ok(()));
}

#[test]
fn only_the_key_that_was_given_lets_messages_in() {
    let mut message = request(NEW_ORDER, NEW);
    assert!(Getir.verify(&message, &credentials()).is_some());
    for wrong in ["", "inbound-ke", "inbound-keys", "Inbound-key", "app-key"] {
        message.headers = vec![("x-api-key".to_owned(), wrong.to_owned())];
        assert!(Getir.verify(&message, &credentials()).is_none(), "{wrong}");
    }
    message.headers.clear();
    assert!(matches!(Getir.claim(&message), Claim::Nothing));
}
