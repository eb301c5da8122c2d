//! Lists that are read while they grow: nothing repeats, nothing is missed, nothing appears behind a cursor.

use crate::database::{Bench, within};
use crate::fixtures::{Branch, at, take_order};
use garson_core::testing::a_new_order;
use garson_store::lists::feed::{Direction, Page, PageRequest, Scope};
use garson_store::lists::orders::OrderSummary;
use garson_store::{Engine, Partition};
use std::time::Duration;
use tokio::task::JoinHandle;

pub async fn page(
    engine: &Engine,
    scope: Scope,
    limit: usize,
    cursor: Option<i64>,
    direction: Direction,
) -> Page<OrderSummary> {
    let request = PageRequest {
        limit,
        cursor,
        direction,
    };
    engine
        .read(move |tx| garson_store::lists::orders::list(tx, scope, request))
        .await
        .unwrap()
}

pub fn places(page: &Page<OrderSummary>) -> Vec<i64> {
    page.items.iter().map(|order| order.position).collect()
}

/// Walks to the oldest, and gives the places on the way.
pub async fn walk_down(engine: &Engine, scope: Scope, limit: usize, mut cursor: Option<i64>) -> Vec<i64> {
    let mut seen = Vec::new();
    loop {
        let page = page(engine, scope, limit, cursor, Direction::Older).await;
        assert!(page.items.len() <= limit);
        seen.extend(places(&page));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return seen,
        }
    }
}

/// Walks to the newest, and gives the places newest first.
pub async fn walk_up(engine: &Engine, scope: Scope, limit: usize, mut cursor: Option<i64>) -> Vec<i64> {
    let mut seen = Vec::new();
    loop {
        let page = page(engine, scope, limit, cursor, Direction::Newer).await;
        if page.items.is_empty() {
            return seen;
        }
        seen.splice(0..0, places(&page));
        cursor = page.prev;
    }
}

/// Sixteen writers on all connections of two engines, all for one account.
fn sixteen_writers(bench: &Bench, branch: Branch, each: i64) -> Vec<JoinHandle<()>> {
    let engines = [bench.engine.clone(), bench.second_engine()];
    (0..16_u64)
        .map(|writer| {
            let engine = engines[usize::try_from(writer % 2).unwrap()].clone();
            tokio::spawn(async move {
                for n in 0..each {
                    let job = move |tx: &mut garson_store::Tx<'_>| {
                        take_order(tx, branch, &a_new_order(&format!("{writer}-{n}")), at(n))
                    };
                    engine.write(Partition::numbered(writer / 2), job).await.unwrap();
                }
            })
        })
        .collect()
}

pub async fn paging_is_complete_while_orders_arrive(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let scope = Scope::Account(branch.account);
    bench.orders(branch, "old", 40).await;
    let old = walk_down(&bench.engine, scope, 200, None).await;
    assert_eq!(old.len(), 40);
    let top = page(&bench.engine, scope, 3, None, Direction::Older).await;
    let writers = sixteen_writers(bench, branch, 4);
    let mut walked = places(&top);
    walked.extend(walk_down(&bench.engine, scope, 3, top.next).await);
    assert_eq!(walked, old);
    for writer in writers {
        writer.await.unwrap();
    }
    let all = walk_down(&bench.engine, scope, 7, None).await;
    assert_eq!(all.len(), 40 + 64);
    let since = walk_up(&bench.engine, scope, 7, top.prev).await;
    assert_eq!(since, all[..64], "exactly what came since, in its order");
    assert_eq!(walk_down(&bench.engine, scope, 3, top.next).await, old[3..]);
}

pub async fn no_order_appears_behind_a_cursor(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let (account, scope) = (branch.account, Scope::Account(branch.account));
    let writers = sixteen_writers(bench, branch, 8);
    let (mut newest, mut followed, mut told) = (Vec::new(), Vec::new(), Vec::new());
    let mut cursor = None;
    loop {
        let finished = writers.iter().all(JoinHandle::is_finished);
        let now = places(&page(&bench.engine, scope, 200, None, Direction::Older).await);
        assert!(
            now.ends_with(&newest),
            "the list grew elsewhere than at its top:\n{newest:?}\n{now:?}"
        );
        newest = now;
        let since = page(&bench.engine, scope, 5, cursor, Direction::Newer).await;
        followed.splice(0..0, places(&since));
        cursor = since.prev;
        let request = PageRequest {
            limit: 200,
            cursor: None,
            direction: Direction::Older,
        };
        let events = bench
            .read(move |tx| garson_store::lists::events::of_account(tx, account, None, request))
            .await;
        let events: Vec<_> = events.items.iter().map(|event| event.id).collect();
        assert!(events.ends_with(&told), "an event appeared behind others");
        told = events;
        if finished {
            break;
        }
    }
    followed.splice(0..0, walk_up(&bench.engine, scope, 200, cursor).await);
    for writer in writers {
        within(Duration::from_secs(60), writer).await.unwrap();
    }
    assert_eq!((newest.len(), told.len()), (128, 128));
    assert_eq!(
        followed, newest,
        "following a cursor and looking at the top agree"
    );
}
