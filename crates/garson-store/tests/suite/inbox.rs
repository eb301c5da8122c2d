//! Platforms' messages: one row for each, counted, with every byte.

use crate::bench::Bench;
use crate::dump;
use crate::shop::{Branch, GETIR, at};
use garson_core::id::InboxId;
use garson_store::inbox::{self, InboxState, MessageToKeep};
use garson_store::{Result, Tx, params};
use uuid::Uuid;

/// Not text at all.
const BODY: &[u8] = b"\0\xff\xfe{\"a\" :1}\r\n\xf0\x9f";

/// Keeps a message; says how often it has come.
pub fn keep(tx: &mut Tx<'_>, hash: u8, of: Option<Branch>, state: InboxState, millis: i64) -> Result<i64> {
    let message = MessageToKeep {
        id: InboxId(Uuid::now_v7()),
        hash: [hash; 32],
        account_id: of.map(|branch| branch.account),
        restaurant_id: of.map(|branch| branch.restaurant),
        order_id: None,
        provider: GETIR,
        kind: "order",
        params: "[]",
        branch: Some("Şube 1"),
        identity: None,
        body: BODY,
        state,
        reason: (state != InboxState::Taken).then_some("anlaşılmadı"),
        received_at: at(millis),
    };
    inbox::keep(tx, &message)?;
    let sql = "SELECT times FROM inbox WHERE hash = ?1";
    tx.query_one(sql, params![&message.hash], |row| row.get(0))
}

pub async fn a_repeated_message_is_one_row(bench: &Bench) {
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

pub async fn the_same_message_at_once_is_counted(bench: &Bench) {
    let tasks: Vec<_> = (0..16_u64)
        .map(|lane| {
            let engine = bench.engine.clone();
            let job = |tx: &mut Tx<'_>| keep(tx, 1, None, InboxState::Unmatched, 1);
            tokio::spawn(async move {
                engine
                    .write(garson_store::Lane::numbered(lane), job)
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
