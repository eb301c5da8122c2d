//! A receiver in trouble costs little, and nobody else waits for it.

use super::crowd::{everybody_orders, guests, pile_up};
use super::scene::{Scene, pid};
use crate::support::{Answer, Gate, Kind, Ledger, Receiver, until};
use garson::app::DeliveryGauges;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

on_both! {
    a_black_hole_with_a_huge_backlog_delays_nobody
    two_hundred_receivers_return_together
    no_receiver_gets_more_than_sixteen_at_once
    orders_do_not_wait_for_others_that_hang
    a_first_attempt_takes_the_place_of_one_that_hangs
    receivers_that_hang_leave_slots_to_other_accounts
    many_receivers_that_hang_once_each_leave_a_slot_to_another
    a_receiver_that_fails_is_narrowed_and_widened_when_it_answers
    a_backlog_drains_when_the_receiver_returns
}

async fn a_black_hole_with_a_huge_backlog_delays_nobody(kind: Kind) {
    const BACKLOG: usize = 100_000;
    const GUESTS: usize = 50;
    const ORDERS: usize = 4;
    let scene = Scene::open_with(kind, |settings| settings.webhook.attempt_seconds = 1).await;
    let healthy = Receiver::start().await.keeps_connections();
    scene.receiver.usually(Answer::Silence);
    scene.shop.order("1").await;
    pile_up(&scene.house, BACKLOG);
    // Sixteen at once before anything is known of it, and then one after the other.
    scene.receiver.wait_for(18).await;
    until("it is narrowed", async || scene.receiver.open() <= 1).await;
    scene.receiver.count_anew();
    let before = scene.receiver.count();
    let guests = guests(&scene.house, GUESTS, |n| healthy.url(&format!("/{n}"))).await;
    everybody_orders(&guests, ORDERS).await;
    until("everybody else has everything", async || {
        healthy.count() == GUESTS * ORDERS
    })
    .await;
    // Meanwhile it was tried on, one at a time.
    scene.receiver.wait_for(before + 2).await;
    assert_eq!(scene.receiver.most_open(), 1);
    assert!(scene.pending() > BACKLOG as i64 - 100, "{}", scene.pending());
    let gauges: &DeliveryGauges = &scene.house.app.delivery_gauges;
    until("memory is what one receiver in trouble needs", async || {
        let memory = gauges.memory();
        memory.troubled == 1 && memory.in_flight <= 1 && memory.queued <= 16 + 32
    })
    .await;
    assert!(Ledger::of(&healthy).repeats() == 0);
}

async fn two_hundred_receivers_return_together(kind: Kind) {
    const RECEIVERS: usize = 200;
    const ORDERS: usize = 3;
    const AT_ONCE: usize = 64;
    let scene = Scene::open_with(kind, |settings| settings.webhook.max_in_flight = AT_ONCE).await;
    scene.receiver.clone().keeps_connections();
    scene.receiver.judges(|_| Answer::Status(503));
    let guests = guests(&scene.house, RECEIVERS, |n| scene.receiver.url(&format!("/{n}"))).await;
    everybody_orders(&guests, ORDERS).await;
    scene.receiver.wait_for(RECEIVERS * ORDERS).await;
    scene.is_quiet().await;
    assert_eq!(scene.pending(), (RECEIVERS * ORDERS) as i64);
    scene
        .receiver
        .judges(|_| Answer::After(Duration::from_millis(20), 200));
    scene.pass(12);
    until("everything is delivered", async || scene.pending() == 0).await;
    let seen = scene.receiver.seen();
    let paths: BTreeSet<&str> = seen.iter().map(|seen| seen.path()).collect();
    let taken = seen.iter().filter(|seen| seen.answered == Some(200)).count();
    assert_eq!((paths.len(), taken), (RECEIVERS, RECEIVERS * ORDERS));
    let most = scene.receiver.most_open();
    println!("{most} at once");
    assert!((2..=AT_ONCE).contains(&most), "{most} at once");
}

async fn no_receiver_gets_more_than_sixteen_at_once(kind: Kind) {
    // None is to be given up for another while the gate is closed.
    let scene = Scene::open_with(kind, |settings| settings.webhook.attempt_seconds = 60).await;
    scene.probe().await;
    let gate = Gate::closed();
    scene.receiver.usually(Answer::Behind(gate.clone(), 200));
    scene.pour("c", 40, false).await;
    until("sixteen are under way", async || scene.receiver.open() == 16).await;
    assert_eq!(scene.receiver.count() - 2, 16);
    gate.open();
    until("all are delivered", async || scene.pending() == 0).await;
    assert_eq!((scene.receiver.count() - 2, scene.receiver.most_open()), (40, 16));
}

/// A receiver that hangs on the orders of this prefix, and takes others at once.
fn hangs_on(receiver: &Receiver, prefix: &'static str) {
    receiver.judges(move |seen| match pid(seen).starts_with(prefix) {
        true => Answer::Silence,
        false => Answer::Status(200),
    });
}

