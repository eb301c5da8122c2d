//! The throttle: too many orders make stores busy or close them, and fewer open them again.

use super::setup::{history, path, put, shop, store, wait_for_store};
use crate::support::{Backend, PlatformOrder, PlatformWorld};
use garson_sim::Platform;
use garson_sim::views::Courier;
use serde_json::json;

on_both! {
    many_orders_close_the_stores_and_fewer_open_them
    throttle_leaves_a_closing_by_a_person_alone
}

async fn orders(world: &PlatformWorld, count: usize) -> Vec<PlatformOrder> {
    let mut placed = Vec::new();
    for _ in 0..count {
        placed.push(world.order(Platform::Trendyol, Courier::Restaurant).await);
    }
    placed
}

/// Brings orders to an end.
async fn finish(world: &PlatformWorld, orders: &[PlatformOrder]) {
    for order in orders {
        world.cancel_on_platform(order, "customer").await;
        world.wait_for_status(order, 1500).await;
    }
}

async fn many_orders_close_the_stores_and_fewer_open_them(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let throttle = json!({
        "enabled": true, "busyAbove": 1, "busyDownTo": 0, "closeAbove": 2, "closeDownTo": 1, "minimumMinutes": 5,
    });
    let set = world.a.put(&path(&world, "throttle"), &throttle).await.data();
    assert_eq!((&set["level"], &set["enabled"]), (&json!("none"), &json!(true)));
    let placed = orders(&world, 2).await;
    let getir = wait_for_store(&world, Platform::Getir, "is busy", |it| {
        it["state"] == json!("busy")
    })
    .await;
    assert_eq!(getir["by"], json!("throttle"));
    assert!(shop(&world, Platform::Trendyol).await.open, "it has no busy mode");
    let more = orders(&world, 1).await;
    for platform in [Platform::Trendyol, Platform::Migros, Platform::Yemeksepeti] {
        let shown = wait_for_store(&world, platform, "is closed", |it| it["state"] == json!("closed")).await;
        assert_eq!(shown["by"], json!("throttle"), "{shown:#}");
    }
    finish(&world, &placed).await;
    finish(&world, &more).await;
    garson::flow::stores::throttle_step(&world.service.app)
        .await
        .unwrap();
    let shown = world.a.get(&path(&world, "throttle")).await.data();
    assert_eq!(shown["level"], json!("closed"), "a step lasts five minutes");
    world.advance_clock(301).await;
    garson::flow::stores::throttle_step(&world.service.app)
        .await
        .unwrap();
    for platform in [Platform::Trendyol, Platform::Migros, Platform::Yemeksepeti] {
        wait_for_store(&world, platform, "is open", |it| it["state"] == json!("open")).await;
        assert!(shop(&world, platform).await.open, "{platform}");
    }
    let lines = history(&world).await;
    let steps = lines.iter().filter(|line| line.contains("throttle_step")).count();
    assert_eq!(steps, 3, "{lines:#?}");
}

async fn throttle_leaves_a_closing_by_a_person_alone(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let only = json!(["trendyol"]);
    put(&world, json!({ "state": "closed", "providers": only })).await;
    let throttle = json!({ "enabled": true, "closeAbove": 1, "closeDownTo": 0, "minimumMinutes": 0 });
    world.a.put(&path(&world, "throttle"), &throttle).await.data();
    let placed = orders(&world, 2).await;
    wait_for_store(&world, Platform::Migros, "is closed", |it| {
        it["state"] == json!("closed")
    })
    .await;
    finish(&world, &placed).await;
    garson::flow::stores::throttle_step(&world.service.app)
        .await
        .unwrap();
    wait_for_store(&world, Platform::Migros, "is open", |it| {
        it["state"] == json!("open")
    })
    .await;
    let trendyol = store(&world, Platform::Trendyol).await;
    assert_eq!(
        (&trendyol["state"], &trendyol["by"]),
        (&json!("closed"), &json!("account")),
        "{trendyol:#}"
    );
    assert!(!shop(&world, Platform::Trendyol).await.open);
    // A person who opens a store overrides the throttle, which is suspended until the number has fallen.
    let placed = orders(&world, 2).await;
    wait_for_store(&world, Platform::Migros, "is closed", |it| {
        it["state"] == json!("closed")
    })
    .await;
    put(&world, json!({ "state": "open", "providers": ["migros"] })).await;
    garson::flow::stores::throttle_step(&world.service.app)
        .await
        .unwrap();
    assert!(shop(&world, Platform::Migros).await.open);
    let shown = world.a.get(&path(&world, "throttle")).await.data();
    assert_eq!(shown["suspended"], json!(true));
    finish(&world, &placed).await;
    garson::flow::stores::throttle_step(&world.service.app)
        .await
        .unwrap();
    let shown = world.a.get(&path(&world, "throttle")).await.data();
    assert_eq!(
        (&shown["suspended"], &shown["level"]),
        (&json!(false), &json!("none"))
    );
}
