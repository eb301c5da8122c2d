//! Migrations: one numbered list for both engines, embedded and checksummed.
//!
//! - A new database, and everything up to the last pending **offline** migration, is migrated in one transaction at the start, by one
//!   node. On PostgreSQL this is refused while other nodes run.
//! - An **expand** migration is a short transaction of its own at the start. It gives up and tries again if it cannot have its locks
//!   within [`LOCK_TIMEOUT`], because everybody else waits behind it.
//! - Its **steps** (indexes of large tables, filling of columns) are done in the background, see `upkeep::schema_change`. SQLite makes
//!   indexes at the start: it can only make them in one go, and no client waits for its writer then.
//! - A **contract** migration follows when no node needs what it removes.

mod list;
mod migrator;
mod steps;

pub use list::{MIGRATIONS, Migration, MigrationKind, Step};
pub use migrator::Migrator;
use steps::count_pending;
pub use steps::{Progress, StepState};
pub(crate) use steps::{fill_chunk, finish_index, list as list_steps};

use super::tx::{Hooks, Tx};
use crate::error::{StoreError, StoreErrorKind};
use crate::params;
use sha2::{Digest, Sha256};
use std::time::{Duration, Instant};

/// The migration since which programs can work with later ones, and since which there are steps.
const FIRST_WITH_STEPS: i64 = 26;

/// How long a migration may wait for a lock, and everybody else behind it.
const LOCK_TIMEOUT: Duration = Duration::from_millis(50);
/// The pause before it tries again.
const LOCK_PAUSE: Duration = Duration::from_millis(400);
/// How long it tries.
const LOCK_PATIENCE: Duration = Duration::from_secs(120);

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

/// Migrates the database as far as it can be at the start, or refuses it.
pub fn run<M: Migrator>(
    migrator: &mut M,
    migrations: &[Migration],
    purpose: Purpose,
) -> Result<(), StoreError> {
    migrator.exclusively(None, &mut |migrator| apply_at_once(migrator, migrations, purpose))?;
    let applied = applied(&mut Tx::new(migrator, ()))?;
    for migration in pending(&applied, migrations) {
        if matches!(migration.kind, MigrationKind::Expand { .. }) {
            patiently(migrator, &mut |migrator, limit| {
                apply(migrator, migration, Some(limit))
            })?;
        }
    }
    if M::IS_ALONE {
        steps::make_indexes(migrator, migrations)?;
        for migration in migrations {
            apply_contract(migrator, migrations, migration.number)?;
        }
    }
    Ok(())
}

/// Runs a short transaction, again and again while it cannot get its locks. It gets the limit of its waits.
fn patiently<M: Migrator>(
    migrator: &mut M,
    work: &mut dyn FnMut(&mut M, Duration) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let began = Instant::now();
    loop {
        // Under a load of long transactions, the shortest limit may never suffice.
        let limit = match began.elapsed() {
            past if past < LOCK_PATIENCE / 4 => LOCK_TIMEOUT,
            past if past < LOCK_PATIENCE / 2 => LOCK_TIMEOUT * 2,
            _ => LOCK_TIMEOUT * 4,
        };
        match migrator.exclusively(Some(limit), &mut |migrator| work(migrator, limit)) {
            Err(error) if error.kind == StoreErrorKind::Conflict && began.elapsed() < LOCK_PATIENCE => {
                tracing::info!(%error, "a migration waits for a lock, trying again");
                std::thread::sleep(LOCK_PAUSE);
            }
            done => return done,
        }
    }
}

/// Applies everything in a new database. Otherwise the migrations up to the last offline one.
fn apply_at_once<M: Migrator>(
    migrator: &mut M,
    migrations: &[Migration],
    purpose: Purpose,
) -> Result<(), StoreError> {
    migrator.script(
        "CREATE TABLE IF NOT EXISTS schema_migrations (
             number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)",
    )?;
    let applied = applied(&mut Tx::new(migrator, ()))?;
    check_usable(&applied, migrations, purpose)?;
    if applied.is_empty() {
        if purpose == Purpose::CopyTarget {
            mark_unfinished_copy(&mut Tx::new(migrator, ()), true)?;
        }
        for migration in migrations {
            apply(migrator, migration, None)?;
            steps::finish_all(migrator, migration)?;
        }
        return Ok(());
    }
    let last_offline = pending(&applied, migrations)
        .filter(|migration| migration.kind == MigrationKind::Offline)
        .map(|migration| migration.number)
        .max();
    for migration in pending(&applied, migrations).filter(|it| Some(it.number) <= last_offline) {
        if !matches!(migration.kind, MigrationKind::Contract { .. }) {
            apply(migrator, migration, None)?;
        }
    }
    Ok(())
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

