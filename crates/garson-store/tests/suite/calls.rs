//! Calls to platforms: leased once, one at a time for an order, and never lost.

use crate::database::Bench;
use crate::fixtures::at;
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::id::{CallId, NodeId, OrderId};
use garson_core::order::{CallKind, Order, Status};
use garson_core::time::Timestamp;
use garson_store::tables::calls;
use garson_store::tables::calls::{CallEnd, Delay, DueCall, LeaseHolder, Leased, NewCall};
use garson_store::tables::nodes;
use garson_store::{Partition, params};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use uuid::Uuid;

const TELL: CallKind = CallKind::Tell(Status::Preparing);

/// A call that is due at the start of time.
pub fn a_call(order: &Order, kind: CallKind) -> NewCall<'_> {
    NewCall {
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
        planned_at: at(millis),
        due_at: at(millis),
        is_attempt: true,
        is_unclear: false,
        not_yet_since: None,
        message: Explanation::text(message),
    }
}

/// Two calls for each order, both due at once.
async fn write_calls(bench: &Bench, orders: &[Order]) {
    let orders = orders.to_vec();
    bench
        .write(move |tx| {
            for order in &orders {
                calls::create(tx, &a_call(order, CallKind::Ready))?;
                calls::create(tx, &a_call(order, TELL))?;
            }
            Ok(())
        })
        .await;
}

/// How long a lease lasts by its node's own watch.
pub const LEASE: Duration = Duration::from_millis(100);

/// A node that makes calls; its watch shows nothing yet.
pub async fn lease_holder(bench: &Bench, name: &'static str) -> LeaseHolder {
    let node = NodeId(Uuid::now_v7());
    bench.write(move |tx| nodes::join(tx, node, name)).await;
    LeaseHolder {
        node,
        ..LeaseHolder::none()
    }
}

/// Leases what is due at a moment, whatever integration it is for.
pub async fn lease(bench: &Bench, maker: LeaseHolder, now: i64) -> Vec<DueCall> {
    bench
        .write(move |tx| {
            let mut leased = Vec::new();
            for queue in calls::queues(tx)? {
                leased.extend(calls::lease_due(
                    tx,
                    queue.integration_id,
                    at(now),
                    maker,
                    LEASE,
                    1_000,
                )?);
            }
            Ok(readable(leased))
        })
        .await
}

fn readable(leased: Vec<Leased>) -> Vec<DueCall> {
    let call = |leased| match leased {
        Leased::Call(call) => *call,
        Leased::Unreadable(call) => panic!("{call:?}"),
    };
    leased.into_iter().map(call).collect()
}

/// When the next call is due that a node can make.
async fn next_due_at(bench: &Bench, maker: LeaseHolder) -> Option<Timestamp> {
    let next = bench.read(move |tx| {
        let mut next = Vec::new();
        for queue in calls::queues(tx)? {
            next.extend(calls::next_due(tx, queue.integration_id, maker)?);
        }
        Ok(next)
    });
    next.await.iter().map(|queue| queue.due_at).min()
}

