//! Cancelling: from every status, with the reasons that the platform accepts.

use crate::support::TestService;
use serde_json::json;

cases! {
    order_can_be_cancelled_from_every_status
    repeated_cancel_changes_nothing
    cancel_reasons_come_from_the_platform
    unknown_reason_is_refused_with_the_list
    default_reason_is_used_when_none_is_given
    cancel_note_is_stored
}

const REASONS: [&str; 6] = [
    "out_of_stock",
    "closed",
    "too_busy",
    "customer_request",
    "address",
    "other",
];

async fn order_can_be_cancelled_from_every_status(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for steps in 0..4 {
        let id = shop.order(&format!("S-{steps}")).await;
        for _ in 0..steps {
            service.a.act(&format!("/orders/change-status/{id}")).await.data();
        }
        let before = service.a.get(&format!("/orders/{id}")).await.data()["status"].clone();
        let cancelled = service.a.act(&format!("/orders/cancel/{id}")).await.data();
        assert_eq!(cancelled, json!({ "orderId": id, "status": 1600 }));
        let detail = service.a.get(&format!("/orders/{id}")).await.data();
        assert_eq!(
            (&detail["status"], &detail["statusName"]),
            (&json!(1600), &json!("cancelled"))
        );
        assert_eq!(
            detail["timeline"].as_array().unwrap().last().unwrap()["from"],
            before
        );
        let event = service.a.get("/events?limit=1").await.data();
        assert_eq!(event[0]["olay"], json!("siparis.iptal_edildi"));
    }
}

async fn repeated_cancel_changes_nothing(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    service
        .a
        .post(
            "/orders/cancel/1",
            &json!({ "reason": "closed", "note": "first" }),
        )
        .await
        .data();
    let (detail, events) = (
        service.a.get("/orders/1").await.data(),
        service.a.get("/events").await.data(),
    );
    service.advance(std::time::Duration::from_secs(5));
    for body in [json!({}), json!({ "reason": "other", "note": "second" })] {
        let again = service.a.post("/orders/cancel/1", &body).await.data();
        assert_eq!(again, json!({ "orderId": id, "status": 1600 }));
    }
    shop.cancel("1", json!({})).await.success();
    assert_eq!(service.a.get("/orders/1").await.data(), detail);
    assert_eq!(service.a.get("/events").await.data(), events);
    // A customer's cancellation stays the customer's.
    let id = shop.order("2").await;
    shop.cancel("2", json!({})).await.success();
    let again = service.a.act("/orders/cancel/2").await.data();
    assert_eq!(again, json!({ "orderId": id, "status": 1500 }));
}

async fn cancel_reasons_come_from_the_platform(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    let data = service.a.get("/orders/reasons/1").await.data();
    let reasons = data["reasons"].as_array().unwrap();
    let ids: Vec<_> = reasons
        .iter()
        .map(|reason| reason["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, REASONS);
    assert!(
        reasons
            .iter()
            .all(|r| r["name"].is_string() && r.as_object().unwrap().len() == 2)
    );
    for reason in ids {
        shop.order(reason).await;
        service
            .a
            .post(&format!("/orders/cancel/{reason}"), &json!({ "reason": reason }))
            .await
            .data();
        let detail = service.a.get(&format!("/orders/{reason}")).await.data();
        assert_eq!(detail["cancellation"]["reason"]["id"], json!(reason));
    }
}

async fn unknown_reason_is_refused_with_the_list(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    let before = (
        service.a.get("/orders/1").await.data(),
        service.a.get("/events").await.data(),
    );
    let error = service
        .a
        .post("/orders/cancel/1", &json!({ "reason": "rain" }))
        .await
        .refused(422, "reason_not_accepted");
    let offered: Vec<_> = error["details"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["field"].as_str().unwrap())
        .collect();
    assert_eq!(offered, REASONS);
    let after = (
        service.a.get("/orders/1").await.data(),
        service.a.get("/events").await.data(),
    );
    assert_eq!(after, before);
}

async fn default_reason_is_used_when_none_is_given(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    service.a.act("/orders/cancel/1").await.data();
    let detail = service.a.get("/orders/1").await.data();
    assert_eq!(
        detail["cancellation"]["reason"],
        json!({ "id": "out_of_stock", "name": "Out of stock" })
    );
    let path = format!("/restaurants/{}/integrations/direct", shop.restaurant);
    service
        .a
        .put(&path, &json!({ "defaultCancelReason": "rain" }))
        .await
        .refused(422, "reason_not_accepted");
    let set = service
        .a
        .put(&path, &json!({ "defaultCancelReason": "too_busy" }))
        .await
        .data();
    assert_eq!(set["defaultCancelReason"], json!("too_busy"));
    shop.order("2").await;
    service.a.act("/orders/cancel/2").await.data();
    let detail = service.a.get("/orders/2").await.data();
    assert_eq!(detail["cancellation"]["reason"]["id"], json!("too_busy"));
    shop.order("3").await;
    service
        .a
        .post("/orders/cancel/3", &json!({ "reason": "closed" }))
        .await
        .data();
    assert_eq!(
        service.a.get("/orders/3").await.data()["cancellation"]["reason"]["id"],
        json!("closed")
    );
}

async fn cancel_note_is_stored(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    let body = json!({ "reason": "address", "note": "Adres bulunamadı 🤷" });
    service.a.post("/orders/cancel/1", &body).await.data();
    let detail = service.a.get("/orders/1").await.data();
    let wanted = json!({
        "by": "account",
        "reason": { "id": "address", "name": "The address cannot be delivered to" },
        "note": "Adres bulunamadı 🤷",
        "at": "2026-03-01T09:00:00.000Z",
    });
    assert_eq!(detail["cancellation"], wanted);
}
