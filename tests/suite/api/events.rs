//! Events, in the exact words of the contract.

use crate::support::House;
use serde_json::{Value, json};

cases! {
    every_kind_of_event_has_exactly_its_body
    a_cancellation_by_the_customer_says_so
    the_sequence_of_an_order_has_no_gaps
    refusals_make_no_events
    events_of_accounts_are_apart
}

const NOW: &str = "2026-03-01T09:00:00.000Z";

fn is_uuid(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        text.parse::<uuid::Uuid>()
            .is_ok_and(|id| id.get_version_num() == 7)
    })
}

async fn every_kind_of_event_has_exactly_its_body(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let order = shop.order("W-1").await;
    house.a.act("/orders/verify/W-1").await.data();
    house
        .a
        .post(
            "/orders/cancel/W-1",
            &json!({ "reason": "closed", "note": "Kapalıyız" }),
        )
        .await
        .data();
    let path = format!("/restaurants/{}/integrations/direct", shop.restaurant);
    house.a.put(&path, &json!({ "isActive": false })).await.data();
    let mut events = house.a.get("/events").await.data();
    for event in events.as_array_mut().unwrap() {
        assert!(is_uuid(&event["veri"]["id"]), "{event}");
        event["veri"].as_object_mut().unwrap().remove("id");
    }
    let of_order = |sequence: i64, more: Value| {
        let mut veri = json!({
            "restaurantId": shop.restaurant, "occurredAt": NOW, "orderId": order, "pid": "W-1",
            "providerOrderId": "W-1", "provider": "direct", "sequence": sequence,
        });
        veri.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        veri
    };
    let toggled = |active: bool| {
        json!({ "olay": "entegrasyon.durum_degisti", "veri": {
            "restaurantId": shop.restaurant, "occurredAt": NOW, "provider": "direct", "isActive": active,
        }})
    };
    let reason = json!({ "id": "closed", "name": "The restaurant is closed" });
    let wanted = json!([
        toggled(false),
        { "olay": "siparis.iptal_edildi",
          "veri": of_order(3, json!({ "status": 1600, "by": "account", "reason": reason, "note": "Kapalıyız" })) },
        { "olay": "siparis.durum_degisti",
          "veri": of_order(2, json!({ "oldStatus": 400, "newStatus": 500, "by": "account" })) },
        { "olay": "siparis.olusturuldu", "veri": of_order(1, json!({ "status": 400 })) },
        toggled(true),
    ]);
    assert_eq!(events, wanted);
}

async fn a_cancellation_by_the_customer_says_so(house: House) {
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    shop.cancel("1", json!({})).await.success();
    let event = house.a.get("/events?limit=1").await.data()[0]["veri"].clone();
    assert_eq!(
        (&event["status"], &event["by"]),
        (&json!(1500), &json!("customer"))
    );
    assert_eq!(
        (event.get("reason"), event.get("note")),
        (Some(&Value::Null), Some(&Value::Null))
    );
}

async fn the_sequence_of_an_order_has_no_gaps(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let (one, two) = (shop.order("1").await, shop.order("2").await);
    for id in [&one, &two, &one, &two, &one] {
        house.a.act(&format!("/orders/change-status/{id}")).await.data();
    }
    house.a.act(&format!("/orders/cancel/{two}")).await.data();
    let events = house.a.get("/events").await.data();
    for (id, count) in [(one, 4), (two, 4)] {
        let numbers: Vec<i64> = events
            .as_array()
            .unwrap()
            .iter()
            .filter(|event| event["veri"]["orderId"] == json!(id))
            .map(|event| event["veri"]["sequence"].as_i64().unwrap())
            .collect();
        assert_eq!(numbers, (1..=count).rev().collect::<Vec<_>>());
    }
}

async fn refusals_make_no_events(house: House) {
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    house.a.act("/orders/cancel/1").await.data();
    let before = house.a.get("/events").await.data();
    house
        .a
        .act("/orders/verify/1")
        .await
        .refused(409, "order_cancelled");
    house
        .a
        .act("/orders/change-status/1")
        .await
        .refused(409, "no_next_status");
    house
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": "1" }))
        .await
        .data();
    let path = format!("/restaurants/{}/integrations/direct", shop.restaurant);
    house.a.put(&path, &json!({ "isActive": true })).await.data();
    house.a.put(&path, &json!({ "remoteId": "other" })).await.data();
    shop.post(b"{}").await;
    assert_eq!(house.a.get("/events").await.data(), before);
}

async fn events_of_accounts_are_apart(house: House) {
    let (ours, theirs) = (house.shop(&house.a, "a").await, house.shop(&house.b, "b").await);
    ours.order("1").await;
    theirs.order("1").await;
    for (caller, shop) in [(&house.a, &ours), (&house.b, &theirs)] {
        let events = caller.get("/events").await.data();
        assert_eq!(events.as_array().unwrap().len(), 2);
        for event in events.as_array().unwrap() {
            assert_eq!(event["veri"]["restaurantId"], json!(shop.restaurant));
        }
    }
}
