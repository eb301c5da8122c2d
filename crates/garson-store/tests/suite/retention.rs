//! Events whose time is over: gone oldest first, with their attempts, and remembered as gone.

use crate::database::Bench;
use crate::fixtures::{Branch, at};
use crate::resends::FAIL_ALL;
use garson_core::id::{AccountId, EventId, OrderId, ResendId};
use garson_store::lists::feed::{Direction, PageRequest};
use garson_store::tables::attempts;
use garson_store::tables::attempts::Attempt;
use garson_store::tables::events;
use garson_store::tables::events::NewEvent;
use garson_store::tables::{accounts, deliveries, resends, restaurants};
use garson_store::upkeep::retention;
use garson_store::upkeep::retention::Removed;
use garson_store::upkeep::sweep;
use uuid::Uuid;

async fn chunk(bench: &Bench, account: AccountId, oldest: i64, limit: i64) -> (u64, u64) {
    let gone = bench
        .write(move |tx| retention::remove_chunk(tx, account, at(oldest), at(9_000), limit))
        .await;
    let Removed { events, pending } = gone;
    (events, pending)
}

async fn forgotten(bench: &Bench, account: AccountId) -> i64 {
    bench
        .read(move |tx| accounts::event_range(tx, account))
        .await
        .removed_up_to
}

/// The account's events, oldest first, each with the number of its attempts.
async fn kept(bench: &Bench, account: AccountId) -> Vec<(i64, usize)> {
    let request = PageRequest {
        limit: 1_000,
        cursor: None,
        direction: Direction::Older,
    };
    bench
        .read(move |tx| {
            let mut kept = Vec::new();
            for event in garson_store::lists::events::of_account(tx, account, None, request)?
                .items
                .iter()
                .rev()
            {
                let place = events::position(tx, account, event.id)?.unwrap();
                kept.push((place, attempts::of_event(tx, event.id)?.len()));
            }
            Ok(kept)
        })
        .await
}

async fn note_attempts(bench: &Bench, account: AccountId) {
    bench
        .write(move |tx| {
            for delivery in deliveries::untried_after(tx, account, 0, 1_000)? {
                attempts::record(tx, delivery.id, &Attempt::default())?;
                attempts::record(tx, delivery.id, &Attempt::default())?;
            }
            Ok(())
        })
        .await;
}

pub async fn old_events_are_removed_oldest_first(bench: &Bench) {
    let (branch, other) = (bench.branch("lokanta").await, bench.branch("yabanci").await);
    let account = branch.account;
    let silent = bench.account("sessiz").await;
    for of in [account, other.account] {
        bench.give_webhook(of).await;
    }
    // Events at 2, 4 … 20 of the moments 0 to 9.
    bench.orders(branch, "S", 10).await;
    bench.order(other, "Y", at(7)).await;
    note_attempts(bench, account).await;
    bench.execute_directly(
        "UPDATE events SET state = 'delivered', due_at = NULL WHERE position IN (2, 4, 6, 12)",
    );

    let looked = |oldest: i64| {
        bench.read(move |tx| {
            let mut found = Vec::new();
            let mut after = None;
            loop {
                let looked = retention::accounts_with_old_events(tx, after, at(oldest), 1)?;
                found.extend(looked.accounts);
                after = looked.last;
                if after.is_none() {
                    return Ok(found);
                }
            }
        })
    };
    assert_eq!(looked(0).await, []);
    assert_eq!(looked(7).await, [account]);
    let mut both = [account, other.account];
    both.sort();
    assert_eq!(looked(8).await, both);
    assert!(!both.contains(&silent));

    assert_eq!(chunk(bench, account, 0, 100).await, (0, 0));
    assert_eq!(forgotten(bench, account).await, 0);
    assert_eq!(chunk(bench, account, 7, 5).await, (5, 2));
    assert_eq!(forgotten(bench, account).await, 10);
    assert_eq!(chunk(bench, account, 7, 5).await, (2, 1));
    assert_eq!(forgotten(bench, account).await, 14);
    assert_eq!(chunk(bench, account, 7, 5).await, (0, 0));
    assert_eq!(kept(bench, account).await, [(16, 2), (18, 2), (20, 2)]);
    assert_eq!(kept(bench, other.account).await.len(), 1);
    assert_eq!(forgotten(bench, other.account).await, 0);
    let attempts = bench
        .read(|tx| tx.query_one("SELECT COUNT(*) FROM attempts", &[], |row| row.get::<i64>(0)))
        .await;
    assert_eq!(attempts, 6, "those of the events that are kept");

    // An event that was tried very often does not make a long job of many.
    bench.execute_directly("UPDATE events SET attempts = 900");
    assert_eq!(chunk(bench, account, 100, 5).await.0, 1);

    // Deleting a restaurant is another thing.
    let id = branch.restaurant;
    bench
        .write(move |tx| restaurants::delete(tx, account, id, at(9)))
        .await;
    while bench
        .write(move |tx| sweep::remove_chunk(tx, account, id, 100))
        .await
    {}
    assert_eq!(kept(bench, account).await, []);
    assert_eq!(forgotten(bench, account).await, 16);
}

