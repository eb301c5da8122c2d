//! The steps of migrations: which are left, and how far they are.

use super::list::{Migration, Step};
use super::migrator::Migrator;
use crate::engine::table_set::TableSet;
use crate::engine::tx::{Hooks, Tx};
use crate::error::StoreError;
use crate::params;

/// A step of a migration that the database has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepState {
    pub number: i64,
    /// Its position among the steps of the migration.
    pub position: i64,
    pub step: Step,
    pub is_done: bool,
    /// Rows that the current pass has visited.
    pub visited: i64,
    /// Complete passes.
    pub passes: i64,
}

/// What a part of a step has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another node is working on it.
    Busy,
    /// The pass has visited some rows.
    Visited(i64),
    /// The pass is complete, but there may be more.
    PassDone,
    /// A pass is complete. The next one begins when no node writes rows in the old form.
    Paused,
    /// The step is done.
    Done,
}

/// Adds the steps of a migration that is being applied.
pub(super) fn register(tx: &mut Tx<'_, ()>, migration: &Migration) -> Result<(), StoreError> {
    for (position, _) in positions(migration) {
        tx.execute(
            "INSERT INTO schema_steps (number, step) VALUES (?1, ?2)",
            params![migration.number, position],
        )?;
    }
    Ok(())
}

fn positions(migration: &Migration) -> impl Iterator<Item = (i64, &'static Step)> {
    (0..).zip(migration.steps)
}

/// Does the steps of a migration in a new database, where there is nothing to fill.
pub(super) fn finish_all<M: Migrator>(migrator: &mut M, migration: &Migration) -> Result<(), StoreError> {
    for (position, step) in positions(migration) {
        if let Some(sql) = step.index_sql("") {
            migrator.script(&sql)?;
        }
        set_done(&mut Tx::new(migrator, ()), migration.number, position)?;
    }
    Ok(())
}

/// Makes the indexes that are left, each in a transaction of its own.
pub(super) fn make_indexes<M: Migrator>(
    migrator: &mut M,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    for state in list(&mut Tx::new(migrator, ()), migrations)? {
        let Some(sql) = state.step.index_sql("IF NOT EXISTS") else {
            continue;
        };
        if state.is_done {
            continue;
        }
        tracing::info!(step = state.step.name(), "an index is made");
        migrator.exclusively(None, &mut |migrator| {
            migrator.script(&sql)?;
            set_done(&mut Tx::new(migrator, ()), state.number, state.position)
        })?;
    }
    Ok(())
}

/// The steps of the migrations that the program knows and the database has, in their order.
pub fn list<H: Hooks>(tx: &mut Tx<'_, H>, migrations: &[Migration]) -> Result<Vec<StepState>, StoreError> {
    if !migrations.iter().any(|it| !it.steps.is_empty()) {
        return Ok(Vec::new());
    }
    let sql = "SELECT number, step, visited, passes, is_done FROM schema_steps ORDER BY number, step";
    let rows: Vec<(i64, i64, i64, i64, i64)> = tx.query(sql, params![], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    })?;
    let states = rows
        .into_iter()
        .filter_map(|(number, position, visited, passes, is_done)| {
            let migration = migrations.iter().find(|it| it.number == number)?;
            let (_, step) = positions(migration).find(|(it, _)| *it == position)?;
            Some(StepState {
                number,
                position,
                step: *step,
                is_done: is_done != 0,
                visited,
                passes,
            })
        });
    Ok(states.collect())
}

/// How many steps of migrations before this one are left.
pub fn count_pending<H: Hooks>(tx: &mut Tx<'_, H>, before: i64) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) FROM schema_steps WHERE number < ?1 AND is_done = 0";
    tx.query_one(sql, params![before], |row| row.get(0))
}

fn set_done<H: Hooks>(tx: &mut Tx<'_, H>, number: i64, position: i64) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE schema_steps SET is_done = 1 WHERE number = ?1 AND step = ?2",
        params![number, position],
    )?;
    Ok(())
}

/// Records that an index is there.
pub fn finish_index<H: Hooks>(tx: &mut Tx<'_, H>, state: &StepState) -> Result<(), StoreError> {
    set_done(tx, state.number, state.position)
}

/// Visits the next rows of a table and fills those that need it. Rows that another transaction has locked are left to the next pass.
/// `tables` are those with deferred writes.
/// A pass that found nothing ends the step, if `is_last_program`: if no node is left that writes rows in the old form.
pub fn fill_chunk<H: Hooks>(
    tx: &mut Tx<'_, H>,
    state: &StepState,
    rows: i64,
    is_last_program: bool,
    tables: TableSet,
) -> Result<Progress, StoreError> {
    let Step::Fill {
        table,
        key,
        set,
        condition,
    } = state.step
    else {
        return Err(StoreError::internal("a step without rows cannot be filled"));
    };
    let row = tx.query_opt(
        "SELECT place, is_done, found, passes FROM schema_steps WHERE number = ?1 AND step = ?2 {skip_locked}",
        params![state.number, state.position],
        |row| {
            let place: Option<Vec<u8>> = row.get(0)?;
            Ok((place, row.get::<i64>(1)?, row.get::<i64>(2)?, row.get::<i64>(3)?))
        },
    )?;
    let Some((place, is_done, found, passes)) = row else {
        return Ok(Progress::Busy);
    };
    if is_done != 0 {
        return Ok(Progress::Done);
    }
    if place.is_none() && passes > 0 && !is_last_program {
        return Ok(Progress::Paused);
    }
    let place = place.unwrap_or_default();
    let keys: Vec<Vec<u8>> = tx.on(tables).query(
        &format!("SELECT {key} FROM {table} WHERE {key} > ?1 ORDER BY {key} LIMIT ?2"),
        params![&place, rows],
        |row| row.get(0),
    )?;
    let Some(last) = keys.last() else {
        if found == 0 && is_last_program {
            set_done(tx, state.number, state.position)?;
            return Ok(Progress::Done);
        }
        tx.execute(
            "UPDATE schema_steps SET place = NULL, visited = 0, found = 0, passes = passes + 1 WHERE number = ?1 AND step = ?2",
            params![state.number, state.position],
        )?;
        return Ok(Progress::PassDone);
    };
    // Also those that are locked now: they need it, so the pass is not the last one.
    let needing: i64 = tx.on(tables).query_one(
        &format!("SELECT COUNT(*) FROM {table} WHERE {key} > ?1 AND {key} <= ?2 AND ({condition})"),
        params![&place, last],
        |row| row.get(0),
    )?;
    if needing > 0 {
        tx.on(tables).execute(
            &format!(
                "UPDATE {table} SET {set} WHERE {key} IN (
                     SELECT {key} FROM {table} WHERE {key} > ?1 AND {key} <= ?2 AND ({condition}) {{skip_locked}})"
            ),
            params![&place, last],
        )?;
    }
    let visited = i64::try_from(keys.len()).unwrap_or(rows);
    tx.execute(
        "UPDATE schema_steps SET place = ?3, visited = visited + ?4, found = found + ?5 WHERE number = ?1 AND step = ?2",
        params![state.number, state.position, last, visited, needing],
    )?;
    Ok(Progress::Visited(visited))
}
