//! Results of deliveries are counted once, also when they are written a second time because the answer to the first commit
//! was lost.

use crate::database::Bench;
use crate::fixtures::at;
use garson_core::delivery::UndeliveredReason;
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, EventId};
use garson_store::params;
use garson_store::tables::attempts;
use garson_store::tables::attempts::{Attempt, AttemptTiming};
use garson_store::tables::deliveries;
use garson_store::tables::deliveries::{Outcome, Settlement};

const EVENTS: i64 = 23;
const AGAIN: Outcome = Outcome::Retry {
    due_at: garson_core::time::Timestamp::from_millis(5_000),
    reason: UndeliveredReason::TimedOut,
};

async fn some_events(bench: &Bench) -> (AccountId, Vec<EventId>) {
    let branch = bench.branch("one").await;
    let account = branch.account;
    bench.give_webhook(account).await;
    bench.orders(branch, "S", EVENTS).await;
    let ids = bench
        .read(move |tx| {
            let sql = "SELECT id FROM events WHERE account_id = ?1 ORDER BY position";
            tx.query(sql, params![&account], |row| row.get(0))
        })
        .await;
    (account, ids)
}

fn an_attempt(n: i64) -> Attempt {
    Attempt {
        number: 0,
        at: at(n),
        url: "https://pos.example.com/olay".to_owned(),
        status: Some(200),
        duration_ms: 3,
        timing: AttemptTiming::default(),
        explanation: Explanation::answered(200, None),
        response: None,
    }
}

fn settlement(id: EventId, end: Outcome, n: i64, attempts_before: i64) -> Settlement {
    Settlement {
        id,
        order_id: None,
        outcome: end,
        attempt: Some(an_attempt(n)),
        attempts_before,
    }
}

async fn settle(bench: &Bench, settlements: &[Settlement]) {
    let settlements = settlements.to_vec();
    bench
        .write(move |tx| deliveries::settle(tx, &settlements, at(2)).map(drop))
        .await;
}

/// State, failures and attempts as they are counted, and the numbers of those in the log.
async fn standing(bench: &Bench, id: EventId) -> (String, i64, i64, Vec<i64>) {
    bench
        .read(move |tx| {
            let sql = "SELECT state, failures, attempts FROM events WHERE id = ?1";
            let (state, failures, attempts) = tx.query_one(sql, params![&id], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
            let log = attempts::of_event(tx, id)?;
            Ok((
                state,
                failures,
                attempts,
                log.iter().map(|it| it.number).collect(),
            ))
        })
        .await
}

pub async fn settlement_written_twice_counts_once(bench: &Bench) {
    let (_, ids) = some_events(bench).await;
    // Enough delivered ones to be written together, and some that have failed between them.
    let results: Vec<Settlement> = ids
        .iter()
        .enumerate()
        .map(|(n, id)| match n {
            5 | 22 => settlement(*id, AGAIN, 1, 0),
            6 => {
                let reason = UndeliveredReason::Status;
                settlement(*id, Outcome::Failed { reason }, 1, 0)
            }
            _ => settlement(*id, Outcome::Delivered, 1, 0),
        })
        .collect();
    for _ in 0..3 {
        settle(bench, &results).await;
    }
    for (n, id) in ids.iter().enumerate() {
        let expected = match n {
            5 | 22 => ("pending", 1),
            6 => ("failed", 1),
            _ => ("delivered", 0),
        };
        let (state, failures, attempts, log) = standing(bench, *id).await;
        assert_eq!((state.as_str(), failures), expected, "event {n}");
        assert_eq!((attempts, log), (1, vec![1]), "event {n}");
    }
    // The next attempt counts on from there, also once.
    for _ in 0..2 {
        settle(bench, &[settlement(ids[5], AGAIN, 2, 1)]).await;
    }
    assert_eq!(
        standing(bench, ids[5]).await,
        ("pending".to_owned(), 2, 2, vec![1, 2])
    );
}

pub async fn repeated_settlement_does_not_hide_others_in_its_batch(bench: &Bench) {
    let (_, ids) = some_events(bench).await;
    let results: Vec<Settlement> = ids
        .iter()
        .map(|id| settlement(*id, Outcome::Delivered, 1, 0))
        .collect();
    settle(bench, &results[3..9]).await;
    settle(bench, &results).await;
    for id in ids {
        let expected = ("delivered".to_owned(), 0, 1, vec![1]);
        assert_eq!(standing(bench, id).await, expected);
    }
}

pub async fn manual_attempt_in_between_keeps_the_settlement(bench: &Bench) {
    let (_, ids) = some_events(bench).await;
    let by_hand = ids.clone();
    settle(bench, &[settlement(ids[10], Outcome::Delivered, 7, 0)]).await;
    bench
        .write(move |tx| {
            for id in &by_hand[..2] {
                attempts::record(tx, *id, &an_attempt(7))?;
            }
            Ok(())
        })
        .await;
    let mut results: Vec<Settlement> = ids
        .iter()
        .map(|id| settlement(*id, Outcome::Delivered, 1, 0))
        .collect();
    results[1].outcome = AGAIN;
    for _ in 0..2 {
        settle(bench, &results).await;
    }
    for id in [ids[0], ids[10]] {
        let expected = ("delivered".to_owned(), 0, 2, vec![1, 2]);
        assert_eq!(standing(bench, id).await, expected);
    }
    let expected = ("pending".to_owned(), 1, 2, vec![1, 2]);
    assert_eq!(standing(bench, ids[1]).await, expected);
    let expected = ("delivered".to_owned(), 0, 1, vec![1]);
    assert_eq!(standing(bench, ids[2]).await, expected);
}
