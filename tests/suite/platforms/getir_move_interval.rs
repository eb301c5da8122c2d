//! Getir requires a minute between two moves: calls wait for it, and the API shows until when.

use super::expected_calls::answered;
use crate::support::{Backend, PlatformOrder, PlatformWorld, fast_sim_settings};
use garson_sim::Platform::Getir;
use garson_sim::SimSettings;
use garson_sim::views::Courier;
use serde_json::{Value, json};
use std::time::Duration;

on_both! {
    getir_courier_call_waits_for_the_interval
    own_courier_steps_respect_the_interval
    cancel_does_not_wait_for_the_interval
}

/// Both sides mind the minute: the platform refuses what comes too early.
async fn world(backend: Backend) -> PlatformWorld {
    let sim = SimSettings {
        getir_gap_seconds: 60,
        ..fast_sim_settings()
    };
    PlatformWorld::open_with(backend, sim, |settings| {
        let getir = settings.platforms.get_mut("getir").unwrap();
        getir.seconds_between_moves = 60;
    })
    .await
}

/// The call waits until this many seconds from now.
async fn waits(world: &PlatformWorld, placed: &PlatformOrder, seconds: u64) {
    let due_at = world
        .service
        .app
        .now()
        .plus(Duration::from_secs(seconds))
        .to_string();
    world
        .wait_for_order(placed, &format!("waits until {due_at}"), |order| {
            order["providerSync"] == json!({ "state": "pending", "dueAt": due_at, "message": null })
        })
        .await;
}

async fn getir_courier_call_waits_for_the_interval(backend: Backend) {
    let world = world(backend).await;
    let placed = world.verified(Getir, Courier::Platform).await;
    let answer = world.ready(&placed).await.data();
    assert_eq!(answer["providerSync"]["state"], json!("pending"));
    waits(&world, &placed, 60).await;
    world.advance(&placed).await.data();
    assert_eq!(world.sent(&placed).await, answered(&["verify"]));
    world.advance_clock(30).await;
    world.wait_for_status(&placed, 600).await;
    assert_eq!(world.sent(&placed).await, answered(&["verify"]), "it is not time");
    world.advance_clock(31).await;
    world.wait_for_platform_state(&placed, "550").await;
    // The hand-over waits another minute.
    waits(&world, &placed, 60).await;
    assert_eq!(world.sent(&placed).await, answered(&["verify", "prepare"]));
    world.advance_clock(61).await;
    world.wait_for_platform_state(&placed, "600").await;
    let order = world.wait_for_sync(&placed, "done").await;
    assert_eq!(order["providerSync"]["dueAt"], Value::Null);
    assert_eq!(
        world.sent(&placed).await,
        answered(&["verify", "prepare", "handover"])
    );
    let story = ["created 400", "400>500 account", "500>600 account"];
    assert_eq!(world.event_summary(&placed).await, story);
}

async fn own_courier_steps_respect_the_interval(backend: Backend) {
    let world = world(backend).await;
    let placed = world.verified(Getir, Courier::Restaurant).await;
    // The restaurant is not held up by the platform's clock.
    world.advance(&placed).await.data();
    world.advance(&placed).await.data();
    world.wait_for_status(&placed, 900).await;
    assert_eq!(world.sent(&placed).await, answered(&["verify"]));
    world.advance_clock(61).await;
    world.wait_for_platform_state(&placed, "700").await;
    world.wait_for_sync(&placed, "pending").await;
    assert_eq!(world.sent(&placed).await, answered(&["verify", "prepare"]));
    world.advance_clock(61).await;
    world.wait_for_platform_state(&placed, "900").await;
    world.wait_for_sync(&placed, "done").await;
    assert_eq!(
        world.sent(&placed).await,
        answered(&["verify", "prepare", "deliver"])
    );
}

async fn cancel_does_not_wait_for_the_interval(backend: Backend) {
    let world = world(backend).await;
    let placed = world.verified(Getir, Courier::Restaurant).await;
    world.advance(&placed).await.data();
    world.wait_for_sync(&placed, "pending").await;
    assert_eq!(
        world.cancel(&placed, json!({})).await.data()["status"],
        json!(1600)
    );
    world.wait_for_platform_state(&placed, "1600").await;
    // Pending calls are obsolete now.
    world.advance_clock(300).await;
    world.poll().await;
    let order = world.find_order(&placed).await.unwrap();
    assert_ne!(order["providerSync"]["state"], json!("pending"), "{order:#}");
    assert_eq!(world.sent(&placed).await, answered(&["verify", "cancel"]));
    let story = [
        "created 400",
        "400>500 account",
        "500>600 account",
        "cancelled 1600 account",
    ];
    assert_eq!(world.event_summary(&placed).await, story);
}
