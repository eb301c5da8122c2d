//! A shop whose events go to a receiver.

use crate::support::{Backend, Receiver, Shop, TestService, order_body, wait_until};
use garson::config::Settings;
use serde_json::{Value, json};
use std::time::Duration;

pub struct Setup {
    pub service: TestService,
    pub shop: Shop,
    pub receiver: Receiver,
}

impl Setup {
    pub async fn open(backend: Backend) -> Self {
        Self::open_with(backend, |_| {}).await
    }

    /// The event of the shop's connection precedes the receiver.
    pub async fn open_with(backend: Backend, change: impl FnOnce(&mut Settings)) -> Self {
        let change = |settings: &mut Settings| {
            settings.allow_private_targets = true;
            change(settings);
        };
        let service = TestService::open_with(backend, change, None).await;
        let shop = service.shop(&service.a, "s").await;
        let receiver = Receiver::start().await;
        let setup = Self {
            service,
            shop,
            receiver,
        };
        setup.register(&setup.receiver.url("/olay")).await;
        setup
    }

    pub async fn register(&self, url: &str) {
        let body = json!({ "url": url });
        self.service.a.put("/webhook", &body).await.data();
    }

    pub async fn restart(&mut self) {
        self.service.restart().await;
        self.shop.addr = self.service.addr;
    }

    pub fn advance_clock(&self, seconds: u64) {
        self.service.advance(Duration::from_secs(seconds));
    }

    pub async fn verify(&self, order: &str) {
        let path = format!("/orders/verify/{order}");
        self.service.a.act(&path).await.data();
    }

    /// The webhook records of an order, in their sequence.
    pub async fn records(&self, order: &str) -> Vec<Value> {
        let path = format!("/webhook/deliveries?orderId={order}");
        let mut listed = self.service.a.get(&path).await.data().as_array().unwrap().clone();
        listed.reverse();
        listed
    }

    /// State, reason and number of attempts of an order's records.
    pub async fn states(&self, order: &str) -> Vec<(String, Value, usize)> {
        let records = self.records(order).await;
        let state = |record: &Value| {
            let attempts = record["attempts"].as_array().unwrap().len();
            let state = record["state"].as_str().unwrap().to_owned();
            (state, record["reason"].clone(), attempts)
        };
        records.iter().map(state).collect()
    }

    /// Waits until an order's records are as expected.
    pub async fn wait_for_records(&self, order: &str, wanted: &[(&str, Value, usize)]) {
        let wanted: Vec<(String, Value, usize)> = wanted
            .iter()
            .map(|(state, reason, attempts)| ((*state).to_owned(), reason.clone(), *attempts))
            .collect();
        let mut last = Vec::new();
        for _ in 0..3_000 {
            last = self.states(order).await;
            if last == wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("timed out: {order} is {last:?}, not {wanted:?}");
    }

    pub async fn wait_until_delivered(&self, order: &str, attempts: usize) {
        self.wait_for_records(order, &[("delivered", Value::Null, attempts)])
            .await;
    }

    /// Two orders come and go: whatever was to be begun before them has been begun.
    pub async fn probe(&self) {
        for _ in 0..2 {
            let id = format!("probe-{}", uuid::Uuid::now_v7());
            self.shop.order(&id).await;
            self.wait_until_delivered(&id, 1).await;
        }
    }

    /// How often an order's event has arrived.
    pub fn arrivals(&self, order: &str, sequence: i64) -> usize {
        let is_it = |seen: &&crate::support::ReceivedRequest| {
            let veri = &seen.json()["veri"];
            veri["pid"] == json!(order) && veri["sequence"] == json!(sequence)
        };
        self.receiver.seen().iter().filter(is_it).count()
    }

    pub async fn wait_for_arrivals(&self, order: &str, sequence: i64, times: usize) {
        let what = format!("{order}/{sequence} arrives {times} times");
        wait_until(&what, async || self.arrivals(order, sequence) >= times).await;
        assert_eq!(self.arrivals(order, sequence), times);
    }

    /// Posts orders concurrently, so that commits are shared; optionally verifies each.
    pub async fn submit_orders(&self, prefix: &str, count: usize, is_verified: bool) {
        let mut workers = tokio::task::JoinSet::new();
        for worker in 0..16 {
            let (shop, client, prefix) = (self.shop.clone(), self.service.a.clone(), prefix.to_owned());
            workers.spawn(async move {
                for n in (worker..count).step_by(16) {
                    let id = format!("{prefix}{n}");
                    let body = order_body(&shop.store, &id, 100).to_string();
                    shop.post(body.as_bytes()).await.data();
                    if is_verified {
                        client.act(&format!("/orders/verify/{id}")).await.data();
                    }
                }
            });
        }
        workers.join_all().await;
    }

    /// Deliveries that are not finished.
    pub fn pending(&self) -> i64 {
        self.service.count("events WHERE state = 'pending'")
    }

    /// Waits until nothing is due.
    pub async fn wait_until_idle(&self) {
        let now = self.service.app.now().as_millis();
        let due =
            format!("events WHERE state = 'pending' AND held = 0 AND (failures = 0 OR due_at <= {now})");
        wait_until("everything that is due is tried", async || {
            self.service.count(&due) == 0
        })
        .await;
    }
}

/// Which order a request is about.
pub fn pid(seen: &crate::support::ReceivedRequest) -> String {
    seen.json()["veri"]["pid"].as_str().unwrap_or_default().to_owned()
}
