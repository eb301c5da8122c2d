//! Orders that their source changes later: versions, sums and events.

use crate::support::{
    ApiClient, Backend, CannedResponse, Receiver, Shop, TestService, order_body, wait_until,
};
use serde_json::{Value, json};

on_both! {
    later_version_changes_the_order_its_sums_and_timeline
    older_documents_change_nothing
    unreadable_version_changes_nothing
    reported_and_finished_orders_are_revised_and_cancelled_ones_are_not
    revision_events_are_opt_in
    opted_in_account_gets_revision_events_in_order
    revision_opt_in_is_stored_without_a_url
}

/// A version of the shop's order: this many pieces at 50.00.
fn version(id: &str, revision: i64, pieces: i64, payment: &str) -> Value {
    let mut body = order_body("s", id, 5_000 * pieces);
    body["revision"] = json!(revision);
    body["items"] = json!([{ "name": "Lahmacun", "quantity": pieces, "unitPrice": 5_000 }]);
    body["payment"] = json!({ "type": payment, "isPaid": payment == "online_card" });
    body["customer"] = json!({ "name": "Ayşe" });
    body
}

async fn post(shop: &Shop, body: &Value) -> String {
    let taken = shop.post(body.to_string().as_bytes()).await.data();
    taken["orderId"].as_str().unwrap().to_owned()
}

async fn groups(client: &ApiClient) -> Value {
    let data = client.get("/orders/grouped-payments").await.data();
    let groups = data["groups"].as_array().unwrap().iter();
    groups
        .map(|it| json!([it["type"], it["count"], it["total"]]))
        .collect()
}

async fn later_version_changes_the_order_its_sums_and_timeline(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let id = post(&shop, &version("1", 1, 3, "cash")).await;
    assert_eq!(service.a.get("/orders/1").await.data()["revision"], json!(1));
    service.a.act("/orders/verify/1").await.data();
    service.advance(std::time::Duration::from_secs(5));
    let mut later = version("1", 2, 2, "online_card");
    later["customer"] = json!({});
    for _ in 0..2 {
        assert_eq!(post(&shop, &later).await, id);
    }
    let order = service.a.get("/orders/1").await.data();
    assert_eq!((&order["revision"], &order["status"]), (&json!(2), &json!(500)));
    assert_eq!(order["items"][0]["quantity"], json!(2));
    assert_eq!(
        (&order["amount"]["total"], &order["payment"]["type"]),
        (&json!(10_000), &json!("online_card"))
    );
    assert_eq!(
        (&order["customer"]["name"], &order["updatedAt"]),
        (&json!("Ayşe"), &json!("2026-03-01T09:00:05.000Z"))
    );
    let timeline = order["timeline"].as_array().unwrap();
    assert_eq!(timeline.len(), 3);
    assert_eq!(
        timeline[2],
        json!({
            "at": "2026-03-01T09:00:05.000Z", "from": 500, "to": 500, "by": "platform",
            "why": "the platform changed the order", "revision": 2,
            "changes": [
                { "field": "item_quantity", "name": "Lahmacun", "from": 3, "to": 2 },
                { "field": "subtotal", "from": 15_000, "to": 10_000 },
                { "field": "total", "from": 15_000, "to": 10_000 },
                { "field": "payment_type", "from": "cash", "to": "online_card" },
                { "field": "is_paid", "from": false, "to": true },
                { "field": "collect", "from": 15_000, "to": 0 },
            ],
        })
    );
    assert!(timeline[1].get("revision").is_none() && timeline[1].get("changes").is_none());
    let listed = service.a.get("/orders").await.data();
    assert_eq!(
        (&listed[0]["total"], &listed[0]["paymentType"]),
        (&json!(10_000), &json!("online_card"))
    );
    let pending = service.a.get("/orders/reports/pending").await.data();
    assert_eq!(
        (&pending[0]["amount"]["total"], &pending[0]["payment"]["type"]),
        (&json!(10_000), &json!("online_card"))
    );
    assert_eq!(groups(&service.a).await, json!([["online_card", 1, 10_000]]));
    // It moves on as before.
    service.a.act("/orders/change-status/1").await.data();
    let timeline = service.a.get("/orders/1").await.data()["timeline"].clone();
    assert_eq!(timeline.as_array().unwrap().len(), 4);
    assert_eq!(timeline[3]["to"], json!(600));
}

