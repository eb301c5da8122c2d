//! Moving house: copies every row of one database into another, empty one.

use crate::engine::{
    Insert, Location, Owned, Param, Partition, Row, is_unfinished_copy, mark_unfinished_copy,
};
use crate::store::Engine;
use crate::tables::nodes;
use crate::{ALL_TABLES, Result, StoreError, Tx};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;

/// Every table with its columns, in one place; a test compares it with the schema.
pub const TABLES: &[(&str, &str)] = &[
    (
        "accounts",
        "id name email password_hash position newest_at webhook_url webhook_authorization webhook_updated_at \
         deliver_node deliver_version forgotten created_at order_updates",
    ),
    ("nodes", "id name beats"),
    (
        "api_keys",
        "id account_id label hint hash sealed is_primary created_at last_used_at",
    ),
    (
        "businesses",
        "id account_id name description vat_number tax_office address city country zip_code phone email created_at \
         updated_at",
    ),
    (
        "restaurants",
        "id account_id business_id name description address lat lon config payment_matching_url \
         payment_matching_headers payment_matches created_at updated_at deleted_at",
    ),
    ("packages", "id restaurant_id name providers starts_at ends_at"),
    (
        "integrations",
        "id account_id restaurant_id provider is_active remote_id credentials inbound_hash default_cancel_reason \
         last_order_at last_error_at last_error created_at updated_at poll_node polled_at version trouble_at \
         owns_branch branch_proven_at",
    ),
    (
        "orders",
        "id account_id restaurant_id integration_id position status reported_at line provider provider_order_id \
         identity content_hash short_code provider_status provider_data sequence total currency payment_type \
         payment_code placed_at accept_by scheduled_for ready_at created_at updated_at cancellation sync_state \
         sync_due_at sync_message flag revision content_version changed",
    ),
    ("order_contents", "order_id body"),
    (
        "order_timeline",
        "order_id number at from_status to_status actor why revision changes replaced_hash",
    ),
    (
        "events",
        "id account_id restaurant_id order_id position sequence name body state reason attempts failures held due_at \
         created_at",
    ),
    (
        "attempts",
        "event_id number at url status duration_ms name_us connect_us tls_us first_byte_us explanation",
    ),
    (
        "resends",
        "id account_id since with_skipped last_place reached found requeued created_at finished_at",
    ),
    (
        "calls",
        "id account_id restaurant_id order_id integration_id number kind argument state attempts due_at node leased_until \
         unclear not_yet_since message created_at finished_at blocked planned_at",
    ),
    (
        "inbox",
        "id hash account_id restaurant_id order_id provider kind params branch identity body state reason times \
         received_at",
    ),
    ("payment_totals", "scope level span sums"),
    (
        "idempotency",
        "account_id key_hash request_hash reserved_id acted status body leased_until created_at node run_id",
    ),
    ("order_words", "account_id position words"),
    ("word_places", "account_id word position"),
    ("search_progress", "account_id reached"),
    ("sessions", "hash account_id agent created_at seen_at ends_at"),
    ("sign_in_failures", "hash failures last_at"),
    ("master_key_check", "id sealed"),
];

/// How many leading columns of a table make its key.
fn key_columns(table: &str) -> usize {
    match table {
        "payment_totals" | "word_places" => 3,
        "order_timeline" | "attempts" | "idempotency" | "order_words" => 2,
        _ => 1,
    }
}

const CHUNK: i64 = 500;

/// A server shows itself every two seconds; one that has not done so for this time is not at work.
const SILENCE: Duration = Duration::from_secs(5);

/// Rows of a table that is named by its place in [`TABLES`].
struct Chunk {
    table: usize,
    rows: Vec<Vec<Owned>>,
}

/// Refuses a database that servers work on: what they take while it is copied would be left behind.
pub async fn refuse_served(from: &Engine) -> Result<()> {
    let before = from.read(nodes::list).await?;
    if before.is_empty() {
        return Ok(());
    }
    tokio::time::sleep(SILENCE).await;
    match from.read(nodes::list).await? == before {
        true => Ok(()),
        false => Err(StoreError::refused(
            "a server is working on the database that is to be copied: stop it first",
        )),
    }
}

