//! Concurrent requests end in one consistent state, without gaps in the events.

use crate::support::TestService;
use serde_json::{Value, json};

cases! {
    concurrent_verify_and_cancel_end_in_one_state
    concurrent_orders_are_all_listed
}

async fn events_of(service: &TestService, order: &str) -> Vec<Value> {
    let deliveries = service
        .a
        .get(&format!("/webhook/deliveries?limit=200&orderId={order}"))
        .await
        .data();
    let count = deliveries.as_array().unwrap().len();
    let events = service.a.get("/events?limit=200").await.data();
    let mut own: Vec<Value> = events
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["veri"]["orderId"] == json!(order))
        .cloned()
        .collect();
    assert_eq!(own.len(), count);
    own.reverse();
    own
}

async fn concurrent_verify_and_cancel_end_in_one_state(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for round in 0..4 {
        let id = shop.order(&format!("R-{round}")).await;
        let mut running = tokio::task::JoinSet::new();
        for n in 0..24 {
            let (client, shop, id) = (service.a.clone(), shop.clone(), id.clone());
            running.spawn(async move {
                match n % 4 {
                    0 => client.act(&format!("/orders/verify/{id}")).await,
                    1 => client.act(&format!("/orders/change-status/{id}")).await,
                    2 => client.act(&format!("/orders/cancel/{id}")).await,
                    _ => shop.cancel(&format!("R-{round}"), json!({})).await,
                }
            });
        }
        for reply in running.join_all().await {
            assert!(matches!(reply.status, 200 | 409), "{}", reply.text());
        }
        let detail = service.a.get(&format!("/orders/{id}")).await.data();
        let status = detail["status"].as_i64().unwrap();
        assert!(matches!(status, 1500 | 1600), "{status}");
        let told = events_of(&service, &id).await;
        let numbers: Vec<i64> = told
            .iter()
            .map(|event| event["veri"]["sequence"].as_i64().unwrap())
            .collect();
        assert_eq!(
            numbers,
            (1..=i64::try_from(told.len()).unwrap()).collect::<Vec<_>>()
        );
        // Each event begins where the one before it ended, and only the last is the cancellation.
        let mut at = json!(null);
        for event in &told {
            match event["olay"].as_str().unwrap() {
                "siparis.olusturuldu" => at = event["veri"]["status"].clone(),
                "siparis.durum_degisti" => {
                    assert_eq!(event["veri"]["oldStatus"], at);
                    at = event["veri"]["newStatus"].clone();
                }
                _ => at = event["veri"]["status"].clone(),
            }
        }
        assert_eq!(at, json!(status));
        assert_eq!(
            told.iter()
                .filter(|event| event["olay"] == json!("siparis.iptal_edildi"))
                .count(),
            1
        );
        assert_eq!(detail["timeline"].as_array().unwrap().len(), told.len());
    }
    assert_eq!(
        service.a.get("/orders/grouped-payments").await.data()["groups"],
        json!([])
    );
}

async fn concurrent_orders_are_all_listed(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut running = tokio::task::JoinSet::new();
    for n in 0..64 {
        let shop = shop.clone();
        running.spawn(async move { shop.order_of(&format!("N-{n}"), 7).await });
    }
    let mut acknowledged = running.join_all().await;
    let listed = service.a.get("/orders?limit=200").await.data();
    let mut seen: Vec<String> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|order| order["id"].as_str().unwrap().to_owned())
        .collect();
    acknowledged.sort();
    seen.sort();
    assert_eq!(seen, acknowledged);
    let sums = service.a.get("/orders/grouped-payments").await.data();
    assert_eq!(
        sums["currencies"],
        json!([{ "currency": "TRY", "count": 64, "total": 448 }])
    );
}
