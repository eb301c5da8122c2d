//! Cached integrations: every change applies to the next order.

use crate::support::{Shop, TestService, order_body};
use serde_json::{Value, json};

cases! {
    activation_change_applies_to_the_next_order
    package_change_applies_to_the_next_order
    config_change_applies_to_the_next_order
    replaced_key_is_refused
    store_change_applies_to_the_next_order
    changes_between_many_orders_lose_no_order
}

impl Shop {
    fn integration(&self) -> String {
        format!("/restaurants/{}/integrations/direct", self.restaurant)
    }
}

/// A shop two of whose orders were taken, so that the next is judged by what is remembered.
async fn remembered(service: &TestService) -> Shop {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    shop.order("2").await;
    shop
}

async fn flag_of(service: &TestService, shop: &Shop, id: &str) -> Value {
    shop.order(id).await;
    service.a.get(&format!("/orders/{id}")).await.data()["flag"].clone()
}

async fn activation_change_applies_to_the_next_order(service: TestService) {
    let shop = remembered(&service).await;
    for (n, is_active) in [false, true, false].into_iter().enumerate() {
        service
            .a
            .put(&shop.integration(), &json!({ "isActive": is_active }))
            .await
            .data();
        let wanted = if is_active {
            Value::Null
        } else {
            json!("integration_off")
        };
        assert_eq!(flag_of(&service, &shop, &format!("o-{n}")).await, wanted);
    }
}

async fn package_change_applies_to_the_next_order(service: TestService) {
    let shop = remembered(&service).await;
    let path = format!("/restaurants/{}/packages", shop.restaurant);
    service.a.put(&path, &json!({ "packages": [] })).await.data();
    assert_eq!(flag_of(&service, &shop, "none").await, json!("package_expired"));
    let all = json!({ "packages": [{ "name": "Standard", "startsAt": "2026-01-01T00:00:00Z" }] });
    service.a.put(&path, &all).await.data();
    service
        .a
        .put(&shop.integration(), &json!({ "isActive": true }))
        .await
        .data();
    assert_eq!(flag_of(&service, &shop, "again").await, Value::Null);
}

async fn config_change_applies_to_the_next_order(service: TestService) {
    let shop = remembered(&service).await;
    let path = format!("/restaurants/{}", shop.restaurant);
    for (n, (auto_verify, status)) in [(true, 500), (false, 400), (true, 500)].into_iter().enumerate() {
        let body = json!({ "name": "s", "config": { "autoVerify": auto_verify } });
        service.a.put(&path, &body).await.data();
        let id = format!("c-{n}");
        shop.order(&id).await;
        let shown = service.a.get(&format!("/orders/{id}")).await.data();
        assert_eq!(shown["status"], json!(status), "{n}");
    }
}

async fn replaced_key_is_refused(service: TestService) {
    let shop = remembered(&service).await;
    let body = json!({ "credentials": { "inboundKey": "another-key" } });
    service.a.put(&shop.integration(), &body).await.data();
    let order = order_body("s", "3", 100).to_string();
    shop.post(order.as_bytes()).await.refused(401, "unauthorized");
    shop.hook("/hooks/direct/orders", Some("another-key"), order.as_bytes())
        .await
        .success();
    assert_eq!(service.a.get("/orders").await.data().as_array().unwrap().len(), 3);
}

async fn store_change_applies_to_the_next_order(service: TestService) {
    let shop = remembered(&service).await;
    service
        .a
        .put(&shop.integration(), &json!({ "remoteId": "renamed" }))
        .await
        .data();
    let post =
        async |store: &str, id: &str| shop.post(order_body(store, id, 100).to_string().as_bytes()).await;
    post("s", "3").await.refused(404, "unknown_store");
    post("renamed", "3").await.success();

    let made = service
        .a
        .post("/restaurants", &json!({ "name": "t" }))
        .await
        .data();
    let other = format!(
        "/restaurants/{}/integrations/direct",
        made["id"].as_str().unwrap()
    );
    post("t", "4").await.refused(404, "unknown_store");
    let body = json!({ "isActive": true, "remoteId": "t", "credentials": { "inboundKey": shop.key } });
    service.a.put(&other, &body).await.data();
    post("t", "5").await.success();
    assert_eq!(
        service.a.get("/orders/5").await.data()["restaurantId"],
        made["id"]
    );

    service.a.delete(&shop.integration()).await.done();
    post("renamed", "6").await.refused(404, "unknown_store");
    service.a.delete(&other).await.done();
    post("t", "6").await.refused(401, "unauthorized");
}

async fn changes_between_many_orders_lose_no_order(service: TestService) {
    const ORDERS: usize = 120;
    let shop = remembered(&service).await;
    let mut running = tokio::task::JoinSet::new();
    for n in 0..ORDERS {
        let shop = shop.clone();
        running.spawn(async move { shop.order(&format!("m-{n}")).await });
    }
    for n in 0..20 {
        let reason = (n % 2 == 0).then_some("closed");
        let body = json!({ "defaultCancelReason": reason });
        service.a.put(&shop.integration(), &body).await.data();
    }
    let mut ids = running.join_all().await;
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), ORDERS);
    let sums = service.a.get("/orders/grouped-payments").await.data();
    assert_eq!(sums["currencies"][0]["count"], json!(ORDERS + 2));
}
