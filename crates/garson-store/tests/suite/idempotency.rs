//! Idempotency keys: one request runs, the others hear of it.

use crate::database::Bench;
use crate::fixtures::at;
use garson_core::id::{AccountId, NodeId};
use garson_core::time::Timestamp;
use garson_store::Partition;
use garson_store::tables::idempotency;
use garson_store::tables::idempotency::{KeyedRequest, Reservation, Run};
use garson_store::tables::nodes;
use uuid::Uuid;

const DAY: i64 = 24 * 60 * 60 * 1000;

fn request(account: AccountId, key: u8, body: u8) -> KeyedRequest {
    KeyedRequest {
        account,
        key_hash: [key; 32],
        request_hash: [body; 32],
    }
}

fn day_before(now: i64) -> Timestamp {
    at(now - DAY)
}

/// A run for ten milliseconds, of nobody who is known.
fn run(now: i64) -> Run {
    Run {
        id: Uuid::now_v7(),
        node: None,
        now: at(now),
        leased_until: at(now + 10),
        fresh_id: Uuid::now_v7(),
    }
}

/// Reserves for ten milliseconds, and says what came of it and which id was offered.
async fn reserve(bench: &Bench, account: AccountId, key: u8, body: u8, now: i64) -> (Reservation, Uuid) {
    let run = run(now);
    let said = bench
        .write(move |tx| {
            let request = request(account, key, body);
            idempotency::reserve(tx, &request, &run, day_before(now), &|_| true)
        })
        .await;
    (said, run.fresh_id)
}

pub async fn idempotency_key_is_free_when_its_run_is_dead(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let [ours, theirs] = [1, 2].map(|n| NodeId::at(at(n)));
    bench
        .write(move |tx| {
            nodes::join(tx, ours, "ours")?;
            nodes::join(tx, theirs, "theirs")
        })
        .await;
    let reserve = async |node: NodeId, run_id: u128, alive: &'static [u128]| {
        let run = Run {
            id: Uuid::from_u128(run_id),
            node: Some(node),
            ..run(0)
        };
        let said = bench
            .write(move |tx| {
                let is_alive = |id: Uuid| alive.contains(&id.as_u128());
                idempotency::reserve(tx, &request(account, 1, 1), &run, day_before(0), &is_alive)
            })
            .await;
        matches!(said, Reservation::Run { .. })
    };
    assert!(reserve(ours, 1, &[1]).await);
    // Another node cannot know, nor can we as long as it runs.
    assert!(!reserve(theirs, 2, &[2]).await);
    assert!(!reserve(ours, 3, &[1, 3]).await);
    // It has ended without an answer.
    assert!(reserve(ours, 4, &[4]).await);
    // Giving back what is not one's own any more does nothing.
    let release = async |run_id: u128| {
        let job = move |tx: &mut garson_store::Tx<'_>| {
            idempotency::release(tx, &request(account, 1, 1), Uuid::from_u128(run_id))
        };
        bench.write(job).await;
    };
    release(1).await;
    assert!(!reserve(theirs, 5, &[5]).await);
    release(4).await;
    assert!(reserve(theirs, 6, &[6]).await);
    // The node that runs it is gone.
    assert!(!reserve(ours, 7, &[7]).await);
    bench.write(move |tx| nodes::leave(tx, theirs)).await;
    assert!(reserve(ours, 8, &[8]).await);
}

pub async fn keyed_request_runs_once_and_is_answered_for_a_day(bench: &Bench) {
    let (account, other) = (bench.account("lokanta").await, bench.account("yabanci").await);
    let (said, reserved_id) = reserve(bench, account, 1, 1, 0).await;
    assert_eq!(said, Reservation::Run { reserved_id });
    assert_eq!(reserve(bench, account, 1, 1, 5).await.0, Reservation::Running);
    assert_eq!(
        reserve(bench, account, 1, 2, 5).await.0,
        Reservation::OtherRequest
    );
    let (theirs, fresh) = reserve(bench, other, 1, 2, 5).await;
    assert_eq!(
        theirs,
        Reservation::Run { reserved_id: fresh },
        "keys belong to accounts"
    );

    // The one who ran it has died: whoever comes next continues under the same id.
    assert_eq!(
        reserve(bench, account, 1, 1, 10).await.0,
        Reservation::Run { reserved_id }
    );
    assert_eq!(reserve(bench, account, 1, 1, 19).await.0, Reservation::Running);
    bench
        .write(move |tx| {
            let sql = "UPDATE idempotency SET leased_until = 0 WHERE status IS NULL";
            tx.execute(sql, &[]).map(drop)
        })
        .await;
    assert_eq!(
        reserve(bench, account, 1, 1, 19).await.0,
        Reservation::Run { reserved_id }
    );

    let body = "{\"ad\": \"İ🌯\"}\n".as_bytes();
    bench
        .write(move |tx| idempotency::store_response(tx, &request(account, 1, 1), 201, body))
        .await;
    let answered = Reservation::Answered {
        status: 201,
        body: body.to_vec(),
    };
    for now in [20, 1_000, DAY] {
        assert_eq!(
            reserve(bench, account, 1, 1, now).await.0,
            answered,
            "after {now}"
        );
    }
    assert_eq!(
        reserve(bench, account, 1, 9, DAY).await.0,
        Reservation::OtherRequest
    );
    let (said, fresh) = reserve(bench, account, 1, 9, DAY + 1).await;
    assert_eq!(
        said,
        Reservation::Run { reserved_id: fresh },
        "a day later all is new"
    );
}

pub async fn empty_response_is_stored(bench: &Bench) {
    let account = bench.account("lokanta").await;
    reserve(bench, account, 1, 1, 0).await;
    bench
        .write(move |tx| idempotency::store_response(tx, &request(account, 1, 1), 204, b""))
        .await;
    let said = reserve(bench, account, 1, 1, 99).await.0;
    assert_eq!(
        said,
        Reservation::Answered {
            status: 204,
            body: Vec::new()
        }
    );
}

pub async fn old_responses_are_swept_in_chunks(bench: &Bench) {
    let account = bench.account("lokanta").await;
    for key in 0..7 {
        reserve(bench, account, key, 1, i64::from(key)).await;
    }
    let mut removed = Vec::new();
    for _ in 0..4 {
        removed.push(bench.write(|tx| idempotency::sweep(tx, at(5), 2)).await);
    }
    assert_eq!(removed, [2, 2, 1, 0]);
    assert_eq!(reserve(bench, account, 6, 1, 7).await.0, Reservation::Running);
}

pub async fn one_of_32_concurrent_requests_runs(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let engines = [bench.engine.clone(), bench.second_engine()];
    for key in 0..4 {
        let tasks: Vec<_> = (0..32_u64)
            .map(|n| {
                let engine = engines[usize::try_from(n % 2).unwrap()].clone();
                let run = run(0);
                let job = move |tx: &mut garson_store::Tx<'_>| {
                    let request = request(account, key, 1);
                    idempotency::reserve(tx, &request, &run, day_before(0), &|_| true)
                };
                tokio::spawn(async move { engine.write(Partition::numbered(n / 2), job).await.unwrap() })
            })
            .collect();
        let mut runs = 0;
        for task in tasks {
            match task.await.unwrap() {
                Reservation::Run { .. } => runs += 1,
                said => assert_eq!(said, Reservation::Running),
            }
        }
        assert_eq!(runs, 1);
    }
}
