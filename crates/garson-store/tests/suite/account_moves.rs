//! An account as a file, its removal, and new seals for everything: over all rows of all tables.

use crate::copy::fill_every_table;
use crate::database::{Bench, Kind, TestDatabase};
use crate::dump::{self, Dump};
use crate::fixtures::{at, create_account};
use garson_core::account_state::AccountState;
use garson_core::id::AccountId;
use garson_core::secret::Secret;
use garson_core::testing::SettableClock;
use garson_store::tables::account_rows::{Section, moved, removed, unclassified};
use garson_store::tables::schema::TABLES;
use garson_store::tables::sealed::SEALED;
use garson_store::tables::{account_states, accounts, restaurants};
use garson_store::upkeep::account_file::{Description, Reader, Writer};
use garson_store::upkeep::account_import::{self, Target};
use garson_store::upkeep::{account_export, account_removal, reseal};
use garson_store::{Engine, Options, Partition, Result, StoreError, Tx, Vault, params};
use std::collections::BTreeSet;
use std::io::Cursor;
use std::sync::Arc;

#[expect(clippy::unnecessary_wraps, reason = "as a real one may fail")]
fn key(_: &[u8; 16]) -> Result<Secret<[u8; 32]>> {
    Ok(Secret::new([1; 32]))
}

async fn export(bench: &Bench) -> (AccountId, Vec<u8>) {
    let account = bench
        .read(|tx| Ok(accounts::by_email(tx, "lokanta@example.com")?.unwrap()))
        .await;
    let id = account.id;
    let restaurants = bench.read(move |tx| restaurants::all_ids(tx, id)).await;
    let description = Description {
        account: account.id.to_string(),
        email: account.email,
        name: account.name,
        program: "test".to_owned(),
        exported_at: 0,
        restaurants,
    };
    let writer = Writer::begin(Vec::new(), key, &description).unwrap();
    let vault = Arc::new(bench.vault.clone());
    let exported = account_export::export(&bench.engine, vault, account.id, writer).await;
    let (file, rows) = exported.unwrap();
    assert!(rows > 1_000, "{rows}");
    (account.id, file)
}

fn other_vault() -> Vault {
    Vault::new(&Secret::new([9; 32]))
}

async fn import(engine: &Engine, account: AccountId, file: &[u8]) -> Result<u64> {
    let (reader, description) = Reader::begin(Cursor::new(file.to_vec()), key)?;
    let target = Target {
        engine: engine.clone(),
        vault: Arc::new(other_vault()),
        account,
        inbound: Arc::new(|_, credentials| {
            let secret = credentials.values().next()?;
            Some(Secret::new(secret.expose().as_bytes().to_vec()))
        }),
        clock: Arc::new(SettableClock::at(at(100_000_000))),
    };
    account_import::import(&target, &description, reader).await
}

/// Columns that are written anew: sealed values, and hashes that are keyed.
fn is_renewed(table: &str, column: &str) -> bool {
    (table, column) == ("integrations", "inbound_hash")
        || SEALED.iter().any(|it| (it.table, it.column) == (table, column))
}

/// What was moved, without what must differ.
fn comparable(dump: &Dump) -> Dump {
    let names: BTreeSet<&str> = [Section::History, Section::Work]
        .into_iter()
        .flat_map(moved)
        .map(|part| part.table.name)
        .collect();
    let mut kept = dump.clone();
    kept.retain(|name, _| names.contains(name));
    for (name, rows) in &mut kept {
        let table = TABLES.iter().find(|table| table.name == *name).unwrap();
        for row in rows.iter_mut() {
            for (cell, column) in row.iter_mut().zip(table.columns) {
                if is_renewed(name, column) && cell != "Null" {
                    "renewed".clone_into(cell);
                }
            }
        }
        rows.sort();
    }
    kept
}

