//! A service and the simulated platforms around it, in one process and with one time.

use super::{Backend, SimulatedPlatforms, TestService, wait_until};
use garson::config::Settings;
use garson_core::clock::{Clock, SystemClock};
use garson_sim::views::{Quirks, StoreRequest};
use garson_sim::{Platform, Sim, SimSettings};
use serde_json::{Value, json};
use std::ops::Deref;
use std::sync::Mutex;
use std::time::Duration;

/// A service whose time is in the test's hand, on a platforms of platforms.
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

/// Platforms that hold nobody up, and never close an order by themselves.
pub fn fast_sim_settings() -> SimSettings {
    SimSettings {
        getir_gap_seconds: 0,
        getir_answer_seconds: 0,
        yemeksepeti_expiry_seconds: 0,
        // Time is moved in these towns, and sessions are timed by the machine's clock.
        getir_token_seconds: 86_400,
        yemeksepeti_token_seconds: 86_400,
        push_retry_millis: Some(20),
        ..SimSettings::default()
    }
}

/// Platforms are never asked for orders.
pub fn disable_polling(settings: &mut Settings) {
    for terms in settings.platforms.values_mut() {
        terms.poll_seconds = 0;
    }
}

/// What the restaurant is called on a platform.
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

/// The restaurant as a platform knows it.
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

    /// A world whose platforms are never asked for orders, not even in the beginning.
    pub async fn open_without_polling(backend: Backend) -> Self {
        Self::open_with(backend, fast_sim_settings(), disable_polling).await
    }

    /// A world whose platforms and service are set otherwise.
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
                    // Once in the beginning, and then when a case says so.
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

    /// Time goes by, for the service and for the platforms; not while a call is being made, which would seem to have taken
    /// so long.
    pub async fn advance_clock(&self, seconds: u32) {
        wait_until("no call is being made", async || !self.is_calling()).await;
        self.control.advance_clock(seconds).await.unwrap();
        *self.ahead.lock().unwrap() += Duration::from_secs(u64::from(seconds));
        self.set_clock();
    }

    /// Is a call being made, or about to be?
    fn is_calling(&self) -> bool {
        let now = self.service.app.now().as_millis();
        let calls = format!(
            "calls c WHERE c.state = 'open' AND (c.node IS NOT NULL OR (c.due_at <= {now} AND NOT EXISTS
             (SELECT 1 FROM calls e WHERE e.order_id = c.order_id AND e.state = 'open' AND e.number < c.number)))"
        );
        self.service.count(&calls) > 0
    }

    /// The service's clock stands still between such moments, and never runs ahead of the platforms'.
    fn set_clock(&self) {
        let now = SystemClock.now().plus(*self.ahead.lock().unwrap());
        self.service.clock.set(now);
        self.service.app.wake_calls.look_everywhere();
    }

    /// Asks all platforms for their orders.
    pub async fn poll(&self) {
        self.set_clock();
        garson::flow::intake::poll::step(&self.service.app).await.unwrap();
    }
}
