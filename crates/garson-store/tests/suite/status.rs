//! What the page about an account's state is made of: counted up to a limit, and nobody else's.

use crate::calls::{a_call, lease, lease_holder};
use crate::database::Bench;
use crate::fixtures::at;
use crate::inbox::keep;
use garson_core::explanation::Explanation;
use garson_core::order::{CallKind, Status};
use garson_store::tables::calls;
use garson_store::tables::calls::CallEnd;
use garson_store::tables::inbox;
use garson_store::tables::inbox::InboxState;
use garson_store::tables::{deliveries, integrations};

const TELL: CallKind = CallKind::Tell(Status::OnTheWay);

pub async fn calls_of_an_account_are_counted(bench: &Bench) {
    let (here, there) = (bench.branch("lokanta").await, bench.branch("pideci").await);
    let (account, neighbour) = (here.account, there.account);
    let ours = bench.orders(here, "S", 3).await;
    for order in ours.iter().cloned().chain(bench.orders(there, "T", 1).await) {
        bench
            .write(move |tx| calls::create(tx, &a_call(&order, TELL)))
            .await;
    }
    let open = |limit| bench.read(move |tx| calls::count_open_of(tx, account, limit));
    assert_eq!((open(10).await.0, open(2).await.0), (3, 2));
    let maker = lease_holder(bench, "one").await;
    for (n, call) in (5_i64..).zip(lease(bench, maker, 1_000).await) {
        bench
            .write(move |tx| {
                calls::finish(
                    tx,
                    &call,
                    CallEnd::Failed,
                    Some(&Explanation::text("hayır")),
                    at(n),
                )
            })
            .await;
    }
    assert_eq!(open(10).await, (0, None));
    let failed = |since, limit| bench.read(move |tx| calls::newest_failed(tx, account, at(since), limit));
    let count = |since, limit| bench.read(move |tx| calls::count_failed(tx, account, at(since), limit));
    let found = failed(0, 10).await;
    assert_eq!((found.len(), count(0, 10).await, count(0, 2).await), (3, 3, 2));
    assert!(
        found
            .iter()
            .all(|call| ours.iter().any(|order| order.id == call.order_id))
    );
    assert!(found[0].at > found[2].at, "newest first");
    assert_eq!(
        (found[0].kind, found[0].message.clone()),
        (TELL, Some(Explanation::text("hayır")))
    );
    assert_eq!((failed(0, 1).await.len(), failed(1_000, 10).await.len()), (1, 0));
    assert_eq!(count(1_000, 10).await, 0);
    let theirs = bench
        .read(move |tx| calls::count_failed(tx, neighbour, at(0), 10))
        .await;
    assert_eq!(theirs, 1);
}

pub async fn messages_and_deliveries_of_an_account_are_counted(bench: &Bench) {
    let (here, there) = (bench.branch("lokanta").await, bench.branch("pideci").await);
    let account = here.account;
    bench
        .write(move |tx| {
            keep(tx, 1, Some(here), InboxState::Unreadable, 10)?;
            keep(tx, 2, Some(here), InboxState::Conflicting, 20)?;
            keep(tx, 3, Some(here), InboxState::Taken, 30)?;
            keep(tx, 4, Some(there), InboxState::Unmatched, 30)?;
            keep(tx, 5, None, InboxState::Unmatched, 30)
        })
        .await;
    let open = |since| bench.read(move |tx| inbox::list_open_of(tx, account, at(since), 10));
    let states: Vec<String> = open(0).await.into_iter().map(|it| it.state).collect();
    assert_eq!(states, ["conflicting", "unreadable"]);
    assert_eq!((open(15).await.len(), open(21).await.len()), (1, 0));
    let count = |since, limit| bench.read(move |tx| inbox::count_open_of(tx, account, at(since), limit));
    assert_eq!(
        (count(0, 10).await, count(0, 1).await, count(15, 10).await),
        (2, 1, 1)
    );

    let pending = |limit| bench.read(move |tx| deliveries::count_pending_of(tx, account, limit));
    assert_eq!(pending(10).await, (0, None));
    bench.give_webhook(account).await;
    bench.orders(here, "S", 3).await;
    let (waiting, oldest_at) = pending(10).await;
    assert!(waiting >= 3 && oldest_at.is_some());
    assert_eq!(pending(2).await, (2, oldest_at));
    bench
        .write(|tx| tx.execute("UPDATE events SET state = 'failed', due_at = NULL", &[]))
        .await;
    let failed = |since, limit| bench.read(move |tx| deliveries::count_failed(tx, account, at(since), limit));
    assert_eq!((failed(0, 2).await, failed(i64::MAX / 2, 10).await), (2, 0));

    let listed = bench.read(move |tx| integrations::list(tx, account, 10)).await;
    let ours: Vec<_> = listed.iter().map(|(name, it)| (name.as_str(), it.id)).collect();
    assert_eq!(ours, [("Şube", here.integration)]);
    assert!(
        bench
            .read(move |tx| integrations::list(tx, account, 0))
            .await
            .is_empty()
    );
}
