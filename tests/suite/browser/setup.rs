//! The setup of a browser test: a service with simulated platforms, and a signed-in browser.

use crate::support::{
    Backend, Browser, PanelUser, PlatformOrder, PlatformWorld, block_on, disable_polling, fast_sim_settings,
};
use garson::config::Settings;
use garson_sim::Platform;
use garson_sim::views::{Courier, OrderRequest};
use serde_json::json;

/// The browser is dropped first.
pub struct Setup {
    pub browser: Browser,
    pub world: PlatformWorld,
}

/// Makes a test of each case.
macro_rules! browser_tests {
    ($($case:ident)*) => {
        $(#[test]
        fn $case() {
            crate::browser::setup::run(case::$case);
        })*
    };
}
pub(super) use browser_tests;

/// Runs a case with a signed-in browser that runs scripts.
pub fn run(case: impl AsyncFnOnce(Setup)) {
    block_on(async { case(Setup::open(|_| ()).await).await });
}

impl Setup {
    pub async fn open(change: impl FnOnce(&mut Settings)) -> Self {
        let world = PlatformWorld::open_with(Backend::Sqlite, fast_sim_settings(), |settings| {
            disable_polling(settings);
            // Receivers of events are on this machine too.
            settings.allow_private_targets = true;
            change(settings);
        })
        .await;
        let browser = Browser::open(world.service.addr).await;
        let setup = Self { browser, world };
        setup.enter(&setup.world.service.user().await).await;
        setup
    }

    /// Gives the browser the cookies of a signed-in user.
    pub async fn enter(&self, user: &PanelUser) {
        self.browser.go("/sign-in").await;
        for (name, value) in &user.cookies {
            self.browser.keep_cookie(name, value).await;
        }
    }

    /// Opens the board and waits until it is live.
    pub async fn open_board(&self) {
        self.browser.go("/").await;
        self.browser.wait_for_text("#live", "Canlı").await;
    }

    /// Places an order; returns it and the selector of its card.
    pub async fn order(&self, platform: Platform) -> (PlatformOrder, String) {
        let placed = self.world.order(platform, Courier::Restaurant).await;
        let card = self.card(&placed).await;
        (placed, card)
    }

    pub async fn card(&self, placed: &PlatformOrder) -> String {
        let order = self.world.find_order(placed).await.unwrap();
        format!("#o-{}", order["id"].as_str().unwrap())
    }

    /// A busy evening: orders of every platform in every column, and some failures.
    pub async fn fill_evening(&self) {
        let world = &self.world;
        for (platform, steps) in [
            (Platform::Getir, 3),
            (Platform::Migros, 2),
            (Platform::Trendyol, 2),
            (Platform::Yemeksepeti, 1),
            (Platform::Migros, 1),
            (Platform::Getir, 0),
            (Platform::Trendyol, 0),
            (Platform::Yemeksepeti, 0),
        ] {
            let (placed, _) = self.order(platform).await;
            if steps > 0 {
                world.verify(&placed).await.data();
            }
            for _ in 1..steps {
                world.advance(&placed).await.data();
                world.wait_for_sync(&placed, "done").await;
            }
            world.advance_clock(240).await;
        }
        let (placed, _) = self.order(Platform::Getir).await;
        let reason = world.reasons(&placed).await.remove(0);
        let body = json!({ "reasonId": reason, "note": "Fırın bozuldu" });
        world.cancel(&placed, body).await.data();
        let later = OrderRequest {
            scheduled_in_minutes: Some(90),
            ..OrderRequest::new(Platform::Getir)
        };
        world.place(later).await;
    }
}
