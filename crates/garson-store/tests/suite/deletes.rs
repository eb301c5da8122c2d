//! Deleted restaurants: gone at once for everybody, their rows later, and nobody else's ever.

use crate::database::Bench;
use crate::dump::{self, Dump};
use crate::fixtures::{Branch, at, create_branch};
use crate::inbox::{a_message, keep};
use garson_core::business::{Business, BusinessFields};
use garson_core::delivery::DeliveryState;
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, BusinessId, PackageId};
use garson_core::order::{CallKind, Order, Status};
use garson_core::restaurant::Package;
use garson_store::lists::feed::{ALL_POSITIONS, Direction, PageRequest, Scope};
use garson_store::tables::attempts;
use garson_store::tables::attempts::Attempt;
use garson_store::tables::deliveries;
use garson_store::tables::deliveries::Delivery;
use garson_store::tables::events;
use garson_store::tables::inbox;
use garson_store::tables::inbox::InboxState;
use garson_store::tables::{businesses, calls, integrations, orders, packages, restaurants};
use garson_store::upkeep::sweep;
use garson_store::{Engine, totals};
use garson_store::{Result, Tx, params};
use uuid::Uuid;

/// Orders with everything that can hang on them.
async fn fill(bench: &Bench, branch: Branch, prefix: &'static str, count: i64, mark: u8) -> Vec<Order> {
    let taken = bench.orders(branch, prefix, count).await;
    let list = taken.clone();
    bench
        .write(move |tx| {
            for (n, order) in list.iter().enumerate() {
                calls::create(tx, &crate::calls::a_call(order, CallKind::Verify))?;
                for event in events::of_order(tx, order.id)? {
                    let attempt = Attempt {
                        number: 0,
                        at: at(1),
                        url: String::new(),
                        status: Some(500),
                        duration_ms: 1,
                        explanation: Explanation::answered(200, None),
                        ..Attempt::default()
                    };
                    attempts::record(tx, event.id, &attempt)?;
                }
                // Every third is given up.
                if n % 3 == 0 {
                    tx.execute(
                        "UPDATE events SET state = 'failed', due_at = NULL WHERE order_id = ?1",
                        params![&order.id],
                    )?;
                }
                let hash = mark + u8::try_from(n).unwrap();
                keep(tx, hash, Some(branch), InboxState::Unreadable, 1)?;
                let its_own = a_message(hash + 100, Some(branch), Some(order.id), InboxState::Taken, 1);
                inbox::store_first(tx, &its_own)?;
            }
            packages::replace(
                tx,
                branch.restaurant,
                &[Package::open_ended(PackageId(Uuid::now_v7()), at(0))],
            )
        })
        .await;
    taken
}

/// What an account's lists show, each walked through in pages of four.
#[derive(Debug, PartialEq, Eq)]
struct Lists {
    orders: Vec<String>,
    pending: Vec<String>,
    new: Vec<String>,
    events: Vec<String>,
    waiting: Vec<String>,
    failed: Vec<String>,
    restaurants: usize,
}

fn walk(mut page: impl FnMut(PageRequest) -> Result<(Vec<String>, Option<i64>)>) -> Result<Vec<String>> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let request = PageRequest {
            limit: 4,
            cursor,
            direction: Direction::Older,
        };
        let (items, next) = page(request)?;
        all.extend(items);
        cursor = next;
        if cursor.is_none() {
            return Ok(all);
        }
    }
}

fn lists(tx: &mut Tx<'_>, vault: &garson_store::Vault, account: AccountId) -> Result<Lists> {
    let scope = Scope::Account(account);
    let ids = |page: garson_store::lists::feed::Page<garson_store::lists::orders::OrderSummary>| {
        (page.items.iter().map(|o| o.id.to_string()).collect(), page.next)
    };
    let event_ids = |page: garson_store::lists::feed::Page<events::StoredEvent>| {
        (page.items.iter().map(|e| e.id.to_string()).collect(), page.next)
    };
    let new = garson_store::lists::orders::OrderFilter {
        statuses: vec![Status::New, Status::Preparing],
        providers: vec![crate::fixtures::DIRECT],
    };
    let (waiting, failed) = (Some(DeliveryState::Pending), Some(DeliveryState::Failed));
    Ok(Lists {
        orders: walk(|request| garson_store::lists::orders::list(tx, scope, request).map(ids))?,
        pending: walk(|request| {
            garson_store::lists::orders::list_pending(tx, scope, None, ALL_POSITIONS, request).map(ids)
        })?,
        new: walk(|request| {
            garson_store::lists::orders::list_pending(tx, scope, Some(&new), ALL_POSITIONS, request).map(ids)
        })?,
        events: walk(|request| {
            garson_store::lists::events::of_account(tx, account, None, request).map(event_ids)
        })?,
        waiting: walk(|request| {
            garson_store::lists::events::of_account(tx, account, waiting, request).map(event_ids)
        })?,
        failed: walk(|request| {
            garson_store::lists::events::of_account(tx, account, failed, request).map(event_ids)
        })?,
        restaurants: restaurants::list(tx, vault, account, None)?.len(),
    })
}

