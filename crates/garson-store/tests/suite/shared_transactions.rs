//! What jobs of one transaction write together: the same as if each had written it, whatever becomes of the others.

use crate::batches::{BoxedJob, noted, together};
use crate::database::{Bench, intentional_error};
use crate::fixtures::{Branch, DIRECT, at, take_order};
use garson_core::delivery::DeliveryState;
use garson_core::explanation::Explanation;
use garson_core::id::{EventId, InboxId, OrderId};
use garson_core::testing::a_new_order;
use garson_store::engine::Insert;
use garson_store::tables::attempts::{Attempt, AttemptTiming};
use garson_store::tables::deliveries::{Outcome, Settlement};
use garson_store::tables::inbox::{InboxState, NewMessage};
use garson_store::tables::{accounts, attempts, deliveries, inbox, integrations, orders};
use garson_store::vault::lookup_hash;
use garson_store::{Result, StoreErrorKind, Tx, params, totals};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use uuid::Uuid;

const JOBS: i64 = 40;
const BROKEN: i64 = 17;

fn taking(branch: Branch, n: i64) -> BoxedJob {
    Box::new(move |tx| {
        assert!(integrations::record_order(tx, branch.integration, None, at(n))?);
        take_order(tx, branch, &a_new_order(&format!("S-{n}")), at(n))?;
        if n == BROKEN {
            Err(intentional_error())
        } else {
            Ok(())
        }
    })
}

/// How the account stands: its last place, the count of its orders in the totals, and the last order of each branch.
async fn standing(bench: &Bench, branches: [Branch; 2]) -> (i64, i64, Vec<Option<i64>>) {
    let account = branches[0].account;
    bench
        .read(move |tx| {
            let last = accounts::last_position(tx, account)?;
            let sums = totals::sums(tx, account, None, None, None)?;
            let mut noted = Vec::new();
            for branch in branches {
                let found = integrations::of_restaurant(tx, branch.restaurant)?;
                noted.push(
                    found[0]
                        .health
                        .last_order_at
                        .map(|t| t.as_millis() - at(0).as_millis()),
                );
            }
            Ok((last, sums.values().map(|(count, _)| count).sum(), noted))
        })
        .await
}

pub async fn orders_of_one_transaction_all_count(bench: &Bench) {
    let first = bench.branch("one").await;
    let branches = [first, bench.branch_of(first.account).await];
    let before = standing(bench, branches).await.0;
    let of = |n: i64| branches[usize::try_from(n % 2).unwrap()];
    // With one that fails, so that each is run on its own; then without.
    for (round, kept) in [(0, JOBS - 1), (JOBS, JOBS)] {
        let jobs = (round..round + JOBS).map(|n| taking(of(n), n)).collect();
        let ends = together(bench, jobs).await;
        assert_eq!(ends.iter().filter(|end| end.is_ok()).count() as i64, kept);
    }
    let taken = 2 * JOBS - 1;
    let newest = 2 * JOBS - 1;
    assert_eq!(
        standing(bench, branches).await,
        (before + 2 * taken, taken, vec![Some(newest - 1), Some(newest)])
    );
    let account = first.account;
    let mut places = bench
        .read(move |tx| {
            let sql = "SELECT position FROM orders WHERE account_id = ?1
                       UNION ALL SELECT position FROM events WHERE account_id = ?1";
            tx.query(sql, params![&account], |row| row.get::<i64>(0))
        })
        .await;
    places.sort_unstable();
    let wanted: Vec<i64> = (before + 1..=before + 2 * taken).collect();
    assert_eq!(places, wanted);
}

pub async fn job_sees_deferred_writes_of_earlier_jobs(bench: &Bench) {
    let branch = bench.branch("one").await;
    let before = standing(bench, [branch, branch]).await.0;
    let mut jobs: Vec<BoxedJob> = (0..5).map(|n| taking(branch, n)).collect();
    jobs.push(Box::new(move |tx| {
        assert_eq!(accounts::last_position(tx, branch.account)?, before + 10);
        let sums = totals::sums(tx, branch.account, Some(branch.restaurant), None, None)?;
        assert_eq!(sums.values().map(|(count, _)| count).sum::<i64>(), 5);
        let found = integrations::of_restaurant(tx, branch.restaurant)?;
        assert_eq!(found[0].health.last_order_at, Some(at(4)));
        Ok(())
    }));
    jobs.extend((5..8).map(|n| taking(branch, n)));
    let ends = together(bench, jobs).await;
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    assert_eq!(
        standing(bench, [branch, branch]).await,
        (before + 16, 8, vec![Some(7), Some(7)])
    );
}

