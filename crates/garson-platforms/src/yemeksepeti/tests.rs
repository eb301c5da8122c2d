//! The dialect against its fixtures.

mod changes;
mod faults;
mod fuzz;
mod outcomes;
mod payments;
mod reading;
mod requests;
mod schema;
mod store;
mod verifying;

use super::names::{REMOTE_ID, REMOTE_ORDER_ID};
use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use garson_core::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use garson_core::order::{NewOrder, OrderOwner, Status, place};
use garson_core::platform::{FETCHED, News, Sighting};
use garson_core::testing::{PlatformCase, check_platform};
use garson_core::time::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha512;

const PLATFORM: &str = include_str!("fixtures/order-platform-rider.json");
const OWN: &str = include_str!("fixtures/order-own-courier.json");
const PICKUP: &str = include_str!("fixtures/order-pickup-later.json");
const LEAST: &str = include_str!("fixtures/order-least.json");
const CANCELLED: &str = include_str!("fixtures/status-cancelled.json");
const NO_RESPONSE: &str = include_str!("fixtures/status-no-response.json");
const PICKED_UP: &str = include_str!("fixtures/status-picked-up.json");
const MODIFIED: &str = include_str!("fixtures/status-modified.json");
const NOT_MODIFIED: &str = include_str!("fixtures/status-modification-failed.json");
const WAITING: &str = include_str!("fixtures/status-rider-waiting.json");
const DETAILS_ACCEPTED: &str = include_str!("fixtures/details-accepted.json");
const DETAILS_CANCELLED: &str = include_str!("fixtures/details-cancelled.json");
const LOGIN: &str = include_str!("fixtures/login.json");
const CONFLICT: &str = include_str!("fixtures/conflict.json");
const CONFLICT_EARLY: &str = include_str!("fixtures/conflict-early.json");

const BASE: &str = "https://middleware.example/base";
const BRANCH: &str = "moda-1";
const OUR_ID: &str = "018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60";
const SECRET: &str = "plugin-secret-1";

fn credentials() -> Credentials {
    let secret = |(name, text): (&str, &str)| (name.to_owned(), Secret::new(text.to_owned()));
    [
        (USERNAME, "moda user"),
        (PASSWORD, "pass&word=1"),
        (CHAIN_CODE, "moda/zincir"),
        (PLUGIN_SECRET, SECRET),
    ]
    .map(secret)
    .into()
}

/// A bearer token as the platform makes it.
fn jwt(header: &str, claims: &str, secret: &str) -> String {
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(header),
        URL_SAFE_NO_PAD.encode(claims)
    );
    let mut mac = Hmac::<Sha512>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

fn with_token(kind: &'static str, body: &str, token: &str) -> HookRequest {
    HookRequest {
        kind,
        params: vec![
            (REMOTE_ID.to_owned(), BRANCH.to_owned()),
            (REMOTE_ORDER_ID.to_owned(), OUR_ID.to_owned()),
        ],
        headers: vec![("authorization".to_owned(), format!("Bearer {token}"))],
        body: body.as_bytes().to_vec(),
        received_at: Timestamp::from_millis(1_772_378_535_000),
    }
}

fn request(kind: &'static str, body: &str) -> HookRequest {
    let token = jwt(
        r#"{"typ":"JWT","alg":"HS512"}"#,
        r#"{"service":"middleware"}"#,
        SECRET,
    );
    with_token(kind, body, &token)
}

fn read(kind: &'static str, body: &str) -> Result<Message, Unreadable> {
    Yemeksepeti.read(&Verified::ours(&request(kind, body)))
}

fn sighting(kind: &'static str, body: &str) -> Result<Sighting, Unreadable> {
    read(kind, body).map(|message| match message.news {
        News::Order(sighting) => *sighting,
        other => unreachable!("an order was read as {other:?}"),
    })
}

fn new_order(body: &str) -> Result<NewOrder, Unreadable> {
    sighting(ORDER, body).map(|sighting| sighting.order)
}

/// The order of a fixture as it is kept.
fn order_of(body: &str) -> Order {
    let home = OrderOwner {
        account_id: AccountId(Default::default()),
        restaurant_id: RestaurantId(Default::default()),
        integration_id: IntegrationId(Default::default()),
        provider: Yemeksepeti.provider(),
    };
    let id: OrderId = OUR_ID.parse().unwrap();
    place(
        id,
        home,
        &new_order(body).unwrap(),
        Timestamp::default(),
        true,
        false,
    )
    .order
}

