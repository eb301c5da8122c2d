//! Very many items are switched: within limits, without duplicates, across a restart.

use crate::support::{
    Backend, PlatformWorld, credentials, disable_polling, fast_sim_settings, remote_id, wait_until,
};
use garson_core::time::Timestamp;
use garson_sim::Platform;
use garson_sim::Platform::{Migros, Trendyol};
use garson_sim::views::{CallCount, Quirks, StoreRequest};
use serde_json::{Value, json};
use std::time::Duration;

on_both! {
    items_of_a_hundred_branches_are_switched_once_each
    ; sqlite_only:
    branches_that_share_a_key_stay_within_its_limit_together
    limit_that_was_used_up_before_a_restart_holds_back_the_rest
}

const BRANCHES: usize = 100;
const ITEMS: usize = 10;

/// A branch, of its own key on Migros, of a common key on Trendyol; returns its restaurant.
async fn branch(world: &PlatformWorld, platform: Platform, number: usize) -> String {
    let mut credentials = credentials(platform);
    let mut remote = format!("{}", 90_000 + number);
    if platform == Migros {
        credentials["apiKey"] = json!(format!("branch-key-{number}"));
        credentials["inboundUser"] = json!(format!("migros-{number}"));
    } else {
        let (supplier, _) = remote_id(platform).split_once(':').unwrap();
        remote = format!("{supplier}:{remote}");
    }
    let store = StoreRequest {
        platform,
        remote_id: remote.clone(),
        name: None,
        hook_url: None,
        credentials: credentials.clone(),
        quirks: Quirks::default(),
    };
    world.control.put_store(&store).await.unwrap();
    let made = world
        .a
        .post("/restaurants", &json!({ "name": format!("Şube {number}") }))
        .await
        .data();
    let id = made["id"].as_str().unwrap().to_owned();
    for value in credentials.as_object_mut().unwrap().values_mut() {
        // The API accepts headers as JSON in a string.
        if value.is_object() {
            *value = json!(value.to_string());
        }
    }
    let body = json!({ "isActive": true, "remoteId": remote, "credentials": credentials });
    let path = format!("/restaurants/{id}/integrations/{platform}");
    world.a.put(&path, &body).await.data();
    id
}

/// A new branch with some of its products.
async fn branch_with_products(
    world: &PlatformWorld,
    platform: Platform,
    number: usize,
) -> (String, Vec<Value>) {
    let restaurant = branch(world, platform, number).await;
    let read = format!("/restaurants/{restaurant}/menus/read");
    world.a.post(&read, &json!({})).await.data();
    let path = format!("/restaurants/{restaurant}/products?kind=product&limit={ITEMS}");
    let products = world.a.get(&path).await.data();
    let ids = products.as_array().unwrap().iter().map(|it| it["id"].clone());
    (restaurant, ids.collect())
}

/// Wishes that products are off, without waiting for platforms, and waits until all items are written.
async fn switch_off(world: &PlatformWorld, wanted: &[(String, Vec<Value>)]) {
    for (restaurant, ids) in wanted {
        let products: Vec<Value> = ids
            .iter()
            .map(|id| json!({ "productId": id, "available": false }))
            .collect();
        let path = format!("/restaurants/{restaurant}/products/availability");
        let (client, body) = (world.a.clone(), json!({ "products": products }));
        tokio::spawn(async move { client.put(&path, &body).await });
    }
    let total: usize = wanted.iter().map(|(_, ids)| ids.len()).sum();
    wait_until("all items are written", async || {
        usize::try_from(world.service.count("desired_items")).unwrap() == total
    })
    .await;
}

/// The calls that switch items.
async fn switches(world: &PlatformWorld, platform: Platform) -> CallCount {
    let counts = world.control.counts(Some(platform)).await.unwrap();
    let none = CallCount {
        platform,
        operation: "product-status".to_owned(),
        calls: 0,
        refused: 0,
    };
    let mut found = counts.into_iter().filter(|it| it.operation == none.operation);
    found.next().unwrap_or(none)
}

