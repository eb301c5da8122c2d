//! A restaurant with its own web shop, which posts orders through the `direct` platform.

use super::{ApiClient, Reply, TestService, request, send};
use serde_json::{Value, json};
use std::net::SocketAddr;

/// A restaurant that is connected.
#[derive(Clone, Debug)]
pub struct Shop {
    pub addr: SocketAddr,
    pub restaurant: String,
    pub store: String,
    pub key: String,
}

/// The body of an order: one item, paid in cash.
pub fn order_body(store: &str, id: &str, total: i64) -> Value {
    json!({
        "storeId": store,
        "providerOrderId": id,
        "items": [{ "name": "Lahmacun", "quantity": 1, "unitPrice": total }],
        "amount": { "total": total },
        "payment": { "type": "cash" },
    })
}

impl TestService {
    /// A connected restaurant of an account.
    pub async fn shop(&self, client: &ApiClient, store: &str) -> Shop {
        let made = client
            .post("/restaurants", &json!({ "name": store }))
            .await
            .data();
        self.connect(client, made["id"].as_str().unwrap(), store, json!({}))
            .await
    }

    /// Connects a restaurant to its shop, with more credentials.
    pub async fn connect(&self, client: &ApiClient, restaurant: &str, store: &str, more: Value) -> Shop {
        // Keys must be ASCII, but restaurant names need not be.
        let plain = store.replace(|c: char| !c.is_ascii_graphic(), "-");
        let key = format!("inbound-{plain}");
        let mut credentials = more;
        credentials["inboundKey"] = json!(key);
        let body = json!({ "isActive": true, "remoteId": store, "credentials": credentials });
        client
            .put(&format!("/restaurants/{restaurant}/integrations/direct"), &body)
            .await
            .data();
        Shop {
            addr: self.addr,
            restaurant: restaurant.to_owned(),
            store: store.to_owned(),
            key,
        }
    }
}

impl Shop {
    /// Posts any body to the hook for new orders.
    pub async fn post(&self, body: &[u8]) -> Reply {
        self.hook("/hooks/direct/orders", Some(&self.key), body).await
    }

    pub async fn hook(&self, path: &str, key: Option<&str>, body: &[u8]) -> Reply {
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(key.map(|key| ("x-api-key", key)));
        send(self.addr, &request("POST", path, &headers, body)).await
    }

    /// Posts an order for this many kuruş and returns the record id.
    pub async fn order_of(&self, id: &str, total: i64) -> String {
        let body = order_body(&self.store, id, total).to_string();
        let data = self.post(body.as_bytes()).await.data();
        data["orderId"].as_str().unwrap().to_owned()
    }

    pub async fn order(&self, id: &str) -> String {
        self.order_of(id, 10_000).await
    }

    /// An order that the restaurant has delivered.
    pub async fn delivered(&self, client: &ApiClient, id: &str) -> String {
        let order = self.order(id).await;
        for _ in 0..3 {
            let path = format!("/orders/change-status/{order}");
            client.post(&path, &json!({})).await.data();
        }
        order
    }

    /// Cancels an order through the hook.
    pub async fn cancel(&self, id: &str, mut body: Value) -> Reply {
        body["storeId"] = json!(self.store);
        let path = format!("/hooks/direct/orders/{id}/cancel");
        self.hook(&path, Some(&self.key), body.to_string().as_bytes())
            .await
    }
}
