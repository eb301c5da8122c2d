//! Copying everything from one engine to the other, and the list of tables that this rests on.

use crate::bench::{Bench, Home, Kind, on_postgres};
use crate::dump;
use crate::inbox::keep;
use crate::shop::{at, create_account};
use garson_core::account::{ApiKey, IssuedKey};
use garson_core::id::{BusinessId, KeyId, NodeId, PackageId, ResendId};
use garson_core::order::{Actor, CallKind, TimelineLine};
use garson_core::restaurant::Package;
use garson_core::secret::Secret;
use garson_store::copy::{self, TABLES};
use garson_store::events::{self, Attempt};
use garson_store::idempotency::{self, KeyedRequest, Run};
use garson_store::inbox::InboxState;
use garson_store::vault::lookup_hash;
use garson_store::{
    Engine, Options, StoreErrorKind, Tx, businesses, calls, keys, nodes, orders, packages, params, resends,
    search, sessions,
};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// At least one row in every table, and in those with keys of several columns more than a chunk under the first of
/// them, so that a copy which continues at the wrong place misses rows.
async fn furnish(bench: &Bench) {
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
        let again = resends::plan(tx, ResendId(Uuid::now_v7()), account, at(0), true, at(9))?;
        resends::start(tx, &again)?;
        let record = ApiKey {
            id: KeyId(Uuid::now_v7()),
            label: None,
            hint: String::new(),
            is_primary: false,
            created_at: at(0),
            last_used_at: None,
        };
        let secret = Secret::new("garson_1".to_owned());
        keys::issue(tx, &vault, account, &IssuedKey { record, secret })?;
        let package = Package::open_ended(PackageId(Uuid::now_v7()), at(0));
        packages::replace(tx, branch.restaurant, &[package])?;
        for order in taken.iter().take(2) {
            calls::write(tx, &crate::calls::a_call(order, CallKind::Verify))?;
            let event = events::of_order(tx, order.id)?.remove(0);
            for number in 0..510 {
                let attempt = Attempt {
                    number,
                    at: at(1),
                    url: "https://pos.example.com".to_owned(),
                    status: None,
                    duration_ms: 1,
                    explanation: "ağ yok".to_owned(),
                    ..Attempt::default()
                };
                events::note_attempt(tx, event.id, &attempt)?;
            }
        }
        keep(tx, 1, Some(branch), InboxState::Taken, 1)?;
        for order in &taken {
            let line = TimelineLine {
                at: at(2),
                from: None,
                to: order.status,
                by: Actor::System,
                why: None,
            };
            orders::add_timeline(tx, order.id, 2, &[line.clone(), line])?;
        }
        for span in 0..510_i64 {
            tx.execute(
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
        sessions::note_failure(tx, &[7; 32], at(0))?;
        tx.execute(
            "UPDATE restaurants SET lat = 41.000000000000007, lon = -28.5",
            &[],
        )?;
        Ok(())
    };
    bench.write(job).await;
}

pub async fn everything_moves_to_the_other_engine(bench: &Bench) {
    furnish(bench).await;
    let other = match bench.kind {
        Kind::Sqlite => Kind::Postgres,
        Kind::Postgres => Kind::Sqlite,
    };
    let here = dump::of(&bench.engine).await;
    for kind in [other, bench.kind] {
        let home = Home::new(kind);
        let target = Engine::open(&home.location(), &Options::default()).unwrap();
        let copied = copy::everything(&bench.engine, &target).await.unwrap();
        let there = dump::of(&target).await;
        for (table, rows) in copied {
            assert!(rows > 0, "the case has no row of {table}");
            assert_eq!(there[table].len() as u64, rows, "{table}");
            assert_eq!(there[table], here[table], "{table} of {kind:?}");
        }
        assert_eq!(there.len(), TABLES.len());
        let again = copy::everything(&bench.engine, &target).await;
        assert_eq!(again.map(drop).map_err(|e| e.kind), Err(StoreErrorKind::Refused));
        drop(target);
    }
}

pub async fn a_target_with_anything_in_it_is_refused(bench: &Bench) {
    bench.account("lokanta").await;
    let fillings: [fn(&mut Tx<'_>) -> garson_store::Result<()>; 2] = [
        |tx| create_account(tx, "var").map(drop),
        |tx| keep(tx, 1, None, InboxState::Unmatched, 1).map(drop),
    ];
    for filling in fillings {
        let home = Home::new(bench.kind);
        let target = Engine::open(&home.location(), &Options::default()).unwrap();
        target.write(garson_store::Lane::COMMON, filling).await.unwrap();
        let before = dump::of(&target).await;
        let refused = copy::everything(&bench.engine, &target).await;
        assert_eq!(
            refused.map(drop).map_err(|e| e.kind),
            Err(StoreErrorKind::Refused)
        );
        assert_eq!(dump::of(&target).await, before);
        drop(target);
    }
}

type Schema = BTreeMap<String, BTreeSet<String>>;

fn collect(columns: impl IntoIterator<Item = (String, String)>) -> Schema {
    let mut schema = Schema::new();
    for (table, column) in columns {
        assert!(schema.entry(table).or_default().insert(column), "a column twice");
    }
    schema.remove("schema_migrations");
    schema
}

pub async fn the_list_of_tables_is_the_schema(bench: &Bench) {
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
    let listed = collect(TABLES.iter().flat_map(|(table, columns)| {
        columns
            .split(' ')
            .map(|column| ((*table).to_owned(), column.to_owned()))
    }));
    assert_eq!(listed, schema);
}