async fn items_of_a_hundred_branches_are_switched_once_each(backend: Backend) {
    let mut world = PlatformWorld::open_with(backend, fast_sim_settings(), disable_polling).await;
    let mut wanted = Vec::new();
    for number in 0..BRANCHES {
        wanted.push(branch_with_products(&world, Migros, number).await);
    }
    let total: usize = wanted.iter().map(|(_, ids)| ids.len()).sum();
    assert!(total > BRANCHES * 5, "{total} items");
    // All items are written first, then the service restarts in the middle of the work.
    switch_off(&world, &wanted).await;
    world.service.restart().await;
    world.platforms.a = world.service.a.clone();
    all_are_off(&world).await;
    let sent = switches(&world, Migros).await;
    assert_eq!(
        (usize::try_from(sent.calls).unwrap(), sent.refused),
        (total, 0),
        "each item once"
    );
    let off = world.service.count("platform_items WHERE is_available = 0");
    assert_eq!(usize::try_from(off).unwrap(), total);
}

/// Trendyol takes so many requests of a key in ten seconds.
const IN_TEN_SECONDS: usize = 50;

/// Branches with so many items together.
async fn branches_with(world: &PlatformWorld, items: usize) -> Vec<(String, Vec<Value>)> {
    let (mut wanted, mut left) = (Vec::new(), items);
    while left > 0 {
        let (restaurant, mut ids) = branch_with_products(world, Trendyol, wanted.len()).await;
        ids.truncate(left);
        left -= ids.len();
        wanted.push((restaurant, ids));
    }
    wanted
}

async fn wait_for_switches(world: &PlatformWorld, count: usize) {
    wait_until(&format!("{count} items are switched"), async || {
        world.service.app.product_work.availability.notify_one();
        usize::try_from(switches(world, Trendyol).await.calls).unwrap() >= count
    })
    .await;
}

async fn all_are_off(world: &PlatformWorld) {
    wait_until("all items are off", async || {
        world.service.app.product_work.availability.notify_one();
        world.service.count("desired_items WHERE state <> 'done'") == 0
    })
    .await;
}

async fn branches_that_share_a_key_stay_within_its_limit_together(backend: Backend) {
    let world = PlatformWorld::open_with(backend, fast_sim_settings(), disable_polling).await;
    let wanted = branches_with(&world, 120).await;
    switch_off(&world, &wanted).await;
    for sent in [IN_TEN_SECONDS, IN_TEN_SECONDS * 2] {
        wait_for_switches(&world, sent).await;
        world.advance_clock(11).await;
    }
    all_are_off(&world).await;
    let sent = switches(&world, Trendyol).await;
    assert_eq!((sent.calls, sent.refused), (120, 0), "each item once");
    let journal = world.control.journal(Some(Trendyol), 0).await.unwrap();
    let times: Vec<Timestamp> = journal
        .iter()
        .filter(|line| line.operation == sent.operation)
        .map(|line| line.at.parse().unwrap())
        .collect();
    for (earlier, later) in times.iter().zip(times.iter().skip(IN_TEN_SECONDS)) {
        let apart = later.since(*earlier);
        assert!(
            apart >= Duration::from_secs(10),
            "{apart:?} for more than {}",
            IN_TEN_SECONDS
        );
    }
}

async fn limit_that_was_used_up_before_a_restart_holds_back_the_rest(backend: Backend) {
    let mut world = PlatformWorld::open_with(backend, fast_sim_settings(), disable_polling).await;
    let wanted = branches_with(&world, 90).await;
    switch_off(&world, &wanted).await;
    wait_for_switches(&world, IN_TEN_SECONDS).await;
    world.service.restart().await;
    world.platforms.a = world.service.a.clone();
    wait_for_switches(&world, IN_TEN_SECONDS + 1).await;
    wait_until("all items are off", async || {
        world.advance_clock(11).await;
        world.service.app.product_work.availability.notify_one();
        world.service.count("desired_items WHERE state <> 'done'") == 0
    })
    .await;
    let sent = switches(&world, Trendyol).await;
    assert_eq!(sent.calls, 90 + sent.refused, "each item once");
    let at_once = u64::try_from(wanted.len()).unwrap();
    assert!(sent.refused <= at_once, "{} requests are refused", sent.refused);
}
