//! Calls to platforms: written before they are made, leased while they run, kept when they have ended.
//!
//! A call that is being made is its node's for as long as that is among the nodes, whatever any clock says. What a living
//! node has lost sight of itself, after a failure of the database say, it takes up again when its own watch has passed
//! the end of the lease.

mod queue;
pub mod sync_state;

use queue::{COLUMNS, due_call, runs};
pub use queue::{
    Lease, Leased, Maker, Queue, UnreadableCall, bring_forward, is_planned_ahead, lease_due, next_due, queues,
};

pub use crate::tables::calls::sync_state::{FailedStep, Standing, standing};

use crate::{Result, StoreError, Tx, params};
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::id::{AccountId, CallId, IntegrationId, OrderId};
use garson_core::order::{CallArgument, CallKind, Order};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;

/// A call that is to be made now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueCall {
    pub id: CallId,
    pub account_id: AccountId,
    pub order_id: OrderId,
    pub integration_id: IntegrationId,
    pub kind: CallKind,
    pub argument: CallArgument,
    /// Tries so far, this one included.
    pub attempts: i64,
    /// It may have been done by an earlier try.
    pub is_unclear: bool,
    /// Since when the platform says that its moment has not come.
    pub not_yet_since: Option<Timestamp>,
    pub created_at: Timestamp,
    /// The end of its lease, by the watch of the node that has it.
    pub leased_until: i64,
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

    fn named(name: &str) -> Option<Self> {
        [Self::Done, Self::Failed, Self::Abandoned]
            .into_iter()
            .find(|end| end.as_str() == name)
    }
}

/// A call to be written.
#[derive(Clone, Debug)]
pub struct CallToWrite<'a> {
    pub id: CallId,
    pub order: &'a Order,
    pub kind: CallKind,
    pub argument: Option<&'a CallArgument>,
    pub due_at: Timestamp,
    /// Whoever writes it makes it too.
    pub lease: Option<Lease>,
    pub created_at: Timestamp,
}

/// Writes a call. Calls of an order run one at a time, in the order of their numbers; one that is written while another is open
/// is blocked by it, unless it is a cancellation. Whoever writes or ends calls of an order holds its account.
pub fn write(tx: &mut Tx<'_>, call: &CallToWrite<'_>) -> Result<()> {
    let argument = call
        .argument
        .map(serde_json::to_string)
        .transpose()
        .map_err(|_| StoreError::internal("a call does not serialise"))?;
    let order = call.order;
    tx.execute(
        "INSERT INTO calls (id, account_id, restaurant_id, order_id, integration_id, number, kind, argument, state,
                            attempts, due_at, node, leased_until, unclear, created_at, blocked, planned_at)
         SELECT ?1, ?2, ?3, ?4, ?5, COALESCE(MAX(number), 0) + 1, CAST(?6 AS TEXT), CAST(?7 AS TEXT), 'open',
                CAST(?8 AS BIGINT), CAST(?9 AS BIGINT), CAST(?12 AS {blob}), CAST(?10 AS BIGINT), 0,
                CAST(?11 AS BIGINT),
                CASE WHEN CAST(?6 AS TEXT) = 'cancel' THEN 0
                     ELSE COALESCE(MAX(CASE WHEN state = 'open' THEN 1 ELSE 0 END), 0) END,
                CAST(?11 AS BIGINT)
         FROM calls WHERE order_id = ?4",
        params![
            &call.id,
            &order.account_id,
            &order.restaurant_id,
            &order.id,
            &order.integration_id,
            &call.kind.as_text(),
            argument.as_ref(),
            i64::from(call.lease.is_some()),
            call.due_at,
            call.lease.map_or(0, |lease| lease.until),
            call.created_at,
            call.lease.as_ref().map(|lease| &lease.node),
        ],
    )?;
    Ok(())
}

/// Ends a call; `false` when it has ended already, or somebody else has taken it up since this attempt began.
pub fn finish(
    tx: &mut Tx<'_>,
    call: &DueCall,
    end: CallEnd,
    message: Option<&Explanation>,
    at: Timestamp,
) -> Result<bool> {
    let message = message.map(Explanation::stored);
    let rows = tx.execute(
        "UPDATE calls SET state = ?2, message = ?3, finished_at = ?4
         WHERE id = ?1 AND state = 'open' AND attempts = ?5",
        params![&call.id, end.as_str(), message.as_ref(), at, call.attempts],
    )?;
    if rows > 0 {
        unblock(tx, call.order_id)?;
    }
    Ok(rows > 0)
}

