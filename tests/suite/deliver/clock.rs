//! The clock is set: retries come neither in a burst nor never.

use super::scene::Scene;
use crate::support::{Answer, Kind};
use garson_core::time::Timestamp;
use serde_json::json;
use std::time::Duration;

on_both! {
    an_hour_forward_brings_one_retry_at_a_time
    an_hour_back_brings_a_retry_at_once
    a_little_back_leaves_a_retry_within_its_longest_pause
    an_hour_back_while_the_service_is_down_is_noticed_too
}

const HOUR: Duration = Duration::from_secs(3600);

/// A scene with an order that was tried in vain.
async fn tried(kind: Kind) -> Scene {
    let scene = Scene::open(kind).await;
    scene.receiver.usually(Answer::Status(500));
    scene.shop.order("1").await;
    scene.stand("1", &[("pending", json!("bad_status"), 1)]).await;
    scene
}

fn set_back(scene: &Scene, by: Duration) {
    let now = scene.house.app.now().as_millis();
    let by = i64::try_from(by.as_millis()).unwrap();
    scene.house.clock.set(Timestamp::from_millis(now - by));
}

async fn an_hour_forward_brings_one_retry_at_a_time(kind: Kind) {
    let scene = tried(kind).await;
    for tried in 2..=4 {
        scene.house.advance(HOUR);
        let state = if tried < 4 { "pending" } else { "failed" };
        scene.stand("1", &[(state, json!("bad_status"), tried)]).await;
        assert_eq!(scene.receiver.count(), tried);
    }
    scene.house.advance(HOUR);
    scene.receiver.usually(Answer::Status(200));
    scene.probe().await;
    assert_eq!(scene.arrivals("1", 1), 4);
}

async fn an_hour_back_brings_a_retry_at_once(kind: Kind) {
    let scene = tried(kind).await;
    set_back(&scene, HOUR);
    // No clock is moved any more: it was due an hour ahead, which no pause is.
    scene.stand("1", &[("pending", json!("bad_status"), 2)]).await;
    let next = scene.records("1").await[0]["nextAttemptAt"].clone();
    let next: Timestamp = next.as_str().unwrap().parse().unwrap();
    let wait = next.since(scene.house.app.now());
    assert!(
        wait >= Duration::from_secs(60) && wait <= Duration::from_secs(72),
        "{wait:?}"
    );
}

async fn a_little_back_leaves_a_retry_within_its_longest_pause(kind: Kind) {
    let scene = tried(kind).await;
    set_back(&scene, Duration::from_secs(1));
    scene.receiver.usually(Answer::Status(200));
    scene.probe().await;
    // It was due in ten to twelve seconds, which are eleven to thirteen now.
    scene.house.advance(Duration::from_secs(13));
    scene.is_delivered("1", 2).await;
}

async fn an_hour_back_while_the_service_is_down_is_noticed_too(kind: Kind) {
    let mut scene = tried(kind).await;
    scene
        .house
        .restart_meanwhile(|clock| {
            use garson_core::clock::Clock;
            let now = clock.now().as_millis();
            clock.set(Timestamp::from_millis(now - 3_600_000));
        })
        .await;
    scene.shop.addr = scene.house.addr;
    scene.stand("1", &[("pending", json!("bad_status"), 2)]).await;
}