pub async fn eight_nodes_lease_every_call_once(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 60).await;
    write_calls(bench, &orders).await;
    let integration = branch.integration;
    let engines = [bench.engine.clone(), bench.second_engine()];
    let makers = [lease_holder(bench, "one").await, lease_holder(bench, "two").await];
    let leasers: Vec<_> = (0..8_u64)
        .map(|n| {
            let which = usize::try_from(n % 2).unwrap();
            let (engine, maker) = (engines[which].clone(), makers[which]);
            tokio::spawn(async move {
                let mut mine = Vec::new();
                let mut in_vain = 0;
                // Rows that another one holds are passed over, so one empty answer does not mean the end.
                while in_vain < 3 {
                    let lease = engine.write(Partition::numbered(n / 2), move |tx| {
                        calls::lease_due(tx, integration, at(5), maker, LEASE, 7)
                    });
                    let got: Vec<Leased> = lease.await.unwrap();
                    assert!(got.len() <= 7, "{} calls leased at once", got.len());
                    in_vain = if got.is_empty() { in_vain + 1 } else { 0 };
                    mine.extend(readable(got));
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

pub async fn leased_call_belongs_to_its_node_while_it_is_a_member(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 3).await;
    write_calls(bench, &orders).await;
    let (one, two) = (lease_holder(bench, "one").await, lease_holder(bench, "two").await);
    let later = |maker: LeaseHolder, clock_ms| LeaseHolder { clock_ms, ..maker };
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
    assert_eq!(next_due_at(bench, later(two, hour)).await, None);
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
            .write(move |tx| calls::finish(
                tx,
                &late,
                CallEnd::Failed,
                Some(&Explanation::text("late")),
                at(9)
            ))
            .await
    );
}

pub async fn ends_and_delays_of_calls_are_stored(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 3).await;
    write_calls(bench, &orders).await;
    let maker = lease_holder(bench, "one").await;
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
            calls::finish(
                tx,
                &done,
                CallEnd::Failed,
                Some(&Explanation::text("late")),
                at(11),
            )?;
            calls::postpone(tx, &later, &a_delay(50, "busy ☕"))?;
            calls::abandon_open(tx, order, None, at(12))
        })
        .await;
    assert_eq!(dropped, 2);
    let open = bench
        .read(move |tx| {
            orders
                .iter()
                .map(|o| Ok(calls::sync_state(tx, o.id)?.due_at.is_some()))
                .collect::<Result<Vec<_>, _>>()
        })
        .await;
    assert_eq!(open, [true, true, false]);
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
    assert_eq!(next_due_at(bench, maker).await, None);
    let ends = bench
        .read(|tx| {
            let sql =
                "SELECT state, message, finished_at FROM calls WHERE state <> ?1 ORDER BY state, number";
            tx.query(sql, params!["open"], |row| {
                Ok((
                    row.get::<String>(0)?,
                    row.get::<Option<Explanation>>(1)?,
                    row.get::<Option<i64>>(2)?,
                ))
            })
        })
        .await;
    let message = Explanation::from(PlatformFailure::OrderCancelled);
    let cancelled = ("abandoned".to_owned(), Some(message));
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

/// One integration's calls do not stand in another's way, and what waits behind an order's first call is not in the queue.
pub async fn queues_contain_runnable_calls_of_each_integration(bench: &Bench) {
    let (one, two) = (bench.branch("bir").await, bench.branch("iki").await);
    let (first, second) = (bench.orders(one, "A", 3).await, bench.orders(two, "B", 2).await);
    write_calls(bench, &first).await;
    write_calls(bench, &second).await;
    let queues = bench.read(calls::queues).await;
    let found: BTreeSet<_> = queues
        .iter()
        .map(|queue| (queue.integration_id, queue.account_id))
        .collect();
    assert_eq!(
        found,
        BTreeSet::from([(one.integration, one.account), (two.integration, two.account)])
    );
    let maker = lease_holder(bench, "one").await;
    let integration = two.integration;
    let leased = bench
        .write(move |tx| calls::lease_due(tx, integration, at(0), maker, LEASE, 10))
        .await;
    let orders: BTreeSet<_> = readable(leased.clone())
        .iter()
        .map(|call| call.order_id)
        .collect();
    assert_eq!(orders, second.iter().map(|order| order.id).collect());
    let next = bench
        .read(move |tx| calls::next_due(tx, integration, maker))
        .await;
    assert_eq!(next, None, "the others wait behind those that are being made");
    // The end of an order's first call lets the next one be made.
    let ended = readable(leased).remove(0);
    let order = ended.order_id;
    bench
        .write(move |tx| calls::finish(tx, &ended, CallEnd::Done, None, at(1)))
        .await;
    let next = lease(bench, maker, 1).await;
    let of_order: Vec<_> = next
        .iter()
        .filter(|call| call.order_id == order)
        .map(|call| call.kind)
        .collect();
    assert_eq!(of_order, [TELL]);
}

pub async fn unreadable_call_fails_and_blocks_no_other(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 3).await;
    write_calls(bench, &orders).await;
    let (broken, unknown) = (orders[0].id, orders[1].id);
    bench
        .write(move |tx| {
            let sql = "UPDATE calls SET argument = 'no JSON' WHERE order_id = ?1 AND number = 1";
            tx.execute(sql, params![&broken])?;
            let sql = "UPDATE calls SET kind = 'dance' WHERE order_id = ?1 AND number = 1";
            tx.execute(sql, params![&unknown])
        })
        .await;
    let maker = lease_holder(bench, "one").await;
    let integration = branch.integration;
    let leased = bench
        .write(move |tx| calls::lease_due(tx, integration, at(0), maker, LEASE, 10))
        .await;
    let damaged: Vec<_> = leased
        .iter()
        .filter_map(|leased| match leased {
            Leased::Unreadable(call) => Some(call.clone()),
            Leased::Call(_) => None,
        })
        .collect();
    assert_eq!((leased.len(), damaged.len()), (3, 2));
    let named: BTreeSet<_> = damaged.iter().filter_map(|call| call.order_id).collect();
    assert_eq!(named, BTreeSet::from([broken, unknown]));
    for call in damaged {
        assert!(
            bench
                .write(move |tx| calls::fail_unreadable(tx, &call, at(1)))
                .await
        );
    }
    // Their orders go on with the next call.
    let next: BTreeSet<_> = lease(bench, maker, 1)
        .await
        .iter()
        .map(|call| call.order_id)
        .collect();
    assert_eq!(next, BTreeSet::from([broken, unknown]));
    let failed = bench
        .read(move |tx| {
            let failed = calls::newest_failed(tx, branch.account, at(0), 10)?;
            Ok((failed.len(), calls::of_order(tx, unknown)?.len()))
        })
        .await;
    assert_eq!(failed, (1, 1), "one has no kind that could be shown");
}

