//! The service is told to stop, or stands still, while it calls a platform: the platform gets each call once.

use crate::support::{Caller, Home, Kind, Meal, Program, Street, block_on, quick, until};
use garson_sim::views::{Courier, Fault};
use garson_sim::{Platform, Sim};
use serde_json::json;
use std::time::Duration;

/// How long the platform takes for the call that is under way.
const SLOW: Fault = Fault::Latency { ms: 2_000 };
/// Longer than a call is leased.
const FROZEN: Duration = Duration::from_secs(17);

struct Scene {
    street: Street,
    program: Program,
    settings: Vec<(String, String)>,
    home: Home,
    port: u16,
}

impl Scene {
    async fn open() -> Self {
        let home = Home::new(Kind::Sqlite);
        let key = home.create_account("one@example.com");
        let sim = Sim::start(quick()).await.unwrap();
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
        let mut program = start(&home, 0, &settings);
        let addr = program.address().await;
        Self {
            street: Street::open(sim, Caller::new(addr, &key)).await,
            program,
            settings,
            home,
            port: addr.port(),
        }
    }

    /// An order of each of these platforms whose next step is under way, and takes long.
    async fn steps_under_way(&self) -> Vec<Meal> {
        let mut meals = Vec::new();
        for (platform, call) in [
            (Platform::Trendyol, "invoiced"),
            (Platform::Migros, "update-status"),
        ] {
            let meal = self.street.verified(platform, Courier::Platform).await;
            self.street.fault_of(&meal, call, SLOW, Some(1)).await;
            self.street.ready(&meal).await.data();
            meals.push(meal);
        }
        until("the calls have arrived", async || {
            self.street.control.faults().await.unwrap().is_empty()
        })
        .await;
        meals
    }

    /// Each platform has done the step, and was asked for it once.
    async fn were_made_once(&self, meals: &[Meal]) {
        for meal in meals {
            let state = match meal.platform {
                Platform::Trendyol => "Invoiced",
                _ => "PREPARED",
            };
            self.street.stands_at(meal, state).await;
            let sent = self.street.sent(meal).await;
            assert_eq!(sent.len(), 2, "verified, and ready: {sent:?}");
        }
    }
}

fn start(home: &Home, port: u16, settings: &[(String, String)]) -> Program {
    let settings: Vec<_> = settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    Program::serve_at(home, port, &settings)
}

#[test]
fn a_call_that_is_under_way_comes_to_its_end_before_the_service_does() {
    block_on(async {
        let mut scene = Scene::open().await;
        let meals = scene.steps_under_way().await;
        scene.program.terminate();
        assert!(scene.program.ended().await, "{}", scene.program.printed());
        // Nobody was there any more who could have made them again.
        scene.were_made_once(&meals).await;
        scene.program = start(&scene.home, scene.port, &scene.settings);
        scene.program.address().await;
        for meal in &meals {
            let order = scene.street.synced(meal, "done").await;
            assert_eq!(order["status"], json!(500));
        }
        scene.were_made_once(&meals).await;
    });
}

#[test]
fn a_process_that_was_frozen_does_not_repeat_its_calls() {
    block_on(async {
        let scene = Scene::open().await;
        let meals = scene.steps_under_way().await;
        scene.program.pause();
        tokio::time::sleep(FROZEN).await;
        scene.program.wake();
        for meal in &meals {
            scene.street.synced(meal, "done").await;
        }
        scene.were_made_once(&meals).await;
    });
}
