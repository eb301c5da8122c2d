//! Moving house: copies every row of one database into another, empty one.

use crate::engine::{Engine, Lane, Owned, Param, Row, Tx};
use crate::{Result, StoreError};

/// Every table with its columns, in one place; a test compares it with the schema.
pub const TABLES: &[(&str, &str)] = &[
    (
        "accounts",
        "id name email password_hash position newest_at webhook_url webhook_authorization webhook_updated_at \
         deliver_node deliver_version forgotten created_at",
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
         sync_due_at sync_message flag",
    ),
    ("order_contents", "order_id body"),
    (
        "order_timeline",
        "order_id number at from_status to_status actor why",
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
         unclear not_yet_since message created_at finished_at",
    ),
    (
        "inbox",
        "id hash account_id restaurant_id order_id provider kind params branch identity body state reason times \
         received_at",
    ),
    ("payment_totals", "scope level span sums"),
    (
        "idempotency",
        "account_id key_hash request_hash reserved_id acted status body leased_until created_at",
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

/// Copies everything; says for each table how many rows it has now. The target must be empty.
pub async fn everything(from: &Engine, to: &Engine) -> Result<Vec<(&'static str, u64)>> {
    if to.read(has_anything).await? {
        return Err(StoreError::refused("the target database is not empty"));
    }
    let mut copied = Vec::new();
    for (table, columns) in TABLES {
        let columns: Vec<&'static str> = columns.split(' ').collect();
        let mut after: Option<Vec<Owned>> = None;
        let mut rows = 0;
        loop {
            let (names, last) = (columns.clone(), after.clone());
            let chunk = from
                .read(move |tx| read_chunk(tx, table, &names, last.as_deref()))
                .await?;
            let Some(last) = chunk.last() else { break };
            after = Some(last.iter().take(key_columns(table)).cloned().collect());
            rows += chunk.len() as u64;
            let names = columns.clone();
            to.write(Lane::COMMON, move |tx| write_chunk(tx, table, &names, &chunk))
                .await?;
        }
        copied.push((*table, rows));
    }
    Ok(copied)
}

fn has_anything(tx: &mut Tx<'_>) -> Result<bool> {
    for (table, _) in TABLES {
        let sql = format!("SELECT CAST(1 AS BIGINT) FROM {table} LIMIT 1");
        if tx.query_opt(&sql, &[], |row| row.get::<i64>(0))?.is_some() {
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
    tx.query(&sql, &params, |row: &Row<'_>| {
        (0..width).map(|index| row.get(index)).collect()
    })
}

fn write_chunk(tx: &mut Tx<'_>, table: &str, columns: &[&str], rows: &[Vec<Owned>]) -> Result<()> {
    let marks = (1..=columns.len())
        .map(|n| format!("?{n}"))
        .collect::<Vec<_>>()
        .join(", ");
    let sql = format!("INSERT INTO {table} ({}) VALUES ({marks})", columns.join(", "));
    for row in rows {
        let params: Vec<Param<'_>> = row.iter().map(Param::from).collect();
        tx.insert(&sql, &params)?;
    }
    Ok(())
}