async fn lists_of(bench: &Bench, account: AccountId) -> Lists {
    let vault = bench.vault.clone();
    bench.read(move |tx| lists(tx, &vault, account)).await
}

/// Without the columns that only count: the account's own place and moment.
fn settled(mut dump: Dump) -> Dump {
    for row in dump.get_mut("accounts").unwrap() {
        row[4] = String::new();
        row[5] = String::new();
    }
    dump
}

async fn assert_gone(bench: &Bench, branch: Branch, taken: &[Order]) {
    let (vault, taken) = (bench.vault.clone(), taken.to_vec());
    bench
        .read(move |tx| {
            for order in &taken {
                for id in [order.id.to_string(), order.provider_order_id.clone()] {
                    assert_eq!(orders::find(tx, branch.account, &id)?, [], "{id}");
                }
                for event in events::of_order(tx, order.id)? {
                    assert!(events::find(tx, branch.account, event.id)?.is_none());
                }
            }
            let id = branch.restaurant;
            assert!(restaurants::find(tx, &vault, branch.account, id)?.is_none());
            assert!(!restaurants::exists(tx, branch.account, id)?);
            assert!(integrations::by_id(tx, &vault, branch.integration)?.is_none());
            assert!(packages::of_restaurant(tx, id)?.is_empty());
            Ok(())
        })
        .await;
}

pub async fn deliveries_of_a_deleted_restaurant_are_not_due(bench: &Bench) {
    let staying = bench.branch("lokanta").await;
    let account = staying.account;
    bench.give_webhook(account).await;
    let closing = bench.branch_of(account).await;
    for branch in [staying, closing] {
        bench.orders(branch, "S", 4).await;
    }
    // Two of each have failed once.
    bench.execute_directly("UPDATE events SET failures = 1, due_at = 7 WHERE position IN (2, 4, 10, 12)");
    let due = async || {
        bench
            .read(move |tx| {
                let fresh = deliveries::untried_after(tx, account, 0, 100)?;
                let late = deliveries::due_retries(tx, account, at(0), 100)?;
                let places = |some: Vec<Delivery>| some.iter().map(|it| it.position).collect::<Vec<_>>();
                Ok((places(fresh), places(late)))
            })
            .await
    };
    assert_eq!(due().await, (vec![6, 8, 14, 16], vec![2, 4, 10, 12]));
    let id = closing.restaurant;
    bench
        .write(move |tx| restaurants::delete(tx, account, id, at(9)))
        .await;
    assert_eq!(due().await, (vec![6, 8], vec![2, 4]));
}

/// Sweeps in chunks of three, and looks after each that the others' lists are as they were.
async fn sweep_all(bench: &Bench, watched: &[(AccountId, Lists)]) -> usize {
    let mut chunks = 0;
    while let Some((account, id)) = bench.read(|tx| sweep::next_deleted(tx, None)).await {
        bench
            .write(move |tx| sweep::remove_chunk(tx, account, id, 3))
            .await;
        chunks += 1;
        for (account, before) in watched {
            assert_eq!(&lists_of(bench, *account).await, before, "after chunk {chunks}");
        }
    }
    chunks
}

