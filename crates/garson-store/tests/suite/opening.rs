//! Opening a database: migrations once, only those that fit, and one server for a data folder.

use crate::database::{Bench, Kind, TestDatabase, execute_directly};
use crate::dump;
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, EventId, OrderId, RestaurantId};
use garson_core::integration::BranchClaim;
use garson_core::order::TimelineReason;
use garson_core::role::Role;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::engine::server_lock::ServerLock;
use garson_store::tables::accounts;
use garson_store::tables::{attempts, inbox, integrations, orders, sessions, users};
use garson_store::{Engine, Options, Result, StoreErrorKind, params};
use garson_store::{Vault, vault};
use std::sync::Barrier;
use uuid::Uuid;

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

pub async fn database_of_a_newer_release_is_refused(bench: &Bench) {
    bench.execute_directly(
        "INSERT INTO schema_migrations (number, name, checksum) VALUES (9999, 'flying_orders', 'x')",
    );
    let message = refusal(bench);
    assert!(
        message.contains("newer") && message.contains("9999") && message.contains("flying_orders"),
        "{message}"
    );
    bench.execute_directly("DELETE FROM schema_migrations WHERE number = 9999");
    bench.second_engine();
}

pub async fn changed_migration_is_refused(bench: &Bench) {
    bench.execute_directly("UPDATE schema_migrations SET checksum = 'x' WHERE number = 1");
    let message = refusal(bench);
    assert!(message.contains("another form"), "{message}");
}

/// The scripts of the program that wrote its data before the tables of messages, timelines and attempts were made anew.
const OLDER: [&str; 4] = [
    include_str!("../../migrations/0001_first_floor.sql"),
    include_str!("../../migrations/0002_panel.sql"),
    include_str!("../../migrations/0003_status.sql"),
    include_str!("../../migrations/0004_speed.sql"),
];

/// A statement in the words of an engine; `@7` is an id, `@@7` a hash.
fn in_words_of(kind: Kind, sql: &str) -> String {
    let (blob, keyed, quote) = match kind {
        Kind::Sqlite => ("BLOB", "WITHOUT ROWID", "x'"),
        Kind::Postgres => ("BYTEA", "", "'\\x"),
    };
    let mut text = sql.replace("{blob}", blob).replace("{keyed}", keyed);
    for n in 1..=9 {
        let hex = format!("{n:02x}").repeat(16);
        text = text.replace(&format!("@@{n}"), &format!("{quote}{hex}{hex}'"));
        text = text.replace(&format!("@{n}"), &format!("{quote}{hex}'"));
    }
    text
}

/// Two orders, one of which its platform calls otherwise than by its identity; a message that was taken, one that was not, and
/// one whose order has been removed.
const OLDER_ROWS: &str = "
    INSERT INTO accounts (id, name, email, password_hash, position, newest_at, webhook_authorization, deliver_version, forgotten,
            created_at)
        VALUES (@1, 'a', 'a@example.com', 'argon', 9, 1, 'bearer', 0, 0, 1);
    INSERT INTO sessions (hash, account_id, agent, created_at, seen_at, ends_at) VALUES (@@6, @1, 'b', 3, 4, 9);
    INSERT INTO restaurants (id, account_id, name, created_at, updated_at) VALUES (@2, @1, 'r', 1, 1);
    INSERT INTO integrations (id, account_id, restaurant_id, provider, is_active, remote_id, last_error_at, last_error, created_at,
            updated_at)
        VALUES (@3, @1, @2, 'getir', 1, 'R-1', 5, 'away', 1, 1);
    INSERT INTO orders (id, account_id, restaurant_id, integration_id, position, status, line, provider, provider_order_id,
            identity, content_hash, sequence, total, currency, payment_type, placed_at, created_at, updated_at, sync_state)
        VALUES (@4, @1, @2, @3, 1, 400, '{}', 'getir', 'K-1', 'K-1', @4, 1, 5, 'TRY', 'cash', 1, 1, 1, 'done'),
               (@5, @1, @2, @3, 3, 400, '{}', 'getir', 'K-2', 'token', @5, 1, 5, 'TRY', 'cash', 1, 1, 1, 'done');
    INSERT INTO order_timeline (order_id, number, at, to_status, actor, why)
        VALUES (@4, 1, 7, 400, 'platform', NULL), (@4, 2, 8, 500, 'account', 'ğ');
    INSERT INTO attempts (event_id, number, at, url, status, duration_ms, explanation)
        VALUES (@6, 1, 9, 'http://x/', 200, 3, 'it was taken');
    INSERT INTO inbox (id, hash, account_id, restaurant_id, order_id, provider, kind, params, body, state, times, received_at)
        VALUES (@7, @7, @1, @2, @4, 'getir', 'order', '{}', @7, 'taken', 2, 5),
               (@9, @9, @1, @2, @9, 'getir', 'order', '{}', @9, 'taken', 1, 5);
    INSERT INTO inbox (id, hash, provider, kind, params, identity, body, state, reason, times, received_at)
        VALUES (@8, @8, 'getir', 'cancel', '{}', 'K-9', @8, 'unmatched', 'the order is not known', 1, 6);";