fn pending<'a>(
    applied: &'a [Applied],
    migrations: &'a [Migration],
) -> impl Iterator<Item = &'a Migration> + 'a {
    migrations
        .iter()
        .filter(|migration| !applied.iter().any(|it| it.number == migration.number))
}

/// Applies one migration, unless another node was faster. With a limit, nodes are running that must not wait for longer.
fn apply<M: Migrator>(
    migrator: &mut M,
    migration: &Migration,
    lock_timeout: Option<Duration>,
) -> Result<(), StoreError> {
    let Migration { number, name, .. } = *migration;
    let sql = "SELECT number FROM schema_migrations WHERE number = ?1";
    let found = Tx::new(migrator, ()).query_opt(sql, params![number], |row| row.get::<i64>(0))?;
    if found.is_some() {
        return Ok(());
    }
    let began = Instant::now();
    if let Some(limit) = lock_timeout {
        migrator.reserve(migration.alters, limit)?;
    }
    migrator.script(migration.script)?;
    let tx = &mut Tx::new(migrator, ());
    tx.execute(
        "INSERT INTO schema_migrations (number, name, checksum) VALUES (?1, ?2, ?3)",
        params![number, name, &fingerprint(migration.script)],
    )?;
    let needs = match migration.kind {
        MigrationKind::Offline => None,
        MigrationKind::Expand { needs } | MigrationKind::Contract { needs } => Some(needs),
    };
    if let Some(needs) = needs {
        tx.execute(
            "UPDATE schema_migrations SET needs = ?2 WHERE number = ?1",
            params![number, needs],
        )?;
    }
    steps::register(tx, migration)?;
    let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::info!(number, name, milliseconds, "applied a migration");
    Ok(())
}

/// Applies a contract migration if it is pending, the steps before it are done, and no node needs what it removes. Returns whether it
/// is applied now. Needs a connection of its own.
pub fn apply_contract<M: Migrator>(
    migrator: &mut M,
    migrations: &[Migration],
    number: i64,
) -> Result<bool, StoreError> {
    let Some(migration) = migrations.iter().find(|it| it.number == number) else {
        return Ok(false);
    };
    let MigrationKind::Contract { needs } = migration.kind else {
        return Ok(false);
    };
    let mut is_applied = false;
    migrator.exclusively(Some(LOCK_TIMEOUT), &mut |migrator| {
        let tx = &mut Tx::new(migrator, ());
        let applied = applied(tx)?;
        let is_next = pending(&applied, migrations).next().map(|it| it.number) == Some(number);
        if !is_next || !can_contract::<M, _>(tx, number, needs)? {
            return Ok(());
        }
        // Before the next lock, for which nodes that join would wait.
        migrator.reserve(migration.alters, LOCK_TIMEOUT)?;
        let tx = &mut Tx::new(migrator, ());
        // A node that joins locks the same row, and sees the migration, or is seen here.
        lock_joining(tx)?;
        if !can_contract::<M, _>(tx, number, needs)? {
            return Ok(());
        }
        apply(migrator, migration, None)?;
        is_applied = true;
        Ok(())
    })?;
    Ok(is_applied)
}

/// Are the steps before a contract migration done, and does no node need what it removes?
fn can_contract<M: Migrator, H: Hooks>(
    tx: &mut Tx<'_, H>,
    number: i64,
    needs: i64,
) -> Result<bool, StoreError> {
    let nodes = if M::IS_ALONE { None } else { oldest_node(tx)? };
    Ok(count_pending(tx, number)? == 0 && nodes.is_none_or(|known| known >= needs))
}

/// The oldest of the newest migrations that the nodes know.
pub(crate) fn oldest_node<H: Hooks>(tx: &mut Tx<'_, H>) -> Result<Option<i64>, StoreError> {
    tx.query_one("SELECT MIN(schema_number) FROM nodes", params![], |row| {
        row.get(0)
    })
}

