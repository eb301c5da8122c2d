//! Kills at random times: every event arrives, duplicates are few and identical, and work resumes at once.

use super::running_program::RunningProgram;
use crate::support::{Backend, CannedResponse, Gate, Ledger, Receiver, wait_until};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

on_both! {
    nothing_is_lost_over_a_hundred_kills
    in_flight_attempts_continue_after_a_kill
    sixty_four_in_flight_attempts_finish_before_shutdown
}

/// What one receiver may have under way, and results that may wait to be written.
const MOST_REPEATS: usize = 16 + 512;

/// A number below another one; any moment is as good as another.
fn below(limit: u64) -> u64 {
    let (_, random) = uuid::Uuid::now_v7().as_u64_pair();
    random % limit
}

async fn nothing_is_lost_over_a_hundred_kills(backend: Backend) {
    const KILLS: usize = 100;
    let receiver = Receiver::start().await.keeps_connections();
    receiver.respond_with(|_| CannedResponse::After(Duration::from_millis(below(30)), 200));
    let mut running = RunningProgram::open(backend, 1, &receiver).await;
    let order_load = running.submit_orders(4, Duration::from_millis(25));
    let mut kills = Vec::new();
    for round in 0..KILLS {
        // Every fourth one hits a service that is still starting or has just begun to recover.
        if round % 4 != 3 {
            running.wait_until_listening().await;
            let before = receiver.count();
            wait_until("it delivers", async || receiver.count() > before + 2).await;
        }
        tokio::time::sleep(Duration::from_millis(below(250))).await;
        running.kill();
        // What it had sent by then came before the kill, however late it is read.
        receiver.is_drained().await;
        kills.push(Instant::now());
        running.start();
    }
    running.wait_until_listening().await;
    let acknowledged = order_load.finish().await;
    running.wait_until_delivered().await;
    let ledger = Ledger::of(&receiver);
    let came: BTreeSet<(String, i64)> = receiver
        .seen()
        .iter()
        .map(|seen| {
            let veri = &seen.json()["veri"];
            let pid = veri["pid"].as_str().unwrap().to_owned();
            (pid, veri["sequence"].as_i64().unwrap())
        })
        .collect();
    let lost: Vec<_> = acknowledged.difference(&came).collect();
    assert!(lost.is_empty(), "acknowledged, and never came: {lost:?}");
    ledger
        .assert_complete_except_skipped(&running.clients[0], 1)
        .await;
    ledger.assert_ordered();
    let repeats = repeats_after(&ledger, &kills);
    println!(
        "{backend:?}: {} acknowledged, {} came, {} repeats after {KILLS} kills, at most {} after one",
        acknowledged.len(),
        ledger.events().len(),
        ledger.repeats(),
        repeats.iter().max().unwrap(),
    );
    assert!(
        acknowledged.len() > 3 * KILLS,
        "{} are too few",
        acknowledged.len()
    );
    assert_eq!(repeats.iter().sum::<usize>(), ledger.repeats(), "without a kill");
    for (kill, count) in repeats.iter().enumerate() {
        assert!(*count <= MOST_REPEATS, "{count} repeats after kill {kill}");
    }
    running.ends().await;
}

/// How much came once more after each kill.
fn repeats_after(ledger: &Ledger, kills: &[Instant]) -> Vec<usize> {
    let mut last_seen = BTreeMap::<&str, Instant>::new();
    let mut repeats = vec![0; kills.len()];
    for arrival in &ledger.0 {
        if let Some(before) = last_seen.insert(&arrival.event, arrival.at) {
            let between = kills.iter().rposition(|kill| (before..arrival.at).contains(kill));
            if let Some(kill) = between {
                repeats[kill] += 1;
            }
        }
    }
    repeats
}

async fn in_flight_attempts_continue_after_a_kill(backend: Backend) {
    const ORDERS: usize = 30;
    // One process on its own data; with PostgreSQL others might have to be waited for.
    let limit = match backend {
        Backend::Sqlite => Duration::from_secs(2),
        Backend::Postgres => Duration::from_secs(15),
    };
    let receiver = Receiver::start().await;
    let gate = Gate::closed();
    receiver.set_default_response(CannedResponse::Behind(gate.clone(), 200));
    let mut running = RunningProgram::open(backend, 1, &receiver).await;
    for n in 0..ORDERS {
        running.order(0, &n.to_string()).await;
    }
    receiver.wait_for(4).await;
    running.kill();
    gate.open();
    receiver.set_default_response(CannedResponse::Status(200));
    let before = receiver.count();
    running.start();
    running.wait_until_listening().await;
    let listens = Instant::now();
    let seen = receiver.wait_for(before + 1).await;
    let took = seen[before].at.saturating_duration_since(listens);
    println!("{backend:?}: goes on {took:?} after it listens");
    assert!(took <= limit, "{took:?}");
    running.wait_until_delivered().await;
    let ledger = Ledger::of(&receiver);
    assert_eq!(ledger.events().len(), ORDERS);
    assert!(ledger.repeats() <= before, "{} repeats", ledger.repeats());
    running.ends().await;
}

async fn sixty_four_in_flight_attempts_finish_before_shutdown(backend: Backend) {
    const ACCOUNTS: usize = 4;
    const WARM: usize = 6;
    const WIDTH: usize = 16;
    let receiver = Receiver::start().await.keeps_connections();
    let mut running = RunningProgram::open(backend, ACCOUNTS, &receiver).await;
    for n in 0..WARM {
        for account in 0..ACCOUNTS {
            running.order(account, &format!("warm-{n}")).await;
        }
    }
    receiver.wait_for(ACCOUNTS * WARM).await;
    running.wait_until_delivered().await;
    let gate = Gate::closed();
    receiver.set_default_response(CannedResponse::Behind(gate.clone(), 200));
    for n in 0..WIDTH {
        for account in 0..ACCOUNTS {
            running.order(account, &format!("held-{n}")).await;
        }
    }
    wait_until("64 are under way", async || receiver.open() == ACCOUNTS * WIDTH).await;
    running.terminate();
    // It is asked to end, and they take their time all the same.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(receiver.open(), ACCOUNTS * WIDTH, "given up");
    gate.open();
    running.wait_until_ended().await;
    running.start();
    running.wait_until_listening().await;
    for account in 0..ACCOUNTS {
        running.order(account, "after").await;
    }
    running.wait_until_delivered().await;
    let ledger = Ledger::of(&receiver);
    let all = ACCOUNTS * (WARM + WIDTH + 1);
    assert_eq!((ledger.0.len(), ledger.repeats()), (all, 0));
    assert_eq!(receiver.most_open(), ACCOUNTS * WIDTH);
    running.ends().await;
}
