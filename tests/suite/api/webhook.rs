//! The account's webhook: where it goes, and how deliveries stand.

use crate::support::{House, until};
use serde_json::{Value, json};

cases! {
    a_webhook_is_set_changed_and_removed
    wrong_settings_are_refused_and_change_nothing
    events_wait_for_a_registered_address_and_are_skipped_without
    deliveries_can_be_filtered
    a_test_needs_an_address
}

const NOW: &str = "2026-03-01T09:00:00.000Z";

async fn a_webhook_is_set_changed_and_removed(house: House) {
    let none = json!({ "url": null, "authorization": "bearer", "updatedAt": null, "warning": null });
    assert_eq!(house.a.get("/webhook").await.data(), none);
    let url = "https://pos.example.com/olay?x=1";
    let set = house.a.put("/webhook", &json!({ "url": url })).await.data();
    let wanted = json!({ "url": url, "authorization": "bearer", "updatedAt": NOW, "warning": null });
    assert_eq!(set, wanted);
    let bare = house
        .a
        .put("/webhook", &json!({ "authorization": "bare" }))
        .await
        .data();
    assert_eq!(
        (&bare["url"], &bare["authorization"]),
        (&json!(url), &json!("bare"))
    );
    let plain = house
        .a
        .put("/webhook", &json!({ "url": "http://pos.example.com" }))
        .await
        .data();
    assert_eq!(plain["authorization"], json!("bare"));
    assert!(plain["warning"].as_str().unwrap().contains("clear"));
    assert_eq!(house.a.get("/webhook").await.data(), plain);
    assert_eq!(house.b.get("/webhook").await.data(), none);
    house.a.delete("/webhook").await.done();
    house.a.delete("/webhook").await.done();
    assert_eq!(house.a.get("/webhook").await.data(), none);
}

async fn wrong_settings_are_refused_and_change_nothing(house: House) {
    house
        .a
        .put("/webhook", &json!({}))
        .await
        .wrong(422, "invalid_field", "url");
    house
        .a
        .put("/webhook", &json!({ "url": "https://pos.example.com" }))
        .await
        .data();
    let before = house.a.get("/webhook").await.data();
    house
        .a
        .put("/webhook", &json!({ "url": 7 }))
        .await
        .wrong(422, "invalid_field", "url");
    house
        .a
        .put("/webhook", &json!({ "authorization": "basic" }))
        .await
        .wrong(422, "invalid_field", "authorization");
    for (url, code) in [
        ("", "invalid_field"),
        ("pos.example.com", "invalid_field"),
        ("ftp://pos.example.com", "invalid_field"),
        ("https://u:p@example.com", "invalid_field"),
        ("http://127.0.0.1/", "target_not_allowed"),
        ("http://localhost/", "target_not_allowed"),
    ] {
        let reply = house.a.put("/webhook", &json!({ "url": url })).await;
        reply.wrong(422, code, "url");
        assert!(!reply.text().contains("allow_"), "{}", reply.text());
    }
    assert_eq!(house.a.get("/webhook").await.data(), before);
}

async fn events_wait_for_a_registered_address_and_are_skipped_without(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let first = shop.order("1").await;
    house
        .a
        .put("/webhook", &json!({ "url": "https://pos.example.com" }))
        .await
        .data();
    let second = shop.order("2").await;
    until("the first attempt is made", async || {
        let listed = house.a.get("/webhook/deliveries").await.data();
        listed[0]["attempts"] != json!([])
    })
    .await;
    let listed = house.a.get("/webhook/deliveries").await.data();
    let events = house.a.get("/events").await.data();
    let record = |n: usize, state: &str, reason: &str, order: Value, olay: &str| {
        json!({
            "id": events[n]["veri"]["id"], "olay": olay, "state": state, "reason": reason, "orderId": order,
            "nextAttemptAt": listed[n]["nextAttemptAt"], "restaurantId": shop.restaurant, "createdAt": NOW,
            "attempts": listed[n]["attempts"],
        })
    };
    let created = "siparis.olusturuldu";
    let wanted = json!([
        record(0, "pending", "name_not_resolved", json!(second), created),
        record(1, "skipped", "no_url", json!(first), created),
        record(2, "skipped", "no_url", Value::Null, "entegrasyon.durum_degisti"),
    ]);
    assert_eq!(listed, wanted);
    let tried: Vec<usize> = (0..3)
        .map(|n| listed[n]["attempts"].as_array().unwrap().len())
        .collect();
    assert_eq!(tried, [1, 0, 0]);
    let next: Vec<bool> = (0..3).map(|n| listed[n]["nextAttemptAt"].is_string()).collect();
    assert_eq!(next, [true, false, false]);
}

async fn deliveries_can_be_filtered(house: House) {
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    house
        .a
        .put("/webhook", &json!({ "url": "https://pos.example.com" }))
        .await
        .data();
    let order = shop.order("2").await;
    house.a.act("/orders/verify/2").await.data();
    for (query, count) in [
        ("state=pending", 2),
        ("state=skipped", 2),
        ("state=failed", 0),
        ("state=delivered", 0),
        ("orderId=1", 1),
        ("orderId=2", 2),
        ("orderId=2&state=skipped", 0),
        ("orderId=2&state=pending&limit=1", 1),
    ] {
        let listed = house.a.get(&format!("/webhook/deliveries?{query}")).await.data();
        assert_eq!(listed.as_array().unwrap().len(), count, "{query}");
    }
    let listed = house
        .a
        .get(&format!("/webhook/deliveries?orderId={order}"))
        .await
        .data();
    assert_eq!(listed[0]["olay"], json!("siparis.durum_degisti"));
    house
        .a
        .get("/webhook/deliveries?state=lost")
        .await
        .wrong(422, "invalid_parameter", "state");
    house
        .a
        .get("/webhook/deliveries?orderId=3")
        .await
        .refused(404, "order_not_found");
}

async fn a_test_needs_an_address(house: House) {
    house.a.act("/webhook/test").await.refused(409, "no_webhook");
}
