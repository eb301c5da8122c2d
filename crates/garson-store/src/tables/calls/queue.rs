//! Which calls run next: the open calls of each integration form a queue by due time.
//!
//! A node reads the queues, chooses among them, and leases from those that it has capacity for. Neither a call that waits for
//! another of its order, nor the due calls of a busy integration, cost the other queues anything.

use super::row::{COLUMNS, DueCall, LeaseHolder, due_call, is_running};
use crate::engine::Row;
use crate::error::StoreErrorKind;
use crate::tables::row::{Cells, tuple, value};
use crate::{Result, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, IntegrationId, OrderId};
use garson_core::time::Timestamp;
use std::time::Duration;

/// The condition for a call that can run now: it is not running, and no other call of its order is running or comes before it.
/// A cancellation makes earlier calls pointless, so it does not wait for them.
///
/// Finds the other calls by a scalar subquery: PostgreSQL would turn NOT EXISTS into a join with all open calls.
fn is_runnable() -> String {
    format!(
        "(c.node IS NULL OR NOT {}) AND COALESCE((
             SELECT 1 FROM calls e WHERE e.order_id = c.order_id AND e.state = 'open' AND e.id <> c.id
               AND ((e.number < c.number AND c.kind <> 'cancel') OR {}) LIMIT 1), 0) = 0",
        is_running("c"),
        is_running("e")
    )
}

/// The open calls of one integration that no other call of their order blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    pub integration_id: IntegrationId,
    pub account_id: AccountId,
    /// When the first of them is due.
    pub due_at: Timestamp,
}

/// All queues, with one index step for each. Running calls count as well.
///
/// Here and below an integration is given as a range: with an equality PostgreSQL may prefer the index by `due_at` and walk
/// past the calls of other integrations.
pub fn queues(tx: &mut Tx<'_>) -> Result<Vec<Queue>> {
    let sql = "WITH RECURSIVE found (integration_id) AS (
                   SELECT (SELECT c.integration_id FROM calls c WHERE c.state = 'open' AND c.blocked = 0
                           ORDER BY c.integration_id, c.due_at LIMIT 1)
                   UNION ALL
                   SELECT (SELECT c.integration_id FROM calls c
                           WHERE c.state = 'open' AND c.blocked = 0 AND c.integration_id > found.integration_id
                           ORDER BY c.integration_id, c.due_at LIMIT 1)
                   FROM found WHERE found.integration_id IS NOT NULL)
               SELECT found.integration_id,
                      (SELECT c.account_id FROM calls c
                       WHERE c.state = 'open' AND c.blocked = 0 AND c.integration_id >= found.integration_id
                       ORDER BY c.integration_id, c.due_at LIMIT 1),
                      (SELECT c.due_at FROM calls c
                       WHERE c.state = 'open' AND c.blocked = 0 AND c.integration_id >= found.integration_id
                       ORDER BY c.integration_id, c.due_at LIMIT 1)
               FROM found WHERE found.integration_id IS NOT NULL";
    let found = tx.query(sql, params![], |row| readable(tuple(row)))?;
    let queue = |(integration_id, account_id, due_at)| Queue {
        integration_id,
        account_id,
        due_at,
    };
    Ok(found.into_iter().flatten().map(queue).collect())
}

/// Skips a damaged row, so that the others can be read.
fn readable<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind == StoreErrorKind::Corrupt => Ok(None),
        Err(error) => Err(error),
    }
}

/// When the next call of an integration is due that can run then.
pub fn next_due(tx: &mut Tx<'_>, integration: IntegrationId, holder: LeaseHolder) -> Result<Option<Queue>> {
    let sql = format!(
        "SELECT c.account_id, c.due_at FROM calls c
         WHERE c.state = 'open' AND c.blocked = 0 AND c.integration_id >= ?3 AND c.integration_id <= ?3 AND {}
         ORDER BY c.integration_id, c.due_at LIMIT 1",
        is_runnable()
    );
    let params = params![&holder.node, holder.lost_up_to(), &integration];
    let found = tx.query_opt(&sql, params, tuple)?;
    Ok(found.map(|(account_id, due_at)| Queue {
        integration_id: integration,
        account_id,
        due_at,
    }))
}

