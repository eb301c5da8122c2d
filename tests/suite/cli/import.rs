//! `garson import`: from another Garson, from services that are odd, and again after an interruption.

mod odd_sources;

use crate::support::{
    ApiClient, Backend, Outcome, Program, Shop, TestService, order_body, program_run, secret_file,
};
use garson_core::clock::{Clock, SystemClock};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

/// An installation to import into, whose clock is about that of the command.
pub async fn target(backend: Backend) -> TestService {
    TestService::open_at(backend, SystemClock.now(), |_| {}, None).await
}

/// The command on the data of an installation, with more arguments.
pub fn import_command(target: &TestService, from: &str, key: &std::path::Path, more: &[&str]) -> Command {
    let mut command = crate::support::command();
    command
        .current_dir(target.storage().folder())
        .args([
            "import",
            "--from-api",
            from,
            "--account",
            "first@example.com",
            "--key",
        ])
        .arg(key)
        .args(more)
        .envs(target.storage().variables())
        .env("GARSON_MASTER_KEY", "7".repeat(64));
    command
}

/// Runs the command to its end; the source goes on meanwhile.
pub async fn import(target: &TestService, from: &str, key: &str, more: &[&str]) -> Outcome {
    let file = secret_file(key);
    let command = import_command(target, from, file.path(), more);
    tokio::task::spawn_blocking(move || program_run(command))
        .await
        .unwrap()
}

async fn import_from(source: &TestService, target: &TestService, more: &[&str]) -> Value {
    let from = format!("http://{}", source.addr);
    let ran = import(target, &from, &source.a.key, &[more, &["--json"]].concat()).await;
    assert!(ran.success, "{}", ran.err);
    serde_json::from_str(ran.out.trim()).unwrap()
}

fn rich_order(store: &str, id: &str, kind: &str) -> Value {
    json!({
        "storeId": store, "providerOrderId": id, "shortCode": format!("K{id}"), "note": "Kapıyı çalmayın",
        "items": [{
            "id": "1", "productId": "adana", "name": "Adana", "quantity": 2, "unitPrice": 18_000, "note": "acısız",
            "options": [{ "group": "İçecek", "name": "Ayran", "quantity": 1, "price": 1_500 }],
        }],
        "amount": { "total": 37_000, "discount": 2_000, "discounts": [{ "name": "Kupon", "amount": 2_000 }] },
        "customer": {
            "name": "Ayşe Yılmaz", "phone": "+905321112233", "email": "ayse@example.com",
            "address": { "text": "Moda Cd. 1", "city": "İstanbul", "lat": 40.98, "lon": 29.03 },
        },
        "fulfilment": { "type": "delivery", "flags": { "doNotRing": true } },
        "payment": { "type": kind, "name": "Ödeme", "providerCode": "7" },
    })
}

/// A business with two restaurants, and orders in every state on several days.
async fn fill(source: &TestService) -> Shop {
    let business = json!({ "name": "Lezzet A.Ş.", "vatNumber": "1234567890", "city": "İstanbul" });
    let business = source.a.post("/businesses", &business).await.data();
    let restaurant = json!({
        "businessId": business["id"], "name": "Moda", "description": "Şube", "lat": 40.98, "lon": 29.02,
        "config": { "preparationMinutes": 20, "colour": "red", "a": 1 },
        "paymentMatchingUrl": "https://pos.example.com/types", "paymentMatchingHeaders": { "X-Till": "secret-till" },
    });
    let restaurant = source.a.post("/restaurants", &restaurant).await.data();
    let id = restaurant["id"].as_str().unwrap();
    let shop = source.connect(&source.a, id, "moda", json!({})).await;
    source
        .a
        .post("/restaurants", &json!({ "name": "Boş" }))
        .await
        .data();
    let matches = json!({ "matches": [{ "provider": "direct", "type": "cash", "matchedId": "kasa-1" }] });
    source
        .a
        .put(&format!("/restaurants/{id}/payment-matching"), &matches)
        .await
        .data();
    for n in 0..140 {
        source.advance(Duration::from_secs(3_600));
        shop.order_of(&format!("n-{n}"), 1_000 + n).await;
    }
    for (n, kind) in ["cash", "online_card", "meal_card_online", "voucher"]
        .into_iter()
        .enumerate()
    {
        let body = rich_order("moda", &format!("r-{n}"), kind).to_string();
        shop.post(body.as_bytes()).await.data();
        source.advance(Duration::from_secs(60));
    }
    source.a.act("/orders/verify/r-0").await.data();
    source.advance(Duration::from_secs(600));
    source.a.act("/orders/change-status/r-0").await.data();
    source.a.act("/orders/verify/r-1").await.data();
    let cancel = json!({ "reason": "out_of_stock", "note": "bitti" });
    source.a.post("/orders/cancel/r-2", &cancel).await.data();
    shop.cancel("r-3", json!({ "reason": "customer_request" }))
        .await
        .data();
    shop.delivered(&source.a, "d-1").await;
    let mark = json!({ "providerOrderId": "d-1" });
    source.a.post("/orders/reports/mark", &mark).await.data();
    shop
}

