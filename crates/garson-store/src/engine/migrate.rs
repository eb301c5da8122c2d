//! Migrations: one numbered list for both engines, embedded, checksummed, applied at start by one node.

use super::Tx;
use crate::error::StoreError;
use crate::params;
use sha2::{Digest, Sha256};

/// The list; a number is never used again and a script that has been released is never changed.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (
        1,
        "first_floor",
        include_str!("../../migrations/0001_first_floor.sql"),
    ),
    (2, "panel", include_str!("../../migrations/0002_panel.sql")),
    (3, "status", include_str!("../../migrations/0003_status.sql")),
    (4, "speed", include_str!("../../migrations/0004_speed.sql")),
    (5, "writer", include_str!("../../migrations/0005_writer.sql")),
    (
        6,
        "idempotency_runs",
        include_str!("../../migrations/0006_idempotency_runs.sql"),
    ),
    (7, "branches", include_str!("../../migrations/0007_branches.sql")),
    (
        8,
        "call_queues",
        include_str!("../../migrations/0008_call_queues.sql"),
    ),
    (
        9,
        "revisions",
        include_str!("../../migrations/0009_revisions.sql"),
    ),
    (
        10,
        "order_lists",
        include_str!("../../migrations/0010_order_lists.sql"),
    ),
];

/// The number under which it stands beside the migrations that a database is the target of a copy that has not come to its
/// end. Programs that know nothing of copies refuse a number that they do not know, too.
const UNFINISHED_COPY: i64 = 0;

/// What a database is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Use,
    /// Everything of another one is copied into it. Until that is done, nobody may use it.
    CopyTarget,
}

/// What the runner needs of a connection.
pub trait Migrator {
    /// Does the work in a transaction that no other migrator runs beside.
    fn exclusively(
        &mut self,
        work: &mut dyn FnMut(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;
    /// Runs a script of several statements.
    fn script(&mut self, sql: &str) -> Result<(), StoreError>;
    fn transaction(&mut self) -> Tx<'_>;
}

/// Brings the database to the newest schema, or refuses it.
pub fn run<M: Migrator>(migrator: &mut M, purpose: Purpose) -> Result<(), StoreError> {
    migrator.exclusively(&mut |migrator| apply(migrator, MIGRATIONS, purpose))
}

/// Is the database the target of a copy that has not come to its end?
pub fn is_unfinished_copy(tx: &mut Tx<'_>) -> Result<bool, StoreError> {
    let sql = "SELECT number FROM schema_migrations WHERE number = ?1";
    let found = tx.query_opt(sql, params![UNFINISHED_COPY], |row| row.get::<i64>(0))?;
    Ok(found.is_some())
}

/// Notes that it is one, from now on or no longer.
pub fn mark_unfinished_copy(tx: &mut Tx<'_>, is_unfinished: bool) -> Result<(), StoreError> {
    tx.execute(
        "DELETE FROM schema_migrations WHERE number = ?1",
        params![UNFINISHED_COPY],
    )?;
    if is_unfinished {
        tx.execute(
            "INSERT INTO schema_migrations (number, name, checksum) VALUES (?1, 'unfinished copy', '')",
            params![UNFINISHED_COPY],
        )?;
    }
    Ok(())
}

fn apply<M: Migrator>(
    migrator: &mut M,
    migrations: &[(i64, &str, &str)],
    purpose: Purpose,
) -> Result<(), StoreError> {
    migrator.script(
        "CREATE TABLE IF NOT EXISTS schema_migrations (
             number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)",
    )?;
    let applied = applied(&mut migrator.transaction())?;
    judge(&applied, migrations, purpose)?;
    if applied.is_empty() && purpose == Purpose::CopyTarget {
        mark_unfinished_copy(&mut migrator.transaction(), true)?;
    }
    for (number, name, script) in migrations.iter().filter(|m| !applied.iter().any(|a| a.0 == m.0)) {
        migrator.script(script)?;
        migrator.transaction().execute(
            "INSERT INTO schema_migrations (number, name, checksum) VALUES (?1, ?2, ?3)",
            params![*number, *name, &fingerprint(script)],
        )?;
        tracing::info!(number, name, "applied a migration");
    }
    Ok(())
}

/// A migration that a database has: its number, name and checksum.
type Applied = (i64, String, String);

fn applied(tx: &mut Tx<'_>) -> Result<Vec<Applied>, StoreError> {
    let sql = "SELECT number, name, checksum FROM schema_migrations ORDER BY number";
    tx.query(sql, params![], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

/// Refuses a database that this program must not use.
fn judge(applied: &[Applied], migrations: &[(i64, &str, &str)], purpose: Purpose) -> Result<(), StoreError> {
    for (number, name, checksum) in applied {
        if *number == UNFINISHED_COPY {
            match purpose {
                Purpose::CopyTarget => continue,
                Purpose::Use => {
                    return Err(StoreError::refused(
                        "the database is the target of a copy that was not finished, and is not complete: run the same \
                         `garson migrate` again, which starts over",
                    ));
                }
            }
        }
        match migrations.iter().find(|(n, _, _)| n == number) {
            None => {
                return Err(StoreError::refused(format!(
                    "the database is newer than this program: it has migration {number} ({name}). \
                     Start it with the program that made it, or a later one"
                )));
            }
            Some((_, _, script)) if fingerprint(script) != *checksum => {
                return Err(StoreError::refused(format!(
                    "migration {number} ({name}) was applied in another form than this program has"
                )));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// How far a database is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// Nothing has been made in it yet.
    None,
    /// It will be brought up to date when it is opened to be used.
    Older,
    Newest,
}

/// Says how far a database is, and changes nothing. `count_tables` counts those that are called `schema_migrations`.
pub fn inspect(tx: &mut Tx<'_>, count_tables: &str) -> Result<Schema, StoreError> {
    if tx.query_one(count_tables, params![], |row| row.get::<i64>(0))? == 0 {
        return Ok(Schema::None);
    }
    let applied = applied(tx)?;
    judge(&applied, MIGRATIONS, Purpose::Use)?;
    Ok(match applied.len() == MIGRATIONS.len() {
        true => Schema::Newest,
        false => Schema::Older,
    })
}

fn fingerprint(script: &str) -> String {
    Sha256::digest(script.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
