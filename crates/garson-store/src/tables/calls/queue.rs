//! Which calls are made next: those that can be made stand in a queue for each integration, by the moment they are due.
//!
//! Whoever makes calls asks for the queues, chooses among them, and leases from those that it has room for. So neither a call
//! that waits behind another of its order, nor what is due for an integration that is busy, costs anybody else anything.

use super::DueCall;
use crate::engine::Row;
use crate::error::StoreErrorKind;
use crate::{Result, StoreError, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, IntegrationId, NodeId, OrderId};
use garson_core::order::{Actor, CallArgument, CallKind};
use garson_core::time::Timestamp;
use std::time::Duration;

/// A node that makes calls, and what its watch shows: milliseconds that nobody sets, and only the node itself compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maker {
    pub node: NodeId,
    pub watch: i64,
    /// The first end of a lease whose call the node knows to be under way. A process that was stopped for longer than a lease
    /// has not lost sight of what it goes on with.
    pub in_flight_until: Option<i64>,
}

impl Maker {
    /// Whoever only wants to know.
    #[must_use]
    pub fn nobody() -> Self {
        Self {
            node: NodeId(uuid::Uuid::nil()),
            watch: 0,
            in_flight_until: None,
        }
    }

    /// A lease that lasts so long from now.
    #[must_use]
    pub fn lease(self, time: Duration) -> Lease {
        Lease {
            node: self.node,
            until: self
                .watch
                .saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)),
        }
    }

    /// The node's own leases that ended up to here are of calls that it has lost sight of.
    pub(crate) fn lost_at(self) -> i64 {
        self.in_flight_until
            .map_or(self.watch, |end| self.watch.min(end.saturating_sub(1)))
    }
}

/// Who makes a call, and until when by its own watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    pub node: NodeId,
    pub until: i64,
}

pub(crate) const COLUMNS: &str = "id, account_id, order_id, integration_id, kind, argument, attempts, unclear, \
                                  created_at, not_yet_since, leased_until";

pub(crate) fn due_call(row: &Row<'_>) -> Result<DueCall> {
    let kind: String = row.get(4)?;
    let argument: Option<String> = row.get(5)?;
    let argument = match argument {
        Some(json) => {
            serde_json::from_str(&json).map_err(|_| StoreError::corrupt("a call's argument is damaged"))?
        }
        None => CallArgument::by(Actor::Account),
    };
    Ok(DueCall {
        id: row.get(0)?,
        account_id: row.get(1)?,
        order_id: row.get(2)?,
        integration_id: row.get(3)?,
        kind: CallKind::named(&kind).ok_or_else(|| StoreError::corrupt("a call of an unknown kind"))?,
        argument,
        attempts: row.get(6)?,
        is_unclear: row.get(7)?,
        created_at: row.get(8)?,
        not_yet_since: row.get(9)?,
        leased_until: row.get(10)?,
    })
}

/// A call that is being made: its node lives, and has not lost sight of it. `?1` is the node that asks, `?2` the end of its
/// leases that are over.
pub(crate) fn runs(table: &str) -> String {
    format!(
        "({table}.node IN (SELECT id FROM nodes) AND NOT ({table}.node = ?1 AND {table}.leased_until <= ?2))"
    )
}

/// A call that nobody makes, and whose turn it is: no call of an order runs beside another, nor before one that was written
/// earlier. A cancellation makes those pointless, so it does not wait for them.
///
/// The other calls are looked up by a scalar subquery: PostgreSQL turns NOT EXISTS into a join with all open calls.
fn can_be_made() -> String {
    format!(
        "(c.node IS NULL OR NOT {}) AND COALESCE((
             SELECT 1 FROM calls e WHERE e.order_id = c.order_id AND e.state = 'open' AND e.id <> c.id
               AND ((e.number < c.number AND c.kind <> 'cancel') OR {}) LIMIT 1), 0) = 0",
        runs("c"),
        runs("e")
    )
}

/// The calls of one integration that are not blocked by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    pub integration_id: IntegrationId,
    pub account_id: AccountId,
    /// When the first of them is due.
    pub due_at: Timestamp,
}

