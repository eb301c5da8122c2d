//! Within an order events come in their order; different orders never wait for each other.

use super::scene::{Scene, pid};
use crate::support::{Answer, Gate, Kind, Ledger, Receiver, Seen, until};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

on_both! {
    a_successor_goes_out_after_two_failures_and_never_before
    a_successor_goes_out_when_its_predecessor_has_failed_for_good
    the_two_events_of_an_order_that_is_verified_at_once_come_in_sequence
    different_orders_never_wait_for_each_other
    random_failures_keep_the_order_of_every_order
    a_backlog_that_memory_does_not_hold_keeps_the_order
}

fn sequence(seen: &Seen) -> i64 {
    seen.json()["veri"]["sequence"].as_i64().unwrap_or_default()
}

async fn a_successor_goes_out_after_two_failures_and_never_before(kind: Kind) {
    let mut scene = Scene::open(kind).await;
    scene
        .receiver
        .judges(|seen| match (pid(seen).as_str(), sequence(seen)) {
            ("1", 1) => Answer::Status(503),
            _ => Answer::Status(200),
        });
    scene.shop.order("1").await;
    scene.verify("1").await;
    let bad = json!("bad_status");
    scene
        .stand(
            "1",
            &[
                ("pending", bad.clone(), 1),
                ("pending", json!("earlier_event"), 0),
            ],
        )
        .await;
    scene.restart().await;
    scene.probe().await;
    assert_eq!(scene.arrivals("1", 2), 0);
    scene.pass(12);
    let delivered = ("delivered", Value::Null, 1);
    scene
        .stand("1", &[("pending", bad.clone(), 2), delivered.clone()])
        .await;
    // Those that come later need not wait for it either, only for each other.
    scene.house.a.act("/orders/change-status/1").await.data();
    scene
        .stand("1", &[("pending", bad, 2), delivered.clone(), delivered])
        .await;
    Ledger::of(&scene.receiver).assert_ordered();
}

async fn a_successor_goes_out_when_its_predecessor_has_failed_for_good(kind: Kind) {
    let scene = Scene::open_with(kind, |settings| settings.webhook.retry_seconds = Vec::new()).await;
    let gate = Gate::closed();
    scene.receiver.next(Answer::Behind(gate.clone(), 500));
    scene.shop.order("1").await;
    scene.verify("1").await;
    scene.probe().await;
    assert_eq!(scene.arrivals("1", 2), 0);
    gate.open();
    let failed = ("failed", json!("bad_status"), 1);
    scene.stand("1", &[failed, ("delivered", Value::Null, 1)]).await;
}

async fn the_two_events_of_an_order_that_is_verified_at_once_come_in_sequence(kind: Kind) {
    let scene = Scene::open(kind).await;
    let path = format!("/restaurants/{}", scene.shop.restaurant);
    let body = json!({ "name": "s", "config": { "autoVerify": true } });
    scene.house.a.put(&path, &body).await.data();
    scene.pour("auto-", 40, false).await;
    until("both events of each are delivered", async || {
        scene.house.count("events WHERE state = 'delivered'") == 80
    })
    .await;
    let ledger = Ledger::of(&scene.receiver);
    ledger.assert_ordered();
    assert_eq!((ledger.0.len(), ledger.repeats()), (80, 0));
}

async fn different_orders_never_wait_for_each_other(kind: Kind) {
    let scene = Scene::open(kind).await;
    let gate = Gate::closed();
    let held = gate.clone();
    scene.receiver.judges(move |seen| match pid(seen).as_str() {
        "stuck" => Answer::Behind(held.clone(), 200),
        _ => Answer::Status(200),
    });
    scene.shop.order("stuck").await;
    scene.verify("stuck").await;
    scene.receiver.wait_for(1).await;
    scene.pour("free-", 30, true).await;
    until("60 others pass it", async || {
        scene.house.count("events WHERE state = 'delivered'") == 60
    })
    .await;
    assert_eq!(scene.pending(), 2);
    gate.open();
    until("it comes as well", async || scene.pending() == 0).await;
    Ledger::of(&scene.receiver).assert_ordered();
}

