//! Counts of orders by half hour against a plain count over all orders.

use crate::database::Bench;
use crate::fixtures::{Branch, at, take_order};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::money::Minor;
use garson_core::order::{Actor, Cancellation, Order, Reason, Status, TimelineLine, TimelineReason};
use garson_core::payment::PaymentType;
use garson_core::testing::a_new_order;
use garson_core::time::Timestamp;
use garson_store::tables::{orders, restaurants};
use garson_store::totals::stats::{self, CancelKey, Stats};
use garson_store::upkeep::sweep;
use garson_store::{Tx, params, totals};

const SLOT: i64 = 30 * 60 * 1000;
const HOUR: i64 = 2 * SLOT;
const MINUTE: i64 = 60 * 1000;

fn cancellation(by: Actor, reason: Option<&str>, at: Timestamp) -> Cancellation {
    Cancellation {
        by,
        reason: reason.map(|name| Reason {
            id: "7".to_owned(),
            name: name.to_owned(),
        }),
        note: Some("private".to_owned()),
        at,
    }
}

/// Writes a change of an order as the application does.
fn change(tx: &mut Tx<'_>, before: &Order, after: &Order) -> garson_store::Result<()> {
    orders::update(tx, after, 1)?;
    totals::update_order(tx, before, after)?;
    if before.status != after.status {
        let line = TimelineLine {
            at: after.updated_at,
            from: Some(before.status),
            to: after.status,
            by: Actor::Account,
            why: Some(TimelineReason::Advanced),
            revision: None,
        };
        orders::append_timeline(tx, after.id, &[line])?;
    }
    Ok(())
}

/// One order every seven minutes with a life of its own.
async fn a_day(bench: &Bench, branches: &[Branch]) -> Vec<Order> {
    let branches = branches.to_vec();
    bench
        .write(move |tx| {
            let mut taken = Vec::new();
            for n in 0..60_i64 {
                let number = usize::try_from(n).unwrap();
                let mut new = a_new_order(&format!("S-{n}"));
                new.content.amount.total = Minor(1000 + n);
                new.content.payment.kind = PaymentType::ALL[number % PaymentType::ALL.len()];
                let moment = 7 * MINUTE * n;
                let new = take_order(tx, branches[number % branches.len()], &new, at(moment))?;
                let mut now = new.clone();
                if n % 5 == 0 {
                    now.status = Status::Cancelled;
                    now.updated_at = at(moment + 1000);
                    let reason = ["Ürün \"kalmadı\"", "a|b\nc"][number / 5 % 2];
                    let by = [Actor::Customer, Actor::Account][number / 5 % 2];
                    now.cancellation = Some(cancellation(by, Some(reason), now.updated_at));
                    change(tx, &new, &now)?;
                } else {
                    now.status = Status::Preparing;
                    now.updated_at = at(moment + (n + 1) * 1000);
                    change(tx, &new, &now)?;
                    let before = now.clone();
                    now.ready_at = Some(at(moment + (n + 1) * 1000 + 10 * MINUTE));
                    now.updated_at = at(moment + (n + 1) * 1000 + 10 * MINUTE);
                    change(tx, &before, &now)?;
                }
                taken.push(now);
            }
            Ok(taken)
        })
        .await
}

/// The sales and cancellations, order by order.
fn naive(
    orders: &[Order],
    only: Option<RestaurantId>,
    gone: &[RestaurantId],
    from: Timestamp,
    to: Timestamp,
) -> Stats {
    let mut found = Stats::default();
    for order in orders {
        let counts = only.is_none_or(|id| id == order.restaurant_id)
            && !gone.contains(&order.restaurant_id)
            && (from..to).contains(&order.created_at);
        if !counts {
            continue;
        }
        let tally = match &order.cancellation {
            None => found
                .sales
                .entry((order.provider, order.payment_type, order.currency))
                .or_default(),
            Some(it) => found
                .cancels
                .entry(CancelKey {
                    provider: order.provider,
                    currency: order.currency,
                    by: it.by.as_str().to_owned(),
                    reason: it.reason.as_ref().map_or_else(String::new, |it| it.name.clone()),
                })
                .or_default(),
        };
        tally.0 += 1;
        tally.1 += order.total.0;
    }
    found
}

async fn compare(
    bench: &Bench,
    account: AccountId,
    orders: &[Order],
    only: Option<RestaurantId>,
    gone: &[RestaurantId],
    when: &str,
) {
    let bounds: Vec<Timestamp> = (0..=8).map(|hour| at(hour * HOUR)).collect();
    let asked = bounds.clone();
    let found = bench
        .read(move |tx| stats::between(tx, account, only, &asked))
        .await;
    assert_eq!(found.len(), 8);
    for (pair, found) in bounds.windows(2).zip(found) {
        let wanted = naive(orders, only, gone, pair[0], pair[1]);
        assert_eq!(
            (found.sales, found.cancels),
            (wanted.sales, wanted.cancels),
            "{when}, {pair:?}"
        );
    }
}

