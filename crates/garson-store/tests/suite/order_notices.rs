//! What staff has to acknowledge: notices of orders, and events that were given up.

use crate::database::Bench;
use crate::fixtures::at;
use garson_core::explanation::Explanation;
use garson_core::order::{CallKind, Status};
use garson_store::tables::order_notices::{self, LASTS, NoticeKind};
use garson_store::tables::{accounts, deliveries};

pub async fn notices_are_kept_by_kind_and_account(bench: &Bench) {
    let (here, there) = (bench.branch("lokanta").await, bench.branch("pideci").await);
    let (account, neighbour) = (here.account, there.account);
    let mut order = bench.orders(here, "S", 1).await.remove(0);
    order.status = Status::Preparing;
    let id = order.id;
    let (written, says) = (order.clone(), Explanation::answered(503, Some("Bakım 🛠")));
    let message = says.clone();
    bench
        .write(move |tx| {
            order_notices::record_cancelled(tx, &written, at(1))?;
            order_notices::record_refused(tx, &written, CallKind::Verify, &Explanation::text("x"), at(1))?;
            // The newer one replaces the older one.
            order_notices::record_refused(tx, &written, CallKind::Cancel, &message, at(2))
        })
        .await;
    let of_account = |account| bench.read(move |tx| order_notices::of_account(tx, account, at(3)));
    let found = of_account(account).await;
    assert_eq!(found.len(), 2);
    let refused = found.iter().find(|it| it.kind == NoticeKind::Refused).unwrap();
    assert_eq!(
        (refused.call, refused.message.clone(), refused.at),
        (Some(CallKind::Cancel), Some(says), at(2))
    );
    let cancelled = found.iter().find(|it| it.kind == NoticeKind::Cancelled).unwrap();
    assert_eq!((cancelled.status, cancelled.order_id), (Status::Preparing, id));
    assert_eq!(
        bench
            .read(move |tx| order_notices::of_orders(tx, &[id], at(3)))
            .await
            .len(),
        2
    );
    // Another account has none, and acknowledges none of these.
    assert!(of_account(neighbour).await.is_empty());
    assert!(
        !bench
            .write(move |tx| order_notices::acknowledge(tx, neighbour, id))
            .await
    );
    bench.write(move |tx| order_notices::settle_refused(tx, id)).await;
    assert!(
        !bench
            .read(move |tx| order_notices::has(tx, id, NoticeKind::Refused))
            .await
    );
    assert!(
        bench
            .write(move |tx| order_notices::acknowledge(tx, account, id))
            .await
    );
    assert!(
        !bench
            .write(move |tx| order_notices::acknowledge(tx, account, id))
            .await
    );
    assert!(of_account(account).await.is_empty());
}

pub async fn notice_lasts_a_day(bench: &Bench) {
    let here = bench.branch("lokanta").await;
    let account = here.account;
    let orders = bench.orders(here, "S", 2).await;
    let (first, second) = (orders[0].clone(), orders[1].clone());
    let id = first.id;
    bench
        .write(move |tx| order_notices::record_cancelled(tx, &first, at(1)))
        .await;
    let later = at(2).plus(LASTS);
    assert!(
        bench
            .read(move |tx| order_notices::of_account(tx, account, later))
            .await
            .is_empty()
    );
    assert!(
        bench
            .read(move |tx| order_notices::has(tx, id, NoticeKind::Cancelled))
            .await
    );
    // The next one removes it.
    bench
        .write(move |tx| order_notices::record_cancelled(tx, &second, later))
        .await;
    assert!(
        !bench
            .read(move |tx| order_notices::has(tx, id, NoticeKind::Cancelled))
            .await
    );
}

pub async fn given_up_events_are_acknowledged(bench: &Bench) {
    let (here, there) = (bench.branch("lokanta").await, bench.branch("pideci").await);
    let (account, neighbour) = (here.account, there.account);
    bench.orders(here, "S", 3).await;
    bench.orders(there, "T", 1).await;
    bench
        .write(move |tx| tx.execute("UPDATE events SET state = 'failed'", &[]))
        .await;
    let count = |account| bench.read(move |tx| deliveries::count_given_up(tx, account, at(0), 100));
    let up_to = |limit| bench.read(move |tx| deliveries::count_given_up(tx, account, at(0), limit));
    assert_eq!(
        (count(account).await, count(neighbour).await, up_to(2).await),
        (3, 1, 2)
    );
    bench
        .write(move |tx| accounts::acknowledge_given_up(tx, account))
        .await;
    assert_eq!((count(account).await, count(neighbour).await), (0, 1));
    bench.orders(here, "U", 1).await;
    bench
        .write(move |tx| tx.execute("UPDATE events SET state = 'failed'", &[]))
        .await;
    assert_eq!(count(account).await, 1);
    // Nothing is pending, so nothing fails.
    let failing = bench.read(move |tx| deliveries::count_failing(tx, account, at(1_000), 100));
    assert_eq!(failing.await, (0, None));
    bench
        .write(move |tx| tx.execute("UPDATE events SET state = 'pending', failures = 1", &[]))
        .await;
    let failing = |seconds| bench.read(move |tx| deliveries::count_failing(tx, account, at(seconds), 100));
    assert_eq!(failing(1_000).await.0, 4);
    assert_eq!(failing(-1_000).await, (0, None));
}
