//! What a reader of the code found first: doors that a neighbour could open, and questions that held each other up.

use crate::support::{Kind, Town, request, send, until};
use garson_core::platform::Reception;
use garson_sim::Platform::{Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault, OrderRequest};
use serde_json::json;

on_both! {
    a_shared_header_does_not_open_a_neighbours_branch
    a_cancellation_does_not_wait_for_our_own_verification
    a_cancellation_is_found_out_before_what_is_planned
    a_cancellation_that_a_list_tells_of_is_still_ours
    a_branch_that_is_written_down_wrongly_is_refused_or_kept
    what_a_message_says_is_not_quoted
    an_odd_value_is_noted_on_the_order
}

/// A neighbour in another account registers the same first header with a secret of its own.
async fn a_shared_header_does_not_open_a_neighbours_branch(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    let headers = |secret: &str| json!({ "client-id": "trendyol-go", "x-secret": secret });
    let ours = json!({ "inboundHeaders": headers("our-own-secret") });
    town.connect(Trendyol, &ours).await.data();
    let neighbour = town.house.b.clone();
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
            town.house.addr,
            &request("POST", "/hooks/trendyol/created", &headers, &bytes),
        )
        .await
        .status
    };
    assert_eq!(push("somebodys-guess").await, 401);
    assert_eq!(push("their-own-secret").await, 500, "it is kept, and not taken");
    assert!(town.orders().await.is_empty());
    let kept = town.house.kept().await;
    assert_eq!(kept.len(), 1);
    // Nor does an operator who takes kept messages again.
    let again = garson::flow::intake::inbox_retry::retry(&town.house.app, kept[0].id)
        .await
        .unwrap();
    assert!(matches!(again, Reception::UnknownBranch { .. }), "{again:?}");
    assert!(town.orders().await.is_empty());
    assert_eq!(push("our-own-secret").await, 200);
    assert_eq!(town.orders().await.len(), 1);
}

async fn a_cancellation_does_not_wait_for_our_own_verification(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    town.configure(json!({ "autoVerify": true })).await;
    let away = Fault::Status {
        status: 503,
        body: None,
    };
    town.fault(Getir, "verify", away, None).await;
    let request = OrderRequest {
        courier: Some(Courier::Restaurant),
        ..OrderRequest::new(Getir)
    };
    let meal = town.place(request).await;
    town.shows(&meal, "is being retried", |order| {
        order["providerSync"]["state"] == json!("pending")
    })
    .await;
    until("a try is over", async || town.calls(&meal, "verify").await > 0).await;
    let cancelled = town.cancel(&meal, json!({})).await.data();
    assert_eq!(cancelled["status"], json!(1600));
    assert_eq!(town.view(&meal).await.state_text(), "1600");
}

async fn a_cancellation_is_found_out_before_what_is_planned(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    town.configure(json!({ "preparationMinutes": 20 })).await;
    let meal = town.verified(Yemeksepeti, Courier::Platform).await;
    town.fault(Yemeksepeti, "order_rejected", Fault::TimeoutAfterWork, Some(1))
        .await;
    town.cancel(&meal, json!({}))
        .await
        .refused(504, "provider_timeout");
    let order = town.reaches(&meal, 1600).await;
    assert_eq!(order["cancellation"]["by"], json!("account"));
    assert_eq!(
        town.calls(&meal, "prepared").await,
        0,
        "what was planned is dropped"
    );
}

async fn a_cancellation_that_a_list_tells_of_is_still_ours(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    let meal = town.verified(Migros, Courier::Restaurant).await;
    town.fault(Migros, "cancel-order", Fault::TimeoutAfterWork, Some(1))
        .await;
    // Its own message is as quick as a list.
    let note = json!({ "note": "limon bitti" });
    let (reply, ()) = tokio::join!(town.cancel(&meal, note), async {
        town.stands_at(&meal, "CANCELLED").await;
        town.control.push(Migros, &meal.id).await.unwrap();
    });
    assert!([200, 504].contains(&reply.status), "{}", reply.text());
    let order = town.reaches(&meal, 1600).await;
    assert_eq!(order["cancellation"]["by"], json!("account"));
    assert_eq!(order["cancellation"]["note"], json!("limon bitti"));
}

async fn a_branch_that_is_written_down_wrongly_is_refused_or_kept(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    let path = format!("/restaurants/{}/integrations", town.restaurant);
    town.a
        .put(&format!("{path}/trendyol"), &json!({ "remoteId": "15" }))
        .await
        .wrong(422, "invalid_field", "remoteId");
    // A list shows an order under its real name: it is not passed over in silence.
    let wrong = json!({ "remoteId": "5f00000000000000000000ff" });
    let polled = Town::open(kind).await;
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
    let kept = polled.house.kept().await;
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(kept[0].state, "unmatched");
}

async fn what_a_message_says_is_not_quoted(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    let headers = [
        ("x-api-key", "getir-knocks"),
        ("content-type", "application/json"),
    ];
    let body =
        br#"{"id":"1","products":"Ali Veli +905321112233","restaurant":{"id":"5f0000000000000000000001"}}"#;
    let reply = send(
        town.house.addr,
        &request("POST", "/hooks/getir/new-order", &headers, body),
    )
    .await;
    assert_eq!(reply.status, 500);
    let kept = town.house.kept().await;
    let reason = kept[0].reason.clone().unwrap();
    assert!(reason.starts_with("products "), "{reason}");
    assert!(
        !reason.contains("Ali") && !reply.text().contains("Ali"),
        "{reason} {}",
        reply.text()
    );
}

/// An order whose optional parts are odd is taken, and shows what was left out and by how much its lines miss the total.
async fn an_odd_value_is_noted_on_the_order(kind: Kind) {
    let town = Town::open_quiet(kind).await;
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
    assert_eq!(send(town.house.addr, &bytes).await.status, 200);
    let order = town.a.get(&format!("/orders/{id}")).await.data();
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
    let mut visitor = town.house.visitor().await;
    let page = visitor
        .open(&format!("/orders/{}", order["id"].as_str().unwrap()))
        .await;
    assert!(page.has("client"), "{}", page.text());
    assert!(page.has("was left out: \"Ali <b>\""), "{}", page.text());
    assert!(page.has("15,00 ₺"), "{}", page.text());
}
