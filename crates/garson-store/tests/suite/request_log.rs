//! The last API calls of accounts.

use crate::database::Bench;
use crate::fixtures::at;
use garson_core::account_state::AccountState;
use garson_core::id::{AccountId, KeyId};
use garson_store::lists::feed::{Direction, PageRequest};
use garson_store::lists::request_log::{RequestFilter, page};
use garson_store::tables::request_log::{LoggedCall, add, staying, trim};
use garson_store::tables::{account_states, accounts};
use garson_store::{Result, Tx};
use std::collections::BTreeSet;
use uuid::Uuid;

fn key(number: u128) -> KeyId {
    KeyId(Uuid::from_u128(number))
}

fn a_call(number: i64) -> LoggedCall {
    LoggedCall {
        number,
        at: at(number),
        key: key(1),
        key_name: "Kasa ğ".to_owned(),
        method: "GET".to_owned(),
        path: "/orders".to_owned(),
        query: Some("limit,open".to_owned()),
        status: 200,
        code: None,
        duration_ms: 3,
        size: Some(1_200),
        request_id: format!("r{number}"),
        address: Some("192.0.2.1".to_owned()),
    }
}

/// A call with what may be missing.
fn a_failed_call(number: i64) -> LoggedCall {
    LoggedCall {
        key: key(2),
        path: "/orders/verify/1".to_owned(),
        query: None,
        status: 404,
        code: Some("order_not_found".to_owned()),
        size: None,
        address: None,
        ..a_call(number)
    }
}

pub fn fill_tables(tx: &mut Tx<'_>, account: AccountId) -> Result<()> {
    let calls: Vec<LoggedCall> = (1..=510).map(a_call).collect();
    add(tx, account, &calls)
}

fn request(limit: usize, cursor: Option<i64>, direction: Direction) -> PageRequest {
    PageRequest {
        limit,
        cursor,
        direction,
    }
}

async fn numbers(
    bench: &Bench,
    account: AccountId,
    filter: &RequestFilter,
    request: PageRequest,
) -> (Vec<i64>, Option<i64>, Option<i64>) {
    let filter = filter.clone();
    let found = bench.read(move |tx| page(tx, account, &filter, request)).await;
    let numbers = found.items.iter().map(|it| it.number).collect();
    (numbers, found.next, found.prev)
}

pub async fn calls_are_read_as_they_were_written(bench: &Bench) {
    let (ours, theirs) = (bench.account("lokanta").await, bench.account("pideci").await);
    let written = [a_call(1), a_failed_call(2)];
    let calls = written.clone();
    // A batch whose commit was not confirmed is written again.
    for _ in 0..2 {
        let calls = calls.clone();
        bench.write(move |tx| add(tx, ours, &calls)).await;
    }
    bench.write(move |tx| add(tx, theirs, &[a_call(1)])).await;
    let all = RequestFilter::default();
    let found = bench
        .read(move |tx| page(tx, ours, &all, request(10, None, Direction::Older)))
        .await;
    let [first, second] = written;
    assert_eq!(found.items, [second, first]);
    assert_eq!((found.next, found.prev), (None, Some(2)));
}

pub async fn calls_are_filtered_and_paged(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let calls: Vec<LoggedCall> = (1..=9)
        .map(|n| if n % 3 == 0 { a_failed_call(n) } else { a_call(n) })
        .collect();
    bench.write(move |tx| add(tx, account, &calls)).await;
    let all = RequestFilter::default();
    let older = |cursor| request(4, cursor, Direction::Older);
    let newer = |cursor| request(4, Some(cursor), Direction::Newer);
    let first = numbers(bench, account, &all, older(None)).await;
    assert_eq!(first, (vec![9, 8, 7, 6], Some(6), Some(9)));
    let second = numbers(bench, account, &all, older(Some(6))).await;
    assert_eq!(second, (vec![5, 4, 3, 2], Some(2), Some(5)));
    let last = numbers(bench, account, &all, older(Some(2))).await;
    assert_eq!(last, (vec![1], None, Some(1)));
    let back = numbers(bench, account, &all, newer(5)).await;
    assert_eq!(back, (vec![9, 8, 7, 6], Some(6), Some(9)));
    let nothing_new = numbers(bench, account, &all, newer(9)).await;
    assert_eq!(nothing_new, (vec![], Some(10), Some(9)));
    let only = async |filter: RequestFilter| numbers(bench, account, &filter, older(None)).await.0;
    let failed = RequestFilter {
        statuses: Some((400, 599)),
        ..RequestFilter::default()
    };
    assert_eq!(only(failed).await, [9, 6, 3]);
    let of_key = RequestFilter {
        key: Some(key(2)),
        statuses: Some((200, 299)),
        ..RequestFilter::default()
    };
    assert_eq!(only(of_key).await, Vec::<i64>::new());
    for (path, found) in [("/orders/v", 3), ("/orders", 4), ("orders", 0), ("/ORDERS", 0)] {
        let of_path = RequestFilter {
            path: Some(path.to_owned()),
            ..RequestFilter::default()
        };
        assert_eq!(only(of_path).await.len(), found, "{path}");
    }
}

pub async fn only_the_last_calls_are_kept(bench: &Bench) {
    let (busy, quiet) = (bench.account("lokanta").await, bench.account("pideci").await);
    let calls: Vec<LoggedCall> = (1..=5_000).map(a_call).collect();
    bench
        .write(move |tx| {
            add(tx, busy, &calls)?;
            add(tx, quiet, &[a_call(1)])
        })
        .await;
    // Those that are not removed yet are not shown.
    let all = RequestFilter::default();
    let shown = numbers(bench, busy, &all, request(2_000, None, Direction::Older)).await;
    assert_eq!((shown.0.len(), shown.0.last()), (1_000, Some(&4_001)));
    assert_eq!(shown.1, None);
    assert_eq!(bench.write(move |tx| trim(tx, busy)).await, 4_000);
    assert_eq!(bench.write(move |tx| trim(tx, busy)).await, 0);
    assert_eq!(bench.write(move |tx| trim(tx, quiet)).await, 0);
    let left = numbers(bench, busy, &all, request(2_000, None, Direction::Older)).await;
    assert_eq!(left.0, shown.0);
    let left = numbers(bench, quiet, &all, request(2_000, None, Direction::Older)).await;
    assert_eq!(left.0, [1]);
}

pub async fn accounts_that_are_removed_do_not_stay(bench: &Bench) {
    let (one, other) = (bench.account("lokanta").await, bench.account("pideci").await);
    let nobody = AccountId(Uuid::from_u128(7));
    bench
        .write(move |tx| {
            assert!(accounts::by_id(tx, one)?.is_some());
            account_states::set_state(tx, other, AccountState::Deleting, None, at(1))
        })
        .await;
    let asked: Vec<AccountId> = [one, other, nobody].into_iter().cycle().take(120).collect();
    let staying = bench.read(move |tx| staying(tx, &asked)).await;
    assert_eq!(staying, BTreeSet::from([one]));
}
