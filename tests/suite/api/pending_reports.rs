//! Orders that are not reported to accounting yet, and marking them as reported.

use crate::support::TestService;
use serde_json::{Value, json};
use std::time::Duration;

cases! {
    marked_order_leaves_the_pending_list
    marking_is_idempotent_and_unknown_orders_are_refused
    pending_orders_of_every_status_are_listed_with_their_money
    pending_orders_can_be_filtered
    pending_orders_are_paged
    pending_orders_include_accounting_fields
    many_orders_are_marked_in_one_request
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|order| order["providerOrderId"].as_str().unwrap())
        .collect()
}

async fn marked_order_leaves_the_pending_list(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    shop.order("2").await;
    let marked = service
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": "1" }))
        .await
        .data();
    assert_eq!(marked, json!({ "providerOrderId": "1", "isReport": true }));
    assert_eq!(ids(&service.a.get("/orders/reports/pending").await.data()), ["2"]);
    assert_eq!(ids(&service.a.get("/orders").await.data()), ["2", "1"]);
    let detail = service.a.get("/orders/1").await.data();
    assert_eq!(
        (&detail["isReport"], &detail["reportedAt"]),
        (&json!(true), &json!("2026-03-01T09:00:00.000Z"))
    );
}

async fn marking_is_idempotent_and_unknown_orders_are_refused(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    service
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": "1" }))
        .await
        .data();
    let before = service.a.get("/orders/1").await.data();
    service.advance(Duration::from_secs(60));
    let again = service
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": "1" }))
        .await
        .data();
    assert_eq!(again, json!({ "providerOrderId": "1", "isReport": true }));
    assert_eq!(service.a.get("/orders/1").await.data(), before);
    // Our own id names it too, for orders that the platform's id cannot tell apart.
    let ours = service
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": id }))
        .await
        .data();
    assert_eq!(ours, json!({ "providerOrderId": "1", "isReport": true }));
    service
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": "2" }))
        .await
        .refused(404, "order_not_found");
    service
        .a
        .act("/orders/reports/mark")
        .await
        .wrong(422, "invalid_field", "providerOrderId");
}

async fn pending_orders_of_every_status_are_listed_with_their_money(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order_of("1", 12_345).await;
    service.a.act("/orders/cancel/1").await.data();
    let wanted = json!([{
        "id": id, "providerOrderId": "1", "restaurantId": shop.restaurant, "provider": "direct", "shortCode": null,
        "status": 1600, "statusName": "cancelled", "isReport": false, "total": 12_345, "currency": "TRY",
        "paymentType": "cash", "placedAt": "2026-03-01T09:00:00.000Z", "acceptBy": null,
        "createdAt": "2026-03-01T09:00:00.000Z",
        "amount": {
            "currency": "TRY", "subtotal": 12_345, "discount": 0, "deliveryFee": 0, "tip": 0, "total": 12_345, "discounts": []
        },
        "payment": {
            "type": "cash", "name": "Cash", "providerName": null, "providerCode": null, "isPaid": false, "collect": 12_345,
            "matchedId": null
        },
    }]);
    assert_eq!(service.a.get("/orders/reports/pending").await.data(), wanted);
}

async fn pending_orders_include_accounting_fields(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let matching =
        json!({ "matches": [{ "provider": "direct", "type": "online_card", "matchedId": "POS-7" }] });
    let path = format!("/restaurants/{}/payment-matching", shop.restaurant);
    service.a.put(&path, &matching).await.data();
    let order = json!({
        "storeId": "s", "providerOrderId": "1",
        "items": [{ "name": "Lahmacun", "quantity": 2, "unitPrice": 5_000 }],
        "amount": {
            "subtotal": 10_000, "discount": 1_500, "deliveryFee": 700, "tip": 300, "total": 9_500,
            "discounts": [{ "name": "Bahar", "amount": 1_500, "fundedBy": "platform" }]
        },
        "payment": { "type": "online_card", "name": "Visa", "isPaid": true },
    });
    shop.post(order.to_string().as_bytes()).await.data();
    shop.order("2").await;
    let pending = service.a.get("/orders/reports/pending?status=400").await.data();
    assert_eq!(ids(&pending), ["2", "1"]);
    for item in pending.as_array().unwrap() {
        let id = item["providerOrderId"].as_str().unwrap();
        let detail = service.a.get(&format!("/orders/{id}")).await.data();
        assert_eq!(item["amount"], detail["amount"]);
        for field in ["type", "providerCode", "isPaid", "collect", "matchedId"] {
            assert_eq!(item["payment"][field], detail["payment"][field], "{field}");
        }
        assert_eq!(item["payment"]["providerName"], detail["payment"]["name"]);
    }
    let first = &pending[1];
    assert_eq!(first["payment"]["matchedId"], json!("POS-7"));
    assert_eq!(first["amount"]["discounts"][0]["amount"], json!(1_500));
}

