//! Genuine messages are stored once, even if they cannot be applied.

use crate::support::{ApiClient, BusyWriter, Reply, TestService, order_body, request, send, wait_until};
use garson_core::id::RestaurantId;
use garson_store::tables::restaurants;
use garson_store::upkeep::sweep;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::task::JoinSet;

cases! {
    unknown_store_message_is_stored_once
    unreadable_body_is_stored_once_with_its_error
    every_error_of_an_order_is_named
    non_json_body_is_stored
    nul_in_a_key_is_named_and_stored
    order_with_only_dots_as_id_is_not_accepted
    early_cancellation_applies_to_its_own_shop_only
    cancellation_concurrent_with_its_order_is_applied
    cancellation_before_its_order_is_applied_later
    early_cancellation_applies_to_all_integrations_with_its_secret
    cancellation_does_not_apply_to_integrations_with_another_secret
    nothing_is_stored_for_a_restaurant_swept_meanwhile
    unreadable_integration_does_not_block_others
}

/// With a secret of several accounts no account is locked while the cancellation is kept, so that it and its order can miss
/// each other. Here the order gets the identity afterwards, as if it had been committed at that time.
async fn cancellation_before_its_order_is_applied_later(service: TestService) {
    let getir = Getir { service: &service };
    getir.connect(&service.a, "branch").await;
    getir.connect(&service.b, "other").await;
    let (missed, placed) = (format!("{:024x}", 1), format!("{:024x}", 2));
    let cancel = getir
        .post("cancel-order", json!({ "id": missed, "status": 1500 }))
        .await;
    assert_eq!(cancel.status, 500, "{cancel:?}");
    let order = getir.post("new-order", Getir::order(&placed)).await;
    assert_eq!(order.status, 200, "{order:?}");
    service.execute_sql(&format!(
        "UPDATE orders SET identity = '{missed}', provider_order_id = '{missed}' WHERE identity = '{placed}'"
    ));
    wait_until("the cancellation is taken", async || {
        let order = service.a.get(&format!("/orders/{missed}")).await.data();
        order["status"].as_i64().unwrap() >= 1500
    })
    .await;
    wait_until("the message is settled", async || {
        service.open_messages().await.is_empty()
    })
    .await;
}

/// It is kept with the first account that has its secret, and the order comes to another one much later than an order that was
/// being committed meanwhile is looked for.
async fn early_cancellation_applies_to_all_integrations_with_its_secret(service: TestService) {
    let getir = Getir { service: &service };
    getir.connect(&service.a, "other").await;
    // The first one is the one with the lower id, which begins with the time.
    service.clock.advance(Duration::from_secs(1));
    getir.connect(&service.b, "branch").await;
    let (early, late) = (format!("{:024x}", 1), format!("{:024x}", 2));
    for id in [&early, &late] {
        let cancel = getir
            .post("cancel-order", json!({ "id": id, "status": 1500 }))
            .await;
        assert_eq!(cancel.status, 500, "{cancel:?}");
    }
    service.advance(Duration::from_mins(5));
    let placed = getir.post("new-order", Getir::order(&early)).await;
    assert_eq!(placed.status, 200, "{placed:?}");
    let order = service.b.get(&format!("/orders/{early}")).await.data();
    assert!(order["status"].as_i64().unwrap() >= 1500, "{order:#}");
    assert_eq!(service.a.get("/orders").await.data(), json!([]));
    assert_eq!(service.open_messages().await.len(), 1);
    // An integration that is changed afterwards may have had another secret when the message came.
    getir
        .connect_restaurant(&service.b, "branch", "getir-knocks")
        .await;
    let placed = getir.post("new-order", Getir::order(&late)).await;
    assert_eq!(placed.status, 200, "{placed:?}");
    let order = service.b.get(&format!("/orders/{late}")).await.data();
    assert_eq!(order["status"], json!(400), "{order:#}");
}