/// Writes an event of an order at a moment.
async fn write(bench: &Bench, branch: Branch, order: OrderId, sequence: i64, now: i64) -> EventId {
    let id = EventId(Uuid::now_v7());
    bench
        .write(move |tx| {
            let mut places = accounts::reserve_positions(tx, branch.account, 1, at(now))?;
            let event = NewEvent {
                id,
                account_id: branch.account,
                restaurant_id: branch.restaurant,
                order_id: Some(order),
                sequence: Some(sequence),
                name: "siparis.durum_degisti",
                body: "{}",
            };
            events::write(tx, &event, &mut places)
        })
        .await;
    id
}

pub async fn held_event_is_released_when_its_predecessor_is_removed(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    bench.give_webhook(account).await;
    let order = OrderId(Uuid::now_v7());
    let first = write(bench, branch, order, 1, 1).await;
    let second = write(bench, branch, order, 2, 50).await;
    let ready = async || {
        let ready = bench
            .read(move |tx| deliveries::untried_after(tx, account, 0, 10))
            .await;
        ready.iter().map(|it| it.id).collect::<Vec<_>>()
    };
    assert_eq!(ready().await, [first]);
    let version = async || {
        let standing = bench.read(move |tx| deliveries::assignment(tx, account)).await;
        standing.unwrap().version
    };
    let before = version().await;
    assert_eq!(chunk(bench, account, 10, 100).await, (1, 1));
    assert_eq!(ready().await, [second]);
    assert!(version().await > before, "whoever delivers is told to look");
}

pub async fn finished_resends_are_removed(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    bench.give_webhook(account).await;
    bench.orders(branch, "S", 3).await;
    bench.execute_directly(FAIL_ALL);
    for finish_at in [Some(10), Some(20), Some(30), None] {
        bench
            .write(move |tx| {
                let id = ResendId(Uuid::now_v7());
                let planned = resends::plan(tx, id, account, None, at(0), false, at(1))?;
                resends::start(tx, &planned)?;
                match finish_at {
                    Some(now) => resends::step(tx, account, id, 100, at(now)).map(drop),
                    None => Ok(()),
                }
            })
            .await;
    }
    let remove =
        |oldest: i64, limit: i64| bench.write(move |tx| retention::remove_resends(tx, at(oldest), limit));
    assert_eq!(remove(10, 100).await, 0);
    assert_eq!(remove(21, 1).await, 1);
    assert_eq!(remove(21, 100).await, 1);
    assert_eq!(remove(1_000_000, 100).await, 1, "what is not finished stays");
    assert_eq!(
        bench.read(move |tx| resends::list(tx, account, 50)).await.len(),
        1
    );
}