/// Ends a call whose row is damaged, so that nobody stumbles over it again and its order goes on; `false` when it has ended.
pub fn set_aside(tx: &mut Tx<'_>, call: &UnreadableCall, at: Timestamp) -> Result<bool> {
    let rows = tx.execute(
        "UPDATE calls SET state = 'failed', message = ?2, finished_at = ?3 WHERE id = ?1 AND state = 'open'",
        params![&call.id, &call.why.stored(), at],
    )?;
    if let Some(order) = call.order_id {
        unblock(tx, order)?;
    }
    Ok(rows > 0)
}

/// Lets the first of an order's open calls be made, after others have ended.
fn unblock(tx: &mut Tx<'_>, order: OrderId) -> Result<()> {
    tx.write(
        "UPDATE calls SET blocked = 0 WHERE order_id = ?1 AND state = 'open' AND blocked = 1
           AND NOT EXISTS (SELECT 1 FROM calls e
                           WHERE e.order_id = ?1 AND e.state = 'open' AND e.number < calls.number)",
        params![&order],
    )
}

/// Why a call is tried again later.
#[derive(Clone, Debug)]
pub struct Delay {
    /// When this was decided.
    pub planned_at: Timestamp,
    /// Something was sent, so that it counts among the call's tries.
    pub is_attempt: bool,
    pub due_at: Timestamp,
    /// It may have been done.
    pub is_unclear: bool,
    /// Since when the platform says that its moment has not come, if it does.
    pub not_yet_since: Option<Timestamp>,
    pub message: Explanation,
}

/// Gives a call back to be tried again later; `false` when it is not this attempt's any more.
pub fn postpone(tx: &mut Tx<'_>, call: &DueCall, delay: &Delay) -> Result<bool> {
    let rows = tx.execute(
        "UPDATE calls SET due_at = ?2, node = NULL, leased_until = 0, unclear = ?3, not_yet_since = ?4, message = ?5,
                planned_at = ?7, attempts = attempts - ?8
         WHERE id = ?1 AND state = 'open' AND attempts = ?6",
        params![
            &call.id,
            delay.due_at,
            delay.is_unclear,
            delay.not_yet_since,
            &delay.message.stored(),
            call.attempts,
            delay.planned_at,
            i64::from(!delay.is_attempt),
        ],
    )?;
    Ok(rows > 0)
}

/// Drops a question that the service was to put by itself, and that nobody is putting now.
pub fn abandon_waiting(
    tx: &mut Tx<'_>,
    order: OrderId,
    id: CallId,
    maker: Maker,
    now: Timestamp,
) -> Result<bool> {
    let sql = format!(
        "UPDATE calls SET state = 'abandoned', message = ?5, finished_at = ?4
         WHERE id = ?3 AND state = 'open' AND (node IS NULL OR NOT {})",
        runs("calls")
    );
    let message = Explanation::from(PlatformFailure::OrderToBeCancelled).stored();
    let rows = tx.execute(&sql, params![&maker.node, maker.lost_at(), &id, now, &message])?;
    if rows > 0 {
        unblock(tx, order)?;
    }
    Ok(rows > 0)
}

/// Drops a question that its writer does not put, because it was not told that the question is written; says of which order
/// and integration. One that was taken up meanwhile is left to the node that has it.
pub fn withdraw(tx: &mut Tx<'_>, id: CallId, at: Timestamp) -> Result<Option<(OrderId, IntegrationId)>> {
    let message = Explanation::from(PlatformFailure::Withdrawn).stored();
    let withdrawn = tx.write_returning(
        "UPDATE calls SET state = 'abandoned', message = ?2, finished_at = ?3
         WHERE id = ?1 AND state = 'open' AND attempts = 1 AND leased_until > 0
         RETURNING order_id, integration_id",
        params![&id, &message, at],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let withdrawn = withdrawn.into_iter().next();
    if let Some((order, _)) = withdrawn {
        unblock(tx, order)?;
    }
    Ok(withdrawn)
}

/// Makes a question due that waits for its next try; one that is being put goes on.
pub fn hurry(tx: &mut Tx<'_>, id: CallId, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE calls SET due_at = ?2, planned_at = ?2 WHERE id = ?1 AND state = 'open' AND due_at > ?2",
        params![&id, now],
    )?;
    Ok(())
}