fn link<'a>(credentials: &'a Credentials, token: Option<&'a Secret<String>>) -> Link<'a> {
    Link {
        base: BASE,
        branch: BRANCH,
        credentials,
        token,
        callback_hosts: &[],
    }
}

fn session_token() -> Secret<String> {
    Secret::new("session-1".to_owned())
}

/// Sets one place of a document to a value, or removes it.
fn with(body: &str, pointer: &str, value: Option<Value>) -> String {
    let mut document: Value = serde_json::from_str(body).unwrap();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match (document.pointer_mut(parent).unwrap(), value) {
        (Value::Object(fields), Some(value)) => drop(fields.insert(name.to_owned(), value)),
        (Value::Object(fields), None) => drop(fields.remove(name)),
        (Value::Array(list), Some(value)) => list[name.parse::<usize>().unwrap()] = value,
        _ => unreachable!("{pointer} is not in the sample"),
    }
    document.to_string()
}

fn compact(body: &str) -> String {
    serde_json::from_str::<Value>(body).unwrap().to_string()
}

#[test]
fn conforms() {
    let others = [CANCELLED, NO_RESPONSE, PICKED_UP, NOT_MODIFIED, WAITING];
    let case = PlatformCase {
        platform: &Yemeksepeti,
        credentials: credentials(),
        new_orders: [PLATFORM, OWN, PICKUP]
            .map(|body| request(ORDER, &compact(body)))
            .into(),
        others: others.map(|body| request(STATUS, &compact(body))).into(),
        branch: BRANCH,
        provider_order_id: "ys-n0s1-w0k1",
        refusals: vec![
            (409, CONFLICT, "The order was cancelled by the customer"),
            (
                400,
                r#"{"code":"ORDER_NOT_FOUND","message":"yok böyle sipariş"}"#,
                "yok böyle sipariş",
            ),
            (
                403,
                r#"{"code":"FORBIDDEN","message":"not your chain"}"#,
                "not your chain",
            ),
        ],
    };
    assert_eq!(check_platform(&case), Ok(()));
}

#[test]
fn replies_keep_to_the_statuses_that_the_platform_knows() {
    let order_id: OrderId = OUR_ID.parse().unwrap();
    let unreadable = Unreadable {
        path: "products[0].name".to_owned(),
        message: "must not be empty".to_owned(),
    };
    let taken = json!({ "remoteResponse": { "remoteOrderId": OUR_ID } });
    let text = || "x".to_owned();
    for (reception, status, body) in [
        (IntakeOutcome::Taken { order_id }, 200, Some(taken.clone())),
        (IntakeOutcome::Conflict { order_id }, 200, Some(taken)),
        (IntakeOutcome::Noted, 200, Some(json!({}))),
        (IntakeOutcome::UnknownBranch { branch: text() }, 500, None),
        (IntakeOutcome::UnknownOrder { identity: text() }, 500, None),
        (IntakeOutcome::Unreadable(unreadable), 500, None),
        (IntakeOutcome::NotGenuine, 401, None),
    ] {
        let reply = Yemeksepeti.reply(&reception, "request-1");
        assert_eq!(reply.status, status, "{reception:?}");
        if let Some(body) = body {
            assert_eq!(reply.body, body);
        }
    }
}

#[test]
fn reasons_depend_on_where_the_order_stands() {
    let mut order = order_of(PLATFORM);
    let ids = |order: Option<&Order>| -> Vec<String> {
        let reasons = Yemeksepeti.fixed_reasons(order);
        reasons.into_iter().map(|reason| reason.id).collect()
    };
    assert_eq!(ids(None).len(), 24);
    assert_eq!(ids(Some(&order)).len(), 15);
    assert!(!ids(Some(&order)).contains(&"BAD_WEATHER".to_owned()));
    order.status = Status::Preparing;
    assert_eq!(ids(Some(&order)).len(), 24);
    assert_eq!(
        ids(Some(&order)).first().map(String::as_str),
        Some("CONTENT_WRONG_MISLEADING")
    );
}
