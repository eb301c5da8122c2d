//! Regressions found in code review: access across accounts, and calls that blocked each other.

use crate::support::{Backend, PlatformWorld, request, send, wait_until};
use garson_core::platform::IntakeOutcome;
use garson_sim::Platform::{Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault, OrderRequest};
use serde_json::json;

on_both! {
    shared_header_does_not_authenticate_another_accounts_branch
    a_cancellation_does_not_wait_for_our_own_verification
    cancellation_is_detected_before_planned_calls
    cancellation_seen_in_a_list_is_attributed_to_us
    malformed_branch_is_refused_or_stored
    message_content_is_not_quoted
    unusual_value_is_noted_on_the_order
}

/// A neighbour in another account registers the same first header with a secret of its own.
async fn shared_header_does_not_authenticate_another_accounts_branch(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let headers = |secret: &str| json!({ "client-id": "trendyol-go", "x-secret": secret });
    let ours = json!({ "inboundHeaders": headers("our-own-secret") });
    world.connect(Trendyol, &ours).await.data();
    let neighbour = world.service.b.clone();
    let made = neighbour
        .post("/restaurants", &json!({ "name": "n" }))
        .await
        .data();
    let path = format!(
        "/restaurants/{}/integrations/trendyol",
        made["id"].as_str().unwrap()
    );
    let theirs = json!({
        "isActive": true, "remoteId": "9999:1",
        "credentials": {
            "apiKey": "their-key", "apiSecret": "their-secret", "inboundHeaders": headers("their-own-secret"),
        },
    });
    neighbour.put(&path, &theirs).await.data();
    let body =
        include_str!("../../../crates/garson-platforms/src/trendyol/fixtures/created_own_courier.json");
    let mut order: serde_json::Value = serde_json::from_str(body).unwrap();
    order["supplierId"] = json!(2738);
    order["storeId"] = json!(15);
    let bytes = order.to_string().into_bytes();
    let push = async |secret: &str| {
        let headers = [
            ("client-id", "trendyol-go"),
            ("x-secret", secret),
            ("content-type", "application/json"),
        ];
        send(
            world.service.addr,
            &request("POST", "/hooks/trendyol/created", &headers, &bytes),
        )
        .await
        .status
    };
    assert_eq!(push("somebodys-guess").await, 401);
    assert_eq!(push("their-own-secret").await, 500, "it is kept, and not taken");
    assert!(world.orders().await.is_empty());
    let kept = world.service.open_messages().await;
    assert_eq!(kept.len(), 1);
    // Nor does an operator who takes kept messages again.
    let again = garson::flow::intake::inbox_retry::retry(&world.service.app, kept[0].id)
        .await
        .unwrap();
    assert!(matches!(again, IntakeOutcome::UnknownBranch { .. }), "{again:?}");
    assert!(world.orders().await.is_empty());
    assert_eq!(push("our-own-secret").await, 200);
    assert_eq!(world.orders().await.len(), 1);
}

async fn a_cancellation_does_not_wait_for_our_own_verification(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    world.configure(json!({ "autoVerify": true })).await;
    let away = Fault::Status {
        status: 503,
        body: None,
    };
    world.fault(Getir, "verify", away, None).await;
    let request = OrderRequest {
        courier: Some(Courier::Restaurant),
        ..OrderRequest::new(Getir)
    };
    let placed = world.place(request).await;
    world
        .wait_for_order(&placed, "is being retried", |order| {
            order["providerSync"]["state"] == json!("pending")
        })
        .await;
    wait_until("a try is over", async || world.calls(&placed, "verify").await > 0).await;
    let cancelled = world.cancel(&placed, json!({})).await.data();
    assert_eq!(cancelled["status"], json!(1600));
    assert_eq!(world.view(&placed).await.state_text(), "1600");
}

async fn cancellation_is_detected_before_planned_calls(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    world.configure(json!({ "preparationMinutes": 20 })).await;
    let placed = world.verified(Yemeksepeti, Courier::Platform).await;
    world
        .fault(Yemeksepeti, "order_rejected", Fault::TimeoutAfterWork, Some(1))
        .await;
    world
        .cancel(&placed, json!({}))
        .await
        .refused(504, "provider_timeout");
    let order = world.wait_for_status(&placed, 1600).await;
    assert_eq!(order["cancellation"]["by"], json!("account"));
    assert_eq!(
        world.calls(&placed, "prepared").await,
        0,
        "what was planned is dropped"
    );
}

