//! A restaurant that is connected to all simulated platforms: its orders, seen from both sides.

use super::platform_world::{credentials, remote_id, store};
use super::{ApiClient, Reply, wait_until};
use garson_sim::views::{
    Courier, Fault, FaultRequest, JournalLine, OrderRequest, OrderView, PlacedOrder, Step,
};
use garson_sim::{ControlClient, Platform, Sim};
use serde_json::{Value, json};
use std::time::Duration;

/// A restaurant that is connected to all simulated platforms.
pub struct SimulatedPlatforms {
    pub control: ControlClient,
    /// The client of the restaurant's account.
    pub a: ApiClient,
    pub restaurant: String,
    pub url: String,
    _sim: Sim,
}

/// An order that a customer has placed.
#[derive(Clone, Debug)]
pub struct PlatformOrder {
    pub platform: Platform,
    /// `providerOrderId`.
    pub id: String,
    pub token: Option<String>,
    /// The number of the last journal line before it was placed.
    mark: u64,
}

/// Calls that only read or start a session.
const READS: [&str; 17] = [
    "login",
    "pos-status",
    "active",
    "unapproved",
    "cancelled",
    "order",
    "orders-ids",
    "package",
    "packages",
    "pending",
    "detail",
    "statuses",
    "cancel-options",
    "reasons",
    "menu",
    "products",
    "store",
];

impl SimulatedPlatforms {
    /// A restaurant of this client's account, connected to all platforms.
    pub async fn open(sim: Sim, a: ApiClient) -> Self {
        let url = format!("http://{}", sim.address());
        let made = a.post("/restaurants", &json!({ "name": "Moda" })).await.data();
        let platforms = Self {
            control: ControlClient::new(url.clone()),
            restaurant: made["id"].as_str().unwrap().to_owned(),
            a,
            url,
            _sim: sim,
        };
        for platform in Platform::ALL {
            let hooks = format!("http://{}", platforms.a.addr);
            platforms
                .control
                .put_store(&store(platform, &hooks))
                .await
                .unwrap();
            platforms.connect(platform, &credentials(platform)).await.data();
        }
        platforms
    }

    /// Connects the restaurant to a platform, or changes how it is connected.
    pub async fn connect(&self, platform: Platform, credentials: &Value) -> Reply {
        let path = format!("/restaurants/{}/integrations/{platform}", self.restaurant);
        let mut credentials = credentials.clone();
        for value in credentials.as_object_mut().unwrap().values_mut() {
            // The API accepts headers as JSON in a string.
            if value.is_object() {
                *value = json!(value.to_string());
            }
        }
        let body = json!({ "isActive": true, "remoteId": remote_id(platform), "credentials": credentials });
        self.a.put(&path, &body).await
    }

    /// Sets the restaurant's `config`.
    pub async fn configure(&self, config: Value) {
        let path = format!("/restaurants/{}", self.restaurant);
        self.a
            .put(&path, &json!({ "name": "Moda", "config": config }))
            .await
            .data();
    }

    /// Places an order of a customer.
    pub async fn place(&self, request: OrderRequest) -> PlatformOrder {
        self.place_many(request).await.remove(0)
    }

    pub async fn place_many(&self, request: OrderRequest) -> Vec<PlatformOrder> {
        let mark = self.mark().await;
        let placed = self.control.place_orders(&request).await.unwrap();
        let platform_order = |placed: PlacedOrder| PlatformOrder {
            platform: placed.platform,
            id: placed.provider_order_id,
            token: placed.token,
            mark,
        };
        println!("{} {:?} {placed:?}", request.platform, request.courier);
        placed.into_iter().map(platform_order).collect()
    }

    async fn mark(&self) -> u64 {
        let lines = self.control.journal(None, 0).await.unwrap();
        lines.last().map_or(0, |line| line.number)
    }

    /// An order that was pushed and has arrived.
    pub async fn order(&self, platform: Platform, courier: Courier) -> PlatformOrder {
        let request = OrderRequest {
            courier: Some(courier),
            ..OrderRequest::new(platform)
        };
        let placed = self.place(request).await;
        self.wait_for_status(&placed, 400).await;
        if platform == Platform::Yemeksepeti {
            // The platform has received our acknowledgement.
            self.wait_for_platform_state(&placed, "RECEIVED").await;
        }
        placed
    }

    /// An order that was pushed and verified.
    pub async fn verified(&self, platform: Platform, courier: Courier) -> PlatformOrder {
        let placed = self.order(platform, courier).await;
        self.verify(&placed).await.data();
        placed
    }

