//! The service is killed during a call: what the platform has done is detected and not repeated.

use super::expected_calls::{EXPECTED_CALLS, ExpectedCalls};
use crate::support::{
    ApiClient, Backend, PlatformOrder, Program, SimulatedPlatforms, TestStorage, fast_sim_settings, raw,
    request, wait_until,
};
use garson_sim::Platform::{self, Yemeksepeti};
use garson_sim::views::{Courier, Fault, OrderRequest};
use garson_sim::{Sim, SimSettings};
use serde_json::json;
use std::collections::BTreeSet;

on_both! {
    a_step_in_flight_is_found_done
    a_verification_in_flight_is_found_done
    a_cancellation_in_flight_is_found_done
    orders_arrive_while_the_service_is_killed
}

/// The real program with simulated platforms; it restarts at the same port.
pub struct KillableProgram {
    pub platforms: SimulatedPlatforms,
    program: Program,
    settings: Vec<(String, String)>,
    port: u16,
    storage: TestStorage,
}

impl KillableProgram {
    pub async fn open(backend: Backend, sim: SimSettings, poll_seconds: u32) -> Self {
        let storage = TestStorage::new(backend);
        let key = storage.create_account("one@example.com");
        let sim = Sim::start(sim).await.unwrap();
        let settings = platform_settings(&sim, poll_seconds);
        let mut program = start(&storage, 0, &settings);
        let addr = program.address().await;
        Self {
            platforms: SimulatedPlatforms::open(sim, ApiClient::new(addr, &key)).await,
            program,
            settings,
            port: addr.port(),
            storage,
        }
    }

    pub fn kill(&mut self) {
        self.program.kill();
    }

    pub async fn revive(&mut self) {
        self.program = start(&self.storage, self.port, &self.settings);
        self.program.address().await;
    }

    /// Sends a request without waiting for its response.
    fn ask(&self, path: &str) {
        self.ask_with("POST", path, b"");
    }

    /// The same with a body.
    pub fn ask_put(&self, path: &str, body: &serde_json::Value) {
        self.ask_with("PUT", path, body.to_string().as_bytes());
    }

    fn ask_with(&self, method: &str, path: &str, body: &[u8]) {
        let bearer = format!("Bearer {}", self.platforms.a.key);
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        let bytes = request(method, &format!("/web-api/v1{path}"), &headers, body);
        let addr = self.platforms.a.addr;
        tokio::spawn(async move { raw(addr, &bytes).await });
    }
}

/// The settings of a program that calls the simulated platforms.
pub fn platform_settings(sim: &Sim, poll_seconds: u32) -> Vec<(String, String)> {
    let mut settings = vec![("GARSON_RATE_LIMIT".to_owned(), "off".to_owned())];
    for platform in Platform::ALL {
        let name = platform.to_string().to_uppercase();
        let mut set =
            |key: &str, value: String| settings.push((format!("GARSON_PLATFORMS__{name}__{key}"), value));
        set("BASE_URL", format!("http://{}/{platform}", sim.address()));
        set("SECONDS_BETWEEN_MOVES", "0".to_owned());
        if platform != Yemeksepeti {
            set("POLL_SECONDS", poll_seconds.to_string());
        }
    }
    settings
}

pub fn start(storage: &TestStorage, port: u16, settings: &[(String, String)]) -> Program {
    let settings: Vec<(&str, &str)> = settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    Program::serve_at(storage, port, &settings)
}

/// An order of each platform whose courier is the restaurant's.
async fn one_of_each(platforms: &SimulatedPlatforms) -> Vec<(ExpectedCalls, PlatformOrder)> {
    let mut placed_orders = Vec::new();
    for expected in EXPECTED_CALLS
        .into_iter()
        .filter(|expected| expected.courier == Courier::Restaurant)
    {
        placed_orders.push((
            expected,
            platforms.order(expected.platform, expected.courier).await,
        ));
    }
    placed_orders
}

/// Waits until the platform has done something and keeps its answer back.
async fn is_held(platforms: &SimulatedPlatforms, placed: &PlatformOrder) {
    wait_until(&format!("{placed:?} is held"), async || {
        platforms
            .sent(placed)
            .await
            .last()
            .is_some_and(|line| line.ends_with(" -"))
    })
    .await;
}