async fn older_documents_change_nothing(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let id = post(&shop, &version("1", 1, 3, "cash")).await;
    post(&shop, &version("1", 4, 2, "cash")).await;
    let before = service.a.get("/orders/1").await.data();
    for older in [
        version("1", 1, 3, "cash"),
        version("1", 3, 1, "cash"),
        version("1", 4, 2, "cash"),
    ] {
        assert_eq!(post(&shop, &older).await, id);
    }
    // The same number for other content is a mistake of the shop, as it is without numbers.
    for other in [version("1", 4, 5, "cash")] {
        shop.post(other.to_string().as_bytes())
            .await
            .refused(409, "duplicate_order_id");
    }
    for wrong in [json!(0), json!(-1), json!("2"), json!(1.5)] {
        let mut body = version("1", 5, 5, "cash");
        body["revision"] = wrong;
        assert_ne!(shop.post(body.to_string().as_bytes()).await.status, 200);
    }
    assert_eq!(service.a.get("/orders/1").await.data(), before);
    assert_eq!(before["revision"], json!(2));
}

async fn unreadable_version_changes_nothing(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    post(&shop, &version("1", 1, 3, "cash")).await;
    let before = service.a.get("/orders/1").await.data();
    for (place, value) in [
        ("items", json!([])),
        ("amount", json!({})),
        ("payment", json!({ "type": "gold" })),
    ] {
        let mut body = version("1", 2, 2, "cash");
        body[place] = value;
        assert_ne!(shop.post(body.to_string().as_bytes()).await.status, 200);
    }
    assert_eq!(service.a.get("/orders/1").await.data(), before);
    post(&shop, &version("1", 2, 2, "cash")).await;
    assert_eq!(service.a.get("/orders/1").await.data()["revision"], json!(2));
}

async fn reported_and_finished_orders_are_revised_and_cancelled_ones_are_not(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    for id in ["reported", "delivered", "cancelled"] {
        post(&shop, &version(id, 1, 3, "cash")).await;
    }
    let mark = json!({ "providerOrderId": "reported" });
    service.a.post("/orders/reports/mark", &mark).await.data();
    for _ in 0..3 {
        service.a.act("/orders/change-status/delivered").await.data();
    }
    service.a.act("/orders/cancel/cancelled").await.data();
    let cancelled = service.a.get("/orders/cancelled").await.data();
    for (id, payment) in [
        ("reported", "voucher"),
        ("delivered", "cash"),
        ("cancelled", "cash"),
    ] {
        post(&shop, &version(id, 2, 1, payment)).await;
    }
    assert_eq!(service.a.get("/orders/cancelled").await.data(), cancelled);
    assert_eq!(
        groups(&service.a).await,
        json!([["cash", 1, 5_000], ["voucher", 1, 5_000]])
    );
    let reported = service.a.get("/orders/reported").await.data();
    assert_eq!(
        (&reported["isReport"], &reported["amount"]["total"]),
        (&json!(true), &json!(5_000))
    );
    let pending = service.a.get("/orders/reports/pending").await.data();
    let offered: Vec<_> = pending
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["providerOrderId"])
        .collect();
    assert_eq!(offered, [&json!("cancelled"), &json!("delivered")]);
}

fn told(events: &Value) -> Vec<(String, i64)> {
    let order_events = events
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["veri"].get("sequence").is_some());
    let mut told: Vec<_> = order_events
        .map(|it| {
            (
                it["olay"].as_str().unwrap().to_owned(),
                it["veri"]["sequence"].as_i64().unwrap(),
            )
        })
        .collect();
    told.reverse();
    told
}

