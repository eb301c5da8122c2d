//! Clock changes cause neither bursts of retries nor lost ones.

use super::setup::Setup;
use crate::support::{Backend, CannedResponse, wait_until};
use garson_core::clock::Clock;
use garson_core::testing::SettableClock;
use garson_core::time::Timestamp;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

on_both! {
    clock_jump_forward_causes_one_retry_at_a_time
    clock_jump_back_causes_an_immediate_retry
    small_clock_jump_back_keeps_the_retry_within_its_longest_pause
    clock_jump_back_while_stopped_is_detected
}

const HOUR: Duration = Duration::from_secs(3600);

/// A setup with an order whose first attempt has failed.
async fn tried(backend: Backend) -> Setup {
    let setup = Setup::open(backend).await;
    setup.receiver.set_default_response(CannedResponse::Status(500));
    setup.shop.order("1").await;
    setup
        .wait_for_records("1", &[("pending", json!("bad_status"), 1)])
        .await;
    setup
}

/// A clock that goes, and can be set all the same.
struct Going {
    began: Instant,
    at_began: Mutex<i64>,
    clock: SettableClock,
}

impl Going {
    /// The clock goes from now on.
    fn start(setup: &Setup) -> Arc<Self> {
        let clock = setup.service.clock.clone();
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
async fn wait(setup: &Setup) -> Duration {
    let next = setup.records("1").await[0]["nextAttemptAt"].clone();
    let next: Timestamp = next.as_str().unwrap().parse().unwrap();
    next.since(setup.service.app.now())
}

async fn clock_jump_forward_causes_one_retry_at_a_time(backend: Backend) {
    let setup = tried(backend).await;
    for tried in 2..=4 {
        setup.service.advance(HOUR);
        let state = if tried < 4 { "pending" } else { "failed" };
        setup
            .wait_for_records("1", &[(state, json!("bad_status"), tried)])
            .await;
        assert_eq!(setup.receiver.count(), tried);
    }
    setup.service.advance(HOUR);
    setup.receiver.set_default_response(CannedResponse::Status(200));
    setup.probe().await;
    assert_eq!(setup.arrivals("1", 1), 4);
}

async fn clock_jump_back_causes_an_immediate_retry(backend: Backend) {
    let setup = tried(backend).await;
    let clock = Going::start(&setup);
    wait_until("a look has seen the clock before it is set", async || {
        setup.service.app.delivery_gauges.waiting_accounts() == 1
    })
    .await;
    clock.set_back(HOUR);
    // It is due an hour ahead now, which no pause is.
    setup
        .wait_for_records("1", &[("pending", json!("bad_status"), 2)])
        .await;
    let wait = wait(&setup).await;
    assert!(wait <= Duration::from_secs(72), "{wait:?}");
}

async fn small_clock_jump_back_keeps_the_retry_within_its_longest_pause(backend: Backend) {
    let setup = tried(backend).await;
    let clock = Going::start(&setup);
    clock.set_back(Duration::from_millis(900));
    setup.receiver.set_default_response(CannedResponse::Status(200));
    setup.probe().await;
    // It was due in ten to twelve seconds, and less than one was added to that.
    let wait = wait(&setup).await;
    assert!(wait <= Duration::from_secs(13), "{wait:?}");
    assert_eq!(setup.arrivals("1", 1), 1);
    clock.set_forward(Duration::from_secs(13));
    setup.wait_until_delivered("1", 2).await;
}

async fn clock_jump_back_while_stopped_is_detected(backend: Backend) {
    let mut setup = tried(backend).await;
    let clock = Going::start(&setup);
    setup.service.restart_meanwhile(|_| clock.set_back(HOUR)).await;
    setup.shop.addr = setup.service.addr;
    setup
        .wait_for_records("1", &[("pending", json!("bad_status"), 2)])
        .await;
}
