//! What a browser test stands on: a town with its platforms, and somebody who looks at the panel.

use crate::support::{Browser, Kind, Meal, Town, Visitor, block_on, quick, quiet};
use garson_sim::Platform;
use garson_sim::views::{Courier, OrderRequest};
use serde_json::json;

/// A browser in a town. The browser goes first.
pub struct Scene {
    pub browser: Browser,
    pub town: Town,
}

/// Names a test for each case.
macro_rules! scenes {
    ($($case:ident)*) => {
        $(#[test]
        fn $case() {
            crate::browser::scene::play(case::$case);
        })*
    };
}
pub(super) use scenes;

/// Plays a scene with a browser that runs scripts and is signed in.
pub fn play(case: impl AsyncFnOnce(Scene)) {
    block_on(async {
        let town = Town::open_with(Kind::Sqlite, quick(), |settings| {
            quiet(settings);
            // Receivers of events are on this machine too.
            settings.allow_private_targets = true;
        })
        .await;
        let browser = Browser::open(town.house.addr).await;
        let scene = Scene { browser, town };
        scene.enter(&scene.town.house.visitor().await).await;
        case(scene).await;
    });
}

impl Scene {
    /// Lets the browser be this visitor, who is signed in already.
    pub async fn enter(&self, visitor: &Visitor) {
        self.browser.go("/sign-in").await;
        for (name, value) in &visitor.cookies {
            self.browser.keep_cookie(name, value).await;
        }
    }

    /// Opens the board and waits until it is live.
    pub async fn open_board(&self) {
        self.browser.go("/").await;
        self.browser.shows("#live", "Canlı").await;
    }

    /// Lets somebody order; answers the order and the selector of its card.
    pub async fn order(&self, platform: Platform) -> (Meal, String) {
        let meal = self.town.order(platform, Courier::Restaurant).await;
        let card = self.card(&meal).await;
        (meal, card)
    }

    pub async fn card(&self, meal: &Meal) -> String {
        let order = self.town.shown(meal).await.unwrap();
        format!("#o-{}", order["id"].as_str().unwrap())
    }

    /// A restaurant in the middle of its evening: every platform, every column, and some trouble.
    pub async fn fill_evening(&self) {
        let town = &self.town;
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
            let (meal, _) = self.order(platform).await;
            if steps > 0 {
                town.verify(&meal).await.data();
            }
            for _ in 1..steps {
                town.advance(&meal).await.data();
                town.synced(&meal, "done").await;
            }
            town.pass(240).await;
        }
        let (meal, _) = self.order(Platform::Getir).await;
        let reason = town.reasons(&meal).await.remove(0);
        let body = json!({ "reasonId": reason, "note": "Fırın bozuldu" });
        town.cancel(&meal, body).await.data();
        let later = OrderRequest {
            scheduled_in_minutes: Some(90),
            ..OrderRequest::new(Platform::Getir)
        };
        town.place(later).await;
    }
}