/// A leased call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leased {
    Call(Box<DueCall>),
    Unreadable(UnreadableCall),
}

/// A call that cannot run because its row is damaged, with what can still be read of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableCall {
    pub(crate) id: Vec<u8>,
    pub account_id: Option<AccountId>,
    pub order_id: Option<OrderId>,
    pub why: Explanation,
}

fn leased(row: &Row<'_>) -> Result<Leased> {
    match due_call(&mut Cells::new(row)) {
        Ok(call) => Ok(Leased::Call(Box::new(call))),
        Err(error) if error.kind == StoreErrorKind::Corrupt => {
            let mut cells = Cells::new(row);
            Ok(Leased::Unreadable(UnreadableCall {
                id: cells.read()?,
                account_id: readable(cells.read())?,
                order_id: readable(cells.read())?,
                why: Explanation::text(error.to_string()),
            }))
        }
        Err(error) => Err(error),
    }
}

/// Leases due calls of an integration: no other node gets them while this one is a member. Only the first open call of an order
/// can be leased. If a call was leased before, its node died while running it, so its effect is unclear. A node that is no
/// longer a member gets nothing.
pub fn lease_due(
    tx: &mut Tx<'_>,
    integration: IntegrationId,
    now: Timestamp,
    holder: LeaseHolder,
    time: Duration,
    limit: usize,
) -> Result<Vec<Leased>> {
    let sql = format!(
        "UPDATE calls SET node = ?1, leased_until = ?5, attempts = attempts + 1,
             unclear = CASE WHEN node IS NULL THEN unclear ELSE 1 END
         WHERE ?1 IN (SELECT id FROM nodes)
           AND id IN (SELECT c.id FROM calls c
                      WHERE c.state = 'open' AND c.blocked = 0 AND c.integration_id >= ?6
                        AND (c.integration_id, c.due_at) <= (?6, ?3) AND {}
                      ORDER BY c.integration_id, c.due_at LIMIT ?4 {{skip_locked}})
         RETURNING {COLUMNS}",
        is_runnable()
    );
    let params = params![
        &holder.node,
        holder.lost_up_to(),
        now,
        i64::try_from(limit).unwrap_or(i64::MAX),
        holder.lease(time).until,
        &integration,
    ];
    tx.write_returning(&sql, params, leased)
}

/// Brings forward calls that were scheduled by a clock that was ahead, keeping their delay. Returns how many there were, at most
/// `limit`.
pub fn bring_forward(tx: &mut Tx<'_>, now: Timestamp, tolerance: Duration, limit: i64) -> Result<u64> {
    tx.execute(
        "UPDATE calls SET due_at = CASE WHEN due_at > planned_at THEN ?1 + (due_at - planned_at) ELSE ?1 END,
                planned_at = ?1
         WHERE id IN (SELECT c.id FROM calls c WHERE c.state = 'open' AND c.due_at > ?2 AND c.planned_at > ?2
                      ORDER BY c.due_at LIMIT ?3 {skip_locked})",
        params![now, now.plus(tolerance), limit],
    )
}

/// Reports whether [`bring_forward`] has anything to do.
pub fn has_planned_ahead(tx: &mut Tx<'_>, now: Timestamp, tolerance: Duration) -> Result<bool> {
    let sql = "SELECT due_at FROM calls WHERE state = 'open' AND due_at > ?1 AND planned_at > ?1
               ORDER BY due_at LIMIT 1";
    let found = tx.query_opt(sql, params![now.plus(tolerance)], value::<i64>)?;
    Ok(found.is_some())
}
