//! Platforms that refuse: in their own words to people, and again and again at the end of a closing.

use super::setup::{change_shop, history, of, operations, put, shop, store, wait_for_store, wait_until_open};
use crate::escalation::setup::gateway;
use crate::support::{Backend, PlatformWorld, Receiver, disable_polling, fast_sim_settings, wait_until};
use garson_sim::Platform;
use garson_sim::views::{Fault, ShopRequest};
use serde_json::json;

on_both! {
    refusal_is_passed_on_in_the_platforms_words
    refused_reopening_is_repeated_and_reported
    platform_that_forgot_its_timer_and_is_locked_is_reported
}

fn refusal() -> Fault {
    Fault::Status {
        status: 400,
        body: Some(json!({ "code": 1, "message": "kapatılamaz", "error": "kapatılamaz" })),
    }
}

async fn refusal_is_passed_on_in_the_platforms_words(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for platform in [Platform::Trendyol, Platform::Migros] {
        let (close, _) = operations(platform);
        world.fault(platform, close, refusal(), Some(1)).await;
    }
    let locked = ShopRequest {
        changeable: Some(false),
        ..ShopRequest::default()
    };
    change_shop(&world, Platform::Yemeksepeti, locked).await;
    let providers = json!(["yemeksepeti", "trendyol", "migros"]);
    let answer = put(&world, json!({ "state": "closed", "providers": providers })).await;
    for platform in [Platform::Yemeksepeti, Platform::Trendyol, Platform::Migros] {
        let shown = of(&answer, platform);
        assert_eq!(shown["result"], json!("refused"), "{shown:#}");
        assert!(!shown["message"].as_str().unwrap().is_empty());
        assert!(shop(&world, platform).await.open, "{platform}");
        let shown = wait_for_store(&world, platform, "is read", |it| it["state"] == json!("open")).await;
        assert_eq!(shown["wanted"]["result"], json!("refused"), "{shown:#}");
    }
    assert_eq!(
        store(&world, Platform::Yemeksepeti).await["canChange"],
        json!(false)
    );
    // An answer of Getir with an unknown code may not last: it is final when it was repeated.
    let platform = Platform::Getir;
    world.fault(platform, "close", refusal(), Some(4)).await;
    let request = put(&world, json!({ "state": "closed", "providers": ["getir"] }));
    let (_, ()) = tokio::join!(
        request,
        wait_until("getir has refused it", async || {
            world.advance_clock(31).await;
            store(&world, platform).await["wanted"]["result"] == json!("refused")
        })
    );
    let shown = wait_for_store(&world, platform, "is read", |it| it["state"] == json!("open")).await;
    let message = shown["wanted"]["message"].as_str().unwrap();
    assert!(message.contains("kapatılamaz"), "{shown:#}");
    assert!(shop(&world, platform).await.open);
}

async fn refused_reopening_is_repeated_and_reported(backend: Backend) {
    let receiver = Receiver::start().await;
    let allow = |settings: &mut garson::config::Settings| {
        disable_polling(settings);
        settings.allow_private_targets = true;
    };
    let world = PlatformWorld::open_with(backend, fast_sim_settings(), allow).await;
    let channel = gateway(&world.a, &receiver, "SMS").await;
    let notices = json!({ "kinds": ["storeNotAsWanted"], "channelIds": [channel] });
    world.a.put("/notices", &notices).await.data();
    let platforms = [Platform::Getir, Platform::Trendyol, Platform::Migros];
    let providers = json!(["getir", "trendyol", "migros"]);
    put(
        &world,
        json!({ "state": "closed", "minutes": 20, "providers": providers }),
    )
    .await;
    for (platform, operation, times) in [
        // It may be repeated after a refusal with an unknown code: that is reported later.
        (Platform::Getir, "open", 3),
        (Platform::Trendyol, "store-status", 1),
        (Platform::Migros, "remove-off-date", 1),
    ] {
        world.fault(platform, operation, refusal(), Some(times)).await;
    }
    world.advance_clock(1_201).await;
    for platform in [Platform::Trendyol, Platform::Migros] {
        let shown = wait_for_store(&world, platform, "could not be opened", |it| {
            it["problem"] == json!("not_reopened")
        })
        .await;
        assert_eq!(shown["wanted"]["result"], json!("pending"), "{shown:#}");
        assert!(shown["wanted"]["message"].is_string());
    }
    let is_informed = async |count: usize| {
        wait_until("the account is informed", async || {
            garson::flow::notices::step(&world.service.app).await.unwrap();
            receiver.count() >= count
        })
        .await;
    };
    is_informed(2).await;
    wait_until("getir could not be opened", async || {
        world.advance_clock(31).await;
        store(&world, Platform::Getir).await["problem"] == json!("not_reopened")
    })
    .await;
    is_informed(3).await;
    world.advance_clock(121).await;
    for platform in platforms {
        wait_until_open(&world, platform).await;
        wait_for_store(&world, platform, "is as it should be", |it| {
            it["problem"] == json!(null)
        })
        .await;
    }
    let lines = history(&world).await;
    for platform in platforms {
        let retried = format!("account {platform} store_retried open pending");
        assert!(lines.contains(&retried), "{lines:#?}");
    }
}

async fn platform_that_forgot_its_timer_and_is_locked_is_reported(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let platform = Platform::Yemeksepeti;
    put(
        &world,
        json!({ "state": "closed", "minutes": 20, "providers": ["yemeksepeti"] }),
    )
    .await;
    let shop_is = |changeable| ShopRequest {
        changeable: Some(changeable),
        forgets_timers: Some(true),
        ..ShopRequest::default()
    };
    change_shop(&world, platform, shop_is(false)).await;
    world.advance_clock(1_201).await;
    wait_for_store(&world, platform, "is to be open", |it| {
        it["wanted"]["state"] == json!("open")
    })
    .await;
    world.advance_clock(61).await;
    let shown = wait_for_store(&world, platform, "could not be opened", |it| {
        it["problem"] == json!("not_reopened")
    })
    .await;
    assert_eq!(shown["wanted"]["result"], json!("pending"), "{shown:#}");
    assert_eq!(shown["canChange"], json!(false), "{shown:#}");
    change_shop(&world, platform, shop_is(true)).await;
    world.advance_clock(61).await;
    wait_until_open(&world, platform).await;
    wait_for_store(&world, platform, "is as it should be", |it| {
        it["problem"] == json!(null)
    })
    .await;
}
