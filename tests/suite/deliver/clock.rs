//! The clock is set: retries come neither in a burst nor never.

use super::scene::Scene;
use crate::support::{Answer, Kind, until};
use garson_core::clock::Clock;
use garson_core::testing::SettableClock;
use garson_core::time::Timestamp;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

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

/// A clock that goes, and can be set all the same.
struct Going {
    began: Instant,
    at_began: Mutex<i64>,
    clock: SettableClock,
}

impl Going {
    /// The clock goes from now on.
    fn start(scene: &Scene) -> Arc<Self> {
        let clock = scene.house.clock.clone();
        let going = Arc::new(Self {
            began: Instant::now(),
            at_began: Mutex::new(clock.now().as_millis()),
            clock,
        });
        let ticking = Arc::clone(&going);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(5)).await;
                ticking.set_by(0);
            }
        });
        going
    }

    fn set_back(&self, by: Duration) {
        self.set_by(-i64::try_from(by.as_millis()).unwrap());
    }

    fn set_forward(&self, by: Duration) {
        self.set_by(i64::try_from(by.as_millis()).unwrap());
    }

    fn set_by(&self, millis: i64) {
        let mut at_began = self.at_began.lock().unwrap();
        *at_began += millis;
        let now = Timestamp::from_millis(*at_began).plus(self.began.elapsed());
        self.clock.set(now);
    }
}

/// How long it is to the next attempt.
async fn wait(scene: &Scene) -> Duration {
    let next = scene.records("1").await[0]["nextAttemptAt"].clone();
    let next: Timestamp = next.as_str().unwrap().parse().unwrap();
    next.since(scene.house.app.now())
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
    let clock = Going::start(&scene);
    until("a look has seen the clock before it is set", async || {
        scene.house.app.delivery_gauges.waiting_accounts() == 1
    })
    .await;
    clock.set_back(HOUR);
    // It is due an hour ahead now, which no pause is.
    scene.stand("1", &[("pending", json!("bad_status"), 2)]).await;
    let wait = wait(&scene).await;
    assert!(wait <= Duration::from_secs(72), "{wait:?}");
}

async fn a_little_back_leaves_a_retry_within_its_longest_pause(kind: Kind) {
    let scene = tried(kind).await;
    let clock = Going::start(&scene);
    clock.set_back(Duration::from_millis(900));
    scene.receiver.usually(Answer::Status(200));
    scene.probe().await;
    // It was due in ten to twelve seconds, and less than one was added to that.
    let wait = wait(&scene).await;
    assert!(wait <= Duration::from_secs(13), "{wait:?}");
    assert_eq!(scene.arrivals("1", 1), 1);
    clock.set_forward(Duration::from_secs(13));
    scene.is_delivered("1", 2).await;
}

async fn an_hour_back_while_the_service_is_down_is_noticed_too(kind: Kind) {
    let mut scene = tried(kind).await;
    let clock = Going::start(&scene);
    scene.house.restart_meanwhile(|_| clock.set_back(HOUR)).await;
    scene.shop.addr = scene.house.addr;
    scene.stand("1", &[("pending", json!("bad_status"), 2)]).await;
}