pub async fn data_of_an_older_release_is_kept(bench: &Bench) {
    let home = TestDatabase::new(bench.kind);
    let mut script = "CREATE TABLE schema_migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL);"
        .to_owned();
    for (older, (number, checksum)) in OLDER.iter().zip(migrations(&bench.engine).await) {
        script.push_str(older);
        let applied = format!("INSERT INTO schema_migrations VALUES ({number}, 'n{number}', '{checksum}');");
        script.push_str(&applied);
    }
    script.push_str(OLDER_ROWS);
    execute_directly(&home.location(), &in_words_of(bench.kind, &script));

    let engine = Engine::open(&home.location(), &Options::default()).unwrap();
    assert_eq!(migrations(&engine).await, migrations(&bench.engine).await);
    let id = |n: u8| Uuid::from_bytes([n; 16]);
    let (account, order, event) = (AccountId(id(1)), OrderId(id(4)), EventId(id(6)));
    engine
        .read(move |tx| -> Result<()> {
            for (name, id) in [("K-1", id(4)), ("K-2", id(5))] {
                let found = orders::by_provider_order_id(tx, account, name)?;
                assert_eq!(found.iter().map(|it| it.id.0).collect::<Vec<_>>(), [id]);
            }
            assert!(orders::by_provider_order_id(tx, account, "token")?.is_empty());
            // The account's address and password are its first user's, whose session goes on.
            let user = users::by_email(tx, "a@example.com")?.unwrap();
            assert_eq!((user.id.0, user.account_id), (id(1), account));
            assert_eq!((user.role, user.restaurants.is_all()), (Role::Owner, true));
            assert_eq!(users::password_hash(tx, user.id)?.as_deref(), Some("argon"));
            let open = sessions::list(tx, account, user.id, Timestamp::from_millis(5))?;
            assert_eq!(open.len(), 1);
            assert_eq!(open[0].confirmed_at, Timestamp::from_millis(3));
            // They are numbered in the order of their last changes, before all places to come.
            let sql = "SELECT changed FROM orders ORDER BY position";
            assert_eq!(tx.query(sql, params![], |row| row.get::<i64>(0))?, [1, 2]);
            let timeline = orders::timeline(tx, order)?;
            assert_eq!(timeline.len(), 2);
            assert_eq!(timeline[1].why, Some(TimelineReason::text("ğ")));
            assert_eq!(
                attempts::of_event(tx, event)?[0].explanation,
                Explanation::text("it was taken")
            );
            let taken = inbox::of_order(tx, order, 9)?;
            assert_eq!((taken.len(), taken[0].times), (1, 2));
            assert_eq!(taken[0].body, [7; 16]);
            // Whoever removes a restaurant finds it, though not by its order.
            let sql = "SELECT body FROM inbox WHERE restaurant_id = ?1 AND order_id IS NULL";
            let left: Vec<Vec<u8>> = tx.query(sql, params![&RestaurantId(id(2))], |row| row.get(0))?;
            assert_eq!(left, [vec![9; 16]]);
            let open = inbox::list_open(tx, 9)?;
            assert_eq!(open.len(), 1);
            assert_eq!(open[0].reason.as_deref(), Some("the order is not known"));
            let shown = integrations::of_restaurant(tx, RestaurantId(id(2)))?;
            assert_eq!(
                shown[0].branch,
                BranchClaim::Proven,
                "it goes on receiving its orders"
            );
            let health = &shown[0].health;
            assert_eq!(
                (health.last_error.clone(), health.trouble_at),
                (Some(Explanation::text("away")), None)
            );
            Ok(())
        })
        .await
        .unwrap();
}

pub async fn concurrent_opens_of_an_empty_database_both_succeed(bench: &Bench) {
    let rounds = match bench.kind {
        Kind::Sqlite => 40,
        Kind::Postgres => 5,
    };
    for round in 0..rounds {
        let home = TestDatabase::new(bench.kind);
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

pub async fn email_address_has_one_account(bench: &Bench) {
    let id = bench.account("lokanta").await;
    let created = bench
        .write(|tx| {
            let mut twin = accounts::by_email(tx, "lokanta@example.com")?.unwrap();
            twin.id = garson_core::id::AccountId(uuid::Uuid::now_v7());
            accounts::create(tx, &twin)
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