async fn orders_do_not_wait_for_others_that_hang(kind: Kind) {
    let scene = Scene::open_with(kind, |settings| settings.webhook.attempt_seconds = 60).await;
    hangs_on(&scene.receiver, "hangs");
    scene.pour("hangs", 15, false).await;
    scene.receiver.wait_for(15).await;
    let start = Instant::now();
    scene.probe().await;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
    assert_eq!(scene.receiver.open(), 15, "the others are still waited for");
}

async fn a_first_attempt_takes_the_place_of_one_that_hangs(kind: Kind) {
    let scene = Scene::open_with(kind, |settings| settings.webhook.attempt_seconds = 60).await;
    hangs_on(&scene.receiver, "hangs");
    scene.probe().await;
    scene.pour("hangs", 18, false).await;
    until("all places are taken", async || scene.receiver.open() == 16).await;
    let start = Instant::now();
    scene.probe().await;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(45), "{took:?}");
    // Those whose places were taken count as if they had timed out, and say why.
    let mut given_up = 0;
    for n in 0..18 {
        let records = scene.records(&format!("hangs{n}")).await;
        for attempt in records[0]["attempts"].as_array().unwrap() {
            let explanation = attempt["explanation"].as_str().unwrap();
            assert!(explanation.contains("other events were waiting"), "{explanation}");
            assert_eq!(records[0]["reason"], "timed_out");
            given_up += 1;
        }
    }
    assert!((3..=5).contains(&given_up), "{given_up}");
}

async fn receivers_that_hang_leave_slots_to_other_accounts(kind: Kind) {
    const ALL: usize = 16;
    let scene = Scene::open_with(kind, |settings| {
        settings.webhook.max_in_flight = ALL;
        settings.webhook.attempt_seconds = 60;
    })
    .await;
    let hanging = Receiver::start().await;
    hanging.usually(Answer::Silence);
    let guests = guests(&scene.house, 3, |n| hanging.url(&format!("/{n}"))).await;
    everybody_orders(&guests, 10).await;
    until("first attempts have no slot left", async || {
        hanging.open() >= ALL / 2
    })
    .await;
    let start = Instant::now();
    scene.probe().await;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
}

async fn many_receivers_that_hang_once_each_leave_a_slot_to_another(kind: Kind) {
    // Four slots for first attempts and two for receivers in trouble.
    const ALL: usize = 8;
    const HANGING: usize = 6;
    let scene = Scene::open_with(kind, |settings| {
        settings.webhook.max_in_flight = ALL;
        settings.webhook.attempt_seconds = 60;
    })
    .await;
    let hanging = Receiver::start().await;
    hanging.usually(Answer::Silence);
    let guests = guests(&scene.house, HANGING, |n| hanging.url(&format!("/{n}"))).await;
    everybody_orders(&guests, 1).await;
    until("each has an attempt under way", async || {
        hanging.open() == HANGING
    })
    .await;
    let start = Instant::now();
    scene.probe().await;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
}

async fn a_receiver_that_fails_is_narrowed_and_widened_when_it_answers(kind: Kind) {
    let scene = Scene::open_with(kind, |settings| settings.webhook.attempt_seconds = 1).await;
    scene.receiver.judges(|_| Answer::Silence);
    scene.pour("n", 60, false).await;
    scene.receiver.wait_for(17).await;
    until("the first ones are given up", async || scene.receiver.open() <= 1).await;
    let first = scene.receiver.most_open();
    assert!(
        (1..=16).contains(&first),
        "{first} before anything was known of it"
    );
    scene.receiver.count_anew();
    let before = scene.receiver.count();
    scene.receiver.wait_for(before + 2).await;
    assert_eq!(scene.receiver.most_open(), 1);
    // It answers again: twice as many with every answer, up to sixteen.
    let (gate, answered) = (Gate::closed(), AtomicUsize::new(0));
    let held = gate.clone();
    scene
        .receiver
        .judges(move |_| match answered.fetch_add(1, Ordering::SeqCst) {
            0..20 => Answer::Status(200),
            _ => Answer::Behind(held.clone(), 200),
        });
    until("sixteen are under way", async || scene.receiver.open() == 16).await;
    gate.open();
    scene.pass(12);
    until("all are delivered", async || scene.pending() == 0).await;
    assert_eq!(scene.receiver.most_open(), 16);
}

async fn a_backlog_drains_when_the_receiver_returns(kind: Kind) {
    const BACKLOG: usize = 5_000;
    let mut scene = Scene::open(kind).await;
    let address = scene.receiver.addr;
    scene.receiver.stop_listening().await;
    scene.shop.order("1").await;
    pile_up(&scene.house, BACKLOG);
    until("it is in trouble", async || {
        scene.house.app.delivery_gauges.memory().troubled == 1
    })
    .await;
    scene.receiver = Receiver::start_at(address.to_string()).await.keeps_connections();
    scene.pass(12);
    for part in 1..=5 {
        scene.receiver.wait_for(part * BACKLOG / 5).await;
        let memory = scene.house.app.delivery_gauges.memory();
        assert!(memory.queued <= 256 + 32, "{memory:?}");
    }
    scene.pass(12);
    until("everything is delivered", async || scene.pending() == 0).await;
    let ledger = Ledger::of(&scene.receiver);
    assert_eq!((ledger.0.len(), ledger.repeats()), (BACKLOG + 1, 0));
    assert!(scene.receiver.most_open() <= 16);
}
