//! Many accounts at once, and backlogs that are written directly to the database.

use crate::support::{ApiClient, Backend, TestService, order_body, request, send};
use garson::flow::admin::accounts;
use serde_json::json;
use std::sync::Arc;
use tokio::task::JoinSet;

/// An account with a shop and an address for its events.
#[derive(Clone)]
pub struct Tenant {
    pub client: ApiClient,
    pub store: String,
}

/// This many accounts; the numbers in their emails start at 0.
pub async fn tenants(service: &TestService, count: usize, url: impl Fn(usize) -> String) -> Vec<Tenant> {
    let mut arriving = JoinSet::new();
    for n in 0..count {
        let (app, addr, url) = (Arc::clone(&service.app), service.addr, url(n));
        arriving.spawn(async move {
            let email = format!("guest-{n}@example.com");
            let (_, key) = accounts::create(&app, email.clone(), &email, None).await.unwrap();
            let client = ApiClient::new(addr, key.secret.expose());
            let store = format!("g{n}");
            let made = client
                .post("/restaurants", &json!({ "name": store }))
                .await
                .data();
            let path = format!(
                "/restaurants/{}/integrations/direct",
                made["id"].as_str().unwrap()
            );
            let credentials = json!({ "inboundKey": format!("inbound-{store}") });
            let body = json!({ "isActive": true, "remoteId": store, "credentials": credentials });
            client.put(&path, &body).await.data();
            client.put("/webhook", &json!({ "url": url })).await.data();
            (n, Tenant { client, store })
        });
    }
    let mut tenants = arriving.join_all().await;
    tenants.sort_by_key(|(n, _)| *n);
    tenants.into_iter().map(|(_, tenant)| tenant).collect()
}

impl Tenant {
    /// Orders once; fails unless it is acknowledged.
    pub async fn order(&self, id: &str) {
        let body = order_body(&self.store, id, 100).to_string();
        let key = format!("inbound-{}", self.store);
        let headers = [("x-api-key", key.as_str()), ("content-type", "application/json")];
        let bytes = request("POST", "/hooks/direct/orders", &headers, body.as_bytes());
        send(self.client.addr, &bytes).await.data();
    }
}

/// All tenants post this many orders concurrently.
pub async fn all_tenants_order(tenants: &[Tenant], times: usize) {
    let mut workers = JoinSet::new();
    for worker in 0..16 {
        let some: Vec<Tenant> = tenants.iter().skip(worker).step_by(16).cloned().collect();
        workers.spawn(async move {
            for time in 0..times {
                for tenant in &some {
                    tenant.order(&format!("{}-{time}", tenant.store)).await;
                }
            }
        });
    }
    workers.join_all().await;
}

/// Writes deliveries of the first account directly to the database, as a backlog from before the start.
pub fn pile_up(service: &TestService, count: usize) {
    let id = match service.backend {
        Backend::Sqlite => "randomblob(16)",
        Backend::Postgres => "uuid_send(gen_random_uuid())",
    };
    let now = service.app.now().as_millis();
    let owner = "email = 'first@example.com'";
    service.execute_sql(&format!(
        "BEGIN;
         INSERT INTO events (id, account_id, restaurant_id, order_id, position, sequence, name, body, state, reason,
                             attempts, failures, held, due_at, created_at)
         WITH d(n) AS (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)),
              numbers AS (SELECT a.n + 10 * b.n + 100 * c.n + 1000 * e.n + 10000 * f.n AS n FROM d a, d b, d c, d e, d f)
         SELECT {id}, a.id, r.id, NULL, a.position + n + 1, NULL, 'yigin',
                '{{\"olay\":\"yigin\",\"veri\":{{\"id\":\"' || n || '\"}}}}', 'pending', 'waiting', 0, 0, 0, {now}, {now}
         FROM numbers, accounts a, restaurants r WHERE a.{owner} AND r.account_id = a.id AND n < {count};
         UPDATE accounts SET position = position + {count} WHERE {owner};
         COMMIT;"
    ));
}