pub async fn order_assumed_new_is_found_if_it_exists(bench: &Bench) {
    let branch = bench.branch("one").await;
    let known = bench.order(branch, "S-3", at(0)).await;
    // Each takes its order if it is likely to be new, as it is for all but one; twice in the same transaction for another.
    let jobs = [0, 1, 2, 3, 2, 4]
        .into_iter()
        .map(|n| -> BoxedJob {
            Box::new(move |tx| {
                let identity = a_new_order(&format!("S-{n}")).identity;
                match orders::lock_by_identity(tx, branch.account, branch.integration, &identity, true)? {
                    Some(found) if n == 3 => assert_eq!(found.order.id, known.id),
                    Some(_) => assert_eq!(n, 2),
                    None => {
                        let new = a_new_order(&format!("S-{n}"));
                        take_order(tx, branch, &new, at(n))?;
                    }
                }
                Ok(())
            })
        })
        .collect();
    let ends = together(bench, jobs).await;
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let (_, count, _) = standing(bench, [branch, branch]).await;
    assert_eq!(count, 5);
}

fn early(branch: Branch, identity: &str) -> BoxedJob {
    let identity = identity.to_owned();
    Box::new(move |tx| {
        let message = NewMessage {
            id: InboxId(Uuid::now_v7()),
            hash: lookup_hash(identity.as_bytes()),
            account_id: Some(branch.account),
            restaurant_id: Some(branch.restaurant),
            order_id: None,
            provider: DIRECT,
            kind: "cancel",
            params: "[]",
            branch: None,
            identity: Some(&identity),
            body: b"{}",
            state: InboxState::Unmatched,
            reason: None,
            received_at: at(0),
        };
        inbox::store(tx, &message).map(drop)
    })
}

/// Takes orders and whatever came before them, in one transaction with other jobs; says for which of them something had come.
async fn take_with_early(
    bench: &Bench,
    branch: Branch,
    mut jobs: Vec<BoxedJob>,
    numbers: std::ops::Range<i64>,
) -> Vec<i64> {
    let found = Arc::new(Mutex::new(BTreeSet::new()));
    for n in numbers {
        let found = Arc::clone(&found);
        jobs.push(Box::new(move |tx| {
            let new = a_new_order(&format!("S-{n}"));
            let waiting =
                inbox::early_messages(tx, DIRECT, &new.identity, branch.account, branch.restaurant)?;
            take_order(tx, branch, &new, at(n))?;
            for message in waiting {
                inbox::set_state(tx, message.id, InboxState::Taken, None, None)?;
                found.lock().unwrap().insert(n);
            }
            Ok(())
        }));
    }
    let ends = together(bench, jobs).await;
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let found = found.lock().unwrap();
    found.iter().copied().collect()
}

pub async fn early_message_is_found_in_the_same_and_in_a_later_transaction(bench: &Bench) {
    let branch = bench.branch("one").await;
    let identity = |n: i64| a_new_order(&format!("S-{n}")).identity;
    // Of forty orders one has been spoken of in the same transaction, and two before.
    let before = vec![early(branch, &identity(1)), early(branch, &identity(38))];
    assert!(together(bench, before).await.iter().all(Result::is_ok));
    let now = vec![early(branch, &identity(17))];
    assert_eq!(take_with_early(bench, branch, now, 0..40).await, [1, 17, 38]);
    // Nothing waits any longer, and the next ones are taken as if nothing had ever waited.
    assert!(
        take_with_early(bench, branch, Vec::new(), 40..80)
            .await
            .is_empty()
    );
    let (_, count, _) = standing(bench, [branch, branch]).await;
    assert_eq!(count, 80);
}

pub async fn large_rows_of_one_transaction_are_all_stored(bench: &Bench) {
    let branch = bench.branch("one").await;
    let sizes: Vec<usize> = (0..37).map(|n| [10, 3_000, 300_000][n % 3] + n).collect();
    let jobs = sizes
        .iter()
        .enumerate()
        .map(|(n, size)| -> BoxedJob {
            let mut new = a_new_order(&format!("S-{n}"));
            new.content.note = Some("ş".repeat(*size));
            Box::new(move |tx| take_order(tx, branch, &new, at(1)).map(drop))
        })
        .collect();
    let ends = together(bench, jobs).await;
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let account = branch.account;
    let notes = bench
        .read(move |tx| {
            let sql = "SELECT id FROM orders WHERE account_id = ?1 ORDER BY position";
            let ids: Vec<OrderId> = tx.query(sql, params![&account], |row| row.get(0))?;
            ids.into_iter()
                .map(|id| orders::content(tx, id))
                .collect::<Result<Vec<_>>>()
        })
        .await
        .into_iter()
        .map(|content: garson_core::order::OrderContent| content.note.unwrap().chars().count())
        .collect::<Vec<_>>();
    assert_eq!(notes, sizes);
}