    pub async fn verify(&self, placed: &PlatformOrder) -> Reply {
        self.a.act(&format!("/orders/verify/{}", placed.id)).await
    }

    pub async fn advance(&self, placed: &PlatformOrder) -> Reply {
        self.a.act(&format!("/orders/change-status/{}", placed.id)).await
    }

    pub async fn ready(&self, placed: &PlatformOrder) -> Reply {
        self.a.act(&format!("/orders/ready/{}", placed.id)).await
    }

    pub async fn cancel(&self, placed: &PlatformOrder, body: Value) -> Reply {
        self.a.post(&format!("/orders/cancel/{}", placed.id), &body).await
    }

    /// The ids of its cancel reasons.
    pub async fn reasons(&self, placed: &PlatformOrder) -> Vec<String> {
        let shown = self.a.get(&format!("/orders/reasons/{}", placed.id)).await.data();
        let reasons = shown["reasons"].as_array().unwrap();
        let id = |reason: &Value| reason["id"].as_str().unwrap().to_owned();
        reasons.iter().map(id).collect()
    }

    /// The order as the API shows it, if it exists.
    pub async fn find_order(&self, placed: &PlatformOrder) -> Option<Value> {
        let reply = self.a.get(&format!("/orders/{}", placed.id)).await;
        (reply.status != 404).then(|| reply.data())
    }

    /// Waits for a status and returns the order.
    pub async fn wait_for_status(&self, placed: &PlatformOrder, status: i64) -> Value {
        self.wait_for_order(placed, &format!("reaches {status}"), |order| {
            order["status"] == json!(status)
        })
        .await
    }

    /// Waits for a state of `providerSync`.
    pub async fn wait_for_sync(&self, placed: &PlatformOrder, state: &str) -> Value {
        self.wait_for_order(placed, &format!("is {state}"), |order| {
            order["providerSync"]["state"] == json!(state)
        })
        .await
    }

