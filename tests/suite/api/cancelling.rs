//! Cancelling: from every status, with the reasons that the platform accepts.

use crate::support::House;
use serde_json::json;

cases! {
    an_order_can_be_cancelled_from_every_status
    cancelling_again_changes_nothing
    the_reasons_are_the_platforms
    a_reason_outside_the_list_is_refused_with_the_list
    without_a_reason_the_usual_one_counts
    the_note_is_kept
}

const REASONS: [&str; 6] = [
    "out_of_stock",
    "closed",
    "too_busy",
    "customer_request",
    "address",
    "other",
];

async fn an_order_can_be_cancelled_from_every_status(house: House) {
    let shop = house.shop(&house.a, "s").await;
    for steps in 0..4 {
        let id = shop.order(&format!("S-{steps}")).await;
        for _ in 0..steps {
            house.a.act(&format!("/orders/change-status/{id}")).await.data();
        }
        let before = house.a.get(&format!("/orders/{id}")).await.data()["status"].clone();
        let cancelled = house.a.act(&format!("/orders/cancel/{id}")).await.data();
        assert_eq!(cancelled, json!({ "orderId": id, "status": 1600 }));
        let detail = house.a.get(&format!("/orders/{id}")).await.data();
        assert_eq!(
            (&detail["status"], &detail["statusName"]),
            (&json!(1600), &json!("cancelled"))
        );
        assert_eq!(
            detail["timeline"].as_array().unwrap().last().unwrap()["from"],
            before
        );
        let event = house.a.get("/events?limit=1").await.data();
        assert_eq!(event[0]["olay"], json!("siparis.iptal_edildi"));
    }
}

async fn cancelling_again_changes_nothing(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let id = shop.order("1").await;
    house
        .a
        .post(
            "/orders/cancel/1",
            &json!({ "reason": "closed", "note": "first" }),
        )
        .await
        .data();
    let (detail, events) = (
        house.a.get("/orders/1").await.data(),
        house.a.get("/events").await.data(),
    );
    house.advance(std::time::Duration::from_secs(5));
    for body in [json!({}), json!({ "reason": "other", "note": "second" })] {
        let again = house.a.post("/orders/cancel/1", &body).await.data();
        assert_eq!(again, json!({ "orderId": id, "status": 1600 }));
    }
    shop.cancel("1", json!({})).await.success();
    assert_eq!(house.a.get("/orders/1").await.data(), detail);
    assert_eq!(house.a.get("/events").await.data(), events);
    // A customer's cancellation stays the customer's.
    let id = shop.order("2").await;
    shop.cancel("2", json!({})).await.success();
    let again = house.a.act("/orders/cancel/2").await.data();
    assert_eq!(again, json!({ "orderId": id, "status": 1500 }));
}

async fn the_reasons_are_the_platforms(house: House) {
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    let data = house.a.get("/orders/reasons/1").await.data();
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
        house
            .a
            .post(&format!("/orders/cancel/{reason}"), &json!({ "reason": reason }))
            .await
            .data();
        let detail = house.a.get(&format!("/orders/{reason}")).await.data();
        assert_eq!(detail["cancellation"]["reason"]["id"], json!(reason));
    }
}

async fn a_reason_outside_the_list_is_refused_with_the_list(house: House) {
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    let before = (
        house.a.get("/orders/1").await.data(),
        house.a.get("/events").await.data(),
    );
    let error = house
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
        house.a.get("/orders/1").await.data(),
        house.a.get("/events").await.data(),
    );
    assert_eq!(after, before);
}

async fn without_a_reason_the_usual_one_counts(house: House) {
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    house.a.act("/orders/cancel/1").await.data();
    let detail = house.a.get("/orders/1").await.data();
    assert_eq!(
        detail["cancellation"]["reason"],
        json!({ "id": "out_of_stock", "name": "Out of stock" })
    );
    let path = format!("/restaurants/{}/integrations/direct", shop.restaurant);
    house
        .a
        .put(&path, &json!({ "defaultCancelReason": "rain" }))
        .await
        .refused(422, "reason_not_accepted");
    let set = house
        .a
        .put(&path, &json!({ "defaultCancelReason": "too_busy" }))
        .await
        .data();
    assert_eq!(set["defaultCancelReason"], json!("too_busy"));
    shop.order("2").await;
    house.a.act("/orders/cancel/2").await.data();
    let detail = house.a.get("/orders/2").await.data();
    assert_eq!(detail["cancellation"]["reason"]["id"], json!("too_busy"));
    shop.order("3").await;
    house
        .a
        .post("/orders/cancel/3", &json!({ "reason": "closed" }))
        .await
        .data();
    assert_eq!(
        house.a.get("/orders/3").await.data()["cancellation"]["reason"]["id"],
        json!("closed")
    );
}

async fn the_note_is_kept(house: House) {
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    let body = json!({ "reason": "address", "note": "Adres bulunamadı 🤷" });
    house.a.post("/orders/cancel/1", &body).await.data();
    let detail = house.a.get("/orders/1").await.data();
    let wanted = json!({
        "by": "account",
        "reason": { "id": "address", "name": "The address cannot be delivered to" },
        "note": "Adres bulunamadı 🤷",
        "at": "2026-03-01T09:00:00.000Z",
    });
    assert_eq!(detail["cancellation"], wanted);
}
