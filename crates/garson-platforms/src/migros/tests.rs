//! The `migros` dialect against its fixtures.

mod answers;
mod calls;
mod menus;
mod random;
mod reading;
mod store;
mod sums;

use super::cipher::Key;
use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use garson_core::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use garson_core::order::{OrderOwner, Status, place};
use garson_core::platform::{FETCHED, News, Sighting};
use garson_core::testing::{PlatformCase, an_order, check_platform};
use garson_core::time::Timestamp;
use serde_json::{Value, json};

const ORDER: &str = include_str!("fixtures/order-created.json");
const RESTAURANT: &str = include_str!("fixtures/order-created-restaurant.json");
const CANCELLED: &str = include_str!("fixtures/order-cancelled.json");
const DELIVERY: &str = include_str!("fixtures/delivery-status.json");
const REFUSAL: &str = include_str!("fixtures/refusal.json");

const BASE: &str = "https://migros.example/api";
const SECRET: &str = "0123456789abcdef0123456789ABCDEF";
const BRANCH: &str = "20417";

fn credentials() -> Credentials {
    let secret = |text: &str| Secret::new(text.to_owned());
    Credentials::from([
        (API_KEY.to_owned(), secret("restaurant-key")),
        (SECRET_KEY.to_owned(), secret(SECRET)),
        (INBOUND_USER.to_owned(), secret("migros")),
        (INBOUND_PASSWORD.to_owned(), secret("çok:gizli")),
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

fn key() -> Key {
    Key::from_bytes(SECRET.as_bytes().try_into().unwrap())
}

fn request(kind: &'static str, body: &str) -> HookRequest {
    let basic = format!("Basic {}", STANDARD.encode("migros:çok:gizli"));
    HookRequest {
        kind,
        headers: vec![("authorization".to_owned(), basic)],
        body: body.as_bytes().to_vec(),
        ..HookRequest::default()
    }
}

fn read(kind: &'static str, body: &str) -> Result<Message, Unreadable> {
    let request = request(kind, body);
    let verified = Migros.verify(&request, &credentials());
    Migros.read(&verified.unwrap())
}

fn sighting(body: &str) -> Result<Sighting, Unreadable> {
    read(ORDER_CREATED, body).map(|message| match message.news {
        News::Order(sighting) => *sighting,
        other => unreachable!("{other:?} is no order"),
    })
}

/// The order of that sample, at that status.
fn order(body: &str, status: Status) -> Order {
    let new = sighting(body).unwrap().order;
    let id = an_order("1").id;
    let home = OrderOwner {
        account_id: AccountId(id.0),
        restaurant_id: RestaurantId(id.0),
        integration_id: IntegrationId(id.0),
        provider: Migros.provider(),
    };
    let mut order = place(OrderId(id.0), home, &new, Timestamp::default(), true, false).order;
    order.status = status;
    order
}

/// Sets one place of a document to a value, or removes it.
fn with(document: &str, pointer: &str, value: Option<Value>) -> String {
    let mut document: Value = serde_json::from_str(document).unwrap();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match (document.pointer_mut(parent), value) {
        (Some(Value::Object(fields)), Some(value)) => drop(fields.insert(name.to_owned(), value)),
        (Some(Value::Object(fields)), None) => assert!(fields.remove(name).is_some(), "{pointer}"),
        _ => unreachable!("{pointer} is not in the sample"),
    }
    document.to_string()
}

fn response(status: u16, body: &str) -> HttpResponse {
    HttpResponse {
        status,
        body: body.as_bytes().to_vec(),
    }
}

#[test]
fn conforms() {
    // Every byte of it is damaged in turn, so it is a short one.
    let items = json!([{ "id": 1, "name": "Künefe", "price": 79_000, "amount": 1, "options": [] }]);
    let short = with(ORDER, "/items", Some(items));
    let case = PlatformCase {
        platform: &Migros,
        credentials: credentials(),
        new_orders: vec![request(ORDER_CREATED, &short), request(ORDER_CREATED, RESTAURANT)],
        others: vec![
            request(ORDER_CANCELLED, CANCELLED),
            request(DELIVERY_STATUS, DELIVERY),
        ],
        branch: BRANCH,
        provider_order_id: "900412377",
        refusals: vec![
            (200, REFUSAL, "Sipariş bu duruma alınamaz."),
            (400, REFUSAL, "ORDER_STATUS_NOT_VALID"),
            (404, "sipariş yok", "sipariş yok"),
        ],
    };
    assert_eq!(check_platform(&case), Ok(()));
}

#[test]
fn only_the_whole_pair_lets_a_message_in() {
    let authorized = |value: &str| {
        let mut request = request(ORDER_CREATED, ORDER);
        request.headers = vec![("authorization".to_owned(), value.to_owned())];
        Migros.verify(&request, &credentials()).is_some()
    };
    let basic = |pair: &str| STANDARD.encode(pair);
    assert!(authorized(&format!("Basic {}", basic("migros:çok:gizli"))));
    assert!(authorized(&format!("bAsIc   {} ", basic("migros:çok:gizli"))));
    for wrong in [
        String::new(),
        "Basic".to_owned(),
        "Basic ".to_owned(),
        "Basic ???".to_owned(),
        "ğğğğğğ".to_owned(),
        format!("Bearer {}", basic("migros:çok:gizli")),
        format!("Basic {}", basic("migros:çok")),
        format!("Basic {}", basic("migros:")),
        format!("Basic {}", basic(":çok:gizli")),
        format!("Basic {}", basic("Migros:çok:gizli")),
        "Basic migros:çok:gizli".to_owned(),
    ] {
        assert!(!authorized(&wrong), "{wrong}");
    }
    for half in [INBOUND_USER, INBOUND_PASSWORD] {
        for empty in [None, Some(Secret::new(String::new()))] {
            let mut credentials = credentials();
            credentials.remove(half);
            credentials.extend(empty.map(|value| (half.to_owned(), value)));
            let nothing = format!("Basic {}", basic(":"));
            let mut request = request(ORDER_CREATED, ORDER);
            request.headers = vec![("authorization".to_owned(), nothing)];
            assert!(Migros.verify(&request, &credentials).is_none());
            assert_eq!(Migros.inbound_secret(&credentials), None);
        }
    }
}

/// Where no pair was given, the restaurant's own key is what both sides know.
#[test]
fn the_key_alone_lets_a_message_in_where_there_is_no_pair() {
    let mut keyed = credentials();
    keyed.remove(INBOUND_USER);
    keyed.remove(INBOUND_PASSWORD);
    let key = keyed.get(API_KEY).unwrap().expose().clone();
    let with_key = |value: &str| {
        let mut request = request(ORDER_CREATED, ORDER);
        request.headers = vec![("xapikey".to_owned(), value.to_owned())];
        request
    };
    assert!(Migros.verify(&with_key(&key), &keyed).is_some());
    match Migros.claim(&with_key(&key)) {
        Claim::Secrets(secrets) => assert_eq!(secrets.first(), Migros.inbound_secret(&keyed).as_ref()),
        other => unreachable!("{other:?}"),
    }
    for wrong in ["", "x", &format!("{key}x")] {
        assert!(Migros.verify(&with_key(wrong), &keyed).is_none(), "{wrong}");
    }
    // A pair that was given is insisted on.
    assert!(Migros.verify(&with_key(&key), &credentials()).is_none());
    assert!(matches!(Migros.claim(&with_key("")), Claim::Nothing));
}
