//! The `trendyol` dialect against its fixtures.

mod faults;
mod fuzz;
mod menu;
mod read;
mod store;
mod sums;
mod verify;
mod write;

use super::*;
use garson_core::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use garson_core::order::{NewOrder, OrderOwner, place};
use garson_core::platform::{FETCHED, News, Sighting};
use garson_core::testing::{PlatformCase, an_order, check_platform};
use garson_core::time::Timestamp;
use serde_json::{Value, json};

const GO: &str = include_str!("fixtures/created_platform_courier.json");
const STORE: &str = include_str!("fixtures/created_own_courier.json");
const PICKUP: &str = include_str!("fixtures/created_pickup.json");
const UBER: &str = include_str!("fixtures/package_uber.json");
const ENDED: &str = include_str!("fixtures/package_unsupplied.json");
const PAGE: &str = include_str!("fixtures/page.json");
const MENU: &str = include_str!("fixtures/menu.json");

/// Every event but `created`, with its body.
const EVENTS: [(&str, &str); 8] = [
    (PICKUP_ETA, include_str!("fixtures/pickupEtaCalculated.json")),
    (COURIER_NEARBY, include_str!("fixtures/courierNearby.json")),
    (SHIPPED, include_str!("fixtures/shipped.json")),
    (DELIVERED, include_str!("fixtures/delivered.json")),
    (CANCELLED, include_str!("fixtures/cancelled.json")),
    (UNSUPPLIED, include_str!("fixtures/unsupplied.json")),
    (STORE_CHANGED, include_str!("fixtures/storeChanged.json")),
    (SELLER_CHANGED, include_str!("fixtures/sellerChanged.json")),
];

const GO_ID: &str = "8f2c41d6b0a94e7c93d15f6a7be20c184d5e6f708192a3b4c5d6e7f8091a2b3c";
const STORE_ID: &str = "1a7d93c05e8b4f2696c0d4e17f3b58a29c6d7e8f90a1b2c3d4e5f60718293a4b";
const PICKUP_ID: &str = "5c0e72fa91d84b36a2f7083bd6e14c957081a2b3c4d5e6f7a8b9c0d1e2f30415";
const BRANCH: &str = "107703:3311";
const BASE: &str = "https://tgo.example";

fn secrets(pairs: &[(&str, &str)]) -> Credentials {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned())))
        .collect()
}

fn credentials() -> Credentials {
    secrets(&[
        (SUPPLIER_ID, "107703"),
        (API_KEY, "key"),
        (API_SECRET, "şifre"),
        (INTEGRATOR_NAME, "Garson"),
        (EXECUTOR_USER, "kasa@example.com"),
        (
            INBOUND_HEADERS,
            r#"{"X-Garson-Key":"hook-secret-1","X-Agent":"tgo"}"#,
        ),
    ])
}

fn link(credentials: &Credentials) -> Link<'_> {
    Link {
        base: BASE,
        branch: BRANCH,
        credentials,
        token: None,
        callback_hosts: &[],
    }
}

fn request(kind: &'static str, body: &str) -> HookRequest {
    HookRequest {
        kind,
        headers: vec![
            ("x-garson-key".to_owned(), "hook-secret-1".to_owned()),
            ("x-agent".to_owned(), "tgo".to_owned()),
        ],
        body: body.as_bytes().to_vec(),
        ..HookRequest::default()
    }
}

fn read_body(kind: &'static str, body: &str) -> Result<Message, Unreadable> {
    Trendyol.read(&Verified::ours(&request(kind, body)))
}

fn sighting(body: &str) -> Result<Sighting, Unreadable> {
    read_body(FETCHED, body).map(|message| match message.news {
        News::Order(sighting) => *sighting,
        _ => unreachable!("a package is an order"),
    })
}

fn read_order(body: &str) -> Result<NewOrder, Unreadable> {
    sighting(body).map(|sighting| sighting.order)
}

/// The order that a package becomes; one of no platform's when it cannot be read.
fn order(body: &str) -> Order {
    let nil = an_order("").id.0;
    let home = OrderOwner {
        account_id: AccountId(nil),
        restaurant_id: RestaurantId(nil),
        integration_id: IntegrationId(nil),
        provider: Trendyol.provider(),
    };
    read_order(body).map_or_else(
        |_| an_order("unreadable"),
        |new| place(OrderId(nil), home, &new, Timestamp::default(), true, false).order,
    )
}

/// A document with one place set to a value, or removed.
fn with(document: &str, pointer: &str, value: Option<Value>) -> String {
    let mut document: Value = serde_json::from_str(document).unwrap_or_default();
    let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
    match (document.pointer_mut(parent), value) {
        (Some(Value::Object(fields)), Some(value)) => drop(fields.insert(name.to_owned(), value)),
        (Some(Value::Object(fields)), None) => drop(fields.remove(name)),
        _ => unreachable!("{pointer} is not in the document"),
    }
    document.to_string()
}

fn response(status: u16, body: &str) -> HttpResponse {
    HttpResponse {
        status,
        body: body.as_bytes().to_vec(),
    }
}

/// The same document without white space: the suite damages it at every byte.
fn compact(body: &str) -> String {
    serde_json::from_str::<Value>(body)
        .unwrap_or_default()
        .to_string()
}

#[test]
fn conforms() {
    let case = PlatformCase {
        platform: &Trendyol,
        credentials: credentials(),
        new_orders: [GO, STORE, PICKUP]
            .map(|body| request(CREATED, &compact(body)))
            .to_vec(),
        others: EVENTS.map(|(kind, body)| request(kind, body)).to_vec(),
        branch: BRANCH,
        provider_order_id: GO_ID,
        refusals: vec![
            (400, r#"{"errors":[{"message":"Paket iptal edilmiş"}]}"#, "iptal"),
            (
                401,
                r#"{"exception":"ClientApiAuthenticationException"}"#,
                "Authentication",
            ),
            (404, r#"{"message":"DomainNotFound"}"#, "DomainNotFound"),
            (400, "düz metin", "düz metin"),
        ],
    };
    assert_eq!(check_platform(&case), Ok(()));
}

#[test]
fn a_branch_is_a_supplier_and_a_store() {
    assert_eq!(Trendyol.check_branch("2738:101"), Ok(()));
    for wrong in ["", "2738", ":101", "2738:", "2738:101:7", "a:b:c", "::"] {
        assert!(Trendyol.check_branch(wrong).is_err(), "{wrong}");
    }
}
