//! An account with a shop and orders, and everything that it shows: to compare databases by.

use crate::support::{ApiClient, Shop};
use serde_json::{Value, json};
use std::net::SocketAddr;

/// Connects a shop and posts some orders, through the program.
pub async fn fill(addr: SocketAddr, key: &str) -> Shop {
    let client = ApiClient::new(addr, key);
    let made = client
        .post("/restaurants", &json!({ "name": "Moda" }))
        .await
        .data();
    let restaurant = made["id"].as_str().unwrap().to_owned();
    let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "inbound-s" } });
    client
        .put(&format!("/restaurants/{restaurant}/integrations/direct"), &body)
        .await
        .data();
    let shop = Shop {
        addr,
        restaurant,
        store: "s".to_owned(),
        key: "inbound-s".to_owned(),
    };
    for n in 0..30 {
        shop.order_of(&format!("Ş-{n}"), 100).await;
    }
    client.act("/orders/verify/%C5%9E-3").await.data();
    client.act("/orders/cancel/%C5%9E-4").await.data();
    shop
}

/// Everything that an account sees.
pub async fn look(addr: SocketAddr, key: &str) -> Vec<Value> {
    let client = ApiClient::new(addr, key);
    let mut seen = Vec::new();
    for path in [
        "/orders?limit=200",
        "/events?limit=200",
        "/restaurants",
        "/businesses",
        "/webhook/deliveries?limit=200",
        "/orders/grouped-payments",
        "/orders/%C5%9E-3",
        "/orders/%C5%9E-4",
    ] {
        seen.push(client.get(path).await.success());
    }
    seen
}