    /// Waits until the order meets a condition.
    pub async fn wait_for_order(
        &self,
        placed: &PlatformOrder,
        what: &str,
        so: impl Fn(&Value) -> bool,
    ) -> Value {
        let mut last = Value::Null;
        for _ in 0..3_000 {
            if let Some(order) = self.find_order(placed).await {
                if so(&order) {
                    return order;
                }
                last = order;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let journal = self
            .control
            .journal(Some(placed.platform), placed.mark)
            .await
            .unwrap();
        let view = self.view(placed).await;
        panic!("timed out: {placed:?} {what}; it is {last:#}\nthere {view:#?}\njournal {journal:#?}");
    }

    /// The order as the platform has it.
    pub async fn view(&self, placed: &PlatformOrder) -> OrderView {
        self.control.order(placed.platform, &placed.id).await.unwrap()
    }

    /// Waits for a state on the platform.
    pub async fn wait_for_platform_state(&self, placed: &PlatformOrder, state: &str) -> OrderView {
        let what = format!("{placed:?} is at {state} on its platform");
        wait_until(&what, async || self.view(placed).await.state_text() == state).await;
        self.view(placed).await
    }

    /// Waits until messages of this kind have been answered this many times.
    pub async fn wait_for_pushes(&self, placed: &PlatformOrder, kind: &str, status: u16, times: usize) {
        let what = format!("{placed:?}: {times} messages {kind} answered {status}");
        wait_until(&what, async || {
            let pushes = self.view(placed).await.pushes;
            let is_it =
                |push: &&garson_sim::views::PushLine| push.kind == kind && push.status == Some(status);
            pushes.iter().filter(is_it).count() >= times
        })
        .await;
    }

    pub async fn courier(&self, placed: &PlatformOrder, step: Step) {
        self.control
            .courier(placed.platform, &placed.id, step)
            .await
            .unwrap();
    }

    /// Cancels it on the platform, not through the service.
    pub async fn cancel_on_platform(&self, placed: &PlatformOrder, by: &str) {
        self.control
            .cancel(placed.platform, &placed.id, by)
            .await
            .unwrap();
    }

    pub async fn fault(&self, platform: Platform, on: &str, fault: Fault, times: Option<u64>) {
        let request = FaultRequest {
            platform,
            on: on.to_owned(),
            fault,
            order: None,
            times,
        };
        self.control.order_fault(&request).await.unwrap();
    }

    /// A fault for calls about this order only.
    pub async fn fault_of(&self, placed: &PlatformOrder, on: &str, fault: Fault, times: Option<u64>) {
        let request = FaultRequest {
            platform: placed.platform,
            on: on.to_owned(),
            fault,
            order: Some(placed.token.clone().unwrap_or_else(|| placed.id.clone())),
            times,
        };
        self.control.order_fault(&request).await.unwrap();
    }

    /// The platform's calls since the order was placed.
    pub async fn journal(&self, placed: &PlatformOrder) -> Vec<JournalLine> {
        let lines = self
            .control
            .journal(Some(placed.platform), placed.mark)
            .await
            .unwrap();
        let is_its = |line: &JournalLine| {
            line.order_id.is_none()
                || line.order_id.as_ref() == Some(&placed.id)
                || line.order_id == placed.token
        };
        lines.into_iter().filter(is_its).collect()
    }

    /// The number of calls of an operation since the order was placed.
    pub async fn calls(&self, placed: &PlatformOrder, operation: &str) -> usize {
        let lines = self.journal(placed).await;
        lines.iter().filter(|line| line.operation == operation).count()
    }

    /// The calls that changed the order, with their status: `verify 200`, or `verify -` without a response.
    pub async fn sent(&self, placed: &PlatformOrder) -> Vec<String> {
        let lines = self.journal(placed).await;
        let moves = lines
            .iter()
            .filter(|line| !READS.contains(&line.operation.as_str()));
        moves
            .map(|line| match line.status {
                Some(status) => format!("{} {status}", line.operation),
                None => format!("{} -", line.operation),
            })
            .collect()
    }

    /// The order's events in words, oldest first: `created 400`, `400>500 account`, `cancelled 1600 account`. Checks
    /// that they are numbered without a gap and match the timeline. Revisions are not included.
    pub async fn event_summary(&self, placed: &PlatformOrder) -> Vec<String> {
        let order = self.find_order(placed).await.unwrap();
        let mut events = Vec::new();
        let mut path = "/events?limit=200".to_owned();
        loop {
            let page = self.a.get(&path).await.success();
            let of_order = |event: &&Value| event["veri"]["orderId"] == order["id"];
            events.extend(page["data"].as_array().unwrap().iter().filter(of_order).cloned());
            let Some(next) = page["paging"]["next"].as_str() else {
                break;
            };
            path = format!("/events?limit=200&cursor={next}");
        }
        events.sort_by_key(|event| event["veri"]["sequence"].as_i64());
        let timeline = order["timeline"].as_array().unwrap().iter();
        let timeline: Vec<_> = timeline.filter(|line| line["revision"].is_null()).collect();
        assert_eq!(timeline.len(), events.len(), "{order:#} {events:#?}");
        let mut story = Vec::new();
        for (number, (event, line)) in events.iter().zip(timeline).enumerate() {
            let veri = &event["veri"];
            assert_eq!(veri["sequence"], json!(number + 1), "{events:#?}");
            assert_eq!(veri["providerOrderId"], json!(placed.id));
            assert_eq!(veri["provider"], json!(placed.platform.to_string()));
            let word = |value: &Value| value.to_string().replace('"', "");
            let told = match event["olay"].as_str().unwrap() {
                "siparis.olusturuldu" => {
                    assert_eq!((&line["to"], &line["from"]), (&veri["status"], &Value::Null));
                    format!("created {}", veri["status"])
                }
                "siparis.durum_degisti" => {
                    assert_eq!(
                        (&line["from"], &line["to"]),
                        (&veri["oldStatus"], &veri["newStatus"])
                    );
                    assert_eq!(line["by"], veri["by"]);
                    format!(
                        "{}>{} {}",
                        veri["oldStatus"],
                        veri["newStatus"],
                        word(&veri["by"])
                    )
                }
                "siparis.iptal_edildi" => {
                    assert_eq!((&line["to"], &line["by"]), (&veri["status"], &veri["by"]));
                    assert_eq!(order["cancellation"]["by"], veri["by"]);
                    assert_eq!(order["cancellation"]["reason"], veri["reason"]);
                    format!("cancelled {} {}", veri["status"], word(&veri["by"]))
                }
                other => panic!("an event {other}"),
            };
            story.push(told);
        }
        story
    }

    /// All orders of the account, as the list shows them.
    pub async fn orders(&self) -> Vec<Value> {
        self.a
            .get("/orders?limit=200")
            .await
            .data()
            .as_array()
            .unwrap()
            .clone()
    }
}
