//! Questions whose writer was not told that they are written.

use crate::calls::{LEASE, a_call, lease, lease_holder};
use crate::database::Bench;
use crate::fixtures::at;
use garson_core::explanation::PlatformFailure;
use garson_core::id::CallId;
use garson_core::order::{CallKind, Order, Status};
use garson_store::tables::calls;
use garson_store::tables::calls::{CallEnd, LeaseHolder, NewCall};
use garson_store::tables::nodes;

const TELL: CallKind = CallKind::Tell(Status::OnTheWay);

/// Writes a question that this node is to put, and a step behind it.
async fn write(bench: &Bench, order: &Order, kind: CallKind, maker: LeaseHolder) -> CallId {
    let order = order.clone();
    bench
        .write(move |tx| {
            let question = NewCall {
                lease: Some(maker.lease(LEASE)),
                ..a_call(&order, kind)
            };
            calls::create(tx, &question)?;
            calls::create(tx, &a_call(&order, TELL))?;
            Ok(question.id)
        })
        .await
}

pub async fn call_without_confirmed_commit_is_withdrawn(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let maker = lease_holder(bench, "one").await;
    for (kind, prefix) in [(CallKind::Verify, "V"), (CallKind::Cancel, "C")] {
        let order = bench.orders(branch, prefix, 1).await.remove(0);
        let id = write(bench, &order, kind, maker).await;
        assert!(lease(bench, maker, 10).await.is_empty(), "{kind:?}");
        let withdrawn = bench.write(move |tx| calls::withdraw(tx, id, at(20))).await;
        assert_eq!(withdrawn, Some((order.id, order.integration_id)));
        let end = bench.read(move |tx| calls::end(tx, id)).await;
        assert_eq!(
            end,
            Some((CallEnd::Abandoned, Some(PlatformFailure::Withdrawn.into())))
        );
        let order_id = order.id;
        let way = bench
            .read(move |tx| calls::blocking_call(tx, order_id, maker))
            .await;
        assert_eq!(way, None, "{kind:?}");
        let next: Vec<_> = lease(bench, maker, 30).await.iter().map(|c| c.kind).collect();
        assert_eq!(next, [TELL], "what waited behind it can be made");
        let again = bench.write(move |tx| calls::withdraw(tx, id, at(40))).await;
        assert_eq!(again, None);
    }
}

pub async fn leased_call_is_not_withdrawn(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let order = bench.orders(branch, "S", 1).await.remove(0);
    let (one, two) = (lease_holder(bench, "one").await, lease_holder(bench, "two").await);
    let id = write(bench, &order, CallKind::Verify, one).await;
    bench.write(move |tx| nodes::leave(tx, one.node)).await;
    assert_eq!(lease(bench, two, 10).await.len(), 1);
    assert_eq!(bench.write(move |tx| calls::withdraw(tx, id, at(20))).await, None);
    assert_eq!(bench.read(move |tx| calls::end(tx, id)).await, None);
}