async fn cancellation_seen_in_a_list_is_attributed_to_us(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let placed = world.verified(Migros, Courier::Restaurant).await;
    world
        .fault(Migros, "cancel-order", Fault::TimeoutAfterWork, Some(1))
        .await;
    // Its own message is as quick as a list.
    let note = json!({ "note": "limon bitti" });
    let (reply, ()) = tokio::join!(world.cancel(&placed, note), async {
        world.wait_for_platform_state(&placed, "CANCELLED").await;
        world.control.push(Migros, &placed.id).await.unwrap();
    });
    assert!([200, 504].contains(&reply.status), "{}", reply.text());
    let order = world.wait_for_status(&placed, 1600).await;
    assert_eq!(order["cancellation"]["by"], json!("account"));
    assert_eq!(order["cancellation"]["note"], json!("limon bitti"));
}

async fn malformed_branch_is_refused_or_stored(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let path = format!("/restaurants/{}/integrations", world.restaurant);
    world
        .a
        .put(&format!("{path}/trendyol"), &json!({ "remoteId": "15" }))
        .await
        .wrong(422, "invalid_field", "remoteId");
    // A list shows an order under its real name: it is not passed over in silence.
    let wrong = json!({ "remoteId": "5f00000000000000000000ff" });
    let polled = PlatformWorld::open(backend).await;
    polled
        .a
        .put(
            &format!("/restaurants/{}/integrations/getir", polled.restaurant),
            &wrong,
        )
        .await
        .data();
    let request = OrderRequest {
        push: false,
        ..OrderRequest::new(Getir)
    };
    polled.place(request).await;
    polled.poll().await;
    let kept = polled.service.open_messages().await;
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(kept[0].state, "unmatched");
}

async fn message_content_is_not_quoted(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let headers = [
        ("x-api-key", "getir-knocks"),
        ("content-type", "application/json"),
    ];
    let body =
        br#"{"id":"1","products":"Ali Veli +905321112233","restaurant":{"id":"5f0000000000000000000001"}}"#;
    let reply = send(
        world.service.addr,
        &request("POST", "/hooks/getir/new-order", &headers, body),
    )
    .await;
    assert_eq!(reply.status, 500);
    let kept = world.service.open_messages().await;
    let reason = kept[0].reason.clone().unwrap();
    assert!(reason.starts_with("products "), "{reason}");
    assert!(
        !reason.contains("Ali") && !reply.text().contains("Ali"),
        "{reason} {}",
        reply.text()
    );
}

/// An order whose optional parts are odd is taken, and shows what was left out and by how much its lines miss the total.
async fn unusual_value_is_noted_on_the_order(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let headers = [
        ("x-api-key", "getir-knocks"),
        ("content-type", "application/json"),
    ];
    let id = "6af959e10d64f36dd8f72d5b";
    let body = json!({
        "id": id, "status": 400, "restaurant": { "id": "5f0000000000000000000001" }, "client": "Ali <b>",
        "doNotKnock": "false", "products": [{ "name": "Çay", "price": 10 }], "totalPrice": 25, "paymentMethod": 4,
    });
    let bytes = request(
        "POST",
        "/hooks/getir/new-order",
        &headers,
        body.to_string().as_bytes(),
    );
    assert_eq!(send(world.service.addr, &bytes).await.status, 200);
    let order = world.a.get(&format!("/orders/{id}")).await.data();
    let paths: Vec<_> = order["readingNotes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| note["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["client", "products[0].count", "products"], "{order:#}");
    assert_eq!(order["customer"]["name"], json!(null));
    assert_eq!(
        (
            &order["amount"]["subtotal"],
            &order["amount"]["adjustment"],
            &order["amount"]["total"]
        ),
        (&json!(1_000), &json!(1_500), &json!(2_500))
    );
    let mut user = world.service.user().await;
    let page = user
        .open(&format!("/orders/{}", order["id"].as_str().unwrap()))
        .await;
    assert!(page.has("client"), "{}", page.text());
    assert!(page.has("was left out: \"Ali <b>\""), "{}", page.text());
    assert!(page.has("15,00 ₺"), "{}", page.text());
}
