//! A failing receiver costs little and delays no other.

use super::many_accounts::{all_tenants_order, pile_up, tenants};
use super::setup::{Setup, pid};
use crate::support::{Backend, CannedResponse, Gate, Ledger, Receiver, wait_until};
use garson::app::DeliveryGauges;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

on_both! {
    unresponsive_receiver_with_a_huge_backlog_delays_no_other
    two_hundred_receivers_recover_together
    receiver_gets_at_most_sixteen_concurrent_attempts
    orders_do_not_wait_for_hanging_orders
    first_attempt_replaces_a_hanging_one
    hanging_receivers_leave_slots_to_other_accounts
    many_receivers_hanging_once_leave_a_slot_to_another
    failing_receiver_is_throttled_until_it_recovers
    backlog_drains_when_the_receiver_recovers
}

async fn unresponsive_receiver_with_a_huge_backlog_delays_no_other(backend: Backend) {
    const BACKLOG: usize = 100_000;
    const GUESTS: usize = 50;
    const ORDERS: usize = 4;
    let setup = Setup::open_with(backend, |settings| settings.webhook.attempt_seconds = 1).await;
    let healthy = Receiver::start().await.keeps_connections();
    setup.receiver.set_default_response(CannedResponse::Silence);
    setup.shop.order("1").await;
    pile_up(&setup.service, BACKLOG);
    // Sixteen at once before anything is known of it, and then one after the other.
    setup.receiver.wait_for(18).await;
    wait_until("it is narrowed", async || setup.receiver.open() <= 1).await;
    setup.receiver.reset_most_open();
    let before = setup.receiver.count();
    let tenants = tenants(&setup.service, GUESTS, |n| healthy.url(&format!("/{n}"))).await;
    all_tenants_order(&tenants, ORDERS).await;
    wait_until("everybody else has everything", async || {
        healthy.count() == GUESTS * ORDERS
    })
    .await;
    // Meanwhile it was tried on, one at a time.
    setup.receiver.wait_for(before + 2).await;
    assert_eq!(setup.receiver.most_open(), 1);
    assert!(setup.pending() > BACKLOG as i64 - 100, "{}", setup.pending());
    let gauges: &DeliveryGauges = &setup.service.app.delivery_gauges;
    wait_until("memory is what one receiver in trouble needs", async || {
        let memory = gauges.memory();
        memory.troubled == 1 && memory.in_flight <= 1 && memory.queued <= 16 + 32
    })
    .await;
    assert!(Ledger::of(&healthy).repeats() == 0);
}

async fn two_hundred_receivers_recover_together(backend: Backend) {
    const RECEIVERS: usize = 200;
    const ORDERS: usize = 3;
    const AT_ONCE: usize = 64;
    let setup = Setup::open_with(backend, |settings| settings.webhook.max_in_flight = AT_ONCE).await;
    setup.receiver.clone().keeps_connections();
    setup.receiver.respond_with(|_| CannedResponse::Status(503));
    let tenants = tenants(&setup.service, RECEIVERS, |n| {
        setup.receiver.url(&format!("/{n}"))
    })
    .await;
    all_tenants_order(&tenants, ORDERS).await;
    setup.receiver.wait_for(RECEIVERS * ORDERS).await;
    setup.wait_until_idle().await;
    assert_eq!(setup.pending(), (RECEIVERS * ORDERS) as i64);
    setup
        .receiver
        .respond_with(|_| CannedResponse::After(Duration::from_millis(20), 200));
    setup.advance_clock(12);
    wait_until("everything is delivered", async || setup.pending() == 0).await;
    let seen = setup.receiver.seen();
    let paths: BTreeSet<&str> = seen.iter().map(|seen| seen.path()).collect();
    let taken = seen.iter().filter(|seen| seen.answered == Some(200)).count();
    assert_eq!((paths.len(), taken), (RECEIVERS, RECEIVERS * ORDERS));
    let most = setup.receiver.most_open();
    println!("{most} at once");
    assert!((2..=AT_ONCE).contains(&most), "{most} at once");
}

async fn receiver_gets_at_most_sixteen_concurrent_attempts(backend: Backend) {
    // None is to be given up for another while the gate is closed.
    let setup = Setup::open_with(backend, |settings| settings.webhook.attempt_seconds = 60).await;
    setup.probe().await;
    let gate = Gate::closed();
    setup
        .receiver
        .set_default_response(CannedResponse::Behind(gate.clone(), 200));
    setup.submit_orders("c", 40, false).await;
    wait_until("sixteen are under way", async || setup.receiver.open() == 16).await;
    assert_eq!(setup.receiver.count() - 2, 16);
    gate.open();
    wait_until("all are delivered", async || setup.pending() == 0).await;
    assert_eq!((setup.receiver.count() - 2, setup.receiver.most_open()), (40, 16));
}

/// A receiver that hangs on the orders of this prefix, and takes others at once.
fn hangs_on(receiver: &Receiver, prefix: &'static str) {
    receiver.respond_with(move |seen| {
        if pid(seen).starts_with(prefix) {
            CannedResponse::Silence
        } else {
            CannedResponse::Status(200)
        }
    });
}

