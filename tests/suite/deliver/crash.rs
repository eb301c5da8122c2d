//! Killed at any moment: every event arrives, repeats are few and the same, and work goes on at once.

use super::site::Site;
use crate::support::{Answer, Gate, Kind, Ledger, Receiver, until};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

on_both! {
    nothing_is_lost_over_a_hundred_kills
    what_was_under_way_goes_on_after_a_kill
    sixty_four_under_way_are_finished_when_it_is_asked_to_end
}

/// What one receiver may have under way, and results that may wait to be written.
const MOST_REPEATS: usize = 16 + 512;

/// A number below another one; any moment is as good as another.
fn below(limit: u64) -> u64 {
    let (_, random) = uuid::Uuid::now_v7().as_u64_pair();
    random % limit
}

async fn nothing_is_lost_over_a_hundred_kills(kind: Kind) {
    const KILLS: usize = 100;
    let receiver = Receiver::start().await.keeps_connections();
    receiver.judges(|_| Answer::After(Duration::from_millis(below(30)), 200));
    let mut site = Site::open(kind, 1, &receiver).await;
    let pouring = site.pour(4, Duration::from_millis(25));
    let mut kills = Vec::new();
    for round in 0..KILLS {
        // Every fourth one hits a service that is still starting or has just begun to recover.
        if round % 4 != 3 {
            site.listens().await;
            let before = receiver.count();
            until("it delivers", async || receiver.count() > before + 2).await;
        }
        tokio::time::sleep(Duration::from_millis(below(250))).await;
        site.kill();
        // What it had sent by then came before the kill, however late it is read.
        receiver.is_drained().await;
        kills.push(Instant::now());
        site.start();
    }
    site.listens().await;
    let acknowledged = pouring.finish().await;
    site.is_settled().await;
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
    ledger.assert_complete_except_skipped(&site.callers[0], 1).await;
    ledger.assert_ordered();
    let repeats = repeats_after(&ledger, &kills);
    println!(
        "{kind:?}: {} acknowledged, {} came, {} repeats after {KILLS} kills, at most {} after one",
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
    site.ends().await;
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

async fn what_was_under_way_goes_on_after_a_kill(kind: Kind) {
    const ORDERS: usize = 30;
    // One process on its own data; with PostgreSQL others might have to be waited for.
    let limit = match kind {
        Kind::Sqlite => Duration::from_secs(2),
        Kind::Postgres => Duration::from_secs(15),
    };
    let receiver = Receiver::start().await;
    let gate = Gate::closed();
    receiver.usually(Answer::Behind(gate.clone(), 200));
    let mut site = Site::open(kind, 1, &receiver).await;
    for n in 0..ORDERS {
        site.order(0, &n.to_string()).await;
    }
    receiver.wait_for(4).await;
    site.kill();
    gate.open();
    receiver.usually(Answer::Status(200));
    let before = receiver.count();
    site.start();
    site.listens().await;
    let listens = Instant::now();
    let seen = receiver.wait_for(before + 1).await;
    let took = seen[before].at.saturating_duration_since(listens);
    println!("{kind:?}: goes on {took:?} after it listens");
    assert!(took <= limit, "{took:?}");
    site.is_settled().await;
    let ledger = Ledger::of(&receiver);
    assert_eq!(ledger.events().len(), ORDERS);
    assert!(ledger.repeats() <= before, "{} repeats", ledger.repeats());
    site.ends().await;
}

async fn sixty_four_under_way_are_finished_when_it_is_asked_to_end(kind: Kind) {
    const ACCOUNTS: usize = 4;
    const WARM: usize = 6;
    const WIDTH: usize = 16;
    let receiver = Receiver::start().await.keeps_connections();
    let mut site = Site::open(kind, ACCOUNTS, &receiver).await;
    for n in 0..WARM {
        for account in 0..ACCOUNTS {
            site.order(account, &format!("warm-{n}")).await;
        }
    }
    receiver.wait_for(ACCOUNTS * WARM).await;
    site.is_settled().await;
    let gate = Gate::closed();
    receiver.usually(Answer::Behind(gate.clone(), 200));
    for n in 0..WIDTH {
        for account in 0..ACCOUNTS {
            site.order(account, &format!("held-{n}")).await;
        }
    }
    until("64 are under way", async || receiver.open() == ACCOUNTS * WIDTH).await;
    site.terminate();
    // It is asked to end, and they take their time all the same.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(receiver.open(), ACCOUNTS * WIDTH, "given up");
    gate.open();
    site.has_ended().await;
    site.start();
    site.listens().await;
    for account in 0..ACCOUNTS {
        site.order(account, "after").await;
    }
    site.is_settled().await;
    let ledger = Ledger::of(&receiver);
    let all = ACCOUNTS * (WARM + WIDTH + 1);
    assert_eq!((ledger.0.len(), ledger.repeats()), (all, 0));
    assert_eq!(receiver.most_open(), ACCOUNTS * WIDTH);
    site.ends().await;
}