/// Copies everything as it is at one moment; says for each table how many rows it has now. The target must be empty, or what
/// an interrupted copy has left of one: then it starts over. Until it is done, the target is marked and nobody can use it.
pub async fn everything(from: &Engine, to: &Engine) -> Result<Vec<(&'static str, u64)>> {
    let is_postgres = |engine: &Engine| matches!(engine.location(), Location::Postgres(_));
    let (from_postgres, to_postgres) = (is_postgres(from), is_postgres(to));
    to.write(Partition::COMMON, move |tx| prepare_target(tx, to_postgres))
        .await?;
    let (send, mut chunks) = mpsc::channel(2);
    let has_begun = AtomicBool::new(false);
    let reading = from.read_long(move |tx| {
        // A job is run again when its connection broke, but then it sees another moment.
        if has_begun.swap(true, Ordering::Relaxed) {
            return Err(StoreError::refused(
                "the connection to the source broke: run the same command again, it starts over",
            ));
        }
        read_everything(tx, from_postgres, &send)
    });
    let writing = async move {
        let mut copied: Vec<(&'static str, u64)> = TABLES.iter().map(|(table, _)| (*table, 0)).collect();
        while let Some(Chunk { table, rows }) = chunks.recv().await {
            if let Some((_, count)) = copied.get_mut(table) {
                *count += rows.len() as u64;
            }
            to.write(Partition::COMMON, move |tx| {
                write_chunk(tx, table, &rows, to_postgres)
            })
            .await?;
        }
        Ok::<_, StoreError>(copied)
    };
    let (read, written) = tokio::join!(reading, writing);
    // If writing failed, reading did only because of that.
    let copied = written?;
    read?;
    // A server that has come meanwhile has shown itself.
    if from.read(nodes::list).await? != to.read(nodes::list).await? {
        return Err(StoreError::refused(
            "a server has worked on the source meanwhile: stop it and run the same command again, it starts over",
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
            let names: Vec<&str> = TABLES.iter().map(|(table, _)| *table).collect();
            tx.on(ALL_TABLES)
                .execute(&format!("TRUNCATE {}", names.join(", ")), &[])?;
        } else {
            for (table, _) in TABLES {
                tx.on(ALL_TABLES).execute(&format!("DELETE FROM {table}"), &[])?;
            }
        }
        return Ok(());
    }
    if has_anything(tx)? {
        return Err(StoreError::refused("the target database is not empty"));
    }
    mark_unfinished_copy(tx, true)
}

/// Reads every table in one transaction, so that what belongs together is all there or not at all.
fn read_everything(tx: &mut Tx<'_>, is_postgres: bool, chunks: &mpsc::Sender<Chunk>) -> Result<()> {
    if is_postgres {
        // The transaction is idle while the target writes.
        let sql = "SELECT set_config('idle_in_transaction_session_timeout', '0', true)";
        tx.query_one(sql, &[], |row| row.get::<String>(0))?;
    }
    for (table, (name, columns)) in TABLES.iter().enumerate() {
        let columns: Vec<&str> = columns.split(' ').collect();
        let mut after: Option<Vec<Owned>> = None;
        loop {
            let rows = read_chunk(tx, name, &columns, after.as_deref())?;
            let Some(last) = rows.last() else { break };
            after = Some(last.iter().take(key_columns(name)).cloned().collect());
            chunks
                .blocking_send(Chunk { table, rows })
                .map_err(|_| StoreError::refused("the target takes nothing more"))?;
        }
    }
    Ok(())
}

fn has_anything(tx: &mut Tx<'_>) -> Result<bool> {
    for (table, _) in TABLES {
        let sql = format!("SELECT CAST(1 AS BIGINT) FROM {table} LIMIT 1");
        let found = tx.on(ALL_TABLES).query_opt(&sql, &[], |row| row.get::<i64>(0))?;
        if found.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read_chunk(
    tx: &mut Tx<'_>,
    table: &str,
    columns: &[&str],
    after: Option<&[Owned]>,
) -> Result<Vec<Vec<Owned>>> {
    let key = columns.get(..key_columns(table)).unwrap_or_default().join(", ");
    let mut params: Vec<Param<'_>> = after.unwrap_or_default().iter().map(Param::from).collect();
    let marks = (1..=params.len())
        .map(|n| format!("?{n}"))
        .collect::<Vec<_>>()
        .join(", ");
    let condition = if after.is_some() {
        format!("WHERE ({key}) > ({marks})")
    } else {
        String::new()
    };
    let sql = format!(
        "SELECT {} FROM {table} {condition} ORDER BY {key} LIMIT ?{}",
        columns.join(", "),
        params.len() + 1
    );
    params.push(CHUNK.into());
    let width = columns.len();
    tx.on(ALL_TABLES).query(&sql, &params, |row: &Row<'_>| {
        (0..width).map(|index| row.get(index)).collect()
    })
}

fn write_chunk(tx: &mut Tx<'_>, table: usize, rows: &[Vec<Owned>], is_postgres: bool) -> Result<()> {
    let Some((table, columns)) = TABLES.get(table) else {
        return Err(StoreError::internal("a chunk of an unknown table"));
    };
    let columns = columns.replace(' ', ", ");
    let insert = Insert::into(table, &columns);
    for row in rows {
        let row: Vec<Cow<'_, Owned>> = row
            .iter()
            .map(|value| match value {
                // PostgreSQL takes no NUL in text; SQLite may have kept one.
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