pub async fn counts_agree_with_a_full_scan(bench: &Bench) {
    let account = bench.account("zincir").await;
    let branches = [
        bench.branch_of(account).await,
        bench.branch_of(account).await,
        bench.branch_of(account).await,
    ];
    let taken = a_day(bench, &branches).await;
    for only in [None, Some(branches[0].restaurant), Some(branches[2].restaurant)] {
        compare(bench, account, &taken, only, &[], "at first").await;
    }
    let ids = branches.map(|branch| branch.restaurant);
    let period = (at(0), at(8 * HOUR));
    let each = bench
        .read(move |tx| stats::sales_of_restaurants(tx, &ids, period))
        .await;
    let shown: i64 = each.values().map(|(count, _)| count).sum();
    assert_eq!((each.len(), shown), (3, 48));
    // A deleted restaurant counts no more, before, during and after the sweep.
    let victim = branches[1].restaurant;
    bench
        .write(move |tx| restaurants::delete(tx, account, victim, at(0)))
        .await;
    compare(bench, account, &taken, None, &[victim], "deleted").await;
    while bench
        .write(move |tx| sweep::remove_chunk(tx, account, victim, 5))
        .await
    {
        compare(bench, account, &taken, None, &[victim], "while it is swept").await;
    }
    compare(bench, account, &taken, None, &[victim], "swept").await;
    let left: i64 = bench
        .read(move |tx| {
            let sql = "SELECT COUNT(*) FROM order_stats WHERE scope = ?1";
            tx.on(garson_store::ORDER_STATS)
                .query_one(sql, params![&victim], |row| row.get(0))
        })
        .await;
    assert_eq!(left, 0);
}

async fn whole(bench: &Bench, account: AccountId) -> Stats {
    let found = bench
        .read(move |tx| stats::between(tx, account, None, &[at(0), at(8 * HOUR)]))
        .await;
    found.into_iter().next().unwrap()
}

pub async fn times_are_measured_from_arrival_and_acceptance(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let taken = a_day(bench, &[branch]).await;
    let found = whole(bench, branch.account).await;
    let accepted = taken.iter().filter(|order| order.cancellation.is_none());
    let took: Vec<i64> = accepted
        .map(|order| order.ready_at.unwrap().as_millis() - 10 * MINUTE - order.created_at.as_millis())
        .collect();
    assert_eq!(found.accept.count(), 48);
    assert_eq!(found.accept.average(), Some(took.iter().sum::<i64>() / 48));
    let median = found.accept.median().unwrap();
    assert!((25_000..40_000).contains(&median), "{median}");
    assert_eq!(
        (found.prepare.count(), found.prepare.average()),
        (48, Some(10 * MINUTE))
    );
}

pub async fn counts_of_older_releases_are_filled_in(bench: &Bench) {
    let account = bench.account("eski").await;
    let branches = [bench.branch_of(account).await, bench.branch_of(account).await];
    let taken = a_day(bench, &branches).await;
    let before = whole(bench, account).await;
    // The database as a release without the table had it.
    bench
        .write(|tx| {
            tx.on(garson_store::ORDER_STATS)
                .execute("DROP TABLE order_stats", params![])?;
            tx.execute("ALTER TABLE attempts DROP COLUMN response", params![])?;
            tx.execute("DELETE FROM schema_migrations WHERE number = 15", params![])
        })
        .await;
    let again = bench.second_engine();
    assert_eq!(whole(bench, account).await, before);
    compare(
        bench,
        account,
        &taken,
        Some(branches[1].restaurant),
        &[],
        "filled in",
    )
    .await;
    drop(again);
}

pub async fn concurrent_writers_keep_correct_counts(bench: &Bench) {
    let branch = bench.branch("yogun").await;
    let other = bench.second_engine();
    let one = async {
        for n in 0..15 {
            bench.order(branch, format!("A-{n}"), at(n)).await;
        }
    };
    let two = async {
        for n in 0..15 {
            let new = a_new_order(&format!("B-{n}"));
            let taken = other
                .write(garson_store::Partition::COMMON, move |tx: &mut Tx<'_>| {
                    take_order(tx, branch, &new, at(n))
                })
                .await;
            taken.unwrap();
        }
    };
    tokio::join!(one, two);
    let found = whole(bench, branch.account).await;
    assert_eq!(found.sales.values().map(|(count, _)| count).sum::<i64>(), 30);
}
