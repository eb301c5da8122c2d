//! Copying everything from one engine to the other, and the list of tables that this rests on.

use crate::database::{Bench, Kind, TestDatabase, on_postgres};
use crate::dump;
use crate::fixtures::{at, create_account};
use crate::inbox::keep;
use garson_core::account::{ApiKey, IssuedKey};
use garson_core::account_state::Quotas;
use garson_core::explanation::Explanation;
use garson_core::id::{BusinessId, KeyId, NodeId, PackageId, ResendId};
use garson_core::key_access::{KeyAccess, Scope};
use garson_core::order::{Actor, CallKind, TimelineLine};
use garson_core::permission::RestaurantScope;
use garson_core::restaurant::Package;
use garson_core::secret::Secret;
use garson_store::engine::{Purpose, WorkProgress};
use garson_store::lists::search;
use garson_store::tables::attempts;
use garson_store::tables::attempts::Attempt;
use garson_store::tables::events;
use garson_store::tables::idempotency;
use garson_store::tables::idempotency::{KeyedRequest, Run};
use garson_store::tables::inbox::InboxState;
use garson_store::tables::key_rotation::KeyPair;
use garson_store::tables::schema::TABLES;
use garson_store::tables::{
    account_states, businesses, calls, key_rotation, keys, nodes, order_notices, orders, packages, printers,
    resends, sessions,
};
use garson_store::upkeep::copy;
use garson_store::vault::lookup_hash;
use garson_store::{Engine, Options, PAYMENT_TOTALS, StoreErrorKind, Tx, params};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use uuid::Uuid;