pub async fn delivered_batch_skips_removed_events(bench: &Bench) {
    const EVENTS: i64 = 23;
    let branch = bench.branch("one").await;
    bench.give_webhook(branch.account).await;
    bench.orders(branch, "S", EVENTS).await;
    let account = branch.account;
    let ids: Vec<EventId> = bench
        .read(move |tx| {
            let sql = "SELECT id FROM events WHERE account_id = ?1 ORDER BY position";
            tx.query(sql, params![&account], |row| row.get(0))
        })
        .await;
    assert_eq!(ids.len() as i64, EVENTS);
    let gone = [ids[2], ids[20], ids[22]];
    bench
        .write(move |tx| {
            for id in &gone {
                tx.execute("DELETE FROM events WHERE id = ?1", params![id])?;
            }
            Ok(())
        })
        .await;
    let settlements: Vec<Settlement> = ids
        .iter()
        .map(|id| Settlement {
            id: *id,
            order_id: None,
            outcome: Outcome::Delivered,
            attempt: Some(Attempt {
                number: 0,
                at: at(1),
                url: "https://pos.example.com/olay".to_owned(),
                status: Some(200),
                duration_ms: 3,
                timing: AttemptTiming::default(),
                explanation: Explanation::text("taken"),
                response: None,
            }),
            attempts_before: 0,
        })
        .collect();
    bench
        .write(move |tx| deliveries::settle(tx, &settlements, at(2)).map(drop))
        .await;
    for id in ids {
        let (state, attempts) = bench
            .read(move |tx| {
                let sql = "SELECT state FROM events WHERE id = ?1";
                let state = tx.query_opt(sql, params![&id], |row| row.get::<String>(0))?;
                let attempts = attempts::of_event(tx, id)?;
                Ok((state, attempts.iter().map(|it| it.number).collect::<Vec<_>>()))
            })
            .await;
        if gone.contains(&id) {
            assert_eq!((state, attempts), (None, vec![]));
        } else {
            assert_eq!(
                (state.as_deref(), attempts),
                (Some(DeliveryState::Delivered.as_str()), vec![1])
            );
        }
    }
}

/// Adds a line that waits for others to be written with; the same line twice breaks a rule of the schema.
fn add(tx: &mut Tx<'_>, line: &str) -> Result<()> {
    let insert = Insert::into("order_contents", "order_id, body");
    tx.insert(&insert, params![line.as_bytes(), line]).map(drop)
}

pub async fn constraint_violation_in_a_batch_fails_one_job(bench: &Bench) {
    bench.write(|tx| add(tx, "taken")).await;
    let jobs = (0..50)
        .map(|n| -> BoxedJob {
            Box::new(move |tx| {
                add(tx, &n.to_string())?;
                match n {
                    17 | 49 => add(tx, "taken"),
                    // Nobody looks at the answer.
                    21 => {
                        let _ = add(tx, "taken");
                        Ok(())
                    }
                    30 => Err(intentional_error()),
                    40 => {
                        let sql = "SELECT COUNT(*) FROM order_contents WHERE body = '40'";
                        let own: i64 = tx.query_one(sql, &[], |row| row.get(0))?;
                        assert_eq!(own, 1);
                        Ok(())
                    }
                    _ => Ok(()),
                }
            })
        })
        .collect();
    let ends = together(bench, jobs).await;
    let broken = [17, 21, 30, 49];
    for (n, end) in ends.iter().enumerate() {
        assert_eq!(end.is_err(), broken.contains(&n), "job {n}: {end:?}");
    }
    let wanted = (0..50).filter(|n| !broken.contains(n)).map(|n| n.to_string());
    let wanted = wanted.chain(["taken".to_owned()]).collect();
    assert_eq!(bench.read(noted).await, wanted);
}

/// The last of them cannot be written when everybody is done, with what is left of the others.
pub async fn failed_check_before_commit_fails_only_its_own_job(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    bench.write(|tx| add(tx, "taken")).await;
    let add_one = |line: &'static str| -> BoxedJob { Box::new(move |tx| add(tx, line)) };
    let jobs = vec![
        taking(branch, 1),
        add_one("a"),
        taking(branch, 2),
        add_one("taken"),
    ];
    let ends = together(bench, jobs).await;
    assert!(ends[..3].iter().all(Result::is_ok), "{ends:?}");
    let kind = ends[3].as_ref().map_err(|error| error.kind);
    assert_eq!(kind, Err(StoreErrorKind::Constraint));
    let (place, orders, _) = standing(bench, [branch, branch]).await;
    assert_eq!((place > 0, orders), (true, 2));
    assert!(bench.read(noted).await.contains("a"));
}
