//! Opening a database: migrations once, only those that fit, and one server for a data folder.

use crate::bench::{Bench, Home, Kind};
use crate::dump;
use garson_core::secret::Secret;
use garson_store::lock::ServerLock;
use garson_store::{Engine, Options, StoreErrorKind, accounts, params};
use garson_store::{Vault, vault};
use std::sync::Barrier;

async fn migrations(engine: &Engine) -> Vec<(i64, String)> {
    engine
        .read(|tx| {
            let sql = "SELECT number, checksum FROM schema_migrations ORDER BY number";
            tx.query(sql, params![], |row| Ok((row.get(0)?, row.get(1)?)))
        })
        .await
        .unwrap()
}

fn refusal(bench: &Bench) -> String {
    let refused = Engine::open(&bench.location, &Options::default());
    let error = refused.map(drop).unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Refused, "{error}");
    error.to_string()
}

pub async fn opening_again_applies_nothing_twice(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    bench.orders(branch, "S", 3).await;
    let (applied, rows) = (migrations(&bench.engine).await, dump::of(&bench.engine).await);
    assert!(!applied.is_empty());
    let again = bench.second_engine();
    assert_eq!(migrations(&again).await, applied);
    assert_eq!(dump::of(&again).await, rows);
}

pub async fn a_database_of_the_future_is_refused(bench: &Bench) {
    bench
        .meddle("INSERT INTO schema_migrations (number, name, checksum) VALUES (9999, 'flying_orders', 'x')");
    let message = refusal(bench);
    assert!(
        message.contains("newer") && message.contains("9999") && message.contains("flying_orders"),
        "{message}"
    );
    bench.meddle("DELETE FROM schema_migrations WHERE number = 9999");
    bench.second_engine();
}

pub async fn a_migration_of_another_form_is_refused(bench: &Bench) {
    bench.meddle("UPDATE schema_migrations SET checksum = 'x' WHERE number = 1");
    let message = refusal(bench);
    assert!(message.contains("another form"), "{message}");
}

pub async fn two_that_open_an_empty_database_at_once_both_succeed(bench: &Bench) {
    let rounds = match bench.kind {
        Kind::Sqlite => 40,
        Kind::Postgres => 5,
    };
    for round in 0..rounds {
        let home = Home::new(bench.kind);
        let (location, start) = (home.location(), Barrier::new(2));
        let open = || {
            start.wait();
            Engine::open(&location, &Options::default())
        };
        let (one, other) = std::thread::scope(|scope| {
            let (one, other) = (scope.spawn(open), scope.spawn(open));
            (one.join().unwrap(), other.join().unwrap())
        });
        let engines = [one, other].map(|opened| opened.map_err(|error| format!("round {round}: {error}")));
        for engine in engines {
            assert_eq!(
                migrations(&engine.unwrap()).await,
                migrations(&bench.engine).await
            );
        }
    }
}

pub async fn an_email_has_one_account(bench: &Bench) {
    let id = bench.account("lokanta").await;
    let created = bench
        .write(|tx| {
            let mut twin = accounts::by_email(tx, "lokanta@example.com")?.unwrap();
            twin.id = garson_core::id::AccountId(uuid::Uuid::now_v7());
            accounts::create(tx, &twin, Some("hash"))
        })
        .await;
    assert!(!created);
    let listed = bench.read(accounts::list).await;
    assert_eq!(listed.iter().map(|a| a.id).collect::<Vec<_>>(), [id]);
}

/// The lock is a file beside the database, so this holds for a data folder whatever the engine.
pub async fn a_data_folder_has_one_server(bench: &Bench) {
    assert_eq!(bench.kind, Kind::Sqlite);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data").join("garson.db");
    std::fs::create_dir(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "").unwrap();
    let alias = folder.path().join("alias");
    std::os::unix::fs::symlink(folder.path().join("data"), &alias).unwrap();
    let linked = folder.path().join("linked.db");
    std::os::unix::fs::symlink(&path, &linked).unwrap();

    let held = ServerLock::take(&path).unwrap();
    for spelling in [
        path.clone(),
        folder.path().join("data/../data/./garson.db"),
        alias.join("garson.db"),
        linked,
    ] {
        let error = ServerLock::take(&spelling).unwrap_err();
        assert_eq!(error.kind, StoreErrorKind::Refused, "{}", spelling.display());
        assert!(error.to_string().contains("another garson server"), "{error}");
    }
    ServerLock::take(&folder.path().join("garson.db")).unwrap();
    drop(held);
    let again = ServerLock::take(&path).unwrap();
    assert!(ServerLock::take(&path).is_err());
    drop(again);
}

pub async fn another_master_key_is_refused(bench: &Bench) {
    assert!(!bench.read(vault::is_sealed).await);
    let right = Vault::new(&Secret::new([1; 32]));
    for _ in 0..2 {
        let right = right.clone();
        bench.write(move |tx| vault::check_key(tx, &right)).await;
    }
    assert!(bench.read(vault::is_sealed).await);
    let wrong = Vault::new(&Secret::new([2; 32]));
    let refused = bench
        .try_write(move |tx| vault::check_key(tx, &wrong))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("another master key"), "{refused}");
}