/// At least one row in every table, and in those with keys of several columns more than a chunk under the first of
/// them, so that a copy which continues at the wrong place misses rows.
pub async fn fill_every_table(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    bench.give_webhook(account).await;
    let taken = bench.orders(branch, "Sipariş 🌯", 1_100).await;
    let vault = bench.vault.clone();
    let job = move |tx: &mut Tx<'_>| {
        garson_store::vault::check_key(tx, &vault)?;
        nodes::join(tx, NodeId::at(at(0)), "kasa 127.0.0.1:8080")?;
        let business = garson_core::business::Business {
            id: BusinessId(Uuid::now_v7()),
            fields: garson_core::business::BusinessFields {
                description: Some(String::new()),
                ..Default::default()
            },
            created_at: at(0),
            updated_at: at(i64::MAX / 4),
        };
        businesses::save(tx, account, &business)?;
        let again = resends::plan(tx, ResendId(Uuid::now_v7()), account, None, at(0), true, at(9))?;
        resends::start(tx, &again)?;
        let record = ApiKey {
            id: KeyId(Uuid::now_v7()),
            label: None,
            hint: String::new(),
            is_primary: false,
            access: KeyAccess {
                scopes: Some([Scope::OrdersRead].into()),
                restaurants: RestaurantScope::Only([branch.restaurant].into()),
                networks: ["10.0.0.0/8".parse().unwrap()].into(),
            },
            expires_at: Some(at(9)),
            replaced_by: None,
            created_at: at(0),
            last_used_at: None,
            last_used_from: None,
        };
        let secret = Secret::new("garson_1".to_owned());
        keys::issue(tx, &vault, account, &IssuedKey { record, secret })?;
        let package = Package::open_ended(PackageId(Uuid::now_v7()), at(0));
        packages::replace(tx, branch.restaurant, &[package])?;
        for order in taken.iter().take(600) {
            order_notices::record_cancelled(tx, order, at(1))?;
            order_notices::record_refused(tx, order, CallKind::Verify, &Explanation::text("hayır"), at(1))?;
        }
        for order in taken.iter().take(2) {
            calls::create(tx, &crate::calls::a_call(order, CallKind::Verify))?;
            let event = events::of_order(tx, order.id)?.remove(0);
            for number in 0..510 {
                let attempt = Attempt {
                    number,
                    at: at(1),
                    url: "https://pos.example.com".to_owned(),
                    status: None,
                    duration_ms: 1,
                    explanation: Explanation::text("ağ yok"),
                    ..Attempt::default()
                };
                attempts::record(tx, event.id, &attempt)?;
            }
        }
        let event = events::of_order(tx, taken[0].id)?.remove(0);
        crate::endpoints::fill_tables(tx, &vault, account, event.id)?;
        keep(tx, 1, Some(branch), InboxState::Taken, 1)?;
        for order in &taken {
            let line = TimelineLine {
                at: at(2),
                from: None,
                to: order.status,
                by: Actor::System,
                why: None,
                revision: None,
            };
            orders::append_timeline(tx, order.id, &[line.clone(), line])?;
        }
        for span in 0..510_i64 {
            tx.on(PAYMENT_TOTALS).execute(
                "INSERT INTO payment_totals (scope, level, span, sums)
                 VALUES (?1, 0, ?2, 'cash TRY 1 1'), (?1, 1, ?2, 'cash TRY 1 1'), (?1, 2, ?2, 'voucher EUR 1 1')",
                params![&account, span],
            )?;
        }
        for key in 0..510_u64 {
            let request = KeyedRequest {
                account,
                key_hash: lookup_hash(&key.to_be_bytes()),
                request_hash: [0; 32],
            };
            let run = Run {
                id: Uuid::now_v7(),
                node: Some(NodeId::at(at(0))),
                now: at(0),
                leased_until: at(1),
                fresh_id: Uuid::now_v7(),
            };
            idempotency::reserve(tx, &request, &run, at(-1), &|_| true)?;
        }
        assert_eq!(search::index(tx, account, 2_000)?, 1_100);
        sessions::start(tx, &crate::sessions::a_session(account, 1, at(0)))?;
        sessions::record_failure(tx, &[7; 32], at(0))?;
        crate::users::fill_tables(tx, &vault, account)?;
        let printer = crate::printers::a_printer(1, Some(branch.restaurant));
        printers::add(tx, account, &printer)?;
        if let Some(order) = taken.first() {
            printers::add_job(tx, account, &crate::printers::a_job(1, &printer, order.id, 0))?;
            crate::audit::fill_tables(tx, &vault, account, order.id)?;
        }
        crate::escalation::fill_tables(tx, &vault, &taken)?;
        crate::stores::fill_tables(tx, branch)?;
        crate::products::fill_tables(tx, branch)?;
        crate::request_log::fill_tables(tx, account)?;
        account_states::set_quotas(tx, account, &Quotas::default(), at(0))?;
        let keys = KeyPair {
            old: Secret::new([7; 32]),
            new: Secret::new([8; 32]),
        };
        key_rotation::begin(tx, &keys, at(0))?;
        key_rotation::confirm(tx, NodeId::at(at(0)), &[7; 4], None)?;
        tx.execute(
            "UPDATE restaurants SET lat = 41.000000000000007, lon = -28.5",
            &[],
        )?;
        Ok(())
    };
    bench.write(job).await;
}

pub async fn copy_to_the_other_engine_is_complete(bench: &Bench) {
    fill_every_table(bench).await;
    let other = match bench.kind {
        Kind::Sqlite => Kind::Postgres,
        Kind::Postgres => Kind::Sqlite,
    };
    let here = dump::of(&bench.engine).await;
    for kind in [other, bench.kind] {
        let home = TestDatabase::new(kind);
        let target = Engine::open(&home.location(), &Options::default()).unwrap();
        let copied = copy::copy_all(&bench.engine, &target, &WorkProgress::default())
            .await
            .unwrap();
        let there = dump::of(&target).await;
        for (table, rows) in copied {
            assert!(rows > 0, "the case has no row of {table}");
            assert_eq!(there[table].len() as u64, rows, "{table}");
            assert_eq!(there[table], here[table], "{table} of {kind:?}");
        }
        // Nodes are processes that use the source.
        for table in ["nodes", "node_keys"] {
            assert!(!here[table].is_empty() && there[table].is_empty(), "{table}");
        }
        assert_eq!(there.len(), TABLES.len());
        let again = copy::copy_all(&bench.engine, &target, &WorkProgress::default()).await;
        assert_eq!(again.map(drop).map_err(|e| e.kind), Err(StoreErrorKind::Refused));
        drop(target);
    }
}

