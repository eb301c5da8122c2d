//! The edges of pages, and the filters of the list of orders that are not reported yet.

use crate::cursors::{page, places, walk_down, walk_up};
use crate::database::Bench;
use crate::fixtures::{Branch, DIRECT, at};
use Direction::{Newer, Older};
use garson_core::order::{Order, Status};
use garson_store::lists::feed;
use garson_store::lists::feed::{ALL_POSITIONS, Direction, Page, PageRequest, Scope};
use garson_store::lists::orders::OrderSummary;
use garson_store::tables::accounts;
use garson_store::tables::orders;

pub async fn empty_list_has_only_a_newer_cursor(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let scope = Scope::Account(branch.account);
    for direction in [Older, Newer] {
        let empty = page(&bench.engine, scope, 10, None, direction).await;
        let request = PageRequest {
            limit: 10,
            cursor: None,
            direction,
        };
        assert_eq!(empty, Page::empty(request), "{direction:?}");
    }
    let prev = page(&bench.engine, scope, 10, None, Older).await.prev;
    bench.orders(branch, "S", 2).await;
    let came = page(&bench.engine, scope, 10, prev, Newer).await;
    assert_eq!(came.items.len(), 2);
    assert_eq!(came.next, None);
}

pub async fn pages_end_where_the_list_ends(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let scope = Scope::Account(branch.account);
    bench.orders(branch, "S", 5).await;
    let engine = &bench.engine;
    let exact = page(engine, scope, 5, None, Older).await;
    assert_eq!((exact.items.len(), exact.next), (5, None), "exactly one page");
    let all = places(&exact);
    let first = page(engine, scope, 4, None, Older).await;
    assert_eq!(places(&first), all[..4]);
    let last = page(engine, scope, 4, first.next, Older).await;
    assert_eq!((places(&last), last.next), (all[4..].to_vec(), None));
    let beyond = page(engine, scope, 4, Some(all[4]), Older).await;
    assert_eq!((beyond.items.len(), beyond.next), (0, None));
    let back = page(engine, scope, 5, beyond.prev, Newer).await;
    assert_eq!(places(&back), all, "behind an empty page lies what was before it");

    let none = page(engine, scope, 4, exact.prev, Newer).await;
    assert_eq!(
        (none.items.len(), none.prev),
        (0, exact.prev),
        "nothing newer yet"
    );
    assert_eq!(
        walk_down(engine, scope, 2, none.next).await,
        all,
        "from an empty newer page all is older"
    );
    let new = bench.orders(branch, "N", 3).await;
    let since = page(engine, scope, 4, none.prev, Newer).await;
    let ids: Vec<_> = since.items.iter().map(|order| order.id).collect();
    assert_eq!(ids, new.iter().rev().map(|order| order.id).collect::<Vec<_>>());
}

pub async fn paging_down_and_up_returns_the_same_orders(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let other = bench.branch_of(branch.account).await;
    let stranger = bench.branch("yabanci").await;
    let mut mine = Vec::new();
    for (n, prefix) in ["a", "b", "c"].into_iter().enumerate() {
        mine.extend(bench.orders(branch, prefix, 3).await);
        let count = i64::try_from(n + 1).unwrap();
        bench.orders(other, prefix, count).await;
        bench.orders(stranger, prefix, count).await;
    }
    let engine = &bench.engine;
    for (scope, count) in [
        (Scope::Account(branch.account), 15),
        (Scope::Restaurant(branch.restaurant), 9),
        (Scope::Restaurant(other.restaurant), 6),
    ] {
        let all = walk_down(engine, scope, 200, None).await;
        assert_eq!(all.len(), count, "{scope:?}");
        assert!(all.is_sorted_by(|newer, older| newer > older));
        for limit in [1, 2, 4, 200] {
            assert_eq!(
                walk_down(engine, scope, limit, None).await,
                all,
                "down by {limit}"
            );
            assert_eq!(walk_up(engine, scope, limit, None).await, all, "up by {limit}");
            let oldest = page(engine, scope, limit, None, Newer).await;
            let start = all.len().saturating_sub(limit);
            assert_eq!(
                places(&oldest),
                all[start..],
                "without a cursor, newer starts at the oldest"
            );
        }
    }
    let scope = Scope::Restaurant(branch.restaurant);
    let listed = page(engine, scope, 200, None, Older).await;
    let mut ids: Vec<_> = listed.items.iter().map(|order| order.id).collect();
    ids.reverse();
    assert_eq!(ids, mine.iter().map(|order| order.id).collect::<Vec<_>>());
}

