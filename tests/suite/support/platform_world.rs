//! A service and simulated platforms in one process, with one clock.

use super::{Backend, SimulatedPlatforms, TestService, wait_until};
use garson::config::Settings;
use garson_core::clock::{Clock, SystemClock};
use garson_sim::views::{Quirks, StoreRequest};
use garson_sim::{Platform, Sim, SimSettings};
use serde_json::{Value, json};
use std::ops::Deref;
use std::sync::Mutex;
use std::time::Duration;

/// A service with simulated platforms, whose clocks the test controls.
pub struct PlatformWorld {
    pub service: TestService,
    pub platforms: SimulatedPlatforms,
    /// How far both clocks are ahead of the machine's.
    ahead: Mutex<Duration>,
}

impl Deref for PlatformWorld {
    type Target = SimulatedPlatforms;

    fn deref(&self) -> &SimulatedPlatforms {
        &self.platforms
    }
}

/// Platforms without waiting times, which never close an order on their own.
pub fn fast_sim_settings() -> SimSettings {
    SimSettings {
        getir_gap_seconds: 0,
        getir_answer_seconds: 0,
        yemeksepeti_expiry_seconds: 0,
        // These tests advance the clock, but sessions expire by the machine's clock.
        getir_token_seconds: 86_400,
        yemeksepeti_token_seconds: 86_400,
        push_retry_millis: Some(20),
        ..SimSettings::default()
    }
}

/// Switches polling off.
pub fn disable_polling(settings: &mut Settings) {
    for terms in settings.platforms.values_mut() {
        terms.poll_seconds = 0;
    }
}

/// The remote id of the restaurant on a platform.
pub fn remote_id(platform: Platform) -> &'static str {
    match platform {
        Platform::Getir => "5f0000000000000000000001",
        Platform::Yemeksepeti => "moda-1",
        Platform::Trendyol => "2738:15",
        Platform::Migros => "4711",
    }
}

pub fn credentials(platform: Platform) -> Value {
    match platform {
        Platform::Getir => {
            json!({ "appSecretKey": "app-secret", "restaurantSecretKey": "restaurant-secret", "inboundKey": "getir-knocks" })
        }
        Platform::Yemeksepeti => {
            json!({ "username": "user", "password": "pa&ss-word", "chainCode": "chain", "pluginSecret": "plugin-secret" })
        }
        Platform::Trendyol => json!({
            "supplierId": "2738", "apiKey": "trendyol-key", "apiSecret": "trendyol-secret", "integratorName": "Garson",
            "executorUser": "kasa@example.com", "inboundHeaders": { "x-api-key": "trendyol-knocks" },
        }),
        Platform::Migros => json!({
            "apiKey": "branch-key", "secretKey": "0123456789abcdef0123456789abcdef", "keyDerivation": "raw",
            "inboundUser": "migros", "inboundPassword": "migros-knocks",
        }),
    }
}

/// The restaurant's store on a platform.
pub fn store(platform: Platform, hook_url: &str) -> StoreRequest {
    StoreRequest {
        platform,
        remote_id: remote_id(platform).to_owned(),
        name: None,
        hook_url: Some(hook_url.to_owned()),
        credentials: credentials(platform),
        quirks: Quirks::default(),
    }
}

impl PlatformWorld {
    pub async fn open(backend: Backend) -> Self {
        Self::open_with(backend, fast_sim_settings(), |_| {}).await
    }

    /// Without polling, not even at the start.
    pub async fn open_without_polling(backend: Backend) -> Self {
        Self::open_with(backend, fast_sim_settings(), disable_polling).await
    }

    /// With other settings of the simulator and the service.
    pub async fn open_with(backend: Backend, sim: SimSettings, change: impl FnOnce(&mut Settings)) -> Self {
        let sim = Sim::start(sim).await.unwrap();
        let base = format!("http://{}", sim.address());
        let service = TestService::open_at(
            backend,
            SystemClock.now(),
            move |settings| {
                settings.simulator.clone_from(&base);
                for platform in Platform::ALL {
                    let terms = settings.platforms.get_mut(&platform.to_string()).unwrap();
                    terms.base_url = format!("{base}/{platform}");
                    // Once at the start, and then when a case polls.
                    terms.poll_seconds = 3_600;
                    terms.seconds_between_moves = 0;
                }
                change(settings);
            },
            None,
        )
        .await;
        Self {
            platforms: SimulatedPlatforms::open(sim, service.a.clone()).await,
            ahead: Mutex::default(),
            service,
        }
    }

    /// Advances the clocks of the service and the platforms. Waits for running calls first, which would seem to have taken that
    /// long.
    pub async fn advance_clock(&self, seconds: u32) {
        wait_until("no call is being made", async || !self.is_calling()).await;
        self.control.advance_clock(seconds).await.unwrap();
        *self.ahead.lock().unwrap() += Duration::from_secs(u64::from(seconds));
        self.set_clock();
    }

    /// Whether a call is running or due.
    fn is_calling(&self) -> bool {
        let now = self.service.app.now().as_millis();
        let calls = format!(
            "calls c WHERE c.state = 'open' AND (c.node IS NOT NULL OR (c.due_at <= {now} AND NOT EXISTS
             (SELECT 1 FROM calls e WHERE e.order_id = c.order_id AND e.state = 'open' AND e.number < c.number)))"
        );
        self.service.count(&calls) > 0
    }

    /// The service's clock changes only here, and never runs ahead of the platforms'.
    fn set_clock(&self) {
        let now = SystemClock.now().plus(*self.ahead.lock().unwrap());
        self.service.clock.set(now);
        self.service.app.call_waker.wake_all();
        self.service.app.store_signals.wake();
        self.service.app.platform_limits.clock_set();
    }

    /// Polls all platforms.
    pub async fn poll(&self) {
        self.set_clock();
        garson::flow::intake::poll::step(&self.service.app).await.unwrap();
    }
}
