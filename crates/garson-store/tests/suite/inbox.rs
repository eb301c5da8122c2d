//! Platforms' messages: one row for each, counted, with every byte.

use crate::batches::{BoxedJob, together};
use crate::database::Bench;
use crate::dump;
use crate::fixtures::{Branch, GETIR, at, take_order};
use garson_core::id::{InboxId, OrderId};
use garson_core::testing::a_new_order;
use garson_store::tables::inbox;
use garson_store::tables::inbox::{InboxState, NewMessage};
use garson_store::{Result, Tx, params};
use uuid::Uuid;

/// Not text at all.
const BODY: &[u8] = b"\0\xff\xfe{\"a\" :1}\r\n\xf0\x9f";

/// Keeps a message; says how often it has come.
pub fn keep(tx: &mut Tx<'_>, hash: u8, of: Option<Branch>, state: InboxState, millis: i64) -> Result<i64> {
    let message = a_message(hash, of, None, state, millis);
    inbox::store(tx, &message)?;
    let sql = "SELECT times FROM inbox WHERE hash = ?1";
    tx.query_one(sql, params![&message.hash], |row| row.get(0))
}

pub fn a_message(
    hash: u8,
    of: Option<Branch>,
    order_id: Option<OrderId>,
    state: InboxState,
    millis: i64,
) -> NewMessage<'static> {
    NewMessage {
        id: InboxId(Uuid::now_v7()),
        hash: [hash; 32],
        account_id: of.map(|branch| branch.account),
        restaurant_id: of.map(|branch| branch.restaurant),
        order_id,
        provider: GETIR,
        kind: "order",
        params: "[]",
        branch: Some("Şube 1"),
        identity: None,
        body: BODY,
        state,
        reason: (state != InboxState::Taken).then_some("anlaşılmadı"),
        received_at: at(millis),
    }
}

/// A message that could not be taken is the same one when it comes again and can, also among the first of many orders.
pub async fn message_processed_on_repetition_is_one_row(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    bench
        .write(move |tx| {
            keep(tx, 1, Some(branch), InboxState::Unreadable, 1)?;
            keep(tx, 2, None, InboxState::Unmatched, 1)
        })
        .await;
    let jobs: Vec<BoxedJob> = (1..=4)
        .map(|n| -> BoxedJob {
            Box::new(move |tx| {
                let order = take_order(tx, branch, &a_new_order(&format!("S-{n}")), at(5))?;
                let message = a_message(n, Some(branch), Some(order.id), InboxState::Taken, 5);
                let is_repeat = inbox::store_first(tx, &message)?;
                // A bold run does not know yet, and is run again.
                assert!(!is_repeat || n <= 2);
                Ok(())
            })
        })
        .collect();
    let ends = together(bench, jobs).await;
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    assert!(bench.read(|tx| inbox::list_open(tx, 10)).await.is_empty());
    let times = bench
        .read(|tx| {
            let sql = "SELECT times FROM inbox ORDER BY hash";
            tx.query(sql, &[], |row| row.get::<i64>(0))
        })
        .await;
    assert_eq!(times, [2, 2, 1, 1]);
}

/// What was taken may come when it cannot be taken, and again when it can: it is one message in the end.
pub async fn message_unprocessed_in_between_is_one_row(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let order = bench.order(branch, "S-1", at(0)).await.id;
    let come = async |of: Option<OrderId>, state: InboxState, millis: i64| {
        bench
            .write(move |tx| inbox::store(tx, &a_message(1, Some(branch), of, state, millis)))
            .await
    };
    assert!(!come(Some(order), InboxState::Taken, 1).await);
    for millis in [2, 12] {
        assert!(!come(None, InboxState::Unmatched, millis).await);
        let open = bench.read(|tx| inbox::list_open(tx, 10)).await;
        assert_eq!(open.len(), 1);
        match millis {
            // It comes again.
            2 => assert!(come(Some(order), InboxState::Taken, 3).await),
            // Or is taken by hand.
            _ => {
                let id = open[0].id;
                let taken = InboxState::Taken;
                bench
                    .write(move |tx| inbox::set_state(tx, id, taken, Some(order), None))
                    .await;
            }
        }
        assert!(bench.read(|tx| inbox::list_open(tx, 10)).await.is_empty());
        let all = bench.read(move |tx| inbox::of_order(tx, order, 10)).await;
        assert_eq!(all.iter().map(|it| it.times).collect::<Vec<_>>(), [2]);
    }
}

