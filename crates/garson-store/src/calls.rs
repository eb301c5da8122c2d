//! Calls to platforms: written before they are made, leased while they run, kept when they have ended.

use crate::engine::{Row, Tx};
use crate::{Result, StoreError, params};
use garson_core::id::{AccountId, CallId, IntegrationId, OrderId};
use garson_core::order::{CallKind, Order};
use garson_core::time::Timestamp;

/// A call that is to be made now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueCall {
    pub id: CallId,
    pub account_id: AccountId,
    pub order_id: OrderId,
    pub integration_id: IntegrationId,
    pub kind: CallKind,
    /// Tries so far, this one included.
    pub attempts: i64,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnd {
    Done,
    Failed,
    Abandoned,
}

impl CallEnd {
    fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
        }
    }
}

/// Writes a call. Calls of an order run one at a time, in the order of their numbers.
pub fn write(tx: &mut Tx<'_>, id: CallId, order: &Order, kind: CallKind, due_at: Timestamp) -> Result<()> {
    tx.execute(
        "INSERT INTO calls (id, account_id, restaurant_id, order_id, integration_id, number, kind, state, attempts,
                            due_at, leased_until, created_at)
         SELECT ?1, ?2, ?3, ?4, ?5, COALESCE(MAX(number), 0) + 1, CAST(?6 AS TEXT), 'open', 0,
                CAST(?7 AS BIGINT), 0, CAST(?8 AS BIGINT)
         FROM calls WHERE order_id = ?4",
        params![
            &id,
            &order.account_id,
            &order.restaurant_id,
            &order.id,
            &order.integration_id,
            &kind.as_text(),
            due_at,
            order.updated_at,
        ],
    )?;
    Ok(())
}

fn due_call(row: &Row<'_>) -> Result<DueCall> {
    let kind: String = row.get(3)?;
    Ok(DueCall {
        id: row.get(0)?,
        account_id: row.get(5)?,
        order_id: row.get(1)?,
        integration_id: row.get(2)?,
        kind: CallKind::named(&kind).ok_or_else(|| StoreError::corrupt("a call of an unknown kind"))?,
        attempts: row.get(4)?,
    })
}

/// Leases the calls that are due: nobody else gets them until the lease has run out. Of an order's open calls only
/// the first can be leased.
pub fn lease_due(tx: &mut Tx<'_>, now: Timestamp, until: Timestamp, limit: i64) -> Result<Vec<DueCall>> {
    tx.query(
        "UPDATE calls SET leased_until = ?2, attempts = attempts + 1
         WHERE id IN (SELECT c.id FROM calls c WHERE c.state = 'open' AND c.due_at <= ?1 AND c.leased_until <= ?1
                        AND NOT EXISTS (SELECT 1 FROM calls e WHERE e.order_id = c.order_id AND e.number < c.number
                                        AND e.state = 'open')
                      ORDER BY c.due_at LIMIT ?3 {skip_locked})
         RETURNING id, order_id, integration_id, kind, attempts, account_id",
        params![now, until, limit],
        due_call,
    )
}

/// When the next call can be leased: it is due, nobody has it, and no earlier one of its order is open.
pub fn next_due_at(tx: &mut Tx<'_>) -> Result<Option<Timestamp>> {
    let sql = "SELECT CASE WHEN c.leased_until > c.due_at THEN c.leased_until ELSE c.due_at END AS ready_at
               FROM calls c WHERE c.state = 'open'
                 AND NOT EXISTS (SELECT 1 FROM calls e WHERE e.order_id = c.order_id AND e.number < c.number
                                 AND e.state = 'open')
               ORDER BY ready_at LIMIT 1";
    tx.query_opt(sql, params![], |row| row.get(0))
}

/// Gives a leased call back untried, because its target is busy enough.
pub fn give_back(tx: &mut Tx<'_>, id: CallId, due_at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE calls SET due_at = ?2, leased_until = 0, attempts = attempts - 1 WHERE id = ?1 AND state = 'open'",
        params![&id, due_at],
    )?;
    Ok(())
}

/// Ends a call; `false` when it has ended already.
pub fn finish(
    tx: &mut Tx<'_>,
    id: CallId,
    end: CallEnd,
    message: Option<&str>,
    at: Timestamp,
) -> Result<bool> {
    let rows = tx.execute(
        "UPDATE calls SET state = ?2, message = ?3, finished_at = ?4 WHERE id = ?1 AND state = 'open'",
        params![&id, end.as_str(), message, at],
    )?;
    Ok(rows > 0)
}

/// Gives a call back to be tried again later; `false` when it has ended already.
pub fn postpone(tx: &mut Tx<'_>, id: CallId, due_at: Timestamp, message: &str) -> Result<bool> {
    let rows = tx.execute(
        "UPDATE calls SET due_at = ?2, leased_until = 0, message = ?3 WHERE id = ?1 AND state = 'open'",
        params![&id, due_at, message],
    )?;
    Ok(rows > 0)
}

/// Drops the calls of an order that have not been made: a cancellation makes them pointless.
pub fn abandon_open(tx: &mut Tx<'_>, order: OrderId, at: Timestamp) -> Result<u64> {
    tx.execute(
        "UPDATE calls SET state = 'abandoned', message = 'the order was cancelled', finished_at = ?2
         WHERE order_id = ?1 AND state = 'open'",
        params![&order, at],
    )
}

/// How many calls of an order are open.
pub fn open_of_order(tx: &mut Tx<'_>, order: OrderId) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM calls WHERE order_id = ?1 AND state = 'open'";
    tx.query_one(sql, params![&order], |row| row.get(0))
}