/// Everything that a client sees and that must be the same.
async fn seen(client: &ApiClient) -> Value {
    let mut orders = Vec::new();
    let mut path = "/orders?limit=100&include=detail".to_owned();
    loop {
        let page = client.get(&path).await.success();
        orders.extend(page["data"].as_array().unwrap().clone());
        match page["paging"]["next"].as_str() {
            Some(next) => path = format!("/orders?limit=100&include=detail&cursor={next}"),
            None => break,
        }
    }
    for order in &mut orders {
        order["updatedAt"] = Value::Null;
    }
    let mut restaurants = client.get("/restaurants").await.data();
    for restaurant in restaurants.as_array_mut().unwrap() {
        for field in ["createdAt", "updatedAt"] {
            restaurant[field] = Value::Null;
        }
        for integration in restaurant["integrations"].as_array_mut().unwrap() {
            let kept = json!([integration["provider"], integration["remoteId"]]);
            *integration = kept;
        }
        for package in restaurant["packages"].as_array_mut().unwrap() {
            package["id"] = Value::Null;
        }
    }
    let mut businesses = client.get("/businesses").await.data();
    for business in businesses.as_array_mut().unwrap() {
        for field in ["createdAt", "updatedAt"] {
            business[field] = Value::Null;
        }
    }
    let mut pending = client.get("/orders/reports/pending?limit=200").await.data();
    for order in pending.as_array_mut().unwrap() {
        order["updatedAt"] = Value::Null;
    }
    json!({
        "orders": orders,
        "restaurants": restaurants,
        "businesses": businesses,
        "pending": pending,
        "payments": client.get("/orders/grouped-payments").await.data(),
        "some": client.get("/orders/grouped-payments?from=2026-03-02&to=2026-03-03").await.data(),
        "day": client.get("/reports/summary?from=2026-03-01&to=2026-03-10").await.data(),
    })
}

#[track_caller]
fn assert_same(source: &Value, target: &Value) {
    for (name, theirs) in source.as_object().unwrap() {
        let ours = &target[name];
        if let (Some(theirs), Some(ours)) = (theirs.as_array(), ours.as_array()) {
            assert_eq!(theirs.len(), ours.len(), "{name}");
            for (theirs, ours) in theirs.iter().zip(ours) {
                assert_eq!(theirs, ours, "{name}");
            }
        }
        assert_eq!(theirs, ours, "{name}");
    }
}

async fn everything_is_the_same_afterwards(backend: Backend) {
    let source = TestService::open_private(backend).await;
    fill(&source).await;
    let mut target = target(backend).await;
    let counted = import_from(&source, &target, &["--dry-run"]).await;
    assert_eq!(counted["orders"]["imported"], 145, "{counted}");
    assert_eq!(target.a.get("/orders").await.data(), json!([]));
    assert_eq!(target.a.get("/restaurants").await.data(), json!([]));
    let first = import_from(&source, &target, &[]).await;
    assert_eq!(first["orders"]["imported"], 145, "{first}");
    assert_eq!(first["businesses"]["imported"], 1, "{first}");
    assert_eq!(first["restaurants"]["imported"], 2, "{first}");
    assert_eq!(first["integrations"]["imported"], 1, "{first}");
    assert!(
        first["notes"].to_string().contains("credentials of direct"),
        "{first}"
    );
    assert_same(&seen(&source.a).await, &seen(&target.a).await);
    // Nothing was sent or planned.
    for table in ["events", "calls", "escalation_steps", "messages", "print_jobs"] {
        assert_eq!(target.count(table), 0, "{table}");
    }
    let again = import_from(&source, &target, &[]).await;
    assert_eq!(again["orders"]["imported"], 0, "{again}");
    assert_eq!(again["orders"]["updated"], 0, "{again}");
    assert_eq!(again["orders"]["known"], 145, "{again}");
    assert_eq!(again["restaurants"]["known"], 2, "{again}");
    assert_same(&seen(&source.a).await, &seen(&target.a).await);
    let found = target.a.get("/orders/r-0").await.data();
    assert_eq!(found["payment"]["matchedId"], "kasa-1", "{found}");
    target.stop().await;
    target.storage().assert_derived_values_of_import().await;
}

