//! Getir wants a minute between two moves: what is told waits for it, and everybody can see until when.

use super::road::answered;
use crate::support::{Kind, Meal, Town, quick};
use garson_sim::Platform::Getir;
use garson_sim::SimSettings;
use garson_sim::views::Courier;
use serde_json::{Value, json};
use std::time::Duration;

on_both! {
    getirs_courier_is_called_after_the_minute
    an_own_couriers_steps_keep_their_distance
    cancelling_does_not_wait_for_the_minute
}

/// Both sides mind the minute: the platform refuses what comes too early.
async fn town(kind: Kind) -> Town {
    let sim = SimSettings {
        getir_gap_seconds: 60,
        ..quick()
    };
    Town::open_with(kind, sim, |settings| {
        let getir = settings.platforms.get_mut("getir").unwrap();
        getir.seconds_between_moves = 60;
    })
    .await
}

/// The order waits to be told until this many seconds from now.
async fn waits(town: &Town, meal: &Meal, seconds: u64) {
    let due_at = town
        .house
        .app
        .now()
        .plus(Duration::from_secs(seconds))
        .to_string();
    town.shows(meal, &format!("waits until {due_at}"), |order| {
        order["providerSync"] == json!({ "state": "pending", "dueAt": due_at, "message": null })
    })
    .await;
}

async fn getirs_courier_is_called_after_the_minute(kind: Kind) {
    let town = town(kind).await;
    let meal = town.verified(Getir, Courier::Platform).await;
    let answer = town.ready(&meal).await.data();
    assert_eq!(answer["providerSync"]["state"], json!("pending"));
    waits(&town, &meal, 60).await;
    town.advance(&meal).await.data();
    assert_eq!(town.sent(&meal).await, answered(&["verify"]));
    town.pass(30).await;
    town.reaches(&meal, 600).await;
    assert_eq!(town.sent(&meal).await, answered(&["verify"]), "it is not time");
    town.pass(31).await;
    town.stands_at(&meal, "550").await;
    // The hand-over waits another minute.
    waits(&town, &meal, 60).await;
    assert_eq!(town.sent(&meal).await, answered(&["verify", "prepare"]));
    town.pass(61).await;
    town.stands_at(&meal, "600").await;
    let order = town.synced(&meal, "done").await;
    assert_eq!(order["providerSync"]["dueAt"], Value::Null);
    assert_eq!(
        town.sent(&meal).await,
        answered(&["verify", "prepare", "handover"])
    );
    let story = ["created 400", "400>500 account", "500>600 account"];
    assert_eq!(town.story(&meal).await, story);
}

async fn an_own_couriers_steps_keep_their_distance(kind: Kind) {
    let town = town(kind).await;
    let meal = town.verified(Getir, Courier::Restaurant).await;
    // The restaurant is not held up by the platform's clock.
    town.advance(&meal).await.data();
    town.advance(&meal).await.data();
    town.reaches(&meal, 900).await;
    assert_eq!(town.sent(&meal).await, answered(&["verify"]));
    town.pass(61).await;
    town.stands_at(&meal, "700").await;
    town.synced(&meal, "pending").await;
    assert_eq!(town.sent(&meal).await, answered(&["verify", "prepare"]));
    town.pass(61).await;
    town.stands_at(&meal, "900").await;
    town.synced(&meal, "done").await;
    assert_eq!(
        town.sent(&meal).await,
        answered(&["verify", "prepare", "deliver"])
    );
}

async fn cancelling_does_not_wait_for_the_minute(kind: Kind) {
    let town = town(kind).await;
    let meal = town.verified(Getir, Courier::Restaurant).await;
    town.advance(&meal).await.data();
    town.synced(&meal, "pending").await;
    assert_eq!(town.cancel(&meal, json!({})).await.data()["status"], json!(1600));
    town.stands_at(&meal, "1600").await;
    // What was still to be told is pointless now.
    town.pass(300).await;
    town.poll().await;
    let order = town.shown(&meal).await.unwrap();
    assert_ne!(order["providerSync"]["state"], json!("pending"), "{order:#}");
    assert_eq!(town.sent(&meal).await, answered(&["verify", "cancel"]));
    let story = [
        "created 400",
        "400>500 account",
        "500>600 account",
        "cancelled 1600 account",
    ];
    assert_eq!(town.story(&meal).await, story);
}
