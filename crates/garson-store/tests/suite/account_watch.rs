//! Those who watch an account are woken by what is committed, and by nothing else.

use crate::database::{Bench, intentional_error};
use crate::fixtures::{at, create_account};
use garson_store::tables::accounts;
use garson_store::{Result, Watcher, WatcherKind};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

fn is_woken(watch: &mut Watcher) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    pin!(watch.changed()).poll(&mut context).is_ready()
}

pub async fn commit_wakes_watchers_of_its_account(bench: &Bench) {
    let engine = &bench.engine;
    let one = bench.write(|tx| create_account(tx, "one")).await;
    let two = bench.write(|tx| create_account(tx, "two")).await;
    let watch = |account| {
        engine
            .account_watch()
            .watch(account, WatcherKind::Programs, 9, 9)
            .unwrap()
    };
    let (mut first, mut second) = (watch(one), watch(two));
    let reserve = async |account, fails: bool| -> Result<()> {
        let reserved = engine.write(account, move |tx| {
            accounts::reserve_positions(tx, account, 4, at(0))?;
            if fails { Err(intentional_error()) } else { Ok(()) }
        });
        reserved.await
    };
    reserve(one, true).await.unwrap_err();
    assert!(!is_woken(&mut first));
    reserve(one, false).await.unwrap();
    // Whoever is told that it is done finds the others woken.
    assert!(is_woken(&mut first));
    assert!(!is_woken(&mut first) && !is_woken(&mut second));
    // What this engine has told is no news for it; it is for another that did not hear of it.
    let other = bench.second_engine();
    let mut elsewhere = other
        .account_watch()
        .watch(one, WatcherKind::Programs, 9, 9)
        .unwrap();
    let mut places = bench
        .read(move |tx| accounts::last_positions(tx, &[one, two]))
        .await;
    places.sort_by_key(|(_, place)| *place);
    assert_eq!(places, [(two, 0), (one, 4)]);
    engine.account_watch().notify_newer(&places);
    other.account_watch().notify_newer(&places);
    assert!(!is_woken(&mut first) && !is_woken(&mut second));
    assert!(is_woken(&mut elsewhere));
}

pub async fn last_positions_of_many_accounts_are_read_together(bench: &Bench) {
    let made = bench.write(|tx| {
        let mut made = Vec::new();
        for n in 0..130 {
            let account = create_account(tx, &format!("a{n}"))?;
            accounts::reserve_positions(tx, account, n + 1, at(0))?;
            made.push((account, n + 1));
        }
        Ok(made)
    });
    let made = made.await;
    for count in [0, 1, 64, 65, 130] {
        let some: Vec<_> = made.iter().take(count).map(|(account, _)| *account).collect();
        let mut places = bench.read(move |tx| accounts::last_positions(tx, &some)).await;
        places.sort_by_key(|(_, place)| *place);
        assert_eq!(places, made[..count]);
    }
    let first = made[0].0;
    let last = bench.read(move |tx| accounts::last_position(tx, first));
    assert_eq!(last.await, 1);
}
