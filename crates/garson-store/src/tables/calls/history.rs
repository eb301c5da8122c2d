//! The calls of an order, and what an account's status page shows of its calls.

use super::ending::CallEnd;
use crate::tables::row::{columns, each, tuple, value};
use crate::{Result, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, OrderId};
use garson_core::order::CallKind;
use garson_core::platform::Provider;
use garson_core::time::Timestamp;

/// A call as an order's history shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRecord {
    pub kind: CallKind,
    /// `None` while it is open.
    pub end: Option<CallEnd>,
    pub attempts: i64,
    /// When the next attempt is due, while it is open.
    pub due_at: Timestamp,
    /// What the platform answered, or why it could not be called.
    pub message: Option<Explanation>,
    pub created_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

columns! {
    const COLUMNS = "" of calls {
        kind: String, state: String, attempts, due_at, message, created_at, finished_at
    }
    /// `None` if the kind is damaged: then there is nothing to show.
    fn record() -> Option<CallRecord> {
        let end = CallEnd::named(&state);
        Ok(CallKind::named(&kind).map(|kind| CallRecord {
            kind,
            end,
            attempts,
            due_at,
            message,
            created_at,
            finished_at,
        }))
    }
}

/// The calls of an order, oldest first.
pub fn of_order(tx: &mut Tx<'_>, order: OrderId) -> Result<Vec<CallRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM calls WHERE order_id = ?1 ORDER BY number");
    let records = tx.query(&sql, params![&order], each(record))?;
    Ok(records.into_iter().flatten().collect())
}

/// When the last call of an order succeeded.
pub fn last_done_at(tx: &mut Tx<'_>, order: OrderId) -> Result<Option<Timestamp>> {
    tx.query_one(
        "SELECT MAX(finished_at) FROM calls WHERE order_id = ?1 AND state = 'done'",
        params![&order],
        value,
    )
}

/// Counts open calls up to a limit, and returns when the first of them is or was due.
pub fn count_open(tx: &mut Tx<'_>, limit: i64) -> Result<(i64, Option<Timestamp>)> {
    let sql = "SELECT COUNT(*) FROM (SELECT due_at FROM calls WHERE state = 'open' ORDER BY due_at LIMIT ?1) AS part";
    let count = tx.query_one(sql, params![limit], value)?;
    let sql = "SELECT due_at FROM calls WHERE state = 'open' ORDER BY due_at LIMIT 1";
    Ok((count, tx.query_opt(sql, params![], value)?))
}

/// Counts an account's open calls up to a limit, and returns since when the longest of them waits: since its creation if an
/// attempt has failed, else since its due time.
pub fn count_open_of(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<(i64, Option<Timestamp>)> {
    let sql = "SELECT COUNT(*), MIN(since) FROM (
                   SELECT CASE WHEN attempts > 1 OR message IS NOT NULL THEN created_at ELSE due_at END AS since
                   FROM calls WHERE account_id = ?1 AND state = 'open' ORDER BY due_at LIMIT ?2) AS part";
    tx.query_one(sql, params![&account, limit], tuple)
}

/// Counts an account's calls that have failed since a timestamp, up to a limit.
pub fn count_failed(tx: &mut Tx<'_>, account: AccountId, since: Timestamp, limit: i64) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM (SELECT finished_at FROM calls
                   WHERE account_id = ?1 AND state = 'failed' AND finished_at >= ?2
                   ORDER BY finished_at DESC LIMIT ?3) AS part";
    tx.query_one(sql, params![&account, since, limit], value)
}

/// A failed call with the order that it was about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCall {
    pub order_id: OrderId,
    pub provider: Provider,
    pub provider_order_id: String,
    pub short_code: Option<String>,
    pub kind: CallKind,
    pub message: Option<Explanation>,
    pub at: Timestamp,
}

columns! {
    const FAILED_COLUMNS = "c." of calls {
        order_id, kind: String, message, finished_at,
        provider = "o.provider", provider_order_id = "o.provider_order_id", short_code = "o.short_code",
    }
    /// `None` if the kind is damaged.
    fn failed_call() -> Option<FailedCall> {
        Ok(CallKind::named(&kind).map(|kind| FailedCall {
            order_id,
            provider,
            provider_order_id,
            short_code,
            kind,
            message,
            at: finished_at,
        }))
    }
}

/// An account's calls that have failed since a timestamp, newest first.
pub fn newest_failed(
    tx: &mut Tx<'_>,
    account: AccountId,
    since: Timestamp,
    limit: i64,
) -> Result<Vec<FailedCall>> {
    let sql = format!(
        "SELECT {FAILED_COLUMNS}
         FROM calls c JOIN orders o ON o.id = c.order_id
                      JOIN restaurants r ON r.id = o.restaurant_id AND r.deleted_at IS NULL
         WHERE c.account_id = ?1 AND c.state = 'failed' AND c.finished_at >= ?2
         ORDER BY c.finished_at DESC LIMIT ?3"
    );
    let failed = tx.query(&sql, params![&account, since, limit], each(failed_call))?;
    Ok(failed.into_iter().flatten().collect())
}