async fn revision_events_are_opt_in(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    assert!(
        service
            .a
            .get("/webhook")
            .await
            .data()
            .get("orderUpdates")
            .is_none()
    );
    post(&shop, &version("1", 1, 3, "cash")).await;
    post(&shop, &version("1", 2, 2, "cash")).await;
    service.a.act("/orders/verify/1").await.data();
    post(&shop, &version("1", 3, 1, "cash")).await;
    service.a.act("/orders/change-status/1").await.data();
    let events = told(&service.a.get("/events").await.data());
    let kinds = [
        "siparis.olusturuldu",
        "siparis.durum_degisti",
        "siparis.durum_degisti",
    ];
    let expected: Vec<_> = kinds
        .iter()
        .zip(1..)
        .map(|(backend, n)| ((*backend).to_owned(), n))
        .collect();
    assert_eq!(events, expected);
    let timeline = service.a.get("/orders/1").await.data()["timeline"].clone();
    assert_eq!(timeline.as_array().unwrap().len(), 5);
}

async fn opted_in_account_gets_revision_events_in_order(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let receiver = Receiver::start().await;
    let hook = json!({ "url": receiver.url("/olay"), "orderUpdates": true });
    let saved = service.a.put("/webhook", &hook).await.data();
    assert_eq!(saved["orderUpdates"], json!(true));
    // What is left out stays as it is.
    let kept = service
        .a
        .put("/webhook", &json!({ "authorization": "bare" }))
        .await
        .data();
    assert_eq!(
        (&kept["orderUpdates"], &kept["url"]),
        (&json!(true), &json!(receiver.url("/olay")))
    );
    receiver.next(CannedResponse::Status(500));
    post(&shop, &version("1", 1, 3, "cash")).await;
    post(&shop, &version("1", 2, 2, "cash")).await;
    service.a.act("/orders/verify/1").await.data();
    let order = |seen: &crate::support::ReceivedRequest| seen.json()["veri"]["sequence"].as_i64();
    // The others wait until the first is delivered.
    receiver.wait_for(1).await;
    wait_until("all events of the order are delivered", async || {
        service.advance(std::time::Duration::from_secs(10));
        receiver.count() >= 4
    })
    .await;
    let seen = receiver.seen();
    let sequences: Vec<_> = seen.iter().filter_map(order).collect();
    assert_eq!(sequences, [1, 1, 2, 3]);
    let update = seen[2].json();
    assert_eq!(update["olay"], json!("siparis.guncellendi"));
    let veri = &update["veri"];
    assert_eq!(
        (
            &veri["status"],
            &veri["by"],
            &veri["revision"],
            &veri["total"],
            &veri["currency"]
        ),
        (
            &json!(400),
            &json!("platform"),
            &json!(2),
            &json!(10_000),
            &json!("TRY")
        )
    );
    assert_eq!(
        veri["changes"][0],
        json!({ "field": "item_quantity", "name": "Lahmacun", "from": 3, "to": 2 })
    );
    // The list tells the same; and who does not want it any longer gets no gap.
    service
        .a
        .put("/webhook", &json!({ "orderUpdates": false }))
        .await
        .data();
    post(&shop, &version("1", 3, 1, "cash")).await;
    service.a.act("/orders/change-status/1").await.data();
    let kinds: Vec<_> = told(&service.a.get("/events").await.data());
    let expected = [
        ("siparis.olusturuldu", 1),
        ("siparis.guncellendi", 2),
        ("siparis.durum_degisti", 3),
        ("siparis.durum_degisti", 4),
    ];
    assert_eq!(kinds, expected.map(|(backend, n)| (backend.to_owned(), n)));
    assert!(
        service
            .a
            .get("/webhook")
            .await
            .data()
            .get("orderUpdates")
            .is_none()
    );
}

async fn revision_opt_in_is_stored_without_a_url(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    service
        .a
        .put("/webhook", &json!({}))
        .await
        .wrong(422, "invalid_field", "url");
    let chosen = service
        .a
        .put("/webhook", &json!({ "orderUpdates": true }))
        .await
        .data();
    assert_eq!(
        (&chosen["orderUpdates"], &chosen["url"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(
        service
            .a
            .put("/webhook", &json!({ "orderUpdates": "yes" }))
            .await
            .status,
        422
    );
    post(&shop, &version("1", 1, 3, "cash")).await;
    post(&shop, &version("1", 2, 2, "cash")).await;
    let events = told(&service.a.get("/events").await.data());
    assert_eq!(events[1], ("siparis.guncellendi".to_owned(), 2));
    // It is the account's own.
    assert!(
        service
            .b
            .get("/webhook")
            .await
            .data()
            .get("orderUpdates")
            .is_none()
    );
}
