//! Closings with an end: by the platform's own timer, or by Garson, also after it was killed.

use super::setup::{calls, change_shop, of, operations, put, shop, store, wait_for_store, wait_until_open};
use crate::support::{Backend, PlatformWorld};
use garson_sim::Platform;
use garson_sim::views::ShopRequest;
use serde_json::json;

on_both! {
    timed_closing_ends_on_every_platform
    forgotten_timer_of_a_platform_is_noticed
    opening_ends_a_timed_closing
}

/// Who ends a closing of an hour.
fn timer(platform: Platform) -> &'static str {
    match platform {
        Platform::Getir | Platform::Trendyol => "garson",
        Platform::Yemeksepeti | Platform::Migros => "platform",
    }
}

async fn timed_closing_ends_on_every_platform(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let answer = put(&world, json!({ "state": "closed", "minutes": 60 })).await;
    for platform in Platform::ALL {
        let shown = of(&answer, platform);
        assert_eq!(
            (&shown["result"], &shown["wanted"]["timer"]),
            (&json!("done"), &json!(timer(platform))),
            "{shown:#}"
        );
        assert!(!shown["until"].is_null());
    }
    world.advance_clock(3_500).await;
    for platform in Platform::ALL {
        assert!(!shop(&world, platform).await.open, "{platform}");
    }
    world.advance_clock(102).await;
    for platform in Platform::ALL {
        wait_until_open(&world, platform).await;
    }
    // The platform's timer may be a minute late.
    world.advance_clock(60).await;
    for platform in Platform::ALL {
        let shown = wait_for_store(&world, platform, "is open", |it| {
            it["wanted"]["result"] == json!("done")
        })
        .await;
        assert_eq!(
            (&shown["state"], &shown["wanted"]["state"], &shown["problem"]),
            (&json!("open"), &json!("open"), &json!(null)),
            "{shown:#}"
        );
    }
    // Migros and Yemeksepeti opened by themselves.
    assert_eq!(calls(&world, Platform::Migros, "remove-off-date").await, 0);
    assert_eq!(calls(&world, Platform::Yemeksepeti, "set-availability").await, 1);
}

async fn forgotten_timer_of_a_platform_is_noticed(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let platform = Platform::Yemeksepeti;
    let forgets = ShopRequest {
        forgets_timers: Some(true),
        ..ShopRequest::default()
    };
    change_shop(&world, platform, forgets).await;
    let body = json!({ "state": "closed", "minutes": 60, "providers": ["yemeksepeti"] });
    let answer = put(&world, body).await;
    assert_eq!(of(&answer, platform)["wanted"]["timer"], json!("platform"));
    world.advance_clock(3_601).await;
    assert!(!shop(&world, platform).await.open);
    wait_for_store(&world, platform, "is to be open", |it| {
        it["wanted"]["state"] == json!("open")
    })
    .await;
    world.advance_clock(61).await;
    wait_until_open(&world, platform).await;
}

async fn opening_ends_a_timed_closing(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let only = json!(["trendyol"]);
    put(
        &world,
        json!({ "state": "closed", "minutes": 20, "providers": only }),
    )
    .await;
    put(&world, json!({ "state": "open", "providers": only })).await;
    assert!(shop(&world, Platform::Trendyol).await.open);
    let (_, open) = operations(Platform::Trendyol);
    let before = calls(&world, Platform::Trendyol, open).await;
    world.advance_clock(1_300).await;
    wait_for_store(&world, Platform::Trendyol, "is read back", |it| {
        !it["checkedAt"].is_null()
    })
    .await;
    assert_eq!(calls(&world, Platform::Trendyol, open).await, before);
    assert_eq!(store(&world, Platform::Trendyol).await["state"], json!("open"));
}