async fn pending(
    bench: &Bench,
    scope: Scope,
    statuses: &'static [Status],
    between: (i64, i64),
    limit: usize,
    direction: Direction,
) -> Vec<OrderSummary> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let request = PageRequest {
            limit,
            cursor,
            direction,
        };
        let page = bench
            .read(move |tx| {
                let narrowed = garson_store::lists::orders::OrderFilter {
                    statuses: statuses.to_vec(),
                    providers: vec![DIRECT],
                };
                let narrowed = (!statuses.is_empty()).then_some(narrowed);
                garson_store::lists::orders::list_pending(tx, scope, narrowed.as_ref(), between, request)
            })
            .await;
        let went_on = !page.items.is_empty();
        if direction == Older {
            all.extend(page.items);
            cursor = page.next;
        } else {
            all.splice(0..0, page.items);
            cursor = page.prev;
        }
        if cursor.is_none() || !went_on {
            return all;
        }
    }
}

/// Orders of two restaurants, in turn through some statuses, every fifth of them reported.
async fn mixed_orders(bench: &Bench, branches: [Branch; 2]) -> Vec<Order> {
    let mut taken = Vec::new();
    for n in 0..30_usize {
        let now = at(i64::try_from(n / 3 * 1_000).unwrap());
        let mut order = bench.order(branches[n % 2], format!("S-{n}"), now).await;
        order.status = [
            Status::New,
            Status::Preparing,
            Status::OnTheWay,
            Status::Delivered,
        ][n % 7 % 4];
        let changed = order.clone();
        bench
            .write(move |tx| {
                let mut places = accounts::reserve_positions(tx, changed.account_id, 3, changed.updated_at)?;
                orders::update(tx, &changed, places.take())?;
                if n % 5 == 0 {
                    orders::mark_reported(tx, changed.id, at(50_000), places.take())?;
                    orders::mark_reported(tx, changed.id, at(60_000), places.take())?;
                }
                Ok(())
            })
            .await;
        if n % 5 == 0 {
            order.reported_at = Some(at(50_000));
        }
        taken.push(order);
    }
    taken
}

pub async fn pending_order_filters_agree_with_a_full_scan(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let branches = [branch, bench.branch_of(branch.account).await];
    let taken = mixed_orders(bench, branches).await;
    let stored = bench
        .write({
            let id = taken[0].id;
            move |tx| orders::lock(tx, id)
        })
        .await;
    assert_eq!(
        stored.unwrap().reported_at,
        Some(at(50_000)),
        "the first stamp stays"
    );
    const LISTS: [&[Status]; 5] = [
        &[],
        &[Status::New],
        &[Status::New, Status::OnTheWay, Status::Delivered],
        &[Status::Preparing, Status::Preparing, Status::New],
        &[Status::Cancelled],
    ];
    for scope in [
        Scope::Account(branch.account),
        Scope::Restaurant(branch.restaurant),
    ] {
        for statuses in LISTS {
            let wanted: Vec<_> = taken
                .iter()
                .rev()
                .filter(|o| o.reported_at.is_none())
                .filter(|o| matches!(scope, Scope::Account(_)) || o.restaurant_id == branch.restaurant)
                .filter(|o| statuses.is_empty() || statuses.contains(&o.status))
                .map(|o| o.id)
                .collect();
            for (limit, direction) in [(1, Older), (3, Older), (200, Older), (1, Newer), (4, Newer)] {
                let found = pending(bench, scope, statuses, ALL_POSITIONS, limit, direction).await;
                let ids: Vec<_> = found.iter().map(|order| order.id).collect();
                assert_eq!(ids, wanted, "{scope:?} {statuses:?} {limit} {direction:?}");
                assert!(found.iter().all(|order| !order.is_report));
            }
        }
    }
}

pub async fn timestamps_become_positions(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let branches = [branch, bench.branch_of(branch.account).await];
    let (account, taken) = (branch.account, mixed_orders(bench, branches).await);
    let moments = [
        None,
        Some(-1),
        Some(0),
        Some(1),
        Some(3_000),
        Some(3_001),
        Some(9_000),
        Some(9_001),
    ];
    for from in moments {
        for to in moments {
            let (start, end) = (from.map(at), to.map(at));
            let between = bench
                .read(move |tx| feed::positions_between(tx, account, start, end))
                .await;
            let wanted: Vec<_> = taken
                .iter()
                .rev()
                .filter(|o| o.reported_at.is_none())
                .filter(|o| start.is_none_or(|t| o.created_at >= t) && end.is_none_or(|t| o.created_at < t))
                .map(|o| o.id)
                .collect();
            let found = match between {
                Some(between) => pending(bench, Scope::Account(account), &[], between, 2, Older).await,
                None => Vec::new(),
            };
            let ids: Vec<_> = found.iter().map(|order| order.id).collect();
            assert_eq!(ids, wanted, "from {from:?} to {to:?}");
            let up = match between {
                Some(between) => pending(bench, Scope::Account(account), &[], between, 2, Newer).await,
                None => Vec::new(),
            };
            assert_eq!(up, found, "upwards, from {from:?} to {to:?}");
        }
    }
}
