//! Events: their exact bodies.

use crate::support::TestService;
use serde_json::{Value, json};

cases! {
    every_event_kind_has_its_exact_body
    customer_cancellation_names_the_customer
    order_event_sequence_has_no_gaps
    refused_requests_create_no_events
    events_are_separated_by_account
}

const NOW: &str = "2026-03-01T09:00:00.000Z";

fn is_uuid(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        text.parse::<uuid::Uuid>()
            .is_ok_and(|id| id.get_version_num() == 7)
    })
}

async fn every_event_kind_has_its_exact_body(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let order = shop.order("W-1").await;
    service.a.act("/orders/verify/W-1").await.data();
    service
        .a
        .post(
            "/orders/cancel/W-1",
            &json!({ "reason": "closed", "note": "Kapalıyız" }),
        )
        .await
        .data();
    let path = format!("/restaurants/{}/integrations/direct", shop.restaurant);
    service.a.put(&path, &json!({ "isActive": false })).await.data();
    let mut events = service.a.get("/events").await.data();
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

async fn customer_cancellation_names_the_customer(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    shop.cancel("1", json!({})).await.success();
    let event = service.a.get("/events?limit=1").await.data()[0]["veri"].clone();
    assert_eq!(
        (&event["status"], &event["by"]),
        (&json!(1500), &json!("customer"))
    );
    assert_eq!(
        (event.get("reason"), event.get("note")),
        (Some(&Value::Null), Some(&Value::Null))
    );
}

async fn order_event_sequence_has_no_gaps(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let (one, two) = (shop.order("1").await, shop.order("2").await);
    for id in [&one, &two, &one, &two, &one] {
        service.a.act(&format!("/orders/change-status/{id}")).await.data();
    }
    service.a.act(&format!("/orders/cancel/{two}")).await.data();
    let events = service.a.get("/events").await.data();
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

async fn refused_requests_create_no_events(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    service.a.act("/orders/cancel/1").await.data();
    let before = service.a.get("/events").await.data();
    service
        .a
        .act("/orders/verify/1")
        .await
        .refused(409, "order_cancelled");
    service
        .a
        .act("/orders/change-status/1")
        .await
        .refused(409, "no_next_status");
    service
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": "1" }))
        .await
        .data();
    let path = format!("/restaurants/{}/integrations/direct", shop.restaurant);
    service.a.put(&path, &json!({ "isActive": true })).await.data();
    service.a.put(&path, &json!({ "remoteId": "other" })).await.data();
    shop.post(b"{}").await;
    assert_eq!(service.a.get("/events").await.data(), before);
}

async fn events_are_separated_by_account(service: TestService) {
    let (ours, theirs) = (
        service.shop(&service.a, "a").await,
        service.shop(&service.b, "b").await,
    );
    ours.order("1").await;
    theirs.order("1").await;
    for (client, shop) in [(&service.a, &ours), (&service.b, &theirs)] {
        let events = client.get("/events").await.data();
        assert_eq!(events.as_array().unwrap().len(), 2);
        for event in events.as_array().unwrap() {
            assert_eq!(event["veri"]["restaurantId"], json!(shop.restaurant));
        }
    }
}