pub async fn messages_are_found_by_their_order(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let (one, other) = (
        bench.order(branch, "S-1", at(0)).await.id,
        bench.order(branch, "S-2", at(0)).await.id,
    );
    let kept = [(1, one, 3), (2, one, 4), (1, other, 5), (2, one, 6)];
    for (hash, order, millis) in kept {
        let is_repeat = bench
            .write(move |tx| {
                let message = a_message(hash, Some(branch), Some(order), InboxState::Taken, millis);
                inbox::store(tx, &message)
            })
            .await;
        assert_eq!(is_repeat, millis == 6);
    }
    let found = bench.read(move |tx| inbox::of_order(tx, one, 10)).await;
    let seen: Vec<_> = found.iter().map(|it| (it.times, it.received_at)).collect();
    assert_eq!(seen, [(1, at(3)), (2, at(4))]);
    assert_eq!(found[0].body, BODY);
    assert_eq!(bench.read(move |tx| inbox::of_order(tx, one, 1)).await.len(), 1);
    assert_eq!(bench.read(move |tx| inbox::of_order(tx, other, 9)).await.len(), 1);
}

pub async fn repeated_message_is_one_row(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let times = bench
        .write(|tx| keep(tx, 1, None, InboxState::Unmatched, 1))
        .await;
    assert_eq!(times, 1);
    let open = bench.read(|tx| inbox::list_open(tx, 10)).await;
    assert_eq!(open[0].reason.as_deref(), Some("anlaşılmadı"));
    let times = bench
        .write(move |tx| keep(tx, 1, Some(branch), InboxState::Taken, 2))
        .await;
    assert_eq!(times, 2);
    assert_eq!(dump::of(&bench.engine).await["inbox"].len(), 1);
    let open = bench.read(|tx| inbox::list_open(tx, 10)).await;
    assert!(open.is_empty(), "it has been taken now");
    let (body, state, received): (Vec<u8>, String, i64) = bench
        .read(|tx| {
            tx.query_one("SELECT body, state, received_at FROM inbox", params![], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
        })
        .await;
    assert_eq!(
        (body.as_slice(), state.as_str(), received),
        (BODY, "taken", at(1).as_millis())
    );
}

pub async fn open_messages_are_listed_newest_first(bench: &Bench) {
    bench
        .write(|tx| {
            keep(tx, 1, None, InboxState::Unmatched, 1)?;
            keep(tx, 2, None, InboxState::Taken, 2)?;
            keep(tx, 3, None, InboxState::Unreadable, 3)?;
            keep(tx, 4, None, InboxState::Conflicting, 4)?;
            keep(tx, 3, None, InboxState::Unreadable, 5)
        })
        .await;
    let open = bench.read(|tx| inbox::list_open(tx, 10)).await;
    let seen: Vec<_> = open
        .iter()
        .map(|m| (m.state.as_str(), m.times, m.received_at))
        .collect();
    assert_eq!(
        seen,
        [
            ("conflicting", 1, at(4)),
            ("unreadable", 2, at(3)),
            ("unmatched", 1, at(1))
        ]
    );
    assert_eq!(open[0].bytes, i64::try_from(BODY.len()).unwrap());
    assert_eq!(open[0].branch.as_deref(), Some("Şube 1"));
    assert_eq!(bench.read(|tx| inbox::list_open(tx, 2)).await.len(), 2);
    let counted = bench.read(|tx| inbox::count_open(tx, 10)).await;
    assert_eq!(counted.iter().sum::<i64>(), 3);
}

pub async fn open_messages_are_counted_up_to_a_limit(bench: &Bench) {
    assert_eq!(bench.read(|tx| inbox::count_open(tx, 10)).await, [0, 0, 0]);
    bench
        .write(|tx| {
            for hash in 0..5 {
                keep(tx, hash, None, InboxState::Unreadable, 1)?;
                keep(tx, hash + 10, None, InboxState::Taken, 1)?;
            }
            keep(tx, 20, None, InboxState::Unmatched, 2)?;
            keep(tx, 21, None, InboxState::Conflicting, 2)?;
            keep(tx, 22, None, InboxState::Conflicting, 3)
        })
        .await;
    // As in `InboxState::OPEN`: unreadable, unmatched, conflicting.
    assert_eq!(bench.read(|tx| inbox::count_open(tx, 10)).await, [5, 1, 2]);
    assert_eq!(bench.read(|tx| inbox::count_open(tx, 4)).await, [4, 1, 2]);
}

pub async fn concurrent_copies_of_a_message_are_counted(bench: &Bench) {
    let tasks: Vec<_> = (0..16_u64)
        .map(|lane| {
            let engine = bench.engine.clone();
            let job = |tx: &mut Tx<'_>| keep(tx, 1, None, InboxState::Unmatched, 1);
            tokio::spawn(async move {
                engine
                    .write(garson_store::Partition::numbered(lane), job)
                    .await
                    .unwrap()
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.push(task.await.unwrap());
    }
    times.sort_unstable();
    assert_eq!(times, (1..=16).collect::<Vec<_>>());
}