async fn orders_do_not_wait_for_hanging_orders(backend: Backend) {
    let setup = Setup::open_with(backend, |settings| settings.webhook.attempt_seconds = 60).await;
    hangs_on(&setup.receiver, "hangs");
    setup.submit_orders("hangs", 15, false).await;
    setup.receiver.wait_for(15).await;
    let start = Instant::now();
    setup.probe().await;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
    assert_eq!(setup.receiver.open(), 15, "the others are still waited for");
}

async fn first_attempt_replaces_a_hanging_one(backend: Backend) {
    let setup = Setup::open_with(backend, |settings| settings.webhook.attempt_seconds = 60).await;
    hangs_on(&setup.receiver, "hangs");
    setup.probe().await;
    setup.submit_orders("hangs", 18, false).await;
    wait_until("all places are taken", async || setup.receiver.open() == 16).await;
    let start = Instant::now();
    setup.probe().await;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(45), "{took:?}");
    // Those whose places were taken count as if they had timed out, and say why.
    let mut given_up = 0;
    for n in 0..18 {
        let records = setup.records(&format!("hangs{n}")).await;
        for attempt in records[0]["attempts"].as_array().unwrap() {
            let explanation = attempt["explanation"].as_str().unwrap();
            assert!(explanation.contains("other events were waiting"), "{explanation}");
            assert_eq!(records[0]["reason"], "timed_out");
            given_up += 1;
        }
    }
    assert!((3..=5).contains(&given_up), "{given_up}");
}

async fn hanging_receivers_leave_slots_to_other_accounts(backend: Backend) {
    const ALL: usize = 16;
    let setup = Setup::open_with(backend, |settings| {
        settings.webhook.max_in_flight = ALL;
        settings.webhook.attempt_seconds = 60;
    })
    .await;
    let hanging = Receiver::start().await;
    hanging.set_default_response(CannedResponse::Silence);
    let tenants = tenants(&setup.service, 3, |n| hanging.url(&format!("/{n}"))).await;
    all_tenants_order(&tenants, 10).await;
    wait_until("first attempts have no slot left", async || {
        hanging.open() >= ALL / 2
    })
    .await;
    let start = Instant::now();
    setup.probe().await;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
}

async fn many_receivers_hanging_once_leave_a_slot_to_another(backend: Backend) {
    // Four slots for first attempts and two for receivers in trouble.
    const ALL: usize = 8;
    const HANGING: usize = 6;
    let setup = Setup::open_with(backend, |settings| {
        settings.webhook.max_in_flight = ALL;
        settings.webhook.attempt_seconds = 60;
    })
    .await;
    let hanging = Receiver::start().await;
    hanging.set_default_response(CannedResponse::Silence);
    let tenants = tenants(&setup.service, HANGING, |n| hanging.url(&format!("/{n}"))).await;
    all_tenants_order(&tenants, 1).await;
    wait_until("each has an attempt under way", async || {
        hanging.open() == HANGING
    })
    .await;
    let start = Instant::now();
    setup.probe().await;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
}

async fn failing_receiver_is_throttled_until_it_recovers(backend: Backend) {
    let setup = Setup::open_with(backend, |settings| settings.webhook.attempt_seconds = 1).await;
    setup.receiver.respond_with(|_| CannedResponse::Silence);
    setup.submit_orders("n", 60, false).await;
    setup.receiver.wait_for(17).await;
    wait_until("the first ones are given up", async || setup.receiver.open() <= 1).await;
    let first = setup.receiver.most_open();
    assert!(
        (1..=16).contains(&first),
        "{first} before anything was known of it"
    );
    setup.receiver.reset_most_open();
    let before = setup.receiver.count();
    setup.receiver.wait_for(before + 2).await;
    assert_eq!(setup.receiver.most_open(), 1);
    // It answers again: twice as many with every answer, up to sixteen.
    let (gate, answered) = (Gate::closed(), AtomicUsize::new(0));
    let held = gate.clone();
    setup
        .receiver
        .respond_with(move |_| match answered.fetch_add(1, Ordering::SeqCst) {
            0..20 => CannedResponse::Status(200),
            _ => CannedResponse::Behind(held.clone(), 200),
        });
    wait_until("sixteen are under way", async || setup.receiver.open() == 16).await;
    gate.open();
    setup.advance_clock(12);
    wait_until("all are delivered", async || setup.pending() == 0).await;
    assert_eq!(setup.receiver.most_open(), 16);
}

async fn backlog_drains_when_the_receiver_recovers(backend: Backend) {
    const BACKLOG: usize = 5_000;
    let mut setup = Setup::open(backend).await;
    let address = setup.receiver.addr;
    setup.receiver.stop_listening().await;
    setup.shop.order("1").await;
    pile_up(&setup.service, BACKLOG);
    wait_until("it is in trouble", async || {
        setup.service.app.delivery_gauges.memory().troubled == 1
    })
    .await;
    setup.receiver = Receiver::start_at(address.to_string()).await.keeps_connections();
    setup.advance_clock(12);
    for part in 1..=5 {
        setup.receiver.wait_for(part * BACKLOG / 5).await;
        let memory = setup.service.app.delivery_gauges.memory();
        assert!(memory.queued <= 256 + 32, "{memory:?}");
    }
    setup.advance_clock(12);
    wait_until("everything is delivered", async || setup.pending() == 0).await;
    let ledger = Ledger::of(&setup.receiver);
    assert_eq!((ledger.0.len(), ledger.repeats()), (BACKLOG + 1, 0));
    assert!(setup.receiver.most_open() <= 16);
}
