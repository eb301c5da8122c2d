//! Calls to platforms: leased once, one at a time for an order, and never lost.

use crate::bench::Bench;
use crate::shop::at;
use garson_core::id::{CallId, NodeId, OrderId};
use garson_core::order::{CallKind, Order, Status};
use garson_store::calls::{self, CallEnd, CallToWrite, Delay, DueCall, Maker};
use garson_store::{Lane, nodes, params};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
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
        lease: None,
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

/// How long a lease lasts by its node's own watch.
pub const LEASE: Duration = Duration::from_millis(100);

/// A node that makes calls; its watch shows nothing yet.
pub async fn a_maker(bench: &Bench, name: &'static str) -> Maker {
    let node = NodeId(Uuid::now_v7());
    bench.write(move |tx| nodes::join(tx, node, name)).await;
    Maker { node, watch: 0 }
}

/// Leases what is due at a moment.
pub async fn lease(bench: &Bench, maker: Maker, now: i64) -> Vec<DueCall> {
    bench
        .write(move |tx| calls::lease_due(tx, at(now), maker, LEASE, 1_000))
        .await
}

pub async fn eight_leasers_get_every_call_once(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 60).await;
    write_calls(bench, &orders).await;
    let engines = [bench.engine.clone(), bench.second_engine()];
    let makers = [a_maker(bench, "one").await, a_maker(bench, "two").await];
    let leasers: Vec<_> = (0..8_u64)
        .map(|n| {
            let which = usize::try_from(n % 2).unwrap();
            let (engine, maker) = (engines[which].clone(), makers[which]);
            tokio::spawn(async move {
                let mut mine = Vec::new();
                let mut in_vain = 0;
                // Rows that another one holds are passed over, so one empty answer does not mean the end.
                while in_vain < 3 {
                    let lease = engine.write(Lane::numbered(n / 2), move |tx| {
                        calls::lease_due(tx, at(5), maker, LEASE, 7)
                    });
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
    for maker in makers {
        assert!(lease(bench, maker, 999).await.is_empty());
    }
}

pub async fn a_call_is_its_nodes_while_that_lives(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 3).await;
    write_calls(bench, &orders).await;
    let (one, two) = (a_maker(bench, "one").await, a_maker(bench, "two").await);
    let later = |maker: Maker, watch| Maker { watch, ..maker };
    let ids = |leased: &[DueCall]| leased.iter().map(|call| call.id).collect::<BTreeSet<_>>();
    assert!(
        lease(bench, one, -1).await.is_empty(),
        "nothing is due before its time"
    );
    let first = lease(bench, one, 0).await;
    assert_eq!(first.len(), 3);
    // Neither another's clock nor its watch ends a lease.
    let hour = 3_600_000;
    assert!(lease(bench, later(two, hour), hour).await.is_empty());
    let next = bench
        .read(move |tx| calls::next_due_at(tx, later(two, hour)))
        .await;
    assert_eq!(next, None);
    // Its own watch does: nothing that a node has lost sight of stays undone.
    assert!(lease(bench, later(one, 99), hour).await.is_empty());
    let again = lease(bench, later(one, 100), 0).await;
    assert_eq!(ids(&again), ids(&first));
    assert!(again.iter().all(|call| call.attempts == 2 && call.is_unclear));
    // A node that is given up gets nothing more, and what it had is another's at once.
    bench.write(move |tx| nodes::leave(tx, one.node)).await;
    assert!(lease(bench, later(one, 1_000), hour).await.is_empty());
    let taken = lease(bench, two, 0).await;
    assert_eq!(ids(&taken), ids(&first));
    assert!(taken.iter().all(|call| call.attempts == 3 && call.is_unclear));
    // What it says of them counts no more.
    let late = again[0].clone();
    assert!(
        !bench
            .write(move |tx| calls::finish(tx, &late, CallEnd::Failed, Some("late"), at(9)))
            .await
    );
}

pub async fn ends_and_delays_of_calls_are_kept(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 3).await;
    write_calls(bench, &orders).await;
    let maker = a_maker(bench, "one").await;
    let leased = lease(bench, maker, 0).await;
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
    let counted = bench.read(|tx| calls::count_open(tx, 2)).await;
    assert_eq!(counted.0, 2, "up to a limit");
    let next: Vec<_> = lease(bench, maker, 20).await;
    assert_eq!(
        next.iter().map(|call| call.kind).collect::<Vec<_>>(),
        [TELL],
        "the next of the one that is done"
    );
    assert!(lease(bench, maker, 49).await.is_empty(), "put off until 50");
    let put_off = lease(bench, maker, 50).await;
    assert_eq!(
        put_off
            .iter()
            .map(|call| (call.id, call.attempts))
            .collect::<Vec<_>>(),
        [(later_id, 2)]
    );
    // What is leased, or waits behind it, cannot be had.
    let next = bench.read(move |tx| calls::next_due_at(tx, maker)).await;
    assert_eq!(next, None);
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

pub async fn open_calls_are_counted_up_to_a_limit(bench: &Bench) {
    assert_eq!(bench.read(|tx| calls::count_open(tx, 10)).await, (0, None));
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 3).await;
    write_calls(bench, &orders).await;
    assert_eq!(bench.read(|tx| calls::count_open(tx, 10)).await, (6, Some(at(0))));
    assert_eq!(bench.read(|tx| calls::count_open(tx, 4)).await, (4, Some(at(0))));
}