pub async fn sweep_removes_every_row_of_a_deleted_restaurant(bench: &Bench) {
    let staying = bench.branch("lokanta").await;
    let account = staying.account;
    let stranger = bench.branch("yabanci").await;
    for of in [account, stranger.account] {
        bench.give_webhook(of).await;
    }
    fill(bench, staying, "S", 9, 1).await;
    fill(bench, stranger, "Y", 3, 20).await;
    let untouched = settled(dump::of(&bench.engine).await);
    let watched = [
        (account, lists_of(bench, account).await),
        (stranger.account, lists_of(bench, stranger.account).await),
    ];
    let (all, of_stranger) = (&watched[0].1, &watched[1].1);
    assert_eq!((all.orders.len(), all.waiting.len(), all.failed.len()), (9, 6, 3));
    assert_eq!(of_stranger.failed.len(), 1);

    let victim = bench.branch_of(account).await;
    let taken = fill(bench, victim, "V", 10, 40).await;
    assert_eq!(lists_of(bench, account).await.orders.len(), 19);
    let id = victim.restaurant;
    let foreign = stranger.account;
    let ends = bench
        .write(move |tx| {
            Ok([
                restaurants::delete(tx, foreign, id, at(9))?,
                restaurants::delete(tx, account, id, at(9))?,
                restaurants::delete(tx, account, id, at(9))?,
            ])
        })
        .await;
    assert_eq!(ends, [false, true, false]);
    assert_gone(bench, victim, &taken).await;
    for (account, before) in &watched {
        assert_eq!(&lists_of(bench, *account).await, before, "at once");
    }
    let chunks = sweep_all(bench, &watched).await;
    assert!(chunks > 6, "{chunks} chunks only");
    assert_eq!(settled(dump::of(&bench.engine).await), untouched);
}

pub async fn deleting_a_business_deletes_its_restaurants(bench: &Bench) {
    let staying = bench.branch("lokanta").await;
    let account = staying.account;
    bench.give_webhook(account).await;
    fill(bench, staying, "S", 5, 1).await;
    let untouched = settled(dump::of(&bench.engine).await);
    let watched = [(account, lists_of(bench, account).await)];

    let id = BusinessId(Uuid::now_v7());
    let vault = bench.vault.clone();
    let victims = bench
        .write(move |tx| {
            let business = Business {
                id,
                fields: BusinessFields::default(),
                created_at: at(0),
                updated_at: at(0),
            };
            businesses::save(tx, account, &business)?;
            Ok([
                create_branch(tx, &vault, account, Some(id))?,
                create_branch(tx, &vault, account, Some(id))?,
            ])
        })
        .await;
    let taken = [
        fill(bench, victims[0], "V", 4, 40).await,
        fill(bench, victims[1], "W", 4, 60).await,
    ];
    let nobody = bench.account("yabanci").await;
    assert!(
        !bench
            .write(move |tx| businesses::delete(tx, nobody, id, at(9)))
            .await
    );
    assert!(
        bench
            .write(move |tx| businesses::delete(tx, account, id, at(9)))
            .await
    );
    let found = bench.read(move |tx| businesses::find(tx, account, id)).await;
    assert!(found.is_none());
    for (victim, taken) in victims.into_iter().zip(&taken) {
        assert_gone(bench, victim, taken).await;
    }
    assert_eq!(lists_of(bench, account).await, watched[0].1, "at once");
    sweep_all(bench, &watched).await;
    let mut left = settled(dump::of(&bench.engine).await);
    left.get_mut("accounts")
        .unwrap()
        .retain(|row| !row[2].contains("yabanci"));
    assert_eq!(left, untouched);
}

pub async fn concurrent_sweeps_subtract_sums_once(bench: &Bench) {
    const DAY: i64 = 86_400_000;
    let (doomed, other) = {
        let account = bench.account("chain").await;
        (bench.branch_of(account).await, bench.branch_of(account).await)
    };
    let account = doomed.account;
    for n in 0..60 {
        bench.order(doomed, format!("D-{n}"), at(n * DAY)).await;
        bench.order(other, format!("O-{n}"), at(n * DAY)).await;
    }
    let sums = move |tx: &mut Tx<'_>| totals::sums(tx, account, None, Some(at(1)), Some(at(70 * DAY)));
    let wanted = bench
        .read(move |tx| {
            totals::sums(
                tx,
                account,
                Some(other.restaurant),
                Some(at(1)),
                Some(at(70 * DAY)),
            )
        })
        .await;
    let second = bench.second_engine();
    bench
        .write(move |tx| restaurants::delete(tx, account, doomed.restaurant, at(0)).map(drop))
        .await;
    let sweep_all = async |engine: Engine| {
        while engine
            .write(account, move |tx| {
                sweep::remove_chunk(tx, account, doomed.restaurant, 7)
            })
            .await
            .unwrap()
        {}
    };
    tokio::join!(sweep_all(bench.engine.clone()), sweep_all(second));
    assert_eq!(bench.read(sums).await, wanted);
    assert!(!wanted.is_empty());
}