/// An open question of an order.
pub fn open_question(tx: &mut Tx<'_>, order: OrderId, kind: CallKind) -> Result<Option<DueCall>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM calls WHERE order_id = ?1 AND kind = ?2 AND state = 'open' ORDER BY number LIMIT 1"
    );
    tx.query_opt(&sql, params![&order, &kind.as_text()], due_call)
}

/// Drops the calls of an order that have not been made: a cancellation makes them pointless.
pub fn abandon_open(tx: &mut Tx<'_>, order: OrderId, but: Option<CallId>, at: Timestamp) -> Result<u64> {
    let message = Explanation::from(PlatformFailure::OrderCancelled).stored();
    let sql = "UPDATE calls SET state = 'abandoned', message = ?4, finished_at = ?2
               WHERE order_id = ?1 AND state = 'open' AND id <> COALESCE(?3, ?1)";
    let dropped = tx.execute(sql, params![&order, at, but.as_ref(), &message])?;
    if dropped > 0 {
        unblock(tx, order)?;
    }
    Ok(dropped)
}

/// A call that stands in the way of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InTheWay {
    pub id: CallId,
    pub kind: CallKind,
    /// Somebody is making it now.
    pub is_running: bool,
}

/// An order's call that stands in the way of a question: one that is being made, or another question.
pub fn in_the_way(tx: &mut Tx<'_>, order: OrderId, maker: Maker) -> Result<Option<InTheWay>> {
    let runs = runs("calls");
    let sql = format!(
        "SELECT id, kind, CAST(CASE WHEN {runs} THEN 1 ELSE 0 END AS BIGINT) AS runs FROM calls
         WHERE order_id = ?3 AND state = 'open' AND ({runs} OR kind IN ('verify', 'cancel'))
         ORDER BY runs DESC, number LIMIT 1"
    );
    let found = tx.query_opt(&sql, params![&maker.node, maker.lost_at(), &order], |row| {
        Ok((row.get(0)?, row.get::<String>(1)?, row.get::<bool>(2)?))
    })?;
    found
        .map(|(id, kind, is_running)| {
            let kind =
                CallKind::named(&kind).ok_or_else(|| StoreError::corrupt("a call of an unknown kind"))?;
            Ok(InTheWay { id, kind, is_running })
        })
        .transpose()
}

/// How a call ended, and what was said; nothing while it is open.
pub fn end_of(tx: &mut Tx<'_>, id: CallId) -> Result<Option<(CallEnd, Option<Explanation>)>> {
    let found = tx.query_opt(
        "SELECT state, message FROM calls WHERE id = ?1",
        params![&id],
        |row| Ok((row.get::<String>(0)?, row.get(1)?)),
    )?;
    Ok(found.and_then(|(state, message)| Some((CallEnd::named(&state)?, message))))
}

/// A call as people look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallLine {
    pub kind: CallKind,
    /// How it ended; nothing while it is open.
    pub end: Option<CallEnd>,
    pub attempts: i64,
    /// When it is tried next, while it is open.
    pub due_at: Timestamp,
    /// What the platform said, or why it could not be asked.
    pub message: Option<Explanation>,
    pub created_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

/// The calls of an order, oldest first.
pub fn of_order(tx: &mut Tx<'_>, order: OrderId) -> Result<Vec<CallLine>> {
    let sql = "SELECT kind, state, attempts, due_at, message, created_at, finished_at FROM calls
               WHERE order_id = ?1 ORDER BY number";
    let lines = tx.query(sql, params![&order], |row| {
        let kind: String = row.get(0)?;
        // One whose kind is damaged was set aside, and there is nothing to be said of it.
        let Some(kind) = CallKind::named(&kind) else {
            return Ok(None);
        };
        Ok(Some(CallLine {
            kind,
            end: CallEnd::named(row.text(1)?),
            attempts: row.get(2)?,
            due_at: row.get(3)?,
            message: row.get(4)?,
            created_at: row.get(5)?,
            finished_at: row.get(6)?,
        }))
    })?;
    Ok(lines.into_iter().flatten().collect())
}

/// When the newest call of an order was done.
pub fn last_done_at(tx: &mut Tx<'_>, order: OrderId) -> Result<Option<Timestamp>> {
    tx.query_one(
        "SELECT MAX(finished_at) FROM calls WHERE order_id = ?1 AND state = 'done'",
        params![&order],
        |row| row.get(0),
    )
}