async fn a_step_in_flight_is_found_done(backend: Backend) {
    let mut killable = KillableProgram::open(backend, fast_sim_settings(), 0).await;
    let placed_orders = one_of_each(&killable.platforms).await;
    for (expected, placed) in &placed_orders {
        killable.platforms.verify(placed).await.data();
        let call = expected.on_the_way.call.unwrap();
        killable
            .platforms
            .fault(expected.platform, call, Fault::TimeoutAfterWork, Some(1))
            .await;
        killable.platforms.advance(placed).await.data();
        is_held(&killable.platforms, placed).await;
    }
    killable.kill();
    killable.revive().await;
    for (expected, placed) in &placed_orders {
        let platforms = &killable.platforms;
        let order = platforms.wait_for_sync(placed, "done").await;
        assert_eq!(order["status"], json!(600), "{expected:?}");
        assert_eq!(
            platforms.view(placed).await.state_text(),
            expected.on_the_way.state,
            "{expected:?}"
        );
        let held = format!("{} -", expected.on_the_way.call.unwrap());
        let sent = platforms.sent(placed).await;
        assert_eq!(
            sent.iter().filter(|line| **line == held).count(),
            1,
            "{expected:?} {sent:?}"
        );
        let mut calls = vec![format!("{} 200", expected.verify.call.unwrap())];
        calls.extend(expected.ready.call.map(|call| format!("{call} 200")));
        match expected.platform {
            // The same call tells of ready; that was the one which was held.
            Platform::Migros => calls.insert(1, held),
            _ => calls.push(held),
        }
        if expected.platform == Yemeksepeti {
            // Its report knows no more than that it was accepted: asked again, it says that it was so already.
            calls.push("order_picked_up 409".to_owned());
        }
        assert_eq!(sent, calls, "{expected:?}");
        let story = ["created 400", "400>500 account", "500>600 account"];
        assert_eq!(platforms.event_summary(placed).await, story, "{expected:?}");
    }
}

async fn a_verification_in_flight_is_found_done(backend: Backend) {
    let mut killable = KillableProgram::open(backend, fast_sim_settings(), 0).await;
    let placed_orders = one_of_each(&killable.platforms).await;
    for (expected, placed) in &placed_orders {
        let call = expected.verify.call.unwrap();
        killable
            .platforms
            .fault(expected.platform, call, Fault::TimeoutAfterWork, Some(1))
            .await;
        killable.ask(&format!("/orders/verify/{}", placed.id));
        is_held(&killable.platforms, placed).await;
    }
    killable.kill();
    killable.revive().await;
    for (expected, placed) in &placed_orders {
        let platforms = &killable.platforms;
        platforms.wait_for_status(placed, 500).await;
        assert_eq!(
            platforms.view(placed).await.state_text(),
            expected.verify.state,
            "{expected:?}"
        );
        assert_eq!(
            platforms.sent(placed).await,
            [format!("{} -", expected.verify.call.unwrap())],
            "{expected:?}"
        );
        assert_eq!(
            platforms.event_summary(placed).await,
            ["created 400", "400>500 account"],
            "{expected:?}"
        );
        assert_eq!(platforms.verify(placed).await.data()["status"], json!(500));
    }
}

async fn a_cancellation_in_flight_is_found_done(backend: Backend) {
    let mut killable = KillableProgram::open(backend, fast_sim_settings(), 0).await;
    let placed_orders = one_of_each(&killable.platforms).await;
    let mut sent = Vec::new();
    for (expected, placed) in &placed_orders {
        let call = match expected.platform {
            Platform::Getir => "cancel",
            Platform::Yemeksepeti => "order_rejected",
            Platform::Trendyol => "unsupplied",
            Platform::Migros => "update-status",
        };
        killable
            .platforms
            .fault(expected.platform, "push", Fault::Drop, Some(1))
            .await;
        killable
            .platforms
            .fault(expected.platform, call, Fault::TimeoutAfterWork, Some(1))
            .await;
        killable.ask(&format!("/orders/cancel/{}", placed.id));
        is_held(&killable.platforms, placed).await;
        sent.push(format!("{call} -"));
    }
    killable.kill();
    killable.revive().await;
    for ((expected, placed), line) in placed_orders.iter().zip(sent) {
        let platforms = &killable.platforms;
        platforms.wait_for_status(placed, 1600).await;
        assert_eq!(platforms.sent(placed).await, [line], "{expected:?}");
        assert_eq!(
            platforms.event_summary(placed).await,
            ["created 400", "cancelled 1600 account"],
            "{expected:?}"
        );
    }
}

async fn orders_arrive_while_the_service_is_killed(backend: Backend) {
    let sim = SimSettings {
        push_retry_millis: Some(200),
        ..fast_sim_settings()
    };
    let mut killable = KillableProgram::open(backend, sim, 1).await;
    let mut placed_orders = Vec::new();
    for count in [3, 4, 3] {
        for platform in Platform::ALL {
            let request = OrderRequest {
                count,
                ..OrderRequest::new(platform)
            };
            placed_orders.extend(killable.platforms.place_many(request).await);
        }
        match placed_orders.len() {
            // Some of the first have arrived.
            12 => killable.kill(),
            // The next requests fail.
            28 => killable.revive().await,
            _ => {}
        }
    }
    for placed in &placed_orders {
        let order = killable.platforms.wait_for_status(placed, 400).await;
        assert_eq!(order["provider"], json!(placed.platform.to_string()));
    }
    for placed in &placed_orders {
        assert_eq!(
            killable.platforms.event_summary(placed).await,
            ["created 400"],
            "{placed:?}"
        );
    }
    let orders = killable.platforms.orders().await;
    let distinct: BTreeSet<String> = orders
        .iter()
        .map(|order| order["providerOrderId"].to_string())
        .collect();
    assert_eq!((orders.len(), distinct.len()), (40, 40));
}
