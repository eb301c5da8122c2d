//! Who is signed in to the control panel, and whose sign-ins have failed.

use crate::database::Bench;
use crate::fixtures::at;
use garson_core::id::{AccountId, UserId};
use garson_core::time::Timestamp;
use garson_store::tables::sessions;
use garson_store::tables::sessions::Session;

/// A session that ends a second after a moment.
pub fn a_session(account: AccountId, number: u8, now: Timestamp) -> Session {
    Session {
        hash: [number; 32],
        account_id: account,
        user_id: UserId(account.0),
        agent: "Tarayıcı 🌐".to_owned(),
        address: Some("192.0.2.7".to_owned()),
        created_at: now,
        seen_at: now,
        ends_at: now.plus(std::time::Duration::from_secs(1)),
        confirmed_at: now,
    }
}

async fn start(bench: &Bench, session: &Session) {
    let session = session.clone();
    bench.write(move |tx| sessions::start(tx, &session)).await;
}

async fn find(bench: &Bench, number: u8, now: i64) -> Option<Session> {
    bench
        .read(move |tx| sessions::find(tx, &[number; 32], at(now)))
        .await
}

pub async fn a_session_is_found_until_it_ends(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let session = a_session(account, 1, at(0));
    start(bench, &session).await;
    assert_eq!(find(bench, 1, 999).await, Some(session.clone()));
    assert_eq!(find(bench, 2, 0).await, None);
    assert_eq!(find(bench, 1, 1_000).await, None);
    bench
        .write(|tx| sessions::renew(tx, &[1; 32], at(900), at(5_000)))
        .await;
    let renewed = find(bench, 1, 4_999).await.unwrap();
    assert_eq!((renewed.seen_at, renewed.created_at), (at(900), at(0)));
}

pub async fn sessions_are_ended_one_by_one_and_together(bench: &Bench) {
    let (ours, theirs) = (bench.account("lokanta").await, bench.account("pideci").await);
    for number in 1..=4 {
        start(bench, &a_session(ours, number, at(i64::from(number)))).await;
    }
    start(bench, &a_session(theirs, 9, at(0))).await;
    // Another user of the same account.
    let colleague = UserId(uuid::Uuid::now_v7());
    let theirs_too = Session {
        user_id: colleague,
        ..a_session(ours, 8, at(3))
    };
    start(bench, &theirs_too).await;
    let user = UserId(ours.0);
    let list = async || bench.read(move |tx| sessions::list(tx, ours, user, at(5))).await;
    let names = |list: Vec<Session>| list.iter().map(|it| it.hash[0]).collect::<Vec<_>>();
    assert_eq!(names(list().await), [4, 3, 2, 1]);
    assert!(
        !bench
            .write(move |tx| sessions::end(tx, ours, user, &[9; 32]))
            .await
    );
    assert!(
        bench
            .write(move |tx| sessions::end(tx, ours, user, &[4; 32]))
            .await
    );
    assert_eq!(
        bench
            .write(move |tx| sessions::end_others(tx, ours, user, &[2; 32]))
            .await,
        2
    );
    assert_eq!(names(list().await), [2]);
    bench.write(move |tx| sessions::end_all(tx, ours, user)).await;
    assert!(list().await.is_empty());
    assert!(find(bench, 9, 0).await.is_some());
    assert!(find(bench, 8, 5).await.is_some());
    bench.write(|tx| sessions::confirm(tx, &[8; 32], at(700))).await;
    assert_eq!(find(bench, 8, 5).await.unwrap().confirmed_at, at(700));
}

pub async fn sign_in_failures_are_counted_and_cleared(bench: &Bench) {
    for now in 1..=3 {
        bench
            .write(move |tx| sessions::record_failure(tx, &[1; 32], at(now)))
            .await;
    }
    bench
        .write(|tx| sessions::record_failure(tx, &[2; 32], at(9)))
        .await;
    let count = async |hash: u8| bench.write(move |tx| sessions::failures(tx, &[hash; 32])).await;
    assert_eq!(count(1).await, Some((3, at(3))));
    assert_eq!(count(2).await, Some((1, at(9))));
    bench.write(|tx| sessions::clear_failures(tx, &[1; 32])).await;
    assert_eq!((count(1).await, count(2).await), (None, Some((1, at(9)))));
}

pub async fn ended_sessions_are_swept_in_chunks(bench: &Bench) {
    let account = bench.account("lokanta").await;
    for number in 1..=5 {
        start(bench, &a_session(account, number, at(0))).await;
        bench
            .write(move |tx| sessions::record_failure(tx, &[number; 32], at(0)))
            .await;
    }
    start(bench, &a_session(account, 6, at(9_000))).await;
    bench
        .write(|tx| sessions::record_failure(tx, &[6; 32], at(9_000)))
        .await;
    let sweep = async || bench.write(|tx| sessions::sweep(tx, at(2_000), at(1), 3)).await;
    assert_eq!((sweep().await, sweep().await, sweep().await), (6, 4, 0));
    assert!(find(bench, 6, 9_000).await.is_some());
}
