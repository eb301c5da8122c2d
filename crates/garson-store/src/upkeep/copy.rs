//! Copies every row of a database into another, empty one.

use crate::engine::in_list::marks;
use crate::engine::{
    Insert, Location, Owned, Param, Partition, WorkProgress, is_unfinished_copy, mark_unfinished_copy,
};
use crate::store::Engine;
use crate::tables::nodes;
use crate::tables::row::{each, value};
use crate::tables::schema::{TABLES, Table};
use crate::{ALL_TABLES, Result, StoreError, Tx};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;

/// How many rows one statement reads.
const CHUNK: i64 = 500;

/// A server sends a heartbeat every two seconds; without one for this long, none is running.
const SILENCE: Duration = Duration::from_secs(5);

/// The tables whose rows are copied. Nodes are processes that use the source; none of them uses the target.
fn copied_tables() -> impl Iterator<Item = &'static Table> {
    TABLES
        .iter()
        .filter(|table| !["nodes", "node_keys"].contains(&table.name))
}

/// Some rows of a table.
struct Chunk {
    table: &'static Table,
    rows: Vec<Vec<Owned>>,
}

/// Fails if a server uses the database: orders that it accepts during the copy would be lost.
pub async fn ensure_not_in_use(from: &Engine) -> Result<()> {
    let before = from.read(nodes::list).await?;
    if before.is_empty() {
        return Ok(());
    }
    tokio::time::sleep(SILENCE).await;
    if from.read(nodes::list).await? == before {
        return Ok(());
    }
    Err(StoreError::refused(
        "a server is using the source database: stop it first",
    ))
}

/// Copies a consistent snapshot and returns the number of rows of each table. The target must be empty or the rest of an
/// interrupted copy, which then starts over. Until the copy is complete, the target is marked as unusable.
pub async fn copy_all(
    from: &Engine,
    to: &Engine,
    progress: &WorkProgress,
) -> Result<Vec<(&'static str, u64)>> {
    let is_postgres = |engine: &Engine| matches!(engine.location(), Location::Postgres(_));
    let (from_postgres, to_postgres) = (is_postgres(from), is_postgres(to));
    to.write(Partition::COMMON, move |tx| prepare_target(tx, to_postgres))
        .await?;
    let nodes_before = from.read(nodes::list).await?;
    let (send, mut chunks) = mpsc::channel(2);
    let has_begun = AtomicBool::new(false);
    let reading = from.read_long(move |tx| {
        // A job runs again after a broken connection, but would see another snapshot.
        if has_begun.swap(true, Ordering::Relaxed) {
            return Err(StoreError::refused(
                "the connection to the source broke: run the same command again, it starts over",
            ));
        }
        read_all(tx, from_postgres, &send)
    });
    let writing = async move {
        let mut copied: Vec<(&'static str, u64)> = copied_tables().map(|table| (table.name, 0)).collect();
        while let Some(Chunk { table, rows }) = chunks.recv().await {
            if let Some((_, count)) = copied.iter_mut().find(|(name, _)| *name == table.name) {
                *count += rows.len() as u64;
            }
            let count = rows.len() as u64;
            to.write(Partition::COMMON, move |tx| {
                write_chunk(tx, table, &rows, to_postgres)
            })
            .await?;
            progress.add(count);
        }
        Ok::<_, StoreError>(copied)
    };
    let (read, written) = tokio::join!(reading, writing);
    // If writing failed, reading failed only because of that.
    let copied = written?;
    read?;
    // A server that was started meanwhile has sent heartbeats.
    if from.read(nodes::list).await? != nodes_before {
        return Err(StoreError::refused(
            "a server has used the source database meanwhile: stop it and run the same command again, it starts over",
        ));
    }
    to.write(Partition::COMMON, |tx| mark_unfinished_copy(tx, false))
        .await?;
    Ok(copied)
}

/// Marks an empty database as the target of a copy, or empties one that is marked.
fn prepare_target(tx: &mut Tx<'_>, is_postgres: bool) -> Result<()> {
    if is_unfinished_copy(tx)? {
        if is_postgres {
            let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
            tx.on(ALL_TABLES)
                .execute(&format!("TRUNCATE {}", names.join(", ")), &[])?;
        } else {
            for table in TABLES {
                tx.on(ALL_TABLES)
                    .execute(&format!("DELETE FROM {}", table.name), &[])?;
            }
        }
        return Ok(());
    }
    if has_rows(tx)? {
        return Err(StoreError::refused("the target database is not empty"));
    }
    mark_unfinished_copy(tx, true)
}

/// Reads every table in one transaction, so that the copy is consistent.
fn read_all(tx: &mut Tx<'_>, is_postgres: bool, chunks: &mpsc::Sender<Chunk>) -> Result<()> {
    if is_postgres {
        // The transaction is idle while the target writes.
        let sql = "SELECT set_config('idle_in_transaction_session_timeout', '0', true)";
        tx.query_one(sql, &[], value::<String>)?;
    }
    for table in copied_tables() {
        let mut after: Option<Vec<Owned>> = None;
        loop {
            let rows = read_chunk(tx, table, after.as_deref())?;
            let Some(last) = rows.last() else { break };
            after = Some(last.iter().take(table.key_columns).cloned().collect());
            chunks
                .blocking_send(Chunk { table, rows })
                .map_err(|_| StoreError::refused("the target failed"))?;
        }
    }
    Ok(())
}

fn has_rows(tx: &mut Tx<'_>) -> Result<bool> {
    for table in TABLES {
        let sql = format!("SELECT CAST(1 AS BIGINT) FROM {} LIMIT 1", table.name);
        if tx.on(ALL_TABLES).query_opt(&sql, &[], value::<i64>)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read_chunk(tx: &mut Tx<'_>, table: &Table, after: Option<&[Owned]>) -> Result<Vec<Vec<Owned>>> {
    let key: Vec<&str> = table.columns.iter().take(table.key_columns).copied().collect();
    let key = key.join(", ");
    let mut params: Vec<Param<'_>> = after.unwrap_or_default().iter().map(Param::from).collect();
    let condition = if after.is_some() {
        format!("WHERE ({key}) > ({})", marks(1, params.len()))
    } else {
        String::new()
    };
    let sql = format!(
        "SELECT {} FROM {} {condition} ORDER BY {key} LIMIT ?{}",
        table.columns.join(", "),
        table.name,
        params.len() + 1
    );
    params.push(CHUNK.into());
    let read = each(|cells| table.columns.iter().map(|_| cells.read()).collect());
    tx.on(ALL_TABLES).query(&sql, &params, read)
}

fn write_chunk(tx: &mut Tx<'_>, table: &Table, rows: &[Vec<Owned>], is_postgres: bool) -> Result<()> {
    let columns = table.columns.join(", ");
    let insert = Insert::into(table.name, &columns);
    for row in rows {
        let row: Vec<Cow<'_, Owned>> = row
            .iter()
            .map(|value| match value {
                // PostgreSQL accepts no NUL in text, but SQLite does.
                Owned::Text(text) if is_postgres && text.contains('\0') => {
                    Cow::Owned(Owned::Text(text.replace('\0', "\u{fffd}")))
                }
                value => Cow::Borrowed(value),
            })
            .collect();
        let params: Vec<Param<'_>> = row.iter().map(|value| Param::from(value.as_ref())).collect();
        tx.on(ALL_TABLES).insert(&insert, &params)?;
    }
    Ok(())
}