async fn cancellation_does_not_apply_to_integrations_with_another_secret(service: TestService) {
    let getir = Getir { service: &service };
    getir.connect(&service.a, "other").await;
    getir.connect(&service.b, "branch").await;
    getir
        .connect_restaurant(&service.b, "branch", "another-secret")
        .await;
    let id = format!("{:024x}", 1);
    let cancel = getir
        .post("cancel-order", json!({ "id": id, "status": 1500 }))
        .await;
    assert_eq!(cancel.status, 500, "{cancel:?}");
    service.advance(Duration::from_mins(5));
    let placed = getir
        .post_with("another-secret", "new-order", Getir::order(&id))
        .await;
    assert_eq!(placed.status, 200, "{placed:?}");
    let order = service.b.get(&format!("/orders/{id}")).await.data();
    assert_eq!(order["status"], json!(400), "{order:#}");
    assert_eq!(service.open_messages().await.len(), 1);
}

/// Messages are judged while the restaurant is there, and written when nothing of it is left.
async fn nothing_is_stored_for_a_restaurant_swept_meanwhile(service: TestService) {
    const MESSAGES: usize = 12;
    let (shop, account) = (service.shop(&service.a, "s").await, service.first_account().await);
    let restaurant: RestaurantId = shop.restaurant.parse().unwrap();
    let now = service.app.now();
    let busy_writer = BusyWriter::submit_with(&service.app, account, move |tx| {
        assert!(restaurants::delete(tx, account, restaurant, now)?);
        while sweep::remove_chunk(tx, account, restaurant, 100)? {}
        Ok(())
    });
    busy_writer.begun().await;
    let mut messages = JoinSet::new();
    for n in 0..MESSAGES {
        let shop = shop.clone();
        messages.spawn(async move {
            match n % 2 {
                0 => shop.cancel(&format!("o-{n}"), json!({})).await.status,
                _ => shop.post(format!("{{\"n\":{n}}}").as_bytes()).await.status,
            }
        });
    }
    wait_until("all messages wait to be written", async || {
        service.app.store.waiting() >= MESSAGES
    })
    .await;
    busy_writer.commit().await;
    let statuses = messages.join_all().await;
    assert!(statuses.iter().all(|status| *status == 401), "{statuses:?}");
    assert_eq!(service.count("inbox"), 0);
}

async fn unreadable_integration_does_not_block_others(service: TestService) {
    let getir = Getir { service: &service };
    getir.connect(&service.a, "damaged").await;
    getir.connect(&service.b, "branch").await;
    for (n, damage) in ["07070707", "01ffffffff0707070707"].into_iter().enumerate() {
        service.corrupt_credentials(damage, "remote_id = 'damaged'");
        let sound = getir.post("new-order", Getir::order(&format!("{n:024x}"))).await;
        assert_eq!(sound.status, 200, "{sound:?}");
        // A message for the damaged one is stored, and the reply says that it was not applied.
        let mut order = Getir::order(&format!("{:024x}", n + 10));
        order["restaurant"]["id"] = json!("damaged");
        let refused = getir.post("new-order", order).await;
        assert_eq!(refused.status, 500, "{refused:?}");
        assert_eq!(service.open_messages().await.len(), n + 1);
    }
    assert_eq!(service.b.get("/orders").await.data().as_array().unwrap().len(), 2);
    // Nothing that is left can tell whether a message is genuine: its platform sends it again, until it is taken.
    getir
        .connect_restaurant(&service.b, "branch", "another-secret")
        .await;
    let unknown = getir
        .post("new-order", Getir::order(&format!("{:024x}", 20)))
        .await;
    assert_eq!(unknown.status, 500, "{unknown:?}");
}

struct Getir<'a> {
    service: &'a TestService,
}

impl Getir<'_> {
    async fn connect(&self, client: &ApiClient, branch: &str) {
        let made = client
            .post("/restaurants", &json!({ "name": branch }))
            .await
            .data();
        self.put(client, made["id"].as_str().unwrap(), branch, "getir-knocks")
            .await;
    }

    /// Connects the account's only restaurant again.
    async fn connect_restaurant(&self, client: &ApiClient, branch: &str, secret: &str) {
        let all = client.get("/restaurants").await.data();
        self.put(client, all[0]["id"].as_str().unwrap(), branch, secret)
            .await;
    }

    async fn put(&self, client: &ApiClient, restaurant: &str, branch: &str, secret: &str) {
        let credentials = json!({ "appSecretKey": "app-secret", "restaurantSecretKey": "restaurant-secret", "inboundKey": secret });
        let body = json!({ "isActive": true, "remoteId": branch, "credentials": credentials });
        let path = format!("/restaurants/{restaurant}/integrations/getir");
        client.put(&path, &body).await.data();
    }

    /// An order of the branch "branch".
    fn order(id: &str) -> Value {
        let fixture = include_str!("../../../crates/garson-platforms/src/getir/fixtures/new-order.json");
        let mut order: Value = serde_json::from_str(fixture).unwrap();
        order["id"] = json!(id);
        order["restaurant"]["id"] = json!("branch");
        order
    }

    async fn post(&self, path: &str, body: Value) -> Reply {
        self.post_with("getir-knocks", path, body).await
    }

    async fn post_with(&self, secret: &str, path: &str, body: Value) -> Reply {
        let headers = [("content-type", "application/json"), ("x-api-key", secret)];
        let path = format!("/hooks/getir/{path}");
        let body = body.to_string();
        send(
            self.service.addr,
            &request("POST", &path, &headers, body.as_bytes()),
        )
        .await
    }
}