async fn many_orders_are_marked_in_one_request(service: TestService) {
    let (one, two) = (
        service.shop(&service.a, "one").await,
        service.shop(&service.a, "two").await,
    );
    let first = one.order("1").await;
    let second = one.order("2").await;
    let twins = [one.order("twin").await, two.order("twin").await];
    service.shop(&service.b, "other").await.order("foreign").await;
    let mark = json!({ "providerOrderId": "2" });
    service.a.post("/orders/reports/mark", &mark).await.data();
    let many = json!({ "providerOrderIds": ["1", "2", "3", "twin", "1", "foreign", twins[0]] });
    let result = |id: &str, result: &str, orders: &[&String]| {
        let is_report = result.ends_with("marked");
        json!({ "providerOrderId": id, "result": result, "isReport": is_report, "orderIds": orders })
    };
    let wanted = json!({ "results": [
        result("1", "marked", &[&first]),
        result("2", "already_marked", &[&second]),
        result("3", "unknown", &[]),
        result("twin", "ambiguous", &[&twins[0], &twins[1]]),
        result("1", "already_marked", &[&first]),
        result("foreign", "unknown", &[]),
        result(&twins[0], "marked", &[&twins[0]]),
    ] });
    assert_eq!(service.a.post("/orders/reports/mark", &many).await.data(), wanted);
    let again = service.a.post("/orders/reports/mark", &many).await.data();
    assert_eq!(again["results"][0], result("1", "already_marked", &[&first]));
    let pending = service.a.get("/orders/reports/pending").await.data();
    assert_eq!(pending.as_array().unwrap().len(), 1);
    assert_eq!(pending[0]["id"], json!(twins[1]));
    let all: Vec<String> = (0..500).map(|n| format!("x{n}")).collect();
    let results = service
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderIds": all }))
        .await
        .data();
    assert_eq!(results["results"].as_array().unwrap().len(), 500);
    let too_many: Vec<String> = (0..501).map(|n| n.to_string()).collect();
    for (body, field) in [
        (json!({ "providerOrderIds": [] }), "providerOrderIds"),
        (json!({ "providerOrderIds": too_many }), "providerOrderIds"),
        (json!({ "providerOrderIds": "1" }), "providerOrderIds"),
        (json!({ "providerOrderIds": ["1", 2] }), "providerOrderIds[1]"),
        (
            json!({ "providerOrderId": "1", "providerOrderIds": ["1"] }),
            "providerOrderIds",
        ),
    ] {
        let reply = service.a.post("/orders/reports/mark", &body).await;
        reply.wrong(422, "invalid_field", field);
    }
}

async fn pending_orders_can_be_filtered(service: TestService) {
    let (one, two) = (
        service.shop(&service.a, "one").await,
        service.shop(&service.a, "two").await,
    );
    // Noon, then evening of the same day in Istanbul, then after midnight there while it is still the first in UTC.
    one.order("noon").await;
    service.a.act("/orders/verify/noon").await.data();
    service.advance(Duration::from_secs(8 * 3600));
    two.order("evening").await;
    service.advance(Duration::from_secs(5 * 3600));
    one.order("night").await;
    service.a.act("/orders/cancel/night").await.data();
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
        let list = service
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
    assert_eq!(ids(&service.a.get(&path).await.data()), ["evening"]);
    for (query, field) in [
        ("status=x", "status"),
        ("status=", "status"),
        ("status=401", "status"),
        ("from=yesterday", "from"),
        ("to=2026-02-30", "to"),
        ("from=2026-03-01T12:00", "from"),
    ] {
        service
            .a
            .get(&format!("/orders/reports/pending?{query}"))
            .await
            .wrong(422, "invalid_parameter", field);
    }
}

async fn pending_orders_are_paged(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for n in 0..5 {
        shop.order(&n.to_string()).await;
    }
    service
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": "3" }))
        .await
        .data();
    let first = service.a.get("/orders/reports/pending?limit=2").await.success();
    assert_eq!(ids(&first["data"]), ["4", "2"]);
    let next = first["paging"]["next"].as_str().unwrap();
    let second = service
        .a
        .get(&format!("/orders/reports/pending?limit=2&cursor={next}"))
        .await
        .success();
    assert_eq!(ids(&second["data"]), ["1", "0"]);
    assert_eq!(second["paging"]["next"], json!(null));
}