/// A number between 0 and 99 that depends on nothing but these.
fn draw(seed: u64, what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, what).hash(&mut hasher);
    hasher.finish() % 100
}

/// Fails so many of a hundred attempts, the same ones for the same seed, half of them by hanging up.
fn fails_at_random(receiver: &Receiver, seed: u64, per_cent: u64) {
    let tried = Mutex::new(HashMap::<(String, i64), u64>::new());
    receiver.judges(move |seen| {
        let event = (pid(seen), sequence(seen));
        let mut tried = tried.lock().unwrap();
        let count = tried.entry(event.clone()).or_default();
        *count += 1;
        match draw(seed, (event, *count)) {
            drawn if drawn >= per_cent => Answer::Status(200),
            drawn if drawn % 2 == 0 => Answer::HangUp,
            _ => Answer::Status(500),
        }
    });
}

async fn random_failures_keep_the_order_of_every_order(kind: Kind) {
    const ORDERS: usize = 40;
    let seed = 20_260_301;
    println!("seed {seed}");
    let mut scene = Scene::open(kind).await;
    fails_at_random(&scene.receiver, seed, 40);
    scene.pour("r", ORDERS, true).await;
    for n in 0..ORDERS {
        let path = format!("/orders/change-status/r{n}");
        scene.house.a.act(&path).await.data();
    }
    let mut rounds = 0;
    loop {
        scene.is_quiet().await;
        if scene.pending() == 0 {
            break;
        }
        rounds += 1;
        // Three events with four attempts each, one after the other, are the worst.
        assert!(rounds <= 12, "{} are still not settled", scene.pending());
        if rounds == 2 {
            scene.restart().await;
        }
        scene.pass(if rounds < 3 { 12 } else { 288 });
    }
    let ledger = Ledger::of(&scene.receiver);
    ledger.assert_ordered();
    ledger.repeats();
    ledger.assert_complete_except_skipped(&scene.house.a, 1).await;
    // What failed was tried four times, what was delivered was taken exactly once.
    let mut of_event = HashMap::<&str, (usize, usize)>::new();
    for arrival in &ledger.0 {
        let entry = of_event.entry(&arrival.event).or_default();
        match arrival.answered {
            Some(200) => entry.0 += 1,
            _ => entry.1 += 1,
        }
    }
    let failed = of_event.values().filter(|found| **found == (0, 4)).count();
    let delivered = of_event.values().filter(|(taken, _)| *taken == 1).count();
    println!(
        "{failed} failed, {delivered} delivered, {} attempts",
        ledger.0.len()
    );
    assert_eq!(failed + delivered, 3 * ORDERS);
    let count = |state: &str| scene.house.count(&format!("events WHERE state = '{state}'"));
    assert_eq!(count("failed"), i64::try_from(failed).unwrap());
    assert_eq!(count("delivered"), i64::try_from(delivered).unwrap());
}

async fn a_backlog_that_memory_does_not_hold_keeps_the_order(kind: Kind) {
    const ORDERS: usize = 600;
    let mut scene = Scene::open(kind).await;
    let address = scene.receiver.addr;
    scene.receiver.stop_listening().await;
    scene.pour("b", ORDERS, true).await;
    assert_eq!(scene.pending(), 2 * ORDERS as i64);
    scene.receiver = Receiver::start_at(address.to_string()).await.keeps_connections();
    scene.receiver.wait_for(100).await;
    scene.restart().await;
    // What was tried in vain comes in its time.
    scene.pass(12);
    until("everything is delivered", async || scene.pending() == 0).await;
    let ledger = Ledger::of(&scene.receiver);
    ledger.assert_ordered();
    ledger.assert_complete_except_skipped(&scene.house.a, 1).await;
    // An orderly restart repeats nothing.
    assert_eq!((ledger.0.len(), ledger.repeats()), (2 * ORDERS, 0));
}
