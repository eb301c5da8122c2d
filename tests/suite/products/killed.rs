//! The service is killed: items that have to be switched on again are, and requests in flight are not repeated.

use crate::support::{
    ApiClient, Backend, Program, SimulatedPlatforms, TestStorage, fast_sim_settings, remote_id, wait_until,
};
use garson_core::clock::{Clock, SystemClock};
use garson_core::time::Timestamp;
use garson_sim::Platform;
use garson_sim::Platform::{Migros, Trendyol};
use garson_sim::Sim;
use garson_sim::views::Fault;
use serde_json::{Value, json};
use std::time::Duration;

on_both! {
    items_are_switched_on_again_after_the_service_was_killed
    switch_in_flight_is_found_done_after_the_service_was_killed
}

pub struct Killable {
    pub platforms: SimulatedPlatforms,
    program: Program,
    settings: Vec<(String, String)>,
    port: u16,
    storage: TestStorage,
}

impl Killable {
    async fn open(backend: Backend) -> Self {
        Self::open_with(backend, Vec::new()).await
    }

    /// With more settings.
    pub async fn open_with(backend: Backend, more: Vec<(String, String)>) -> Self {
        let storage = TestStorage::new(backend);
        let key = storage.create_account("one@example.com");
        let sim = Sim::start(fast_sim_settings()).await.unwrap();
        let mut settings = vec![
            ("GARSON_RATE_LIMIT".to_owned(), "off".to_owned()),
            ("GARSON_MENUS__READ_HOURS".to_owned(), "0".to_owned()),
        ];
        for platform in Platform::ALL {
            let name = platform.to_string().to_uppercase();
            let url = format!("http://{}/{platform}", sim.address());
            settings.push((format!("GARSON_PLATFORMS__{name}__BASE_URL"), url));
            settings.push((format!("GARSON_PLATFORMS__{name}__POLL_SECONDS"), "0".to_owned()));
        }
        settings.extend(more);
        let mut program = start(&storage, 0, &settings);
        let addr = program.address().await;
        let platforms = SimulatedPlatforms::open(sim, ApiClient::new(addr, &key)).await;
        let read = format!("/restaurants/{}/menus/read", platforms.restaurant);
        platforms.a.post(&read, &json!({})).await.data();
        Self {
            platforms,
            program,
            settings,
            port: addr.port(),
            storage,
        }
    }

    pub async fn kill_and_revive(&mut self) {
        self.kill_and_revive_after(SystemClock.now()).await;
    }

    /// Kills the service; it starts again after a time.
    async fn kill_and_revive_after(&mut self, time: Timestamp) {
        self.program.kill();
        wait_until("the time has come", async || SystemClock.now() > time).await;
        self.program = start(&self.storage, self.port, &self.settings);
        self.program.address().await;
    }

    /// A product of a platform: its id here, and there.
    async fn product(&self, platform: Platform) -> (String, String) {
        let path = format!(
            "/restaurants/{}/products?kind=product&limit=200",
            self.platforms.restaurant
        );
        let all = self.platforms.a.get(&path).await.data();
        let of = |it: &&Value| it["platforms"][0]["provider"] == json!(platform.to_string());
        let found = all.as_array().unwrap().iter().find(of).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&found["id"]), text(&found["platforms"][0]["itemId"]))
    }

    /// Begins a request for whose answer nobody waits: the service is killed before.
    pub fn begin(&self, method: &'static str, path: &str, body: &Value) {
        let client = self.platforms.a.clone();
        let (path, body) = (format!("/web-api/v1{path}"), body.to_string());
        tokio::spawn(async move {
            let key = format!("Bearer {}", client.key);
            let headers = [
                ("authorization", key.as_str()),
                ("content-type", "application/json"),
            ];
            let bytes = crate::support::request(method, &path, &headers, body.as_bytes());
            crate::support::raw(client.addr, &bytes).await
        });
    }

    fn path(&self, product: &str) -> String {
        format!(
            "/restaurants/{}/products/{product}/availability",
            self.platforms.restaurant
        )
    }

    async fn is_available(&self, platform: Platform, item: &str) -> bool {
        let shop = self
            .platforms
            .control
            .shop(platform, remote_id(platform))
            .await
            .unwrap();
        let changed = shop.items.iter().find(|it| it.id == item);
        changed.is_none_or(|it| it.available)
    }

    async fn calls(&self, platform: Platform) -> u64 {
        self.calls_of(platform, "product-status").await
    }

    /// How many calls of an operation a platform has had.
    pub async fn calls_of(&self, platform: Platform, operation: &str) -> u64 {
        let counts = self.platforms.control.counts(Some(platform)).await.unwrap();
        let found = counts.iter().find(|count| count.operation == operation);
        found.map_or(0, |count| count.calls)
    }
}

fn start(storage: &TestStorage, port: u16, settings: &[(String, String)]) -> Program {
    let settings: Vec<(&str, &str)> = settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    Program::serve_at(storage, port, &settings)
}

async fn items_are_switched_on_again_after_the_service_was_killed(backend: Backend) {
    let mut killable = Killable::open(backend).await;
    let mut switched = Vec::new();
    let until = SystemClock.now().plus(Duration::from_secs(8));
    for platform in [Trendyol, Migros] {
        let (product, item) = killable.product(platform).await;
        let body = json!({ "available": false, "until": until.to_string() });
        let done = killable
            .platforms
            .a
            .put(&killable.path(&product), &body)
            .await
            .data();
        assert_eq!(done["results"][0]["result"], json!("done"), "{done:#}");
        assert_eq!(done["results"][0]["timer"], json!("garson"));
        switched.push((platform, item));
    }
    // The time ends while the service is not there.
    killable.kill_and_revive_after(until).await;
    for (platform, item) in switched {
        wait_until("it is switched on again", async || {
            killable.is_available(platform, &item).await
        })
        .await;
        assert_eq!(killable.calls(platform).await, 2, "off once, on once");
    }
}

async fn switch_in_flight_is_found_done_after_the_service_was_killed(backend: Backend) {
    let mut killable = Killable::open(backend).await;
    let (product, item) = killable.product(Trendyol).await;
    killable
        .platforms
        .fault(Trendyol, "product-status", Fault::TimeoutAfterWork, Some(1))
        .await;
    let path = killable.path(&product);
    killable.begin("PUT", &path, &json!({ "available": false }));
    wait_until("the platform has done it", async || {
        !killable.is_available(Trendyol, &item).await
    })
    .await;
    killable.kill_and_revive().await;
    let path = format!(
        "/restaurants/{}/products/{product}",
        killable.platforms.restaurant
    );
    wait_until("it is found done", async || {
        let found = killable.platforms.a.get(&path).await.data();
        found["platforms"][0]["wanted"]["result"] == json!("done")
    })
    .await;
    assert_eq!(killable.calls(Trendyol).await, 1, "it is not sent twice");
}
