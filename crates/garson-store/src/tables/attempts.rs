//! Attempts to deliver an event.

use crate::engine::Param;
use crate::tables::row::{columns, each, value};
use crate::{Result, StoreError, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::EventId;
use garson_core::time::Timestamp;
use std::sync::LazyLock;

/// One attempt to deliver an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    pub number: i64,
    pub at: Timestamp,
    pub url: String,
    pub status: Option<i64>,
    pub duration_ms: i64,
    pub timing: AttemptTiming,
    pub explanation: Explanation,
    /// What the receiver answered if the attempt failed: the head, an empty line and the beginning of the body.
    pub response: Option<String>,
}

/// The phases of an attempt in microseconds; `None` for a phase that was not reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttemptTiming {
    pub name: Option<i64>,
    pub connect: Option<i64>,
    pub tls: Option<i64>,
    pub first_byte: Option<i64>,
}

columns! {
    pub(crate) const COLUMNS = "" of attempts {
        number, at, url, status, duration_ms, name_us, connect_us, tls_us, first_byte_us, explanation, response
    }
    fn attempt() -> Attempt {
        let timing = AttemptTiming { name: name_us, connect: connect_us, tls: tls_us, first_byte: first_byte_us };
        Ok(Attempt { number, at, url, status, duration_ms, timing, explanation, response })
    }
}

/// The attempts of an event, oldest first.
pub fn of_event(tx: &mut Tx<'_>, id: EventId) -> Result<Vec<Attempt>> {
    let sql = format!("SELECT {COLUMNS} FROM attempts WHERE event_id = ?1 ORDER BY number");
    tx.query(&sql, params![&id], each(attempt))
}

/// Records an attempt and counts it in its event.
pub fn record(tx: &mut Tx<'_>, id: EventId, attempt: &Attempt) -> Result<()> {
    let sql = "UPDATE events SET attempts = attempts + 1 WHERE id = ?1";
    // The event may have been deleted during the attempt.
    if tx.write_one(sql, params![&id])? {
        insert_counted(tx, &[(id, attempt)])?;
    }
    Ok(())
}

/// Reports whether exactly this attempt is stored.
pub(crate) fn is_recorded(tx: &mut Tx<'_>, id: EventId, attempt: &Attempt) -> Result<bool> {
    let sql = "SELECT number FROM attempts
               WHERE event_id = ?1 AND at = ?2 AND duration_ms = ?3 AND url = ?4 AND explanation = ?5";
    let explanation = attempt.explanation.stored();
    let params = params![&id, attempt.at, attempt.duration_ms, &attempt.url, &explanation];
    let found = tx.query(sql, params, value::<i64>)?;
    Ok(!found.is_empty())
}

/// The most attempts that one statement inserts.
pub(crate) const MAX_PER_STATEMENT: usize = 16;
/// All but `number`, which the statement finds itself.
const PARAMS_PER_ROW: usize = 11;
/// The statements that insert 0, 1, 2 … attempts.
static INSERT: LazyLock<Vec<String>> = LazyLock::new(|| (0..=MAX_PER_STATEMENT).map(insert_sql).collect());

fn insert_sql(count: usize) -> String {
    let row = |n: usize| {
        let marks: Vec<String> = (2..=PARAMS_PER_ROW)
            .map(|mark| format!("?{}", n + mark))
            .collect();
        let id = n + 1;
        format!(
            "(?{id}, (SELECT attempts FROM events WHERE id = ?{id}), {})",
            marks.join(", ")
        )
    };
    let rows: Vec<String> = (0..count).map(|n| row(n * PARAMS_PER_ROW)).collect();
    format!(
        "INSERT INTO attempts (event_id, {COLUMNS}) VALUES {}",
        rows.join(", ")
    )
}

/// Inserts attempts that their events have already counted. The statement reads their numbers: returning them from the update
/// that counts would cost SQLite a temporary table each time.
pub(crate) fn insert_counted(tx: &mut Tx<'_>, attempts: &[(EventId, &Attempt)]) -> Result<()> {
    let Some(sql) = INSERT.get(attempts.len()) else {
        return Err(StoreError::internal("too many attempts at once"));
    };
    let stored = attempts.iter().map(|(_, attempt)| attempt.explanation.stored());
    let explanations: Vec<String> = stored.collect();
    let mut params: Vec<Param<'_>> = Vec::with_capacity(attempts.len() * PARAMS_PER_ROW);
    for ((id, attempt), explanation) in attempts.iter().zip(&explanations) {
        params.extend_from_slice(params![
            id,
            attempt.at,
            &attempt.url,
            attempt.status,
            attempt.duration_ms,
            attempt.timing.name,
            attempt.timing.connect,
            attempt.timing.tls,
            attempt.timing.first_byte,
            explanation,
            attempt.response.as_ref()
        ]);
    }
    tx.write(sql, &params)
}
