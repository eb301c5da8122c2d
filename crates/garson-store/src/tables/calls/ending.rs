//! How calls end, or are put off.

use super::queue::UnreadableCall;
use super::row::{DueCall, LeaseHolder, is_running};
use crate::tables::row::tuple;
use crate::{Result, Tx, params};
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::id::{CallId, IntegrationId, OrderId};
use garson_core::time::Timestamp;

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

    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Done, Self::Failed, Self::Abandoned]
            .into_iter()
            .find(|end| end.as_str() == name)
    }
}

/// Ends a call; `false` when it has already ended, or another node has leased it since this attempt began.
pub fn finish(
    tx: &mut Tx<'_>,
    call: &DueCall,
    end: CallEnd,
    message: Option<&Explanation>,
    at: Timestamp,
) -> Result<bool> {
    let rows = tx.execute(
        "UPDATE calls SET state = ?2, message = ?3, finished_at = ?4
         WHERE id = ?1 AND state = 'open' AND attempts = ?5",
        params![
            &call.id,
            end.as_str(),
            message.map(Explanation::stored).as_ref(),
            at,
            call.attempts
        ],
    )?;
    if rows > 0 {
        unblock(tx, call.order_id)?;
    }
    Ok(rows > 0)
}

/// Fails a call whose row is damaged, so that the order's next call can run; `false` when it has already ended.
pub fn fail_unreadable(tx: &mut Tx<'_>, call: &UnreadableCall, at: Timestamp) -> Result<bool> {
    let rows = tx.execute(
        "UPDATE calls SET state = 'failed', message = ?2, finished_at = ?3 WHERE id = ?1 AND state = 'open'",
        params![&call.id, &call.why.stored(), at],
    )?;
    if let Some(order) = call.order_id {
        unblock(tx, order)?;
    }
    Ok(rows > 0)
}

/// Unblocks the first of an order's open calls after another has ended.
fn unblock(tx: &mut Tx<'_>, order: OrderId) -> Result<()> {
    tx.write(
        "UPDATE calls SET blocked = 0 WHERE order_id = ?1 AND state = 'open' AND blocked = 1
           AND NOT EXISTS (SELECT 1 FROM calls e
                           WHERE e.order_id = ?1 AND e.state = 'open' AND e.number < calls.number)",
        params![&order],
    )
}

/// When and why a call is attempted again.
#[derive(Clone, Debug)]
pub struct Delay {
    /// When the new due time was decided.
    pub planned_at: Timestamp,
    /// Something was sent, so this counts as an attempt.
    pub is_attempt: bool,
    pub due_at: Timestamp,
    /// It may have succeeded.
    pub is_unclear: bool,
    /// Since when the platform has answered that it is too early, if it has.
    pub not_yet_since: Option<Timestamp>,
    pub message: Explanation,
}

/// Releases a call to be attempted again later; `false` when it no longer belongs to this attempt.
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

/// Abandons an open call unless it is running.
pub fn abandon_unless_running(
    tx: &mut Tx<'_>,
    order: OrderId,
    id: CallId,
    holder: LeaseHolder,
    now: Timestamp,
) -> Result<bool> {
    let sql = format!(
        "UPDATE calls SET state = 'abandoned', message = ?5, finished_at = ?4
         WHERE id = ?3 AND state = 'open' AND (node IS NULL OR NOT {})",
        is_running("calls")
    );
    let message = Explanation::from(PlatformFailure::OrderToBeCancelled).stored();
    let rows = tx.execute(
        &sql,
        params![&holder.node, holder.lost_up_to(), &id, now, &message],
    )?;
    if rows > 0 {
        unblock(tx, order)?;
    }
    Ok(rows > 0)
}

/// Abandons a call whose creator does not run it, because it did not learn that the call was committed. Returns its order and
/// integration. A call that another node has leased meanwhile is left to that node.
pub fn withdraw(tx: &mut Tx<'_>, id: CallId, at: Timestamp) -> Result<Option<(OrderId, IntegrationId)>> {
    let message = Explanation::from(PlatformFailure::Withdrawn).stored();
    let withdrawn = tx.write_returning(
        "UPDATE calls SET state = 'abandoned', message = ?2, finished_at = ?3
         WHERE id = ?1 AND state = 'open' AND attempts = 1 AND leased_until > 0
         RETURNING order_id, integration_id",
        params![&id, &message, at],
        tuple::<(OrderId, IntegrationId)>,
    )?;
    let withdrawn = withdrawn.into_iter().next();
    if let Some((order, _)) = withdrawn {
        unblock(tx, order)?;
    }
    Ok(withdrawn)
}

/// Abandons the open calls of an order, except one: a cancellation makes them pointless.
pub fn abandon_open(tx: &mut Tx<'_>, order: OrderId, except: Option<CallId>, at: Timestamp) -> Result<u64> {
    let sql = "UPDATE calls SET state = 'abandoned', message = ?4, finished_at = ?2
               WHERE order_id = ?1 AND state = 'open' AND id <> COALESCE(?3, ?1)";
    let message = Explanation::from(PlatformFailure::OrderCancelled).stored();
    let dropped = tx.execute(sql, params![&order, at, except.as_ref(), &message])?;
    if dropped > 0 {
        unblock(tx, order)?;
    }
    Ok(dropped)
}

/// How a call ended, with its message; `None` while it is open.
pub fn end(tx: &mut Tx<'_>, id: CallId) -> Result<Option<(CallEnd, Option<Explanation>)>> {
    let sql = "SELECT state, message FROM calls WHERE id = ?1";
    let found = tx.query_opt(sql, params![&id], tuple::<(String, Option<Explanation>)>)?;
    Ok(found.and_then(|(state, message)| Some((CallEnd::named(&state)?, message))))
}
