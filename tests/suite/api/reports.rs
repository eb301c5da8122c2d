//! Orders that wait for accounting, and the stamp that it has taken them.

use crate::support::House;
use serde_json::{Value, json};
use std::time::Duration;

cases! {
    a_marked_order_drops_off_the_list
    marking_is_idempotent_and_unknown_orders_are_refused
    pending_orders_of_every_status_are_listed_with_their_money
    pending_orders_can_be_filtered
    pending_orders_are_paged
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|order| order["providerOrderId"].as_str().unwrap())
        .collect()
}

async fn a_marked_order_drops_off_the_list(house: House) {
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    shop.order("2").await;
    let marked = house
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": "1" }))
        .await
        .data();
    assert_eq!(marked, json!({ "providerOrderId": "1", "isReport": true }));
    assert_eq!(ids(&house.a.get("/orders/reports/pending").await.data()), ["2"]);
    assert_eq!(ids(&house.a.get("/orders").await.data()), ["2", "1"]);
    let detail = house.a.get("/orders/1").await.data();
    assert_eq!(
        (&detail["isReport"], &detail["reportedAt"]),
        (&json!(true), &json!("2026-03-01T09:00:00.000Z"))
    );
}

async fn marking_is_idempotent_and_unknown_orders_are_refused(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let id = shop.order("1").await;
    house
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": "1" }))
        .await
        .data();
    let before = house.a.get("/orders/1").await.data();
    house.advance(Duration::from_secs(60));
    let again = house
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": "1" }))
        .await
        .data();
    assert_eq!(again, json!({ "providerOrderId": "1", "isReport": true }));
    assert_eq!(house.a.get("/orders/1").await.data(), before);
    // Our own id names it too, for orders that the platform's id cannot tell apart.
    let ours = house
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": id }))
        .await
        .data();
    assert_eq!(ours, json!({ "providerOrderId": "1", "isReport": true }));
    house
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": "2" }))
        .await
        .refused(404, "order_not_found");
    house
        .a
        .act("/orders/reports/mark")
        .await
        .wrong(422, "invalid_field", "providerOrderId");
}

async fn pending_orders_of_every_status_are_listed_with_their_money(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let id = shop.order_of("1", 12_345).await;
    house.a.act("/orders/cancel/1").await.data();
    let wanted = json!([{
        "id": id, "providerOrderId": "1", "restaurantId": shop.restaurant, "provider": "direct", "shortCode": null,
        "status": 1600, "statusName": "cancelled", "isReport": false, "total": 12_345, "currency": "TRY",
        "paymentType": "cash", "placedAt": "2026-03-01T09:00:00.000Z", "acceptBy": null,
        "createdAt": "2026-03-01T09:00:00.000Z",
        "amount": { "currency": "TRY", "total": 12_345 },
        "payment": { "type": "cash", "name": "Cash" },
    }]);
    assert_eq!(house.a.get("/orders/reports/pending").await.data(), wanted);
}

async fn pending_orders_can_be_filtered(house: House) {
    let (one, two) = (
        house.shop(&house.a, "one").await,
        house.shop(&house.a, "two").await,
    );
    // Noon, then evening of the same day in Istanbul, then after midnight there while it is still the first in UTC.
    one.order("noon").await;
    house.a.act("/orders/verify/noon").await.data();
    house.advance(Duration::from_secs(8 * 3600));
    two.order("evening").await;
    house.advance(Duration::from_secs(5 * 3600));
    one.order("night").await;
    house.a.act("/orders/cancel/night").await.data();
    for (query, wanted) in [
        ("", vec!["night", "evening", "noon"]),
        ("status=400", vec!["evening"]),
        ("status=500,1600", vec!["night", "noon"]),
        ("status=500,500,%20400", vec!["evening", "noon"]),
        ("status=900", vec![]),
        (
            "from=2026-03-01T09:00:00.000Z&to=2026-03-01T17:00:00Z",
            vec!["noon"],
        ),
        ("from=2026-03-01T17:00:00Z", vec!["night", "evening"]),
        ("from=2026-03-01T17:00:00.001Z", vec!["night"]),
        ("from=2026-03-01&to=2026-03-01", vec!["evening", "noon"]),
        ("from=2026-03-02", vec!["night"]),
        ("to=2026-02-28", vec![]),
        ("from=2026-03-02&to=2026-03-01", vec![]),
        (
            "from=2026-03-01T12:00:00%2B03:00&to=2026-03-01T12:00:00.001%2B03:00",
            vec!["noon"],
        ),
    ] {
        let list = house
            .a
            .get(&format!("/orders/reports/pending?{query}"))
            .await
            .data();
        assert_eq!(ids(&list), wanted, "{query}");
    }
    let path = format!(
        "/orders/reports/pending?restaurantId={}&status=400",
        two.restaurant
    );
    assert_eq!(ids(&house.a.get(&path).await.data()), ["evening"]);
    for (query, field) in [
        ("status=x", "status"),
        ("status=", "status"),
        ("status=401", "status"),
        ("from=yesterday", "from"),
        ("to=2026-02-30", "to"),
        ("from=2026-03-01T12:00", "from"),
    ] {
        house
            .a
            .get(&format!("/orders/reports/pending?{query}"))
            .await
            .wrong(422, "invalid_parameter", field);
    }
}

async fn pending_orders_are_paged(house: House) {
    let shop = house.shop(&house.a, "s").await;
    for n in 0..5 {
        shop.order(&n.to_string()).await;
    }
    house
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": "3" }))
        .await
        .data();
    let first = house.a.get("/orders/reports/pending?limit=2").await.success();
    assert_eq!(ids(&first["data"]), ["4", "2"]);
    let next = first["paging"]["next"].as_str().unwrap();
    let second = house
        .a
        .get(&format!("/orders/reports/pending?limit=2&cursor={next}"))
        .await
        .success();
    assert_eq!(ids(&second["data"]), ["1", "0"]);
    assert_eq!(second["paging"]["next"], json!(null));
}
