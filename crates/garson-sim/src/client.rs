//! A small client of the control API, for the command line and for tests.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    call::encode,
    http_client::HttpClient,
    platform::Platform,
    views::{
        Autopilot, CallCount, FaultRequest, Health, ItemRequest, JournalLine, MenuItemView, OrderRequest,
        OrderView, PlacedOrder, ShopRequest, ShopView, Step, StoreRequest, StoreView,
    },
};

const WAIT: Duration = Duration::from_secs(30);

/// Talks to a running simulator. Errors are texts for people.
#[derive(Debug)]
pub struct ControlClient {
    url: String,
    http: HttpClient,
}

#[derive(Deserialize)]
struct Faults {
    faults: Vec<FaultRequest>,
}

#[derive(Deserialize)]
struct Stores {
    stores: Vec<StoreView>,
}

#[derive(Deserialize)]
struct Orders<T> {
    orders: Vec<T>,
}

#[derive(Deserialize)]
struct Items {
    items: Vec<MenuItemView>,
}

#[derive(Deserialize)]
struct Counts {
    counts: Vec<CallCount>,
}

#[derive(Deserialize)]
struct Lines {
    lines: Vec<JournalLine>,
}

impl ControlClient {
    /// `url` is the simulator's own address, such as `http://127.0.0.1:8090`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into().trim_end_matches('/').to_owned(),
            http: HttpClient::default(),
        }
    }

    pub async fn health(&self) -> Result<Health, String> {
        self.call(Method::GET, "/health", None).await
    }

    pub async fn put_store(&self, store: &StoreRequest) -> Result<StoreView, String> {
        self.send(Method::PUT, "/stores", store).await
    }

    pub async fn stores(&self) -> Result<Vec<StoreView>, String> {
        self.call(Method::GET, "/stores", None)
            .await
            .map(|Stores { stores }| stores)
    }

    /// What the platform knows of a store besides its orders.
    pub async fn shop(&self, platform: Platform, remote_id: &str) -> Result<ShopView, String> {
        let path = format!("/stores/{platform}/{}/shop", encode(remote_id));
        self.call(Method::GET, &path, None).await
    }

    /// Changes what the platform knows of a store, without a call to its API.
    pub async fn change_shop(
        &self,
        platform: Platform,
        remote_id: &str,
        request: &ShopRequest,
    ) -> Result<ShopView, String> {
        let path = format!("/stores/{platform}/{}/shop", encode(remote_id));
        self.send(Method::PATCH, &path, request).await
    }

    /// The items of a store's menu: products, then options.
    pub async fn items(&self, platform: Platform, remote_id: &str) -> Result<Vec<MenuItemView>, String> {
        let path = format!("/stores/{platform}/{}/items", encode(remote_id));
        self.call(Method::GET, &path, None)
            .await
            .map(|Items { items }| items)
    }

    /// Changes an item in the platform's own panel.
    pub async fn change_item(
        &self,
        platform: Platform,
        remote_id: &str,
        id: &str,
        request: &ItemRequest,
    ) -> Result<ShopView, String> {
        let path = format!("/stores/{platform}/{}/items/{}", encode(remote_id), encode(id));
        self.send(Method::PATCH, &path, request).await
    }

    /// How many calls each operation has had since the journal was cleared.
    pub async fn counts(&self, platform: Option<Platform>) -> Result<Vec<CallCount>, String> {
        let path = platform.map_or_else(
            || "/counts".to_owned(),
            |platform| format!("/counts?platform={platform}"),
        );
        self.call(Method::GET, &path, None)
            .await
            .map(|Counts { counts }| counts)
    }

    pub async fn place_orders(&self, request: &OrderRequest) -> Result<Vec<PlacedOrder>, String> {
        self.send(Method::POST, "/orders", request)
            .await
            .map(|Orders { orders }| orders)
    }

    pub async fn orders(&self, platform: Option<Platform>) -> Result<Vec<OrderView>, String> {
        let path = platform.map_or_else(
            || "/orders".to_owned(),
            |platform| format!("/orders?platform={platform}"),
        );
        self.call(Method::GET, &path, None)
            .await
            .map(|Orders { orders }| orders)
    }

    pub async fn order(&self, platform: Platform, id: &str) -> Result<OrderView, String> {
        self.call(Method::GET, &format!("/orders/{platform}/{}", encode(id)), None)
            .await
    }

    /// `by` is `customer`, `platform` or `restaurant`.
    pub async fn cancel(&self, platform: Platform, id: &str, by: &str) -> Result<OrderView, String> {
        self.happen(platform, id, "cancel", json!({"by": by})).await
    }

    pub async fn courier(&self, platform: Platform, id: &str, step: Step) -> Result<OrderView, String> {
        self.happen(platform, id, "courier", json!({"step": step})).await
    }

    /// One piece is taken out of the order, which goes on without it.
    pub async fn remove_piece(&self, platform: Platform, id: &str) -> Result<OrderView, String> {
        self.happen(platform, id, "remove-piece", json!({})).await
    }

    /// A Getir order that was accepted beforehand has its time come.
    pub async fn due(&self, platform: Platform, id: &str) -> Result<OrderView, String> {
        self.happen(platform, id, "due", json!({})).await
    }

    /// Pushes the order as it is now, once more.
    pub async fn push(&self, platform: Platform, id: &str) -> Result<OrderView, String> {
        self.happen(platform, id, "push", json!({})).await
    }

    async fn happen(
        &self,
        platform: Platform,
        id: &str,
        event: &str,
        body: Value,
    ) -> Result<OrderView, String> {
        self.send(
            Method::POST,
            &format!("/orders/{platform}/{}/{event}", encode(id)),
            &body,
        )
        .await
    }

    pub async fn order_fault(&self, fault: &FaultRequest) -> Result<(), String> {
        self.send(Method::POST, "/faults", fault).await.map(|_: Value| ())
    }

    /// The faults that have not happened yet.
    pub async fn faults(&self) -> Result<Vec<FaultRequest>, String> {
        self.call(Method::GET, "/faults", None)
            .await
            .map(|Faults { faults }| faults)
    }

    pub async fn clear_faults(&self) -> Result<(), String> {
        self.call(Method::DELETE, "/faults", None)
            .await
            .map(|_: Value| ())
    }

    /// The calls that came after number `since`, oldest first.
    pub async fn journal(&self, platform: Option<Platform>, since: u64) -> Result<Vec<JournalLine>, String> {
        let only = platform.map_or_else(String::new, |platform| format!("&platform={platform}"));
        self.call(Method::GET, &format!("/journal?since={since}{only}"), None)
            .await
            .map(|Lines { lines }| lines)
    }

    pub async fn clear_journal(&self) -> Result<(), String> {
        self.call(Method::DELETE, "/journal", None)
            .await
            .map(|_: Value| ())
    }

    /// Starts the autopilot, or stops it with no orders a minute.
    pub async fn autopilot(&self, autopilot: Autopilot) -> Result<(), String> {
        self.send(Method::POST, "/autopilot", &autopilot)
            .await
            .map(|_: Value| ())
    }

    /// Puts the platforms' clock ahead.
    pub async fn advance_clock(&self, seconds: u32) -> Result<(), String> {
        self.send(Method::POST, "/clock", &json!({"advanceSeconds": seconds}))
            .await
            .map(|_: Value| ())
    }

    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, String> {
        let body = serde_json::to_vec(body).map_err(|error| error.to_string())?;
        self.call(method, path, Some(body)).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<T, String> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}/control{path}", self.url));
        let request = request
            .header("content-type", "application/json")
            .body(Bytes::from(body.unwrap_or_default()));
        let (status, body) = self
            .http
            .send(request.map_err(|error| error.to_string())?, WAIT)
            .await?;
        if !status.is_success() {
            let error = serde_json::from_slice::<Value>(&body).ok();
            let error = error.and_then(|body| body["error"].as_str().map(str::to_owned));
            return Err(format!("{status}: {}", error.unwrap_or_default()));
        }
        serde_json::from_slice(&body)
            .map_err(|error| format!("the simulator's answer cannot be read: {error}"))
    }
}