pub async fn calls_scheduled_by_a_fast_clock_are_brought_forward(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 3).await;
    let hour = 3_600_000;
    let (ahead, paused, usual) = (orders[0].clone(), orders[1].clone(), orders[2].clone());
    bench
        .write(move |tx| {
            for (order, planned, due) in [
                (&ahead, hour, hour),
                (&paused, hour, hour + 5_000),
                (&usual, 0, hour),
            ] {
                let call = NewCall {
                    due_at: at(due),
                    created_at: at(planned),
                    ..a_call(order, TELL)
                };
                calls::create(tx, &call)?;
            }
            Ok(())
        })
        .await;
    let second = Duration::from_secs(1);
    assert!(
        bench
            .read(move |tx| calls::has_planned_ahead(tx, at(10), second))
            .await
    );
    let brought = bench
        .write(move |tx| calls::bring_forward(tx, at(10), second, 100))
        .await;
    assert_eq!(brought, 2);
    assert!(
        !bench
            .read(move |tx| calls::has_planned_ahead(tx, at(10), second))
            .await
    );
    let mut due = Vec::new();
    for order in &orders {
        let id = order.id;
        let lines = bench.read(move |tx| calls::of_order(tx, id)).await;
        due.push(lines[0].due_at);
    }
    assert_eq!(
        due,
        [at(10), at(5_010), at(hour)],
        "pauses stay as they were meant"
    );
}

pub async fn unsent_call_counts_no_attempt(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 1).await;
    write_calls(bench, &orders).await;
    let maker = lease_holder(bench, "one").await;
    for round in 0..3 {
        let call = lease(bench, maker, round).await.remove(0);
        assert_eq!(call.attempts, 1);
        let delay = Delay {
            is_attempt: false,
            ..a_delay(round + 1, "no room")
        };
        assert!(bench.write(move |tx| calls::postpone(tx, &call, &delay)).await);
    }
}

pub async fn node_keeps_its_calls_in_flight_after_suspension(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 1).await;
    write_calls(bench, &orders).await;
    let maker = lease_holder(bench, "one").await;
    let call = lease(bench, maker, 0).await.remove(0);
    // It was stopped for longer than the lease, but the call is still under way.
    let stopped = LeaseHolder {
        clock_ms: 100_000,
        in_flight_until: Some(call.leased_until),
        ..maker
    };
    assert!(lease(bench, stopped, 1).await.is_empty());
    let lost = LeaseHolder {
        in_flight_until: None,
        ..stopped
    };
    assert_eq!(lease(bench, lost, 1).await.len(), 1);
}
