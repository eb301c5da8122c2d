//! The way of an order: verified, advanced, ready, and what is refused on the way.

use crate::support::House;
use serde_json::{Value, json};

cases! {
    an_order_walks_one_step_a_call
    verify_may_be_repeated_and_says_what_the_seed_says
    a_cancelled_order_cannot_be_verified_or_advanced
    ready_is_for_orders_in_preparation
    auto_verify_gives_two_events
    every_step_is_a_line_of_the_timeline
}

fn sync() -> Value {
    json!({ "state": "not_needed", "dueAt": null, "message": null })
}

async fn an_order_walks_one_step_a_call(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let id = shop.order("1").await;
    for (old, new) in [(400, 500), (500, 600), (600, 900)] {
        let moved = house.a.act("/orders/change-status/1").await.data();
        let wanted = json!({ "orderId": id, "oldStatus": old, "newStatus": new, "providerSync": sync() });
        assert_eq!(moved, wanted);
        assert_eq!(house.a.get("/orders/1").await.data()["status"], json!(new));
    }
    let before = house.a.get("/orders/1").await.data();
    house
        .a
        .act("/orders/change-status/1")
        .await
        .refused(409, "no_next_status");
    assert_eq!(house.a.get("/orders/1").await.data(), before);
    assert_eq!(house.a.get("/events").await.data().as_array().unwrap().len(), 5);
}

async fn verify_may_be_repeated_and_says_what_the_seed_says(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let id = shop.order("W-1").await;
    let verified = house.a.act("/orders/verify/W-1").await.data();
    let wanted = json!({
        "message": "The order is verified.", "provider": "direct", "providerOrder": "W-1", "orderId": id, "status": 500,
    });
    assert_eq!(verified, wanted);
    let events = house.a.get("/events").await.data();
    for status in [500, 600, 900] {
        let again = house.a.act(&format!("/orders/verify/{id}")).await.data();
        assert_eq!(again["status"], json!(status));
        assert_eq!(again["providerOrder"], json!("W-1"));
        let seen = house.a.get("/events").await.data().as_array().unwrap().len();
        assert_eq!(
            seen,
            events.as_array().unwrap().len() + usize::from(status > 500) + usize::from(status > 600)
        );
        if status < 900 {
            house.a.act("/orders/change-status/W-1").await.data();
        }
    }
}

async fn a_cancelled_order_cannot_be_verified_or_advanced(house: House) {
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    shop.order("2").await;
    house.a.act("/orders/cancel/1").await.data();
    shop.cancel("2", json!({})).await.success();
    for id in ["1", "2"] {
        let before = house.a.get(&format!("/orders/{id}")).await.data();
        house
            .a
            .act(&format!("/orders/verify/{id}"))
            .await
            .refused(409, "order_cancelled");
        house
            .a
            .act(&format!("/orders/change-status/{id}"))
            .await
            .refused(409, "no_next_status");
        house
            .a
            .act(&format!("/orders/ready/{id}"))
            .await
            .refused(409, "order_cancelled");
        assert_eq!(house.a.get(&format!("/orders/{id}")).await.data(), before);
    }
    assert_eq!(house.a.get("/events").await.data().as_array().unwrap().len(), 5);
}

async fn ready_is_for_orders_in_preparation(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let id = shop.order("1").await;
    house.a.act("/orders/ready/1").await.refused(409, "not_preparing");
    house.a.act("/orders/verify/1").await.data();
    let events = house.a.get("/events").await.data();
    for _ in 0..2 {
        let ready = house.a.act("/orders/ready/1").await.data();
        assert_eq!(
            ready,
            json!({ "orderId": id, "oldStatus": 500, "newStatus": 500, "providerSync": sync() })
        );
        assert_eq!(
            house.a.get("/orders/1").await.data()["readyAt"],
            json!("2026-03-01T09:00:00.000Z")
        );
    }
    assert_eq!(house.a.get("/events").await.data(), events);
    for status in [600, 900] {
        house.a.act("/orders/change-status/1").await.data();
        assert_eq!(
            house.a.act("/orders/ready/1").await.data()["newStatus"],
            json!(status)
        );
    }
}

async fn auto_verify_gives_two_events(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let path = format!("/restaurants/{}", shop.restaurant);
    house
        .a
        .put(&path, &json!({ "name": "s", "config": { "autoVerify": true } }))
        .await
        .data();
    let before = house.a.get("/events").await.data().as_array().unwrap().len();
    shop.order("1").await;
    let events = house.a.get("/events").await.data();
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
    let detail = house.a.get("/orders/1").await.data();
    assert_eq!(detail["status"], json!(500));
    assert_eq!(detail["timeline"].as_array().unwrap().len(), 2);
}

async fn every_step_is_a_line_of_the_timeline(house: House) {
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    house.advance(std::time::Duration::from_secs(60));
    house.a.act("/orders/verify/1").await.data();
    house.advance(std::time::Duration::from_secs(60));
    house
        .a
        .post("/orders/cancel/1", &json!({ "reason": "closed" }))
        .await
        .data();
    let detail = house.a.get("/orders/1").await.data();
    let wanted = json!([
        { "at": "2026-03-01T09:00:00.000Z", "from": null, "to": 400, "by": "platform", "why": "arrived" },
        { "at": "2026-03-01T09:01:00.000Z", "from": 400, "to": 500, "by": "account", "why": "verified" },
        { "at": "2026-03-01T09:02:00.000Z", "from": 500, "to": 1600, "by": "account", "why": "The restaurant is closed" },
    ]);
    assert_eq!(detail["timeline"], wanted);
    assert_eq!(detail["updatedAt"], json!("2026-03-01T09:02:00.000Z"));
    assert_eq!(detail["createdAt"], json!("2026-03-01T09:00:00.000Z"));
}