/// The cancellation names no restaurant, so that it can only be matched by its order, which is being committed meanwhile.
async fn cancellation_concurrent_with_its_order_is_applied(service: TestService) {
    const ORDERS: usize = 60;
    let getir = Getir { service: &service };
    getir.connect(&service.a, "branch").await;
    for n in 0..ORDERS {
        let id = format!("{n:024x}");
        let pause = Duration::from_micros(500) * u32::try_from(n % 8).unwrap();
        let (placed, _) = tokio::join!(getir.post("new-order", Getir::order(&id)), async {
            tokio::time::sleep(pause).await;
            getir
                .post("cancel-order", json!({ "id": id, "status": 1500 }))
                .await
        });
        assert_eq!(placed.status, 200, "{placed:?}");
        let order = service.a.get(&format!("/orders/{id}")).await.data();
        assert!(order["status"].as_i64().unwrap() >= 1500, "{n}: {order:#}");
    }
    assert!(service.open_messages().await.is_empty());
}

async fn early_cancellation_applies_to_its_own_shop_only(service: TestService) {
    let (one, two) = (
        service.shop(&service.a, "one").await,
        service.shop(&service.a, "two").await,
    );
    assert_eq!(two.cancel("17", json!({})).await.status, 404);
    let untouched = one.order("17").await;
    let order = service.a.get(&format!("/orders/{untouched}")).await.data();
    assert_eq!(order["status"], json!(400), "{order:#}");
    let cancelled = two.order("17").await;
    let order = service.a.get(&format!("/orders/{cancelled}")).await.data();
    assert_eq!(order["status"], json!(1500), "{order:#}");
}

async fn unknown_store_message_is_stored_once(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let body = order_body("elsewhere", "1", 100).to_string();
    for _ in 0..3 {
        shop.post(body.as_bytes())
            .await
            .wrong(404, "unknown_store", "storeId");
    }
    let kept = service.open_messages().await;
    assert_eq!(
        (kept.len(), kept[0].state.as_str(), kept[0].times),
        (1, "unmatched", 3)
    );
    assert_eq!(kept[0].branch.as_deref(), Some("elsewhere"));
    assert_eq!(service.a.get("/orders").await.data(), json!([]));
}

async fn unreadable_body_is_stored_once_with_its_error(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut body = order_body("s", "1", 100);
    body["items"][0]["unitPrice"] = json!("12,50");
    for _ in 0..3 {
        shop.post(body.to_string().as_bytes())
            .await
            .wrong(422, "invalid_field", "items[0].unitPrice");
    }
    let kept = service.open_messages().await;
    assert_eq!(
        (kept.len(), kept[0].state.as_str(), kept[0].times),
        (1, "unreadable", 3)
    );
    assert!(
        kept[0]
            .reason
            .as_deref()
            .unwrap()
            .starts_with("items[0].unitPrice "),
        "{kept:?}"
    );
    assert_eq!(usize::try_from(kept[0].bytes).unwrap(), body.to_string().len());
    // Corrected, it is taken.
    body["items"][0]["unitPrice"] = json!(1_250);
    shop.post(body.to_string().as_bytes()).await.success();
    assert_eq!(service.a.get("/orders").await.data().as_array().unwrap().len(), 1);
}

