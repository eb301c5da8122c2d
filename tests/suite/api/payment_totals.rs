//! Totals by payment type, for every filter and after every change of an order.

use crate::support::{Shop, TestService, order_body};
use serde_json::{Value, json};
use std::time::Duration;

cases! {
    orders_are_grouped_by_payment_type_and_currency
    cancelled_orders_and_empty_groups_are_left_out
    totals_can_be_filtered_by_time_and_restaurant
    day_boundaries_use_the_restaurants_timezone
}

async fn pay(shop: &Shop, id: &str, total: i64, kind: &str, currency: &str) {
    let mut body = order_body(&shop.store, id, total);
    body["payment"]["type"] = json!(kind);
    body["amount"]["currency"] = json!(currency);
    shop.post(body.to_string().as_bytes()).await.success();
}

async fn grouped(service: &TestService, query: &str) -> Value {
    service
        .a
        .get(&format!("/orders/grouped-payments{query}"))
        .await
        .data()
}

async fn orders_are_grouped_by_payment_type_and_currency(service: TestService) {
    assert_eq!(
        grouped(&service, "").await,
        json!({ "groups": [], "currencies": [] })
    );
    let shop = service.shop(&service.a, "s").await;
    pay(&shop, "1", 100, "cash", "TRY").await;
    pay(&shop, "2", 250, "cash", "TRY").await;
    pay(&shop, "3", 1_000, "online_card", "TRY").await;
    pay(&shop, "4", 70, "cash", "EUR").await;
    pay(&shop, "5", 0, "voucher", "TRY").await;
    let sums = grouped(&service, "").await;
    let group = |kind: &str, name: &str, currency: &str, count: i64, total: i64| json!({ "type": kind, "name": name, "currency": currency, "count": count, "total": total });
    let mut groups = sums["groups"].as_array().unwrap().clone();
    groups.sort_by_key(ToString::to_string);
    let mut wanted = vec![
        group("cash", "Cash", "TRY", 2, 350),
        group("cash", "Cash", "EUR", 1, 70),
        group("online_card", "Online card", "TRY", 1, 1_000),
        group("voucher", "Voucher", "TRY", 1, 0),
    ];
    wanted.sort_by_key(ToString::to_string);
    assert_eq!(groups, wanted);
    let mut currencies = sums["currencies"].as_array().unwrap().clone();
    currencies.sort_by_key(ToString::to_string);
    let mut wanted = vec![
        json!({ "currency": "EUR", "count": 1, "total": 70 }),
        json!({ "currency": "TRY", "count": 4, "total": 1_350 }),
    ];
    wanted.sort_by_key(ToString::to_string);
    assert_eq!(currencies, wanted);
    let nothing = service.b.get("/orders/grouped-payments").await.data();
    assert_eq!(nothing, json!({ "groups": [], "currencies": [] }));
}

async fn cancelled_orders_and_empty_groups_are_left_out(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for (id, kind) in [("1", "cash"), ("2", "cash"), ("3", "wallet")] {
        pay(&shop, id, 100, kind, "TRY").await;
    }
    service.a.act("/orders/cancel/1").await.data();
    service.a.act("/orders/cancel/1").await.data();
    shop.cancel("3", json!({})).await.success();
    for id in ["2", "2", "2"] {
        service.a.act(&format!("/orders/change-status/{id}")).await.data();
    }
    service
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": "2" }))
        .await
        .data();
    let wanted = json!({
        "groups": [{ "type": "cash", "name": "Cash", "currency": "TRY", "count": 1, "total": 100 }],
        "currencies": [{ "currency": "TRY", "count": 1, "total": 100 }],
    });
    assert_eq!(grouped(&service, "").await, wanted);
}

async fn totals_can_be_filtered_by_time_and_restaurant(service: TestService) {
    let (one, two) = (
        service.shop(&service.a, "one").await,
        service.shop(&service.a, "two").await,
    );
    // 12:00, 20:00 and 01:00 of the next day in Istanbul.
    pay(&one, "1", 1, "cash", "TRY").await;
    service.advance(Duration::from_secs(8 * 3600));
    pay(&two, "2", 10, "cash", "TRY").await;
    service.advance(Duration::from_secs(5 * 3600));
    pay(&one, "3", 100, "cash", "TRY").await;
    let total = async |query: &str| {
        let sums = grouped(&service, query).await;
        sums["currencies"]
            .as_array()
            .unwrap()
            .first()
            .map_or(0, |sum| sum["total"].as_i64().unwrap())
    };
    for (query, wanted) in [
        ("", 111),
        ("?from=2026-03-01&to=2026-03-01", 11),
        ("?from=2026-03-02&to=2026-03-02", 100),
        ("?from=2026-03-01", 111),
        ("?to=2026-03-01", 11),
        ("?from=2026-03-01T09:00:00Z&to=2026-03-01T17:00:00Z", 1),
        ("?from=2026-03-01T09:00:00Z&to=2026-03-01T17:00:00.001Z", 11),
        ("?from=2026-03-01T17:00:00Z", 110),
        ("?from=2026-03-01T20:37:12.345Z", 100),
        ("?from=2027-01-01", 0),
    ] {
        assert_eq!(total(query).await, wanted, "{query}");
    }
    let of_one = format!("restaurantId={}", one.restaurant);
    assert_eq!(total(&format!("?{of_one}")).await, 101);
    assert_eq!(total(&format!("?{of_one}&from=2026-03-02")).await, 100);
    for query in ["?from=x", "?to=2026-3-1"] {
        service
            .a
            .get(&format!("/orders/grouped-payments{query}"))
            .await
            .refused(422, "invalid_parameter");
    }
}

async fn day_boundaries_use_the_restaurants_timezone(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let path = format!("/restaurants/{}", shop.restaurant);
    service
        .a
        .put(&path, &json!({ "name": "s", "config": { "timezone": "UTC" } }))
        .await
        .data();
    service.advance(Duration::from_secs(13 * 3600));
    pay(&shop, "1", 5, "cash", "TRY").await;
    let query = |day: &str| format!("?restaurantId={}&from={day}&to={day}", shop.restaurant);
    assert_eq!(
        grouped(&service, &query("2026-03-01")).await["currencies"][0]["total"],
        json!(5)
    );
    assert_eq!(
        grouped(&service, &query("2026-03-02")).await["currencies"],
        json!([])
    );
    // Without a restaurant a day is one of Istanbul, where it is the second already.
    let all = grouped(&service, "?from=2026-03-02&to=2026-03-02").await;
    assert_eq!(all["currencies"][0]["total"], json!(5));
}