pub async fn non_empty_target_is_refused(bench: &Bench) {
    bench.account("lokanta").await;
    let fillings: [fn(&mut Tx<'_>) -> garson_store::Result<()>; 2] = [
        |tx| create_account(tx, "var").map(drop),
        |tx| keep(tx, 1, None, InboxState::Unmatched, 1).map(drop),
    ];
    for filling in fillings {
        let home = TestDatabase::new(bench.kind);
        let target = Engine::open(&home.location(), &Options::default()).unwrap();
        target
            .write(garson_store::Partition::COMMON, filling)
            .await
            .unwrap();
        let before = dump::of(&target).await;
        let refused = copy::copy_all(&bench.engine, &target, &WorkProgress::default()).await;
        assert_eq!(
            refused.map(drop).map_err(|e| e.kind),
            Err(StoreErrorKind::Refused)
        );
        assert_eq!(dump::of(&target).await, before);
        drop(target);
    }
}

fn as_target() -> Options {
    Options {
        purpose: Purpose::CopyTarget,
        ..Options::default()
    }
}

/// Wherever a copy was cut off, its target is refused until the copy has been made from the beginning.
pub async fn an_interrupted_copy_is_refused_and_starts_over(bench: &Bench) {
    bench.branch("lokanta").await;
    let fillings: [fn(&mut Tx<'_>) -> garson_store::Result<()>; 2] = [
        // Before the first row.
        |_| Ok(()),
        // After some, among them one that the source has not.
        |tx| create_account(tx, "var").map(drop),
    ];
    for filling in fillings {
        let home = TestDatabase::new(bench.kind);
        let target = Engine::open(&home.location(), &as_target()).unwrap();
        target
            .write(garson_store::Partition::COMMON, filling)
            .await
            .unwrap();
        drop(target);
        let refused = Engine::open(&home.location(), &Options::default())
            .map(drop)
            .unwrap_err();
        assert_eq!(refused.kind, StoreErrorKind::Refused);
        assert!(refused.to_string().contains("garson migrate"), "{refused}");
        let target = Engine::open(&home.location(), &as_target()).unwrap();
        copy::copy_all(&bench.engine, &target, &WorkProgress::default())
            .await
            .unwrap();
        drop(target);
        let opened = Engine::open(&home.location(), &Options::default()).unwrap();
        assert_eq!(dump::of(&opened).await, dump::of(&bench.engine).await);
        let again = copy::copy_all(&bench.engine, &opened, &WorkProgress::default()).await;
        assert_eq!(again.map(drop).map_err(|e| e.kind), Err(StoreErrorKind::Refused));
        drop(opened);
    }
}

/// What is written in one transaction is in the copy together, however much is written while it is made.
pub async fn copy_is_a_consistent_snapshot(bench: &Bench) {
    let pair = |n: i64| {
        move |tx: &mut Tx<'_>| {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&n.to_be_bytes());
            crate::batches::note(tx, &format!("line {n}"))?;
            sessions::record_failure(tx, &hash, at(0)).map(drop)
        }
    };
    for n in 0..1_200 {
        bench.write(pair(n)).await;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let (engine, stopped) = (bench.engine.clone(), Arc::clone(&stop));
    let writer = tokio::spawn(async move {
        let mut n = 10_000;
        while !stopped.load(Ordering::SeqCst) {
            engine
                .write(garson_store::Partition::COMMON, pair(n))
                .await
                .unwrap();
            n += 1;
        }
        n - 10_000
    });
    let home = TestDatabase::new(bench.kind);
    let target = Engine::open(&home.location(), &as_target()).unwrap();
    let copied = copy::copy_all(&bench.engine, &target, &WorkProgress::default())
        .await
        .unwrap();
    stop.store(true, Ordering::SeqCst);
    assert!(writer.await.unwrap() > 0);
    let count = |name: &str| copied.iter().find(|(table, _)| *table == name).unwrap().1;
    assert!(count("order_contents") >= 1_200);
    assert_eq!(count("order_contents"), count("sign_in_failures"));
    drop(target);
}

/// A server that has shown itself while data was copied has taken what the copy does not have.
pub async fn copy_while_a_server_runs_is_not_finished(bench: &Bench) {
    let node = NodeId::at(at(0));
    bench.write(move |tx| nodes::join(tx, node, "kasa 1")).await;
    bench.write(|tx| create_account(tx, "copied").map(drop)).await;
    let (engine, stop) = (bench.engine.clone(), Arc::new(AtomicBool::new(false)));
    let stopped = Arc::clone(&stop);
    let beating = tokio::spawn(async move {
        while !stopped.load(Ordering::SeqCst) {
            let beat = move |tx: &mut Tx<'_>| nodes::heartbeat(tx, node);
            engine.write(garson_store::Partition::COMMON, beat).await.unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    });
    let refused = copy::ensure_not_in_use(&bench.engine).await.unwrap_err();
    assert_eq!(refused.kind, StoreErrorKind::Refused);
    // Each commit of the target takes as long as hundreds of heartbeats.
    let slow = Options {
        commit_delay: std::time::Duration::from_millis(500),
        ..as_target()
    };
    let home = TestDatabase::new(bench.kind);
    let target = Engine::open(&home.location(), &slow).unwrap();
    let refused = copy::copy_all(&bench.engine, &target, &WorkProgress::default())
        .await
        .unwrap_err();
    assert_eq!(refused.kind, StoreErrorKind::Refused, "{refused}");
    drop(target);
    assert!(Engine::open(&home.location(), &Options::default()).is_err());
    stop.store(true, Ordering::SeqCst);
    beating.await.unwrap();
    // One that was killed has left its row, and is no hindrance.
    copy::ensure_not_in_use(&bench.engine).await.unwrap();
    let target = Engine::open(&home.location(), &as_target()).unwrap();
    copy::copy_all(&bench.engine, &target, &WorkProgress::default())
        .await
        .unwrap();
    drop(target);
}

/// SQLite may hold what an older program has let in; PostgreSQL takes no NUL in text.
pub async fn nul_in_text_is_replaced_by_a_copy(bench: &Bench) {
    assert_eq!(bench.kind, Kind::Sqlite);
    bench.write(|tx| create_account(tx, "nul\0nul").map(drop)).await;
    let home = TestDatabase::new(Kind::Postgres);
    let target = Engine::open(&home.location(), &as_target()).unwrap();
    copy::copy_all(&bench.engine, &target, &WorkProgress::default())
        .await
        .unwrap();
    let accounts = target.read(garson_store::tables::accounts::list).await.unwrap();
    assert!(
        accounts[0].name.contains("nul\u{fffd}nul"),
        "{}",
        accounts[0].name
    );
    drop(target);
}

type Schema = BTreeMap<String, BTreeSet<String>>;

fn collect(columns: impl IntoIterator<Item = (String, String)>) -> Schema {
    let mut schema = Schema::new();
    for (table, column) in columns {
        assert!(schema.entry(table).or_default().insert(column), "a column twice");
    }
    schema.remove("schema_migrations");
    schema.remove("schema_steps");
    schema
}

pub async fn declared_tables_match_the_schema(bench: &Bench) {
    let schema = match bench.kind {
        Kind::Sqlite => {
            let connection = rusqlite::Connection::open(bench.sqlite_path()).unwrap();
            let sql = "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
                       WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'";
            let mut statement = connection.prepare(sql).unwrap();
            let rows = statement
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
                .unwrap();
            collect(rows.map(Result::unwrap))
        }
        Kind::Postgres => on_postgres(&bench.postgres_url(), |client| {
            let sql = "SELECT table_name::text, column_name::text FROM information_schema.columns
                       WHERE table_schema = 'public'";
            let rows = client.query(sql, &[]).unwrap();
            collect(rows.iter().map(|row| (row.get(0), row.get(1))))
        }),
    };
    let listed = collect(TABLES.iter().flat_map(|table| {
        let columns = table.columns.iter();
        columns.map(|column| (table.name.to_owned(), (*column).to_owned()))
    }));
    assert_eq!(listed, schema);
}