pub async fn exported_account_is_imported_completely(bench: &Bench) {
    fill_every_table(bench).await;
    let here = comparable(&dump::of(&bench.engine).await);
    let (account, file) = export(bench).await;
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let home = TestDatabase::new(kind);
        let engine = Engine::open(&home.location(), &Options::default()).unwrap();
        let neighbour = engine
            .write(Partition::COMMON, |tx| create_account(tx, "komsu"))
            .await
            .unwrap();
        let rows = import(&engine, account, &file).await.unwrap();
        let state = engine
            .read(move |tx| account_states::find(tx, account))
            .await
            .unwrap();
        assert_eq!(state.state, AccountState::Disabled);
        // Every secret opens with the key of the target.
        let vault = Arc::new(other_vault());
        let pass = reseal::reseal_all(&engine, &vault).await.unwrap();
        assert_eq!(pass, reseal::Pass::default());
        let sealed = engine.read(move |tx| open_all(tx, &other_vault())).await.unwrap();
        assert_eq!(
            sealed,
            bench
                .read(move |tx| open_all(tx, &crate::database::vault()))
                .await
        );
        assert!(sealed.len() >= 2, "{}", sealed.len());
        // The neighbour was not touched, and everything else is as it was.
        let removed = engine
            .write(Partition::COMMON, move |tx| {
                tx.on(garson_store::ACCOUNTS)
                    .execute("DELETE FROM accounts WHERE id = ?1", params![&neighbour])
            })
            .await;
        assert_eq!(removed.unwrap(), 1);
        let there = comparable(&dump::of(&engine).await);
        let mut count = 0;
        for (table, rows) in &here {
            assert!(!rows.is_empty(), "the case has no row of {table}");
            assert_eq!(&there[table], rows, "{table} on {kind:?}");
            count += rows.len() as u64;
        }
        assert_eq!(rows, count);
        drop(engine);
    }
}

/// Every secret of the database, with its place.
fn open_all(tx: &mut Tx<'_>, vault: &Vault) -> Result<Vec<(String, Vec<u8>)>> {
    let mut all = Vec::new();
    for it in SEALED {
        let sql = format!(
            "SELECT {}, {} FROM {} WHERE {} IS NOT NULL",
            it.record, it.column, it.table, it.column
        );
        let rows: Vec<(Vec<u8>, Vec<u8>)> = tx
            .on(garson_store::ALL_TABLES)
            .query(&sql, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (record, sealed) in rows {
            let opened = vault.open(it.place, &record, &sealed)?;
            all.push((format!("{} {record:?}", it.place), opened.expose().clone()));
        }
    }
    all.sort();
    Ok(all)
}

pub async fn import_refuses_what_is_there_and_is_undone(bench: &Bench) {
    fill_every_table(bench).await;
    let (account, file) = export(bench).await;
    // The account itself.
    let before = dump::of(&bench.engine).await;
    let error = import(&bench.engine, account, &file)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("an account"), "{error}");
    assert_eq!(dump::of(&bench.engine).await, before);
    let home = TestDatabase::new(bench.kind);
    let engine = Engine::open(&home.location(), &Options::default()).unwrap();
    // Its e-mail address.
    let other = engine
        .write(Partition::COMMON, |tx| create_account(tx, "lokanta"))
        .await
        .unwrap();
    let before = dump::of(&engine).await;
    let error = import(&engine, account, &file).await.unwrap_err().to_string();
    assert!(error.contains("lokanta@example.com"), "{error}");
    assert_eq!(dump::of(&engine).await, before);
    // An id of something of it, which is found out in the middle: a printer, as it belongs to what is written at last.
    let rename = move |tx: &mut Tx<'_>| {
        tx.on(garson_store::ACCOUNTS)
            .execute("UPDATE accounts SET email = 'x' WHERE id = ?1", params![&other])
    };
    engine.write(Partition::COMMON, rename).await.unwrap();
    let printer = bench
        .read(|tx| {
            tx.query_one("SELECT id FROM printers LIMIT 1", &[], |row| {
                row.get::<Vec<u8>>(0)
            })
        })
        .await;
    engine
        .write(Partition::COMMON, move |tx| {
            tx.execute(
                "INSERT INTO printers (id, account_id, name, state, waiting, created_at, seen_at, state_at)
                 VALUES (?1, ?2, '', 'ready', 0, 0, 0, 0)",
                params![&printer, &other],
            )
        })
        .await
        .unwrap();
    let before = dump::of(&engine).await;
    let error = import(&engine, account, &file).await.unwrap_err().to_string();
    assert!(error.contains("here already"), "{error}");
    assert_eq!(dump::of(&engine).await, before);
    // A damaged file.
    for cut in [file.len() - 1, file.len() / 2] {
        assert!(import(&engine, account, &file[..cut]).await.is_err());
        assert_eq!(dump::of(&engine).await, before);
    }
    drop(engine);
}

