//! Events of one order arrive in sequence; different orders never wait for each other.

use super::setup::{Setup, pid};
use crate::support::{Backend, CannedResponse, Gate, Ledger, ReceivedRequest, Receiver, wait_until};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

on_both! {
    successor_is_sent_after_two_failures_and_not_before
    successor_is_sent_after_its_predecessor_failed_permanently
    events_of_an_auto_verified_order_arrive_in_sequence
    different_orders_never_wait_for_each_other
    random_failures_keep_the_order_of_every_order
    backlog_larger_than_memory_keeps_the_order
}

fn sequence(seen: &ReceivedRequest) -> i64 {
    seen.json()["veri"]["sequence"].as_i64().unwrap_or_default()
}

async fn successor_is_sent_after_two_failures_and_not_before(backend: Backend) {
    let mut setup = Setup::open(backend).await;
    setup
        .receiver
        .respond_with(|seen| match (pid(seen).as_str(), sequence(seen)) {
            ("1", 1) => CannedResponse::Status(503),
            _ => CannedResponse::Status(200),
        });
    setup.shop.order("1").await;
    setup.verify("1").await;
    let bad = json!("bad_status");
    setup
        .wait_for_records(
            "1",
            &[
                ("pending", bad.clone(), 1),
                ("pending", json!("earlier_event"), 0),
            ],
        )
        .await;
    setup.restart().await;
    setup.probe().await;
    assert_eq!(setup.arrivals("1", 2), 0);
    setup.advance_clock(12);
    let delivered = ("delivered", Value::Null, 1);
    setup
        .wait_for_records("1", &[("pending", bad.clone(), 2), delivered.clone()])
        .await;
    // Those that come later need not wait for it either, only for each other.
    setup.service.a.act("/orders/change-status/1").await.data();
    setup
        .wait_for_records("1", &[("pending", bad, 2), delivered.clone(), delivered])
        .await;
    Ledger::of(&setup.receiver).assert_ordered();
}

async fn successor_is_sent_after_its_predecessor_failed_permanently(backend: Backend) {
    let setup = Setup::open_with(backend, |settings| settings.webhook.retry_seconds = Vec::new()).await;
    let gate = Gate::closed();
    setup.receiver.next(CannedResponse::Behind(gate.clone(), 500));
    setup.shop.order("1").await;
    setup.verify("1").await;
    setup.probe().await;
    assert_eq!(setup.arrivals("1", 2), 0);
    gate.open();
    let failed = ("failed", json!("bad_status"), 1);
    setup
        .wait_for_records("1", &[failed, ("delivered", Value::Null, 1)])
        .await;
}

async fn events_of_an_auto_verified_order_arrive_in_sequence(backend: Backend) {
    let setup = Setup::open(backend).await;
    let path = format!("/restaurants/{}", setup.shop.restaurant);
    let body = json!({ "name": "s", "config": { "autoVerify": true } });
    setup.service.a.put(&path, &body).await.data();
    setup.submit_orders("auto-", 40, false).await;
    wait_until("both events of each are delivered", async || {
        setup.service.count("events WHERE state = 'delivered'") == 80
    })
    .await;
    let ledger = Ledger::of(&setup.receiver);
    ledger.assert_ordered();
    assert_eq!((ledger.0.len(), ledger.repeats()), (80, 0));
}

async fn different_orders_never_wait_for_each_other(backend: Backend) {
    let setup = Setup::open(backend).await;
    let gate = Gate::closed();
    let held = gate.clone();
    setup.receiver.respond_with(move |seen| match pid(seen).as_str() {
        "stuck" => CannedResponse::Behind(held.clone(), 200),
        _ => CannedResponse::Status(200),
    });
    setup.shop.order("stuck").await;
    setup.verify("stuck").await;
    setup.receiver.wait_for(1).await;
    setup.submit_orders("free-", 30, true).await;
    wait_until("60 others pass it", async || {
        setup.service.count("events WHERE state = 'delivered'") == 60
    })
    .await;
    assert_eq!(setup.pending(), 2);
    gate.open();
    wait_until("it comes as well", async || setup.pending() == 0).await;
    Ledger::of(&setup.receiver).assert_ordered();
}

/// A number between 0 and 99 that depends on nothing but these.
fn draw(seed: u64, what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, what).hash(&mut hasher);
    hasher.finish() % 100
}

/// Fails this percentage of attempts, the same ones for the same seed, half of them by closing the connection.
fn fails_at_random(receiver: &Receiver, seed: u64, per_cent: u64) {
    let tried = Mutex::new(HashMap::<(String, i64), u64>::new());
    receiver.respond_with(move |seen| {
        let event = (pid(seen), sequence(seen));
        let mut tried = tried.lock().unwrap();
        let count = tried.entry(event.clone()).or_default();
        *count += 1;
        match draw(seed, (event, *count)) {
            drawn if drawn >= per_cent => CannedResponse::Status(200),
            drawn if drawn % 2 == 0 => CannedResponse::HangUp,
            _ => CannedResponse::Status(500),
        }
    });
}

async fn random_failures_keep_the_order_of_every_order(backend: Backend) {
    const ORDERS: usize = 40;
    let seed = 20_260_301;
    println!("seed {seed}");
    let mut setup = Setup::open(backend).await;
    fails_at_random(&setup.receiver, seed, 40);
    setup.submit_orders("r", ORDERS, true).await;
    for n in 0..ORDERS {
        let path = format!("/orders/change-status/r{n}");
        setup.service.a.act(&path).await.data();
    }
    let mut rounds = 0;
    loop {
        setup.wait_until_idle().await;
        if setup.pending() == 0 {
            break;
        }
        rounds += 1;
        // Three events with four attempts each, one after the other, are the worst.
        assert!(rounds <= 12, "{} are still not settled", setup.pending());
        if rounds == 2 {
            setup.restart().await;
        }
        setup.advance_clock(if rounds < 3 { 12 } else { 288 });
    }
    let ledger = Ledger::of(&setup.receiver);
    ledger.assert_ordered();
    ledger.repeats();
    ledger.assert_complete_except_skipped(&setup.service.a, 1).await;
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
    let count = |state: &str| setup.service.count(&format!("events WHERE state = '{state}'"));
    assert_eq!(count("failed"), i64::try_from(failed).unwrap());
    assert_eq!(count("delivered"), i64::try_from(delivered).unwrap());
}

async fn backlog_larger_than_memory_keeps_the_order(backend: Backend) {
    const ORDERS: usize = 600;
    let mut setup = Setup::open(backend).await;
    let address = setup.receiver.addr;
    setup.receiver.stop_listening().await;
    setup.submit_orders("b", ORDERS, true).await;
    assert_eq!(setup.pending(), 2 * ORDERS as i64);
    setup.receiver = Receiver::start_at(address.to_string()).await.keeps_connections();
    setup.receiver.wait_for(100).await;
    setup.restart().await;
    // Failed events are retried on schedule.
    setup.advance_clock(12);
    wait_until("everything is delivered", async || setup.pending() == 0).await;
    let ledger = Ledger::of(&setup.receiver);
    ledger.assert_ordered();
    ledger.assert_complete_except_skipped(&setup.service.a, 1).await;
    // An orderly restart repeats nothing.
    assert_eq!((ledger.0.len(), ledger.repeats()), (2 * ORDERS, 0));
}
