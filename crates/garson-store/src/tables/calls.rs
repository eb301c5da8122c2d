//! Calls to platforms: stored before they are made, leased while they run, kept after they have ended.
//!
//! A running call belongs to its node for as long as the node is a member, whatever any clock says. A call that a live node has
//! lost itself, for example after a failure of the database, it leases again once its own clock has passed the end of the
//! lease.

mod ending;
mod history;
mod queue;
mod row;
pub mod sync_state;

pub use ending::{
    CallEnd, Delay, abandon_open, abandon_unless_running, end, fail_unreadable, finish, postpone, withdraw,
};
pub use history::{
    CallRecord, FailedCall, count_failed, count_open, count_open_of, last_done_at, newest_failed, of_order,
};
pub use queue::{
    Leased, Queue, UnreadableCall, bring_forward, has_planned_ahead, lease_due, next_due, queues,
};
pub use row::{DueCall, Lease, LeaseHolder};
pub use sync_state::{FailedStep, SyncState, sync_state};

use crate::tables::json::to_json;
use crate::tables::row::{each, tuple};
use crate::{Result, StoreError, Tx, params};
use garson_core::id::{CallId, OrderId};
use garson_core::order::{CallArgument, CallKind, Order};
use garson_core::time::Timestamp;
use row::{COLUMNS, due_call, is_running};

/// A call to create.
#[derive(Clone, Debug)]
pub struct NewCall<'a> {
    pub id: CallId,
    pub order: &'a Order,
    pub kind: CallKind,
    pub argument: Option<&'a CallArgument>,
    pub due_at: Timestamp,
    /// Set when the creating node runs the call itself.
    pub lease: Option<Lease>,
    pub created_at: Timestamp,
}

/// Creates a call. The calls of an order run one at a time, by number: while another one is open, a new call is blocked, unless
/// it is a cancellation. Creating and ending calls of an order requires its account's lock.
pub fn create(tx: &mut Tx<'_>, call: &NewCall<'_>) -> Result<()> {
    let argument = call.argument;
    let argument = argument.map(|it| to_json("argument of a call", it)).transpose()?;
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

/// Makes a call due now that waits for its next attempt; a running one continues.
pub fn make_due_now(tx: &mut Tx<'_>, id: CallId, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE calls SET due_at = ?2, planned_at = ?2 WHERE id = ?1 AND state = 'open' AND due_at > ?2",
        params![&id, now],
    )?;
    Ok(())
}

/// Delays the open calls of an order, except a cancellation, until a timestamp.
pub fn delay_open(tx: &mut Tx<'_>, order: OrderId, now: Timestamp, until: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE calls SET due_at = ?2, planned_at = ?3
         WHERE order_id = ?1 AND state = 'open' AND due_at < ?2 AND kind <> 'cancel'",
        params![&order, until, now],
    )?;
    Ok(())
}

/// Makes the open call of a kind due by `due_at` at the latest; `false` when there is none.
pub fn make_due(
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

/// An order's open call of a kind that a client waits for.
pub fn open_question(tx: &mut Tx<'_>, order: OrderId, kind: CallKind) -> Result<Option<DueCall>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM calls WHERE order_id = ?1 AND kind = ?2 AND state = 'open' ORDER BY number LIMIT 1"
    );
    tx.query_opt(&sql, params![&order, &kind.as_text()], each(due_call))
}

/// A call that keeps a question from being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockingCall {
    pub id: CallId,
    pub kind: CallKind,
    /// A node is running it now.
    pub is_running: bool,
}

/// The order's call that blocks a question: a running one, or another question.
pub fn blocking_call(tx: &mut Tx<'_>, order: OrderId, holder: LeaseHolder) -> Result<Option<BlockingCall>> {
    let is_running = is_running("calls");
    let sql = format!(
        "SELECT id, kind, CAST(CASE WHEN {is_running} THEN 1 ELSE 0 END AS BIGINT) AS runs FROM calls
         WHERE order_id = ?3 AND state = 'open' AND ({is_running} OR kind IN ('verify', 'cancel'))
         ORDER BY runs DESC, number LIMIT 1"
    );
    let params = params![&holder.node, holder.lost_up_to(), &order];
    let found = tx.query_opt(&sql, params, tuple::<(CallId, String, bool)>)?;
    found
        .map(|(id, kind, is_running)| {
            let kind =
                CallKind::named(&kind).ok_or_else(|| StoreError::corrupt("a call of an unknown kind"))?;
            Ok(BlockingCall { id, kind, is_running })
        })
        .transpose()
}