pub async fn interrupted_import_starts_over(bench: &Bench) {
    fill_every_table(bench).await;
    let here = comparable(&dump::of(&bench.engine).await);
    let (account, file) = export(bench).await;
    let home = TestDatabase::new(bench.kind);
    let engine = Engine::open(&home.location(), &Options::default()).unwrap();
    // As if it was killed after some rows, half a minute ago and long ago.
    let begin = |seconds: i64| {
        move |tx: &mut Tx<'_>| {
            let then = at(100_000_000 - seconds * 1000);
            account_states::write_state(tx, account, AccountState::Importing, None, then)?;
            tx.execute(
                "INSERT INTO order_words (account_id, position, words) VALUES (?1, 1, 'a') ON CONFLICT DO NOTHING",
                params![&account],
            )?;
            Ok::<_, StoreError>(())
        }
    };
    engine.write(Partition::COMMON, begin(30)).await.unwrap();
    let error = import(&engine, account, &file).await.unwrap_err().to_string();
    assert!(error.contains("being imported"), "{error}");
    engine.write(Partition::COMMON, begin(3_600)).await.unwrap();
    import(&engine, account, &file).await.unwrap();
    let there = comparable(&dump::of(&engine).await);
    assert_eq!(there["order_words"], here["order_words"]);
    assert_eq!(there["orders"], here["orders"]);
    drop(engine);
}

pub async fn removed_account_leaves_no_row(bench: &Bench) {
    fill_every_table(bench).await;
    let alone = dump::of(&bench.engine).await;
    let neighbour = bench.branch("komsu").await;
    bench.orders(neighbour, "order", 20).await;
    let mut wanted = dump::of(&bench.engine).await;
    for (table, rows) in &mut wanted {
        rows.retain(|row| !alone[table].contains(row));
    }
    let account = bench
        .read(|tx| Ok(accounts::by_email(tx, "lokanta@example.com")?.unwrap().id))
        .await;
    bench
        .write(move |tx| account_removal::begin(tx, account, at(5)))
        .await;
    // It is interrupted at once, and again after some rows.
    let interrupted = account_removal::remove_rows(&bench.engine, account, |_| {});
    let _ = tokio::time::timeout(std::time::Duration::from_millis(50), interrupted).await;
    account_removal::finish(&bench.engine, account, |_| {})
        .await
        .unwrap();
    let after = dump::of(&bench.engine).await;
    let owned: BTreeSet<&str> = removed().iter().map(|part| part.table.name).collect();
    for (table, rows) in &after {
        if owned.contains(table) || *table == "account_states" {
            assert_eq!(rows, &wanted[table], "{table}");
        }
    }
    assert!(owned.len() > 35, "{}", owned.len());
}

pub async fn everything_is_sealed_again(bench: &Bench) {
    fill_every_table(bench).await;
    let before = bench.read(|tx| open_all(tx, &crate::database::vault())).await;
    let (old, new) = (Secret::new([7; 32]), Secret::new([9; 32]));
    let vault = Arc::new(Vault::new(&old));
    vault.use_keys(&new, &old);
    // Interrupted somewhere, it continues.
    let interrupted = reseal::reseal_all(&bench.engine, &vault);
    let _ = tokio::time::timeout(std::time::Duration::from_millis(3), interrupted).await;
    reseal::reseal_all(&bench.engine, &vault).await.unwrap();
    let again = reseal::reseal_all(&bench.engine, &vault).await.unwrap();
    assert_eq!(again, reseal::Pass::default());
    assert_eq!(bench.read(|tx| open_all(tx, &other_vault())).await, before);
}

pub async fn every_table_and_secret_is_classified(bench: &Bench) {
    assert_eq!(unclassified(), Vec::<&str>::new());
    let columns = bench
        .read(|tx| {
            let mut found = Vec::new();
            for table in TABLES {
                let sql = format!("PRAGMA table_info({})", table.name);
                let bytes = tx.query(&sql, &[], |row| {
                    Ok((row.get::<String>(1)?, row.get::<String>(2)?))
                })?;
                let bytes = bytes
                    .into_iter()
                    .filter(|(_, kind)| kind.eq_ignore_ascii_case("blob"));
                found.extend(bytes.map(|(column, _)| (table.name, column)));
            }
            Ok(found)
        })
        .await;
    // Bytes that are no secrets: ids, hashes, packed words, bodies of platforms, and the keys of a rotation.
    let is_plain = |table: &str, column: &str| {
        ["id", "node", "hash", "scope", "word"].contains(&column)
            || ["_id", "_node", "_hash"].iter().any(|end| column.ends_with(end))
            || [
                ("inbox", "body"),
                ("menu_versions", "body"),
                ("catalog_pushes", "body"),
                ("master_key_check", "sealed"),
                ("key_rotation", "old_key"),
                ("key_rotation", "new_key"),
                ("node_keys", "started_with"),
            ]
            .contains(&(table, column))
    };
    for (table, column) in columns {
        let is_sealed = SEALED
            .iter()
            .any(|it| (it.table, it.column) == (table, column.as_str()));
        assert!(
            is_sealed || is_plain(table, &column),
            "{table}.{column} holds bytes: is it sealed? Then list it in tables/sealed.rs"
        );
    }
}
