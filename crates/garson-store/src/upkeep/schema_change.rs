//! What is left of migrations while nodes run: indexes of large tables, rows to be filled, and what is removed when no node needs it.
//!
//! Every part is a short transaction and is continued where it ended, by any node, whatever happens in between. Two nodes that work on the
//! same step take turns.

use crate::engine::{
    MigrationKind, Partition, Progress, Step, StepState, fill_chunk, finish_index, list_steps, newest,
    oldest_node,
};
use crate::store::Engine;
use crate::{ALL_TABLES, Result};
use std::time::{Duration, Instant};

/// Rows of the first part.
const FIRST_ROWS: i64 = 200;
const MOST_ROWS: i64 = 5_000;
/// How long a part should take: others wait for its locks.
const PART: Duration = Duration::from_millis(20);

/// What a turn has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nothing is left.
    Nothing,
    /// Something is left that cannot be done yet: another node works on it, or nodes of an earlier version run.
    Waiting,
    /// A part of a step was done.
    Part { step: StepState, progress: Progress },
    /// A contract migration was applied.
    Contracted(i64),
}

/// Continues the migrations; keeps what it has learned about the speed of this database.
#[derive(Debug)]
pub struct SchemaChange {
    rows: i64,
    /// The length of the last part.
    pub took: Duration,
}

impl Default for SchemaChange {
    fn default() -> Self {
        Self {
            rows: FIRST_ROWS,
            took: Duration::ZERO,
        }
    }
}

impl SchemaChange {
    /// Does a part of what is left.
    pub async fn turn(&mut self, store: &Engine) -> Result<Turn> {
        let migrations = store.migrations();
        let mut is_waiting = false;
        for step in steps(store).await?.into_iter().filter(|step| !step.is_done) {
            let progress = match step.step {
                Step::Index { .. } => make_index(store, step).await?,
                Step::Fill { .. } => self.fill(store, step).await?,
            };
            match progress {
                // The next steps need not wait for it.
                Progress::Busy | Progress::Paused => is_waiting = true,
                progress => return Ok(Turn::Part { step, progress }),
            }
        }
        for migration in migrations {
            let is_contract = matches!(migration.kind, MigrationKind::Contract { .. });
            if !is_contract || is_applied(store, migration.number).await? {
                continue;
            }
            if store.contract(migration.number).await? {
                return Ok(Turn::Contracted(migration.number));
            }
            is_waiting = true;
        }
        Ok(if is_waiting { Turn::Waiting } else { Turn::Nothing })
    }

    async fn fill(&mut self, store: &Engine, step: StepState) -> Result<Progress> {
        let (rows, known) = (self.rows, newest(store.migrations()));
        let began = Instant::now();
        let progress = store
            .write(Partition::COMMON, move |tx| {
                let is_last = oldest_node(tx)?.is_none_or(|oldest| oldest >= known);
                fill_chunk(tx, &step, rows, is_last, ALL_TABLES)
            })
            .await?;
        self.took = began.elapsed();
        if let Progress::Visited(_) = progress {
            self.rows = next_rows(rows, self.took);
        }
        Ok(progress)
    }
}

/// How many rows the next part should have.
fn next_rows(rows: i64, took: Duration) -> i64 {
    let next = if took > PART {
        rows / 2
    } else {
        rows + rows / 4 + 1
    };
    next.clamp(1, MOST_ROWS)
}

async fn make_index(store: &Engine, step: StepState) -> Result<Progress> {
    if !store.make_index(step).await? {
        return Ok(Progress::Busy);
    }
    store
        .write(Partition::COMMON, move |tx| finish_index(tx, &step))
        .await?;
    Ok(Progress::Done)
}

/// How far the steps of the migrations are that the database has.
pub async fn steps(store: &Engine) -> Result<Vec<StepState>> {
    let migrations = store.migrations();
    store.read(move |tx| list_steps(tx, migrations)).await
}

async fn is_applied(store: &Engine, number: i64) -> Result<bool> {
    let sql = "SELECT number FROM schema_migrations WHERE number = ?1";
    let found = store
        .read(move |tx| tx.query_opt(sql, crate::params![number], |row| row.get::<i64>(0)))
        .await?;
    Ok(found.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_become_smaller_when_they_take_long_and_never_empty() {
        let mut rows = FIRST_ROWS;
        for _ in 0..50 {
            rows = next_rows(rows, PART * 3);
        }
        assert_eq!(rows, 1);
        for _ in 0..100 {
            rows = next_rows(rows, PART / 2);
        }
        assert_eq!(rows, MOST_ROWS);
    }
}
