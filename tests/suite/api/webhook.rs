//! The account's webhook: its URL and the state of its deliveries.

use crate::support::{TestService, wait_until};
use serde_json::{Value, json};

cases! {
    a_webhook_is_set_changed_and_removed
    wrong_settings_are_refused_and_change_nothing
    events_are_skipped_without_a_registered_url
    deliveries_can_be_filtered
    webhook_test_requires_a_url
}

const NOW: &str = "2026-03-01T09:00:00.000Z";

async fn a_webhook_is_set_changed_and_removed(service: TestService) {
    let none = json!({ "url": null, "authorization": "bearer", "updatedAt": null, "warning": null });
    assert_eq!(service.a.get("/webhook").await.data(), none);
    let url = "https://pos.example.com/olay?x=1";
    let set = service.a.put("/webhook", &json!({ "url": url })).await.data();
    let wanted = json!({ "url": url, "authorization": "bearer", "updatedAt": NOW, "warning": null });
    assert_eq!(set, wanted);
    let bare = service
        .a
        .put("/webhook", &json!({ "authorization": "bare" }))
        .await
        .data();
    assert_eq!(
        (&bare["url"], &bare["authorization"]),
        (&json!(url), &json!("bare"))
    );
    let plain = service
        .a
        .put("/webhook", &json!({ "url": "http://pos.example.com" }))
        .await
        .data();
    assert_eq!(plain["authorization"], json!("bare"));
    assert!(plain["warning"].as_str().unwrap().contains("clear"));
    assert_eq!(service.a.get("/webhook").await.data(), plain);
    assert_eq!(service.b.get("/webhook").await.data(), none);
    service.a.delete("/webhook").await.done();
    service.a.delete("/webhook").await.done();
    assert_eq!(service.a.get("/webhook").await.data(), none);
}

async fn wrong_settings_are_refused_and_change_nothing(service: TestService) {
    service
        .a
        .put("/webhook", &json!({}))
        .await
        .wrong(422, "invalid_field", "url");
    service
        .a
        .put("/webhook", &json!({ "url": "https://pos.example.com" }))
        .await
        .data();
    let before = service.a.get("/webhook").await.data();
    service
        .a
        .put("/webhook", &json!({ "url": 7 }))
        .await
        .wrong(422, "invalid_field", "url");
    service
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
        let reply = service.a.put("/webhook", &json!({ "url": url })).await;
        reply.wrong(422, code, "url");
        assert!(!reply.text().contains("allow_"), "{}", reply.text());
    }
    assert_eq!(service.a.get("/webhook").await.data(), before);
}

async fn events_are_skipped_without_a_registered_url(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let first = shop.order("1").await;
    service
        .a
        .put("/webhook", &json!({ "url": "https://pos.example.com" }))
        .await
        .data();
    let second = shop.order("2").await;
    wait_until("the first attempt is made", async || {
        let listed = service.a.get("/webhook/deliveries").await.data();
        listed[0]["attempts"] != json!([])
    })
    .await;
    let listed = service.a.get("/webhook/deliveries").await.data();
    let events = service.a.get("/events").await.data();
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

async fn deliveries_can_be_filtered(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    service
        .a
        .put("/webhook", &json!({ "url": "https://pos.example.com" }))
        .await
        .data();
    let order = shop.order("2").await;
    service.a.act("/orders/verify/2").await.data();
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
        let listed = service
            .a
            .get(&format!("/webhook/deliveries?{query}"))
            .await
            .data();
        assert_eq!(listed.as_array().unwrap().len(), count, "{query}");
    }
    let listed = service
        .a
        .get(&format!("/webhook/deliveries?orderId={order}"))
        .await
        .data();
    assert_eq!(listed[0]["olay"], json!("siparis.durum_degisti"));
    service
        .a
        .get("/webhook/deliveries?state=lost")
        .await
        .wrong(422, "invalid_parameter", "state");
    service
        .a
        .get("/webhook/deliveries?orderId=3")
        .await
        .refused(404, "order_not_found");
}

async fn webhook_test_requires_a_url(service: TestService) {
    service.a.act("/webhook/test").await.refused(409, "no_webhook");
}
