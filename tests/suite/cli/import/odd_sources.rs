//! Services that are busy, broken, hostile, or that page in another way.

use super::{import, target};
use crate::support::{Backend, CannedResponse, Outcome, ReceivedRequest, Receiver, TestService};
use serde_json::{Value, json};

const KEY: &str = "gsn_MARK-of-the-other-service";

fn answer(status: u16, kind: &str, more: &str, body: &str) -> CannedResponse {
    let head = format!(
        "HTTP/1.1 {status} Said\r\ncontent-type: {kind}\r\n{more}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    CannedResponse::Bytes([head.as_bytes(), body.as_bytes()].concat())
}

fn success(body: &Value) -> CannedResponse {
    let mut body = body.clone();
    body["success"] = json!(true);
    answer(200, "application/json; charset=utf-8", "", &body.to_string())
}

fn refused(status: u16) -> CannedResponse {
    let body = json!({ "success": false, "error": { "code": "x", "message": "No.", "details": [] } });
    answer(status, "application/json", "", &body.to_string())
}

/// An order as a small service shows it: with the fields that must be there.
fn order(number: usize) -> Value {
    json!({
        "id": number, "pid": number.to_string(), "providerOrderId": format!("p{number}"), "restaurantId": "7",
        "provider": "direct", "status": 900, "isReport": false, "total": 100,
        "placedAt": format!("2026-01-01T00:00:{number:02}.000Z"),
        "createdAt": format!("2026-01-01T00:00:{number:02}Z"),
        "items": [{ "name": "Çay", "quantity": 1, "unitPrice": 100, "total": 100 }],
        "amount": { "total": 100 }, "payment": { "type": "barter" }, "customer": null,
    })
}

/// An order of which a list shows everything.
fn complete_order(number: usize) -> Value {
    let mut order = order(number);
    order["timeline"] = json!([]);
    order
}

fn list_item(order: &Value) -> Value {
    let mut item = order.clone();
    for part in ["items", "amount", "payment", "customer"] {
        item.as_object_mut().unwrap().remove(part);
    }
    item
}

/// A service with one restaurant, whose order paths are answered by this.
async fn service(orders: impl Fn(&ReceivedRequest) -> CannedResponse + Send + Sync + 'static) -> Receiver {
    let receiver = Receiver::start().await;
    receiver.respond_with(move |request| match request.path() {
        "/web-api/v1/businesses" => success(&json!({ "data": [{ "id": "b/1", "name": "A.Ş." }] })),
        "/web-api/v1/restaurants" => {
            success(&json!({ "data": [{ "id": 7, "name": "Moda", "businessId": "b/1" }] }))
        }
        path if path.starts_with("/web-api/v1/orders") => orders(request),
        _ => refused(404),
    });
    receiver
}

async fn import_from(target: &TestService, source: &Receiver, more: &[&str]) -> Outcome {
    let ran = import(target, &source.url(""), KEY, more).await;
    assert!(!format!("{ran:?}").contains(KEY), "{ran:?}");
    ran
}

async fn count(target: &TestService) -> usize {
    target
        .a
        .get("/orders?limit=200")
        .await
        .data()
        .as_array()
        .unwrap()
        .len()
}

/// The number in a path or a cursor.
fn number(path: &str, after: &str) -> Option<usize> {
    let (_, rest) = path.split_once(after)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// It knows no `dir`, shows no details in lists, has numbers as ids, and leaves out what it can.
async fn a_small_service_is_read(backend: Backend) {
    let source = service(|request| {
        let path = request.path();
        if let Some(id) = number(path, "/orders/") {
            return success(&json!({ "data": order(id) }));
        }
        let newest = number(path, "cursor=").unwrap_or(30);
        let items: Vec<Value> = (0..10).map(|n| list_item(&order(newest - n))).collect();
        let next = (newest > 10).then(|| (newest - 10).to_string());
        success(&json!({ "data": items, "paging": { "next": next, "prev": "31" } }))
    })
    .await;
    let target = target(backend).await;
    let ran = import_from(&target, &source, &[]).await;
    assert!(ran.success && ran.out.contains("30 imported"), "{ran:?}");
    let orders = target.a.get("/orders?limit=200").await.data();
    let orders = orders.as_array().unwrap();
    assert_eq!(orders.len(), 30);
    assert_eq!(orders[0]["providerOrderId"], "p30");
    assert_eq!(orders[29]["providerOrderId"], "p1");
    assert_eq!(orders[29]["createdAt"], "2026-01-01T00:00:01.000Z");
    assert_eq!(orders[29]["paymentType"], "other");
    let restaurants = target.a.get("/restaurants").await.data();
    assert_eq!(restaurants[0]["integrations"][0]["provider"], "direct");
    assert!(restaurants[0]["businessId"].is_string());
    let again = import_from(&target, &source, &[]).await;
    assert!(
        again.success && again.out.contains("0 imported, 30 here already"),
        "{again:?}"
    );
    assert_eq!(count(&target).await, 30);
    for request in source.seen() {
        assert_eq!(
            request.header("authorization"),
            Some(format!("Bearer {KEY}").as_str())
        );
    }
}

/// The second page has an order that is not one.
async fn a_page_with_an_unreadable_order_is_not_imported(backend: Backend) {
    let source = service(|request| {
        let first = number(request.path(), "cursor=").unwrap_or(0) + 1;
        if first > 6 {
            return success(&json!({ "data": [], "paging": { "next": null, "prev": null } }));
        }
        let mut items: Vec<Value> = (first..first + 3).rev().map(complete_order).collect();
        if first == 4 {
            items[1]["amount"]["total"] = json!("yüz lira, Ayşe");
        }
        success(&json!({ "data": items, "paging": { "next": null, "prev": (first + 2).to_string() } }))
    })
    .await;
    let target = target(backend).await;
    let ran = import_from(&target, &source, &[]).await;
    assert!(!ran.success, "{ran:?}");
    for said in ["/orders/5", "amount.total", "whole number"] {
        assert!(ran.err.contains(said), "{said} in {}", ran.err);
    }
    // The value may be personal data.
    assert!(!ran.err.contains("Ayşe"), "{}", ran.err);
    assert_eq!(count(&target).await, 3);
    let skipping = import_from(&target, &source, &["--skip-unreadable"]).await;
    assert!(
        skipping.success && skipping.out.contains("1 left out"),
        "{skipping:?}"
    );
    assert_eq!(count(&target).await, 5);
}

on_both! {
    a_small_service_is_read
    a_page_with_an_unreadable_order_is_not_imported
}

async fn fails(
    responder: impl Fn(&ReceivedRequest) -> CannedResponse + Send + Sync + 'static,
    said: &[&str],
) {
    let source = service(responder).await;
    let target = target(Backend::Sqlite).await;
    let ran = import_from(&target, &source, &[]).await;
    assert!(!ran.success, "{ran:?}");
    for said in said {
        assert!(ran.err.contains(said), "{said} in {}", ran.err);
    }
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}

#[test]
fn answers_that_are_no_orders_are_named() {
    crate::support::block_on(async {
        fails(
            |_| answer(200, "text/html", "", "<html>"),
            &["GET /orders", "text/html"],
        )
        .await;
        fails(
            |_| answer(200, "application/json", "", "[]"),
            &["GET /orders", "success"],
        )
        .await;
        fails(|_| success(&json!({ "data": {} })), &["GET /orders", "list"]).await;
        fails(|_| success(&json!({ "data": [{}] })), &["GET /orders", "id"]).await;
        fails(|_| refused(401), &["does not accept the key"]).await;
        fails(|_| refused(422), &["422 No."]).await;
    });
}

#[test]
fn pages_without_end_are_noticed() {
    crate::support::block_on(async {
        let same_cursor = |_: &ReceivedRequest| {
            success(&json!({ "data": [complete_order(1)], "paging": { "next": null, "prev": "1" } }))
        };
        fails(same_cursor, &["no end"]).await;
        let other_cursors = |request: &ReceivedRequest| {
            let next = number(request.path(), "cursor=").unwrap_or(0) + 1;
            success(
                &json!({ "data": [complete_order(1)], "paging": { "next": null, "prev": next.to_string() } }),
            )
        };
        fails(other_cursors, &["no end"]).await;
        let backwards = |request: &ReceivedRequest| {
            let next = number(request.path(), "cursor=").unwrap_or(0) + 1;
            success(
                &json!({ "data": [complete_order(1)], "paging": { "next": next.to_string(), "prev": null } }),
            )
        };
        fails(backwards, &["no end"]).await;
    });
}

#[test]
fn a_redirect_does_not_get_the_key() {
    crate::support::block_on(async {
        let elsewhere = Receiver::start().await;
        let to = elsewhere.url("/web-api/v1/orders?token=MARK");
        let responder = move |_: &ReceivedRequest| CannedResponse::Redirect(to.clone());
        fails(responder, &["redirects", &elsewhere.addr.to_string()]).await;
        assert_eq!(elsewhere.count(), 0);
    });
}

#[test]
fn a_busy_service_is_asked_again() {
    crate::support::block_on(async {
        let attempts = std::sync::atomic::AtomicUsize::new(0);
        let source = service(
            move |_| match attempts.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
                0 => answer(429, "application/json", "retry-after: 2\r\n", "{}"),
                1 => answer(503, "text/html", "", "<html>"),
                2 => {
                    success(&json!({ "data": [complete_order(1)], "paging": { "next": null, "prev": "1" } }))
                }
                _ => success(&json!({ "data": [], "paging": { "next": null, "prev": "1" } })),
            },
        )
        .await;
        let target = target(Backend::Sqlite).await;
        let ran = import_from(&target, &source, &[]).await;
        assert!(ran.success && ran.err.contains("again in 2 s"), "{ran:?}");
        assert_eq!(count(&target).await, 1);
        let seen = source.seen();
        let orders: Vec<_> = seen
            .iter()
            .filter(|request| request.path().contains("/orders?"))
            .collect();
        assert!(orders[1].at - orders[0].at >= std::time::Duration::from_secs(2));
    });
}

#[test]
fn the_key_is_not_an_argument_and_does_not_travel_in_clear_text() {
    crate::support::block_on(async {
        let target = target(Backend::Sqlite).await;
        let arguments = ["import", "--account", "first@example.com", "--from-api"];
        let ran = target.command(&[&arguments[..], &["https://127.0.0.1:1", "--key", KEY]].concat());
        assert!(!ran.success && ran.err.contains("names a file"), "{ran:?}");
        assert!(!ran.err.contains(KEY), "{}", ran.err);
        let ran = import(&target, "http://orders.example.com", KEY, &[]).await;
        assert!(!ran.success && ran.err.contains("unencrypted"), "{ran:?}");
        let ran = import(&target, "https://user:secret@orders.example.com", KEY, &[]).await;
        assert!(!ran.success && !ran.err.contains("secret@"), "{ran:?}");
    });
}

#[test]
fn the_key_may_be_in_a_variable() {
    crate::support::block_on(async {
        let source =
            service(|_| success(&json!({ "data": [], "paging": { "next": null, "prev": null } }))).await;
        let target = target(Backend::Sqlite).await;
        let mut command = crate::support::command();
        command
            .current_dir(target.storage().folder())
            .args([
                "import",
                "--account",
                "first@example.com",
                "--from-api",
                &source.url("/web-api/v1/"),
            ])
            .envs(target.storage().variables())
            .env("GARSON_MASTER_KEY", "7".repeat(64))
            .env("GARSON_IMPORT_KEY", KEY);
        let ran = tokio::task::spawn_blocking(move || crate::support::program_run(command))
            .await
            .unwrap();
        assert!(
            ran.success && ran.out.contains("Restaurants   1 read, 1 imported"),
            "{ran:?}"
        );
        assert_eq!(
            source.seen()[0].header("authorization"),
            Some(format!("Bearer {KEY}").as_str())
        );
    });
}
