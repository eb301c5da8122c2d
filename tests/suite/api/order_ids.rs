//! Which order an id in a path refers to.

use crate::support::TestService;
use serde_json::json;

cases! {
    order_is_found_by_either_id_and_pid_echoes_it
    ambiguous_platform_id_is_refused_with_candidates
    record_id_takes_precedence_over_platform_id
}

async fn order_is_found_by_either_id_and_pid_echoes_it(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("W-1").await;
    for path_id in [id.as_str(), "W-1"] {
        let detail = service.a.get(&format!("/orders/{path_id}")).await.data();
        assert_eq!((&detail["id"], &detail["pid"]), (&json!(id), &json!(path_id)));
        let reasons = service.a.get(&format!("/orders/reasons/{path_id}")).await.data();
        assert_eq!(reasons["reasons"].as_array().unwrap().len(), 6);
    }
    assert_eq!(
        service.a.act("/orders/change-status/W-1").await.data()["orderId"],
        json!(id)
    );
    let deliveries = service.a.get("/webhook/deliveries?orderId=W-1").await.data();
    assert_eq!(deliveries.as_array().unwrap().len(), 2);
}

async fn ambiguous_platform_id_is_refused_with_candidates(service: TestService) {
    let (one, two) = (
        service.shop(&service.a, "one").await,
        service.shop(&service.a, "two").await,
    );
    let mut ids = [one.order("17").await, two.order("17").await];
    ids.sort();
    // Another account's order of the same name does not make it worse.
    service.shop(&service.b, "three").await.order("17").await;
    let before = (
        service.a.get("/orders").await.data(),
        service.a.get("/events").await.data(),
    );
    let replies = [
        service.a.get("/orders/17").await,
        service.a.act("/orders/verify/17").await,
        service.a.act("/orders/change-status/17").await,
        service.a.act("/orders/ready/17").await,
        service.a.act("/orders/cancel/17").await,
        service.a.get("/orders/reasons/17").await,
        service
            .a
            .post("/orders/reports/mark", &json!({ "providerOrderId": "17" }))
            .await,
        service.a.get("/webhook/deliveries?orderId=17").await,
        service
            .a
            .post(
                "/orders/retry-webhook",
                &json!({ "webhookOrderId": "17", "url": "https://example.com", "headers": {} }),
            )
            .await,
    ];
    for reply in replies {
        let error = reply.refused(409, "ambiguous_order_id");
        let details = error["details"].as_array().unwrap();
        let mut named: Vec<_> = details
            .iter()
            .map(|d| d["message"].as_str().unwrap().to_owned())
            .collect();
        named.sort();
        assert_eq!(named, ids);
    }
    let after = (
        service.a.get("/orders").await.data(),
        service.a.get("/events").await.data(),
    );
    assert_eq!(after, before);
    for id in ids {
        assert_eq!(
            service.a.get(&format!("/orders/{id}")).await.data()["providerOrderId"],
            json!("17")
        );
    }
    service.b.get("/orders/17").await.data();
}

async fn record_id_takes_precedence_over_platform_id(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let first = shop.order("1").await;
    let second = shop.order(&first).await;
    let detail = service.a.get(&format!("/orders/{first}")).await.data();
    assert_eq!(
        (&detail["id"], &detail["providerOrderId"]),
        (&json!(first), &json!("1"))
    );
    let other = service.a.get(&format!("/orders/{second}")).await.data();
    assert_eq!(other["providerOrderId"], json!(first));
    // Accounting names orders by the platform's id alone.
    service
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": first }))
        .await
        .data();
    assert_eq!(
        service.a.get(&format!("/orders/{second}")).await.data()["isReport"],
        json!(true)
    );
    assert_eq!(service.a.get("/orders/1").await.data()["isReport"], json!(false));
}