/// Locks what joining nodes and contract migrations both lock.
fn lock_joining<H: Hooks>(tx: &mut Tx<'_, H>) -> Result<(), StoreError> {
    let sql = "SELECT number FROM schema_migrations WHERE number = ?1 {lock}";
    tx.query_opt(sql, params![FIRST_WITH_STEPS], |row| row.get::<i64>(0))?;
    Ok(())
}

/// Fails if a program that knows these migrations must not use the database; for a node that joins, in the transaction in which it does.
pub(crate) fn check_join<H: Hooks>(tx: &mut Tx<'_, H>, migrations: &[Migration]) -> Result<(), StoreError> {
    lock_joining(tx)?;
    check_usable(&applied(tx)?, migrations, Purpose::Use)
}

/// The number of the newest migration.
#[must_use]
pub fn newest(migrations: &[Migration]) -> i64 {
    migrations.iter().map(|it| it.number).max().unwrap_or_default()
}

/// A migration that a database has.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Applied {
    number: i64,
    name: String,
    checksum: String,
    /// The oldest migration that a program must know to use the database.
    needs: Option<i64>,
}

fn applied<H: Hooks>(tx: &mut Tx<'_, H>) -> Result<Vec<Applied>, StoreError> {
    let sql = "SELECT number, name, checksum FROM schema_migrations ORDER BY number";
    let mut all = tx.query(sql, params![], |row| {
        Ok(Applied {
            number: row.get(0)?,
            name: row.get(1)?,
            checksum: row.get(2)?,
            needs: None,
        })
    })?;
    // The column exists since then. Later ones alone are the mark of a test or of a damaged table.
    if all.iter().any(|it| it.number == FIRST_WITH_STEPS) {
        let sql = "SELECT number, needs FROM schema_migrations WHERE needs IS NOT NULL";
        let needs: Vec<(i64, i64)> = tx.query(sql, params![], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (number, needs) in needs {
            for it in all.iter_mut().filter(|it| it.number == number) {
                it.needs = Some(needs);
            }
        }
    }
    Ok(all)
}

/// Refuses a database that a program with these migrations must not use.
fn check_usable(applied: &[Applied], migrations: &[Migration], purpose: Purpose) -> Result<(), StoreError> {
    let newest = newest(migrations);
    for Applied {
        number,
        name,
        checksum,
        needs,
    } in applied
    {
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
        match migrations.iter().find(|it| it.number == *number) {
            None if needs.is_some_and(|needs| needs <= newest) => {}
            None => {
                return Err(StoreError::refused(format!(
                    "the database is newer than this program: it has migration {number} ({name}). \
                     Start it with the program that made it, or a later one"
                )));
            }
            Some(migration) if fingerprint(migration.script) != *checksum => {
                return Err(StoreError::refused(format!(
                    "migration {number} ({name}) was applied in another form than this program has"
                )));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// The state of a database's schema, for a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schema {
    /// There are no tables yet.
    None,
    /// It has all migrations that the program knows, and perhaps later ones that the program can work with.
    Current { later: Vec<i64> },
    /// It lacks these, and is migrated when it is opened to be used.
    Older(Vec<Pending>),
}

/// A migration that a database lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    pub number: i64,
    pub name: &'static str,
    pub kind: MigrationKind,
}

/// Returns the state of a database's schema, and changes nothing. `count_tables` counts the tables named `schema_migrations`.
pub fn inspect(
    tx: &mut Tx<'_, ()>,
    migrations: &[Migration],
    count_tables: &str,
) -> Result<Schema, StoreError> {
    if tx.query_one(count_tables, params![], |row| row.get::<i64>(0))? == 0 {
        return Ok(Schema::None);
    }
    let applied = applied(tx)?;
    check_usable(&applied, migrations, Purpose::Use)?;
    let missing: Vec<Pending> = pending(&applied, migrations)
        .map(|it| Pending {
            number: it.number,
            name: it.name,
            kind: it.kind,
        })
        .collect();
    if !missing.is_empty() {
        return Ok(Schema::Older(missing));
    }
    let known = newest(migrations);
    let later = applied
        .iter()
        .map(|it| it.number)
        .filter(|number| *number > known);
    Ok(Schema::Current {
        later: later.collect(),
    })
}

fn fingerprint(script: &str) -> String {
    Sha256::digest(script.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
