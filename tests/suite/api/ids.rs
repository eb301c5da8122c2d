//! Which order an id in a path means.

use crate::support::House;
use serde_json::json;

cases! {
    either_id_leads_to_the_order_and_pid_echoes_it
    an_ambiguous_platform_id_is_refused_with_the_candidates
    a_record_id_wins_over_a_platform_id_that_looks_like_it
}

async fn either_id_leads_to_the_order_and_pid_echoes_it(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let id = shop.order("W-1").await;
    for path_id in [id.as_str(), "W-1"] {
        let detail = house.a.get(&format!("/orders/{path_id}")).await.data();
        assert_eq!((&detail["id"], &detail["pid"]), (&json!(id), &json!(path_id)));
        let reasons = house.a.get(&format!("/orders/reasons/{path_id}")).await.data();
        assert_eq!(reasons["reasons"].as_array().unwrap().len(), 6);
    }
    assert_eq!(
        house.a.act("/orders/change-status/W-1").await.data()["orderId"],
        json!(id)
    );
    let deliveries = house.a.get("/webhook/deliveries?orderId=W-1").await.data();
    assert_eq!(deliveries.as_array().unwrap().len(), 2);
}

async fn an_ambiguous_platform_id_is_refused_with_the_candidates(house: House) {
    let (one, two) = (
        house.shop(&house.a, "one").await,
        house.shop(&house.a, "two").await,
    );
    let mut ids = [one.order("17").await, two.order("17").await];
    ids.sort();
    // Another account's order of the same name does not make it worse.
    house.shop(&house.b, "three").await.order("17").await;
    let before = (
        house.a.get("/orders").await.data(),
        house.a.get("/events").await.data(),
    );
    let replies = [
        house.a.get("/orders/17").await,
        house.a.act("/orders/verify/17").await,
        house.a.act("/orders/change-status/17").await,
        house.a.act("/orders/ready/17").await,
        house.a.act("/orders/cancel/17").await,
        house.a.get("/orders/reasons/17").await,
        house
            .a
            .post("/orders/reports/mark", &json!({ "providerOrderId": "17" }))
            .await,
        house.a.get("/webhook/deliveries?orderId=17").await,
        house
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
        house.a.get("/orders").await.data(),
        house.a.get("/events").await.data(),
    );
    assert_eq!(after, before);
    for id in ids {
        assert_eq!(
            house.a.get(&format!("/orders/{id}")).await.data()["providerOrderId"],
            json!("17")
        );
    }
    house.b.get("/orders/17").await.data();
}

async fn a_record_id_wins_over_a_platform_id_that_looks_like_it(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let first = shop.order("1").await;
    let second = shop.order(&first).await;
    let detail = house.a.get(&format!("/orders/{first}")).await.data();
    assert_eq!(
        (&detail["id"], &detail["providerOrderId"]),
        (&json!(first), &json!("1"))
    );
    let other = house.a.get(&format!("/orders/{second}")).await.data();
    assert_eq!(other["providerOrderId"], json!(first));
    // Accounting names orders by the platform's id alone.
    house
        .a
        .post("/orders/reports/mark", &json!({ "providerOrderId": first }))
        .await
        .data();
    assert_eq!(
        house.a.get(&format!("/orders/{second}")).await.data()["isReport"],
        json!(true)
    );
    assert_eq!(house.a.get("/orders/1").await.data()["isReport"], json!(false));
}