/// All queues, one step in the index for each; a call that is being made counts as well.
///
/// Here and below an integration is given as a range: with an equality PostgreSQL may prefer the index by `due_at`, and walk past
/// what is due for others.
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
    let found = tx.query(sql, params![], |row| {
        let queue = |row: &Row<'_>| {
            Ok(Queue {
                integration_id: row.get(0)?,
                account_id: row.get(1)?,
                due_at: row.get(2)?,
            })
        };
        readable(queue(row))
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// Leaves out a row that is damaged, so that the others can be read.
fn readable<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind == StoreErrorKind::Corrupt => Ok(None),
        Err(error) => Err(error),
    }
}

/// When the next call of an integration is due that nobody makes and whose turn it is.
pub fn next_due(tx: &mut Tx<'_>, integration: IntegrationId, maker: Maker) -> Result<Option<Queue>> {
    let sql = format!(
        "SELECT c.account_id, c.due_at FROM calls c
         WHERE c.state = 'open' AND c.blocked = 0 AND c.integration_id >= ?3 AND c.integration_id <= ?3 AND {}
         ORDER BY c.integration_id, c.due_at LIMIT 1",
        can_be_made()
    );
    let params = params![&maker.node, maker.lost_at(), &integration];
    tx.query_opt(&sql, params, |row| {
        Ok(Queue {
            integration_id: integration,
            account_id: row.get(0)?,
            due_at: row.get(1)?,
        })
    })
}

/// A call that was leased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leased {
    Call(Box<DueCall>),
    Unreadable(UnreadableCall),
}

/// A call that cannot be made because its row is damaged, with what can still be read of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableCall {
    pub(crate) id: Vec<u8>,
    pub account_id: Option<AccountId>,
    pub order_id: Option<OrderId>,
    pub why: Explanation,
}

fn leased(row: &Row<'_>) -> Result<Leased> {
    match due_call(row) {
        Ok(call) => Ok(Leased::Call(Box::new(call))),
        Err(error) if error.kind == StoreErrorKind::Corrupt => Ok(Leased::Unreadable(UnreadableCall {
            id: row.get(0)?,
            account_id: readable(row.get(1))?,
            order_id: readable(row.get(2))?,
            why: Explanation::text(error.to_string()),
        })),
        Err(error) => Err(error),
    }
}

/// Leases calls of an integration that are due: nobody else gets them while this node lives. Of an order's open calls only the
/// first can be leased. One that was leased before was being made when its maker died: what became of it is unclear. A node
/// that others have given up gets nothing.
pub fn lease_due(
    tx: &mut Tx<'_>,
    integration: IntegrationId,
    now: Timestamp,
    maker: Maker,
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
        can_be_made()
    );
    let params = params![
        &maker.node,
        maker.lost_at(),
        now,
        i64::try_from(limit).unwrap_or(i64::MAX),
        maker.lease(time).until,
        &integration,
    ];
    tx.write_returning(&sql, params, leased)
}

/// Brings calls forward that were planned by a clock that has been set back since, or that runs ahead on another node: the pause
/// before them stays as it was meant. Says how many there were, at most `limit`.
pub fn bring_forward(tx: &mut Tx<'_>, now: Timestamp, tolerance: Duration, limit: i64) -> Result<u64> {
    tx.execute(
        "UPDATE calls SET due_at = CASE WHEN due_at > planned_at THEN ?1 + (due_at - planned_at) ELSE ?1 END,
                planned_at = ?1
         WHERE id IN (SELECT c.id FROM calls c WHERE c.state = 'open' AND c.due_at > ?2 AND c.planned_at > ?2
                      ORDER BY c.due_at LIMIT ?3 {skip_locked})",
        params![now, now.plus(tolerance), limit],
    )
}

/// Is there such a call?
pub fn is_planned_ahead(tx: &mut Tx<'_>, now: Timestamp, tolerance: Duration) -> Result<bool> {
    let sql = "SELECT due_at FROM calls WHERE state = 'open' AND due_at > ?1 AND planned_at > ?1
               ORDER BY due_at LIMIT 1";
    let found = tx.query_opt(sql, params![now.plus(tolerance)], |row| row.get::<i64>(0))?;
    Ok(found.is_some())
}