/// Lets no open call of an order be made before that moment.
pub fn hold_back(tx: &mut Tx<'_>, order: OrderId, now: Timestamp, until: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE calls SET due_at = ?2, planned_at = ?3
         WHERE order_id = ?1 AND state = 'open' AND due_at < ?2 AND kind <> 'cancel'",
        params![&order, until, now],
    )?;
    Ok(())
}

/// Makes an open call of that kind due; `false` when there is none.
pub fn hasten(
    tx: &mut Tx<'_>,
    order: OrderId,
    kind: CallKind,
    now: Timestamp,
    due_at: Timestamp,
) -> Result<bool> {
    let rows = tx.execute(
        "UPDATE calls SET due_at = CASE WHEN due_at > ?3 THEN ?3 ELSE due_at END, planned_at = ?4, argument = NULL
         WHERE order_id = ?1 AND kind = ?2 AND state = 'open'",
        params![&order, &kind.as_text(), due_at, now],
    )?;
    Ok(rows > 0)
}

/// How many calls are open, counted up to a limit, and when the first of them is or was due.
pub fn count_open(tx: &mut Tx<'_>, limit: i64) -> Result<(i64, Option<Timestamp>)> {
    let sql = "SELECT COUNT(*) FROM (SELECT due_at FROM calls WHERE state = 'open' ORDER BY due_at LIMIT ?1) AS part";
    let count = tx.query_one(sql, params![limit], |row| row.get(0))?;
    let sql = "SELECT due_at FROM calls WHERE state = 'open' ORDER BY due_at LIMIT 1";
    Ok((count, tx.query_opt(sql, params![], |row| row.get(0))?))
}

/// How many calls of an account are open, counted up to a limit, and since when the longest of them waits: from when it was
/// wanted if it has been tried in vain, and from when it is due if not.
pub fn open_of_account(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<(i64, Option<Timestamp>)> {
    let sql = "SELECT COUNT(*), MIN(since) FROM (
                   SELECT CASE WHEN attempts > 1 OR message IS NOT NULL THEN created_at ELSE due_at END AS since
                   FROM calls WHERE account_id = ?1 AND state = 'open' ORDER BY due_at LIMIT ?2) AS part";
    tx.query_one(sql, params![&account, limit], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// How many calls of an account have failed since a moment; counted up to a limit.
pub fn count_failed(tx: &mut Tx<'_>, account: AccountId, since: Timestamp, limit: i64) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM (SELECT finished_at FROM calls
                   WHERE account_id = ?1 AND state = 'failed' AND finished_at >= ?2
                   ORDER BY finished_at DESC LIMIT ?3) AS part";
    tx.query_one(sql, params![&account, since, limit], |row| row.get(0))
}

/// A call that has ended, and the order that it was about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedCall {
    pub order_id: OrderId,
    pub provider: Provider,
    pub provider_order_id: String,
    pub short_code: Option<String>,
    pub kind: CallKind,
    pub message: Option<Explanation>,
    pub at: Timestamp,
}

/// The newest calls of an account that have failed since a moment.
pub fn newest_failed(
    tx: &mut Tx<'_>,
    account: AccountId,
    since: Timestamp,
    limit: i64,
) -> Result<Vec<EndedCall>> {
    let sql = "SELECT o.id, o.provider, o.provider_order_id, o.short_code, c.kind, c.message, c.finished_at
               FROM calls c JOIN orders o ON o.id = c.order_id
                            JOIN restaurants r ON r.id = o.restaurant_id AND r.deleted_at IS NULL
               WHERE c.account_id = ?1 AND c.state = 'failed' AND c.finished_at >= ?2
               ORDER BY c.finished_at DESC LIMIT ?3";
    let ended = tx.query(sql, params![&account, since, limit], |row| {
        let kind: String = row.get(4)?;
        let Some(kind) = CallKind::named(&kind) else {
            return Ok(None);
        };
        Ok(Some(EndedCall {
            order_id: row.get(0)?,
            provider: row.get(1)?,
            provider_order_id: row.get(2)?,
            short_code: row.get(3)?,
            kind,
            message: row.get(5)?,
            at: row.get(6)?,
        }))
    })?;
    Ok(ended.into_iter().flatten().collect())
}
