//! Calls to platforms: leased once, one at a time for an order, and never lost.

use crate::bench::Bench;
use crate::shop::at;
use garson_core::id::{CallId, OrderId};
use garson_core::order::{CallKind, Order, Status};
use garson_store::calls::{self, CallEnd, CallToWrite, Delay, DueCall};
use garson_store::{Lane, params};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

const TELL: CallKind = CallKind::Tell(Status::Preparing);

/// A call that is due at the start of time.
pub fn a_call(order: &Order, kind: CallKind) -> CallToWrite<'_> {
    CallToWrite {
        id: CallId(Uuid::now_v7()),
        order,
        kind,
        argument: None,
        due_at: at(0),
        leased_until: None,
        created_at: at(0),
    }
}

/// Another try at that moment.
pub fn a_delay(millis: i64, message: &str) -> Delay {
    Delay {
        due_at: at(millis),
        is_unclear: false,
        not_yet_since: None,
        message: message.to_owned(),
    }
}

/// Two calls for each order, both due at once.
async fn write_calls(bench: &Bench, orders: &[Order]) {
    let orders = orders.to_vec();
    bench
        .write(move |tx| {
            for order in &orders {
                calls::write(tx, &a_call(order, CallKind::Ready))?;
                calls::write(tx, &a_call(order, TELL))?;
            }
            Ok(())
        })
        .await;
}

async fn lease(bench: &Bench, now: i64, until: i64) -> Vec<DueCall> {
    bench
        .write(move |tx| calls::lease_due(tx, at(now), at(until), 1_000))
        .await
}

pub async fn eight_leasers_get_every_call_once(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 60).await;
    write_calls(bench, &orders).await;
    let engines = [bench.engine.clone(), bench.second_engine()];
    let leasers: Vec<_> = (0..8_u64)
        .map(|n| {
            let engine = engines[usize::try_from(n % 2).unwrap()].clone();
            tokio::spawn(async move {
                let mut mine = Vec::new();
                let mut in_vain = 0;
                // Rows that another one holds are passed over, so one empty answer does not mean the end.
                while in_vain < 3 {
                    let lease = engine.write(Lane(n / 2), |tx| calls::lease_due(tx, at(5), at(1_000), 7));
                    let got: Vec<DueCall> = lease.await.unwrap();
                    assert!(got.len() <= 7, "{} calls leased at once", got.len());
                    in_vain = if got.is_empty() { in_vain + 1 } else { 0 };
                    mine.extend(got);
                }
                mine
            })
        })
        .collect();
    let mut times: BTreeMap<OrderId, usize> = BTreeMap::new();
    for leaser in leasers {
        for call in leaser.await.unwrap() {
            assert_eq!(
                (call.kind, call.attempts),
                (CallKind::Ready, 1),
                "only the first of an order"
            );
            *times.entry(call.order_id).or_default() += 1;
        }
    }
    assert_eq!(times.len(), orders.len());
    assert!(times.values().all(|n| *n == 1), "{times:?}");
    assert!(lease(bench, 999, 2_000).await.is_empty());
}

pub async fn a_lease_that_has_run_out_can_be_taken_again(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 3).await;
    write_calls(bench, &orders).await;
    assert!(
        lease(bench, -1, 100).await.is_empty(),
        "nothing is due before its time"
    );
    let first: BTreeSet<CallId> = lease(bench, 0, 100).await.iter().map(|call| call.id).collect();
    assert_eq!(first.len(), 3);
    assert!(lease(bench, 99, 200).await.is_empty());
    let again = lease(bench, 100, 200).await;
    assert_eq!(again.iter().map(|call| call.id).collect::<BTreeSet<_>>(), first);
    assert!(again.iter().all(|call| call.attempts == 2));
}

pub async fn ends_and_delays_of_calls_are_kept(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 3).await;
    write_calls(bench, &orders).await;
    let leased = lease(bench, 0, 100).await;
    let of = |n: usize| {
        leased
            .iter()
            .find(|call| call.order_id == orders[n].id)
            .unwrap()
            .clone()
    };
    let (done, later) = (of(0), of(1));
    let later_id = later.id;
    let order = orders[2].id;
    let dropped = bench
        .write(move |tx| {
            calls::finish(tx, &done, CallEnd::Done, None, at(10))?;
            // A second end changes nothing.
            calls::finish(tx, &done, CallEnd::Failed, Some("late"), at(11))?;
            calls::postpone(tx, &later, &a_delay(50, "busy ☕"))?;
            calls::abandon_open(tx, order, None, at(12))
        })
        .await;
    assert_eq!(dropped, 2);
    let open = bench
        .read(move |tx| {
            orders
                .iter()
                .map(|o| calls::open_of_order(tx, o.id))
                .collect::<Result<Vec<_>, _>>()
        })
        .await;
    assert_eq!(open, [1, 2, 0]);
    let next: Vec<_> = lease(bench, 20, 100).await;
    assert_eq!(
        next.iter().map(|call| call.kind).collect::<Vec<_>>(),
        [TELL],
        "the next of the one that is done"
    );
    assert!(lease(bench, 49, 100).await.is_empty(), "put off until 50");
    let put_off = lease(bench, 50, 100).await;
    assert_eq!(
        put_off
            .iter()
            .map(|call| (call.id, call.attempts))
            .collect::<Vec<_>>(),
        [(later_id, 2)]
    );
    // What is leased, or waits behind it, cannot be had before the lease runs out.
    assert_eq!(
        bench.read(|tx| calls::next_due_at(tx, at(0))).await,
        Some(at(100))
    );
    let ends = bench
        .read(|tx| {
            let sql =
                "SELECT state, message, finished_at FROM calls WHERE state <> ?1 ORDER BY state, number";
            tx.query(sql, params!["open"], |row| {
                Ok((
                    row.get::<String>(0)?,
                    row.get::<Option<String>>(1)?,
                    row.get::<Option<i64>>(2)?,
                ))
            })
        })
        .await;
    let cancelled = ("abandoned".to_owned(), Some("the order was cancelled".to_owned()));
    assert_eq!(
        ends,
        [
            (cancelled.0.clone(), cancelled.1.clone(), Some(at(12).as_millis())),
            (cancelled.0, cancelled.1, Some(at(12).as_millis())),
            ("done".to_owned(), None, Some(at(10).as_millis())),
        ]
    );
}
