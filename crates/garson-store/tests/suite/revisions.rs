//! Later versions of the content of orders: lists, sums, timelines and reports follow.

use crate::database::Bench;
use crate::fixtures::{Branch, at, take_order};
use garson_core::id::OrderId;
use garson_core::money::Minor;
use garson_core::order::{
    ContentVersion, NewOrder, Order, OrderContent, Revised, Status, TimelineLine, revise,
};
use garson_core::payment::PaymentType;
use garson_core::testing::a_new_order;
use garson_core::time::Timestamp;
use garson_store::lists::feed::{Direction, PageRequest, Scope};
use garson_store::tables::revisions;
use garson_store::tables::revisions::Replacement;
use garson_store::tables::{accounts, orders};
use garson_store::totals::Sums;
use garson_store::{Result, Tx, totals};

/// An order with another total, paid in another way.
fn changed(id: &str, total: i64, kind: PaymentType) -> NewOrder {
    let mut new = a_new_order(id);
    new.version = ContentVersion::Unnumbered;
    new.content.items[0].quantity = 1;
    new.content.amount.total = Minor(total);
    new.content.payment.kind = kind;
    new.content.payment.provider_code = Some(format!("code-{total}"));
    new
}

/// Writes a later version the way the service does, without an event.
fn write(tx: &mut Tx<'_>, branch: Branch, new: &NewOrder, now: Timestamp) -> Result<Order> {
    let known =
        orders::lock_by_identity(tx, branch.account, branch.integration, &new.identity, false)?.unwrap();
    let stored = orders::content(tx, known.order.id)?;
    let mut places = accounts::reserve_positions(tx, branch.account, 2, now)?;
    let Some(Revised { decision, content }) = revise(&known.order, &stored, new, places.at, false) else {
        return Ok(known.order);
    };
    orders::append_timeline(tx, known.order.id, &decision.timeline)?;
    let replacement = Replacement {
        order: &decision.order,
        content: &serde_json::to_string(&content).unwrap(),
        content_hash: &[2; 32],
        replaced_hash: stored_hash(&stored),
        position: places.take(),
    };
    revisions::replace(tx, &replacement)?;
    totals::update_order(tx, &known.order, &decision.order)?;
    Ok(decision.order)
}

fn stored_hash(stored: &OrderContent) -> &'static [u8] {
    match stored.amount.total.0 {
        40_000 => &[7; 32],
        _ => &[8; 32],
    }
}

async fn sums(bench: &Bench, branch: Branch) -> [Sums; 2] {
    bench
        .read(move |tx| {
            let of_account = totals::sums(tx, branch.account, None, None, None)?;
            let of_restaurant = totals::sums(tx, branch.account, Some(branch.restaurant), None, None)?;
            Ok([of_account, of_restaurant])
        })
        .await
}

fn newest() -> PageRequest {
    PageRequest {
        cursor: None,
        direction: Direction::Older,
        limit: 10,
    }
}

/// What the rows of the orders say.
async fn recomputed(bench: &Bench, branch: Branch) -> Sums {
    bench
        .read(move |tx| {
            let mut sums = Sums::new();
            let sql = "SELECT payment_type, currency, total, status FROM orders WHERE account_id = ?1";
            tx.query(sql, garson_store::params![&branch.account], |row| {
                if !row.get::<Status>(3)?.is_cancelled() {
                    let sum = sums.entry((row.get(0)?, row.get(1)?)).or_default();
                    *sum = (sum.0 + 1, sum.1 + row.get::<i64>(2)?);
                }
                Ok(())
            })?;
            Ok(sums)
        })
        .await
}

async fn timeline_of(bench: &Bench, id: OrderId) -> Vec<TimelineLine> {
    bench.read(move |tx| orders::timeline(tx, id)).await
}