async fn later_changes_and_orders_follow(backend: Backend) {
    let source = TestService::open_private(backend).await;
    let shop = fill(&source).await;
    let mut target = target(backend).await;
    import_from(&source, &target, &[]).await;
    // There the orders go on.
    source.a.act("/orders/change-status/r-0").await.data();
    source.a.act("/orders/verify/n-1").await.data();
    source.a.act("/orders/cancel/n-2").await.data();
    let mark = json!({ "providerOrderId": "n-3" });
    source.a.post("/orders/reports/mark", &mark).await.data();
    shop.order("late-1").await;
    shop.order("late-2").await;
    let second = import_from(&source, &target, &[]).await;
    assert_eq!(second["orders"]["imported"], 2, "{second}");
    assert_eq!(second["orders"]["updated"], 4, "{second}");
    assert_same(&seen(&source.a).await, &seen(&target.a).await);
    // An order that goes on here is not reset, and its events continue the numbers.
    let shop_here = target
        .connect(&target.a, &shop.restaurant, "moda", json!({}))
        .await;
    target.a.act("/orders/verify/n-5").await.data();
    let events = target.a.get("/events").await.data();
    let told = events
        .as_array()
        .unwrap()
        .iter()
        .find(|event| event["olay"] == "siparis.durum_degisti");
    assert_eq!(told.unwrap()["veri"]["sequence"], 2, "{events}");
    source.a.act("/orders/cancel/n-5").await.data();
    shop_here.order("here").await;
    // The same order reached both services.
    shop_here.order("both").await;
    shop.order("both").await;
    let third = import_from(&source, &target, &[]).await;
    assert_eq!(third["orders"]["updated"], 0, "{third}");
    assert_eq!(target.a.get("/orders/n-5").await.data()["status"], 500);
    assert_eq!(target.a.get("/orders/both").await.data()["status"], 400);
    target.stop().await;
    target.storage().assert_derived_values_of_import().await;
}

async fn an_import_that_was_killed_continues(backend: Backend) {
    let source = TestService::open_private(backend).await;
    fill(&source).await;
    let mut target = target(backend).await;
    let file = secret_file(&source.a.key);
    let from = format!("http://{}", source.addr);
    for pause in [50, 150, 300, 500] {
        let mut begun = Program::start(import_command(&target, &from, file.path(), &[]));
        tokio::time::sleep(Duration::from_millis(pause)).await;
        begun.kill();
    }
    // At the latest when a part of the orders is there.
    let mut begun = Program::start(import_command(&target, &from, file.path(), &[]));
    crate::support::wait_until("some orders are there", async || target.count("orders") > 0).await;
    begun.kill();
    let summary = import_from(&source, &target, &[]).await;
    let orders = &summary["orders"];
    let total = orders["imported"].as_u64().unwrap() + orders["known"].as_u64().unwrap();
    assert_eq!(total, 145, "{summary}");
    assert_same(&seen(&source.a).await, &seen(&target.a).await);
    target.stop().await;
    target.storage().assert_derived_values_of_import().await;
}

async fn ids_of_other_accounts_are_not_taken(backend: Backend) {
    let source = TestService::open_private(backend).await;
    let shop = fill(&source).await;
    let target = target(backend).await;
    import_from(&source, &target, &[]).await;
    let file = secret_file(&source.a.key);
    let before = seen(&target.a).await;
    let mut command = crate::support::command();
    command
        .current_dir(target.storage().folder())
        .args(["import", "--from-api", &format!("http://{}", source.addr)])
        .args(["--account", "second@example.com", "--json", "--key"])
        .arg(file.path())
        .envs(target.storage().variables())
        .env("GARSON_MASTER_KEY", "7".repeat(64));
    let ran = tokio::task::spawn_blocking(move || program_run(command))
        .await
        .unwrap();
    assert!(ran.success, "{}", ran.err);
    assert_eq!(seen(&target.a).await, before);
    let others = target.b.get("/restaurants").await.data();
    assert_eq!(others.as_array().unwrap().len(), 2);
    assert!(
        others
            .as_array()
            .unwrap()
            .iter()
            .all(|it| it["id"] != shop.restaurant.as_str())
    );
    let order = target.b.get("/orders/r-0").await.data();
    assert_eq!(order["status"], 600, "{order}");
    assert_ne!(order["id"], target.a.get("/orders/r-0").await.data()["id"]);
}

async fn history_does_not_go_behind_own_orders(backend: Backend) {
    let source = TestService::open_private(backend).await;
    let shop = source.shop(&source.a, "s").await;
    shop.order("old").await;
    let target = target(backend).await;
    let own = target.shop(&target.a, "own").await;
    let body = order_body("own", "mine", 100).to_string();
    own.post(body.as_bytes()).await.data();
    let ran = import(&target, &format!("http://{}", source.addr), &source.a.key, &[]).await;
    assert!(
        !ran.success && ran.err.contains("has received orders here since"),
        "{}",
        ran.err
    );
    assert_eq!(target.a.get("/orders").await.data().as_array().unwrap().len(), 1);
}

on_both! {
    everything_is_the_same_afterwards
    later_changes_and_orders_follow
    an_import_that_was_killed_continues
    ids_of_other_accounts_are_not_taken
    history_does_not_go_behind_own_orders
}
