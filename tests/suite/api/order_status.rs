//! Order status changes: verify, advance, ready, and what is refused.

use crate::support::TestService;
use serde_json::{Value, json};

cases! {
    order_advances_one_step_per_call
    repeated_verify_returns_the_documented_message
    a_cancelled_order_cannot_be_verified_or_advanced
    ready_requires_an_order_in_preparation
    auto_verify_creates_two_events
    every_step_is_a_timeline_entry
}

fn sync() -> Value {
    json!({ "state": "not_needed", "dueAt": null, "message": null })
}

async fn order_advances_one_step_per_call(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    for (old, new) in [(400, 500), (500, 600), (600, 900)] {
        let moved = service.a.act("/orders/change-status/1").await.data();
        let wanted = json!({ "orderId": id, "oldStatus": old, "newStatus": new, "providerSync": sync() });
        assert_eq!(moved, wanted);
        assert_eq!(service.a.get("/orders/1").await.data()["status"], json!(new));
    }
    let before = service.a.get("/orders/1").await.data();
    service
        .a
        .act("/orders/change-status/1")
        .await
        .refused(409, "no_next_status");
    assert_eq!(service.a.get("/orders/1").await.data(), before);
    assert_eq!(service.a.get("/events").await.data().as_array().unwrap().len(), 5);
}

async fn repeated_verify_returns_the_documented_message(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("W-1").await;
    let verified = service.a.act("/orders/verify/W-1").await.data();
    let wanted = json!({
        "message": "The order is verified.", "provider": "direct", "providerOrder": "W-1", "orderId": id, "status": 500,
    });
    assert_eq!(verified, wanted);
    let events = service.a.get("/events").await.data();
    for status in [500, 600, 900] {
        let again = service.a.act(&format!("/orders/verify/{id}")).await.data();
        assert_eq!(again["status"], json!(status));
        assert_eq!(again["providerOrder"], json!("W-1"));
        let seen = service.a.get("/events").await.data().as_array().unwrap().len();
        assert_eq!(
            seen,
            events.as_array().unwrap().len() + usize::from(status > 500) + usize::from(status > 600)
        );
        if status < 900 {
            service.a.act("/orders/change-status/W-1").await.data();
        }
    }
}

async fn a_cancelled_order_cannot_be_verified_or_advanced(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    shop.order("2").await;
    service.a.act("/orders/cancel/1").await.data();
    shop.cancel("2", json!({})).await.success();
    for id in ["1", "2"] {
        let before = service.a.get(&format!("/orders/{id}")).await.data();
        service
            .a
            .act(&format!("/orders/verify/{id}"))
            .await
            .refused(409, "order_cancelled");
        service
            .a
            .act(&format!("/orders/change-status/{id}"))
            .await
            .refused(409, "no_next_status");
        service
            .a
            .act(&format!("/orders/ready/{id}"))
            .await
            .refused(409, "order_cancelled");
        assert_eq!(service.a.get(&format!("/orders/{id}")).await.data(), before);
    }
    assert_eq!(service.a.get("/events").await.data().as_array().unwrap().len(), 5);
}

async fn ready_requires_an_order_in_preparation(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    service
        .a
        .act("/orders/ready/1")
        .await
        .refused(409, "not_preparing");
    service.a.act("/orders/verify/1").await.data();
    let events = service.a.get("/events").await.data();
    for _ in 0..2 {
        let ready = service.a.act("/orders/ready/1").await.data();
        assert_eq!(
            ready,
            json!({ "orderId": id, "oldStatus": 500, "newStatus": 500, "providerSync": sync() })
        );
        assert_eq!(
            service.a.get("/orders/1").await.data()["readyAt"],
            json!("2026-03-01T09:00:00.000Z")
        );
    }
    assert_eq!(service.a.get("/events").await.data(), events);
    for status in [600, 900] {
        service.a.act("/orders/change-status/1").await.data();
        assert_eq!(
            service.a.act("/orders/ready/1").await.data()["newStatus"],
            json!(status)
        );
    }
}

async fn auto_verify_creates_two_events(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let path = format!("/restaurants/{}", shop.restaurant);
    service
        .a
        .put(&path, &json!({ "name": "s", "config": { "autoVerify": true } }))
        .await
        .data();
    let before = service.a.get("/events").await.data().as_array().unwrap().len();
    shop.order("1").await;
    let events = service.a.get("/events").await.data();
    assert_eq!(events.as_array().unwrap().len(), before + 2);
    assert_eq!(events[0]["olay"], json!("siparis.durum_degisti"));
    assert_eq!(events[0]["veri"]["by"], json!("system"));
    assert_eq!(
        (&events[0]["veri"]["sequence"], &events[0]["veri"]["newStatus"]),
        (&json!(2), &json!(500))
    );
    assert_eq!(events[1]["olay"], json!("siparis.olusturuldu"));
    assert_eq!(
        (&events[1]["veri"]["sequence"], &events[1]["veri"]["status"]),
        (&json!(1), &json!(400))
    );
    let detail = service.a.get("/orders/1").await.data();
    assert_eq!(detail["status"], json!(500));
    assert_eq!(detail["timeline"].as_array().unwrap().len(), 2);
}

async fn every_step_is_a_timeline_entry(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    service.advance(std::time::Duration::from_secs(60));
    service.a.act("/orders/verify/1").await.data();
    service.advance(std::time::Duration::from_secs(60));
    service
        .a
        .post("/orders/cancel/1", &json!({ "reason": "closed" }))
        .await
        .data();
    let detail = service.a.get("/orders/1").await.data();
    let wanted = json!([
        { "at": "2026-03-01T09:00:00.000Z", "from": null, "to": 400, "by": "platform", "why": "arrived" },
        { "at": "2026-03-01T09:01:00.000Z", "from": 400, "to": 500, "by": "account", "why": "verified" },
        { "at": "2026-03-01T09:02:00.000Z", "from": 500, "to": 1600, "by": "account", "why": "The restaurant is closed" },
    ]);
    assert_eq!(detail["timeline"], wanted);
    assert_eq!(detail["updatedAt"], json!("2026-03-01T09:02:00.000Z"));
    assert_eq!(detail["createdAt"], json!("2026-03-01T09:00:00.000Z"));
}