pub async fn revision_is_visible_in_order_lists_and_timeline(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let order = bench.order(branch, "S-1", at(0)).await;
    let other = bench.order(branch, "S-2", at(1)).await;
    assert_eq!((order.revision, order.content_version), (1, None));
    let mut new = changed("S-1", 25_000, PaymentType::OnlineCard);
    new.version = ContentVersion::Numbered(77);
    new.provider_data = Some("left".to_owned());
    let after = bench.write(move |tx| write(tx, branch, &new, at(9))).await;
    let id = order.id;
    let found = bench
        .read(move |tx| orders::find(tx, branch.account, &id.to_string()))
        .await;
    assert_eq!(found, std::slice::from_ref(&after));
    assert_eq!((after.revision, after.content_version), (2, Some(77)));
    assert_eq!(
        (after.total, after.payment_type),
        (Minor(25_000), PaymentType::OnlineCard)
    );
    assert_eq!(after.payment_code.as_deref(), Some("code-25000"));
    assert_eq!(after.provider_data.as_deref(), Some("left"));
    assert_eq!((after.created_at, after.updated_at), (at(0), at(9)));
    let content = bench.read(move |tx| orders::content(tx, id)).await;
    assert_eq!(content.amount.total, Minor(25_000));
    // Lists show what is stored ready to be sent.
    let lines = bench
        .read(move |tx| {
            let request = newest();
            garson_store::lists::orders::list_lines(tx, Scope::Account(branch.account), request, |line| {
                line.tail.to_owned()
            })
        })
        .await;
    assert!(lines.items[1].contains(r#""total":25000,"currency":"TRY","paymentType":"online_card""#));
    assert!(lines.items[0].contains(r#""total":40000"#));
    let [arrived, told] = &timeline_of(bench, id).await[..] else {
        panic!("an order with a version has two lines")
    };
    assert_eq!(arrived.revision, None);
    let told = told.revision.as_ref().unwrap();
    assert_eq!(told.revision, 2);
    assert!(told.changes.iter().any(|change| change.field.as_str() == "total"));
    assert_eq!(timeline_of(bench, other.id).await.len(), 1);
    let known = bench
        .read(move |tx| orders::hashed_by_identity(tx, branch.account, branch.integration, "S-1"))
        .await
        .unwrap();
    assert_eq!((known.order, known.content_hash), (after, vec![2; 32]));
    for (hash, was) in [([7; 32], true), ([8; 32], false)] {
        let replaced = bench.read(move |tx| revisions::was_replaced(tx, id, &hash)).await;
        assert_eq!(replaced, was);
    }
}

pub async fn revisions_update_totals_in_every_status(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let orders = bench.orders(branch, "S", 4).await;
    let [new, reported, delivered, cancelled] = [0, 1, 2, 3].map(|n: usize| orders[n].clone());
    let (reported_id, ended) = (
        reported.id,
        [(delivered, Status::Delivered), (cancelled, Status::Cancelled)],
    );
    bench
        .write(move |tx| {
            orders::mark_reported(tx, reported_id, at(5), 998)?;
            for (before, status) in &ended {
                let after = Order {
                    status: *status,
                    ..before.clone()
                };
                orders::update(tx, &after, 999)?;
                totals::update_order(tx, before, &after)?;
            }
            Ok(())
        })
        .await;
    for (round, kind) in [PaymentType::Voucher, PaymentType::Voucher, PaymentType::Cash]
        .into_iter()
        .enumerate()
    {
        let total = 1_000 * (i64::try_from(round).unwrap() + 1);
        bench
            .write(move |tx| {
                (0..4).try_for_each(|n| {
                    write(tx, branch, &changed(&format!("S-{n}"), total + n, kind), at(10)).map(drop)
                })
            })
            .await;
        let expected = recomputed(bench, branch).await;
        let counted: (i64, i64) = expected
            .values()
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert_eq!(counted, (3, 3 * total + 3));
        assert_eq!(sums(bench, branch).await, [expected.clone(), expected]);
    }
    let id = new.id;
    let after = bench.read(move |tx| orders::by_id(tx, id)).await.unwrap();
    assert_eq!(after.revision, 4);
    // What was reported is not offered again; the others are, with their new totals.
    let pending = bench
        .read(move |tx| {
            let request = newest();
            garson_store::lists::orders::list_pending(
                tx,
                Scope::Account(branch.account),
                None,
                (i64::MIN, i64::MAX),
                request,
            )
        })
        .await;
    let offered: Vec<_> = pending
        .items
        .iter()
        .map(|it| (it.provider_order_id.as_str(), it.total.0))
        .collect();
    assert_eq!(offered, [("S-3", 40_000), ("S-2", 3_002), ("S-0", 3_000)]);
}

pub async fn several_revisions_in_one_transaction_all_count(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let after = bench
        .write(move |tx| {
            take_order(tx, branch, &a_new_order("S-1"), at(0))?;
            write(tx, branch, &changed("S-1", 500, PaymentType::Wallet), at(1))?;
            write(tx, branch, &changed("S-1", 600, PaymentType::Voucher), at(2))
        })
        .await;
    assert_eq!(after.revision, 3);
    assert_eq!(timeline_of(bench, after.id).await.len(), 3);
    let expected = recomputed(bench, branch).await;
    assert_eq!(expected.len(), 1);
    assert_eq!(sums(bench, branch).await, [expected.clone(), expected]);
}

pub async fn account_opts_into_revision_events(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let wants = async || {
        bench
            .write(move |tx| {
                let places = accounts::reserve_positions(tx, account, 1, at(0))?;
                Ok((accounts::wants_updates(tx, account)?, places.wants_updates))
            })
            .await
    };
    assert_eq!(wants().await, (false, false));
    bench
        .write(move |tx| accounts::set_wants_updates(tx, account, true))
        .await;
    assert_eq!(wants().await, (true, true));
    // Where events go is another question.
    bench
        .write(move |tx| accounts::set_webhook(tx, account, None))
        .await;
    assert_eq!(wants().await, (true, true));
    bench
        .write(move |tx| accounts::set_wants_updates(tx, account, false))
        .await;
    assert_eq!(wants().await, (false, false));
}
