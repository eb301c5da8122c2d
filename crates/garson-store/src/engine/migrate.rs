//! Migrations: one numbered list for both engines, embedded, checksummed, applied at start by one node.

use super::session::Session;
use super::tx::{Hooks, Tx};
use crate::error::StoreError;
use crate::params;
use sha2::{Digest, Sha256};

/// The list. A number is never reused, and a released script is never changed.
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
    (
        11,
        "escalation",
        include_str!("../../migrations/0011_escalation.sql"),
    ),
    (12, "printers", include_str!("../../migrations/0012_printers.sql")),
    (13, "presence", include_str!("../../migrations/0013_presence.sql")),
    (
        14,
        "order_notices",
        include_str!("../../migrations/0014_order_notices.sql"),
    ),
    (15, "reports", include_str!("../../migrations/0015_reports.sql")),
    (16, "stores", include_str!("../../migrations/0016_stores.sql")),
    (17, "products", include_str!("../../migrations/0017_products.sql")),
    (
        19,
        "operators",
        include_str!("../../migrations/0019_operators.sql"),
    ),
    (20, "users", include_str!("../../migrations/0020_users.sql")),
    (
        21,
        "audit_and_privacy",
        include_str!("../../migrations/0021_audit_and_privacy.sql"),
    ),
    (
        22,
        "webhook_endpoints",
        include_str!("../../migrations/0022_webhook_endpoints.sql"),
    ),
    (
        23,
        "key_access",
        include_str!("../../migrations/0023_key_access.sql"),
    ),
    (24, "openid", include_str!("../../migrations/0024_openid.sql")),
    (
        25,
        "request_log",
        include_str!("../../migrations/0025_request_log.sql"),
    ),
];

/// The number that marks a database as the target of an unfinished copy, beside the migrations. Older versions of the program
/// refuse it like any unknown number.
const UNFINISHED_COPY: i64 = 0;

/// What a database is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Use,
    /// Another database is copied into it. It must not be used before the copy is complete.
    CopyTarget,
}

/// What migrations need of a connection.
pub trait Migrator: Session + Sized {
    /// Does the work in a transaction that excludes other migrators.
    fn exclusively(
        &mut self,
        work: &mut dyn FnMut(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;
    /// Runs a script of several statements.
    fn script(&mut self, sql: &str) -> Result<(), StoreError>;
}

/// Migrates the database to the newest schema, or refuses it.
pub fn run<M: Migrator>(migrator: &mut M, purpose: Purpose) -> Result<(), StoreError> {
    migrator.exclusively(&mut |migrator| apply(migrator, MIGRATIONS, purpose))
}

/// Is the database the target of an unfinished copy?
pub fn is_unfinished_copy<H: Hooks>(tx: &mut Tx<'_, H>) -> Result<bool, StoreError> {
    let sql = "SELECT number FROM schema_migrations WHERE number = ?1";
    let found = tx.query_opt(sql, params![UNFINISHED_COPY], |row| row.get::<i64>(0))?;
    Ok(found.is_some())
}

/// Marks the database as the target of an unfinished copy, or removes the mark.
pub fn mark_unfinished_copy<H: Hooks>(tx: &mut Tx<'_, H>, is_unfinished: bool) -> Result<(), StoreError> {
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
    let applied = applied(&mut Tx::new(migrator, ()))?;
    check_usable(&applied, migrations, purpose)?;
    if applied.is_empty() && purpose == Purpose::CopyTarget {
        mark_unfinished_copy(&mut Tx::new(migrator, ()), true)?;
    }
    for (number, name, script) in migrations.iter().filter(|m| !applied.iter().any(|a| a.0 == m.0)) {
        migrator.script(script)?;
        Tx::new(migrator, ()).execute(
            "INSERT INTO schema_migrations (number, name, checksum) VALUES (?1, ?2, ?3)",
            params![*number, *name, &fingerprint(script)],
        )?;
        tracing::info!(number, name, "applied a migration");
    }
    Ok(())
}

/// A migration that a database has: its number, name and checksum.
type Applied = (i64, String, String);

fn applied(tx: &mut Tx<'_, ()>) -> Result<Vec<Applied>, StoreError> {
    let sql = "SELECT number, name, checksum FROM schema_migrations ORDER BY number";
    tx.query(sql, params![], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

/// Refuses a database that this version of the program must not use.
fn check_usable(
    applied: &[Applied],
    migrations: &[(i64, &str, &str)],
    purpose: Purpose,
) -> Result<(), StoreError> {
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

/// The state of a database's schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// There are no tables yet.
    None,
    /// It is migrated when it is opened to be used.
    Older,
    Newest,
}

/// Returns the state of a database's schema, and changes nothing. `count_tables` counts the tables named `schema_migrations`.
pub fn inspect(tx: &mut Tx<'_, ()>, count_tables: &str) -> Result<Schema, StoreError> {
    if tx.query_one(count_tables, params![], |row| row.get::<i64>(0))? == 0 {
        return Ok(Schema::None);
    }
    let applied = applied(tx)?;
    check_usable(&applied, MIGRATIONS, Purpose::Use)?;
    Ok(if applied.len() == MIGRATIONS.len() {
        Schema::Newest
    } else {
        Schema::Older
    })
}

fn fingerprint(script: &str) -> String {
    Sha256::digest(script.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
