//! Many at once: one final state, and no gap in what was told.

use crate::support::House;
use serde_json::{Value, json};

cases! {
    verify_and_cancel_at_once_end_in_one_state
    orders_at_once_are_listed_completely
}

async fn events_of(house: &House, order: &str) -> Vec<Value> {
    let deliveries = house
        .a
        .get(&format!("/webhook/deliveries?limit=200&orderId={order}"))
        .await
        .data();
    let count = deliveries.as_array().unwrap().len();
    let events = house.a.get("/events?limit=200").await.data();
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

async fn verify_and_cancel_at_once_end_in_one_state(house: House) {
    let shop = house.shop(&house.a, "s").await;
    for round in 0..4 {
        let id = shop.order(&format!("R-{round}")).await;
        let mut running = tokio::task::JoinSet::new();
        for n in 0..24 {
            let (caller, shop, id) = (house.a.clone(), shop.clone(), id.clone());
            running.spawn(async move {
                match n % 4 {
                    0 => caller.act(&format!("/orders/verify/{id}")).await,
                    1 => caller.act(&format!("/orders/change-status/{id}")).await,
                    2 => caller.act(&format!("/orders/cancel/{id}")).await,
                    _ => shop.cancel(&format!("R-{round}"), json!({})).await,
                }
            });
        }
        for reply in running.join_all().await {
            assert!(matches!(reply.status, 200 | 409), "{}", reply.text());
        }
        let detail = house.a.get(&format!("/orders/{id}")).await.data();
        let status = detail["status"].as_i64().unwrap();
        assert!(matches!(status, 1500 | 1600), "{status}");
        let told = events_of(&house, &id).await;
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
        house.a.get("/orders/grouped-payments").await.data()["groups"],
        json!([])
    );
}

async fn orders_at_once_are_listed_completely(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let mut running = tokio::task::JoinSet::new();
    for n in 0..64 {
        let shop = shop.clone();
        running.spawn(async move { shop.order_of(&format!("N-{n}"), 7).await });
    }
    let mut acknowledged = running.join_all().await;
    let listed = house.a.get("/orders?limit=200").await.data();
    let mut seen: Vec<String> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|order| order["id"].as_str().unwrap().to_owned())
        .collect();
    acknowledged.sort();
    seen.sort();
    assert_eq!(seen, acknowledged);
    let sums = house.a.get("/orders/grouped-payments").await.data();
    assert_eq!(
        sums["currencies"],
        json!([{ "currency": "TRY", "count": 64, "total": 448 }])
    );
}
