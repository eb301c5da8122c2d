//! The service stops or freezes during a platform call: the platform gets each call once.

use crate::support::{
    ApiClient, Backend, PlatformOrder, Program, SimulatedPlatforms, TestStorage, block_on, fast_sim_settings,
    wait_until,
};
use garson_sim::views::{Courier, Fault};
use garson_sim::{Platform, Sim};
use serde_json::json;
use std::time::Duration;

/// How long the platform takes for the call in flight.
const SLOW: Fault = Fault::Latency { ms: 2_000 };
/// Longer than a call is leased.
const FROZEN: Duration = Duration::from_secs(17);

struct Setup {
    platforms: SimulatedPlatforms,
    program: Program,
    settings: Vec<(String, String)>,
    storage: TestStorage,
    port: u16,
}

impl Setup {
    async fn open() -> Self {
        let storage = TestStorage::new(Backend::Sqlite);
        let key = storage.create_account("one@example.com");
        let sim = Sim::start(fast_sim_settings()).await.unwrap();
        let mut settings = Vec::new();
        for platform in Platform::ALL {
            let name = platform.to_string().to_uppercase();
            let base = format!("http://{}/{platform}", sim.address());
            settings.push((format!("GARSON_PLATFORMS__{name}__BASE_URL"), base));
            // It cannot be asked for orders.
            if platform != Platform::Yemeksepeti {
                settings.push((format!("GARSON_PLATFORMS__{name}__POLL_SECONDS"), "0".to_owned()));
            }
        }
        let mut program = start(&storage, 0, &settings);
        let addr = program.address().await;
        Self {
            platforms: SimulatedPlatforms::open(sim, ApiClient::new(addr, &key)).await,
            program,
            settings,
            storage,
            port: addr.port(),
        }
    }

    /// An order of each of these platforms whose next step is in flight and slow.
    async fn steps_under_way(&self) -> Vec<PlatformOrder> {
        let mut placed_orders = Vec::new();
        for (platform, call) in [
            (Platform::Trendyol, "invoiced"),
            (Platform::Migros, "update-status"),
        ] {
            let placed = self.platforms.verified(platform, Courier::Platform).await;
            self.platforms.fault_of(&placed, call, SLOW, Some(1)).await;
            self.platforms.ready(&placed).await.data();
            placed_orders.push(placed);
        }
        wait_until("the calls have arrived", async || {
            self.platforms.control.faults().await.unwrap().is_empty()
        })
        .await;
        placed_orders
    }

    /// Each platform has done the step, and was asked for it once.
    async fn were_made_once(&self, placed_orders: &[PlatformOrder]) {
        for placed in placed_orders {
            let state = match placed.platform {
                Platform::Trendyol => "Invoiced",
                _ => "PREPARED",
            };
            self.platforms.wait_for_platform_state(placed, state).await;
            let sent = self.platforms.sent(placed).await;
            assert_eq!(sent.len(), 2, "verified, and ready: {sent:?}");
        }
    }
}

fn start(storage: &TestStorage, port: u16, settings: &[(String, String)]) -> Program {
    let settings: Vec<_> = settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    Program::serve_at(storage, port, &settings)
}

#[test]
fn in_flight_call_finishes_before_shutdown() {
    block_on(async {
        let mut setup = Setup::open().await;
        let placed_orders = setup.steps_under_way().await;
        setup.program.terminate();
        assert!(setup.program.ended().await, "{}", setup.program.printed());
        // No process was running that could have repeated them.
        setup.were_made_once(&placed_orders).await;
        setup.program = start(&setup.storage, setup.port, &setup.settings);
        setup.program.address().await;
        for placed in &placed_orders {
            let order = setup.platforms.wait_for_sync(placed, "done").await;
            assert_eq!(order["status"], json!(500));
        }
        setup.were_made_once(&placed_orders).await;
    });
}

#[test]
fn frozen_process_does_not_repeat_its_calls() {
    block_on(async {
        let setup = Setup::open().await;
        let placed_orders = setup.steps_under_way().await;
        setup.program.pause();
        tokio::time::sleep(FROZEN).await;
        setup.program.wake();
        for placed in &placed_orders {
            setup.platforms.wait_for_sync(placed, "done").await;
        }
        setup.were_made_once(&placed_orders).await;
    });
}