async fn every_error_of_an_order_is_named(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let change = |pointer: &str, value: Value| {
        let mut body = order_body("s", "1", 100);
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        body.pointer_mut(parent).unwrap()[name] = value;
        body
    };
    let long = "x".repeat(3_000);
    for (body, field) in [
        (change("/items", json!([])), "items"),
        (change("/items", json!({})), "items"),
        (change("/providerOrderId", json!("")), "providerOrderId"),
        (change("/providerOrderId", json!(17)), "providerOrderId"),
        (change("/providerOrderId", json!(" 1")), "providerOrderId"),
        (
            change("/providerOrderId", json!("x".repeat(101))),
            "providerOrderId",
        ),
        (change("/note", json!(long)), "note"),
        (change("/amount/total", json!(-1)), "amount.total"),
        (change("/amount/total", json!(1.5)), "amount.total"),
        (change("/amount/total", json!("100")), "amount.total"),
        (change("/amount/total", json!(i64::MAX)), "amount.total"),
        (change("/amount/currency", json!("Lira")), "amount.currency"),
        (change("/payment/type", json!("gold")), "payment.type"),
        (change("/placedAt", json!("yesterday")), "placedAt"),
        (
            change("/items", json!([{ "name": "", "unitPrice": 1 }])),
            "items[0].name",
        ),
        (
            change("/items", json!([{ "name": "x", "unitPrice": 1, "quantity": 0 }])),
            "items[0].quantity",
        ),
        (
            change("/items", json!([{ "name": "x", "unitPrice": 1, "quantity": -5 }])),
            "items[0].quantity",
        ),
        (
            change("/customer", json!({ "address": { "lat": 91 } })),
            "customer.address.lat",
        ),
    ] {
        let reply = shop.post(body.to_string().as_bytes()).await;
        assert_eq!(reply.status, 422, "{field}: {}", reply.text());
        reply.wrong(422, "invalid_field", field);
    }
    assert_eq!(service.a.get("/orders").await.data(), json!([]));
    assert_eq!(service.open_messages().await.len(), 18);
}

async fn non_json_body_is_stored(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let deep = "[".repeat(100_000);
    for body in [&b"{"[..], b"", b"\xff\x00\xfe", b"null", b"[]", deep.as_bytes()] {
        for _ in 0..2 {
            let reply = shop.post(body).await;
            assert!(matches!(reply.status, 400 | 422), "{}", reply.text());
        }
    }
    for (body, status) in [
        (r#"{"storeId":"s","storeId":"s"}"#, 400),
        (r#"{"storeId":"s\u0000"}"#, 422),
    ] {
        assert_eq!(shop.post(body.as_bytes()).await.status, status);
    }
    let kept = service.open_messages().await;
    assert_eq!(kept.len(), 8);
    assert_eq!(kept.iter().filter(|message| message.times == 2).count(), 6);
    assert!(
        kept.iter()
            .all(|message| message.state == "unreadable" && message.reason.is_some())
    );
    assert_eq!(service.a.get("/orders").await.data(), json!([]));
}

/// One of the engines cannot hold a NUL in text, and the place of a fault is kept as text.
async fn nul_in_a_key_is_named_and_stored(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for body in [
        &br#"{"note\u0000":"x"}"#[..],
        br#"{"items":[{"\u0000":{"a\u0000":1}}]}"#,
    ] {
        let reply = shop.post(body).await;
        assert_eq!(reply.status, 422, "{}", String::from_utf8_lossy(body));
    }
    let kept = service.open_messages().await;
    assert_eq!(kept.len(), 2, "{kept:?}");
    for message in &kept {
        assert_eq!(message.state.as_str(), "unreadable");
        let reason = message.reason.as_deref().unwrap();
        assert!(reason.contains(r"\u0000") && !reason.contains('\0'), "{reason:?}");
    }
}

/// Such an id would lead out of its place in the addresses that are made of it.
async fn order_with_only_dots_as_id_is_not_accepted(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    // The second time it is judged by what is remembered of the shop.
    shop.order("before").await;
    for id in [".", "..", "%2e%2E"] {
        shop.post(order_body("s", id, 100).to_string().as_bytes())
            .await
            .wrong(422, "invalid_field", "providerOrderId");
    }
    assert_eq!(service.open_messages().await.len(), 3);
    for id in ["...", "..a"] {
        shop.order(id).await;
    }
    assert_eq!(service.a.get("/orders").await.data().as_array().unwrap().len(), 3);
}
