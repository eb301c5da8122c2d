//! Pending deliveries: which are due, which are held back, and how an attempt changes them.
//!
//! A delivery is its event's row. The node that delivers for the account reads what is due and remembers it; no other node
//! touches these rows, so reading them needs no claim.

mod row;
mod settle;

pub use crate::publish::Delivery;
pub use settle::{Outcome, Settlement, settle};

pub(crate) use settle::release_held;

use crate::engine::Param;
use crate::engine::in_list::{filled, marks};
use crate::tables::accounts;
use crate::tables::row::{each, tuple, value};
use crate::{ACCOUNTS, Result, Tx, params};
use garson_core::delivery::{DeliveryState, FAILURES_THAT_HOLD, UndeliveredReason};
use garson_core::id::{AccountId, EventId, NodeId, OrderId};
use garson_core::time::Timestamp;
use row::{COLUMNS, delivery};

/// Reports whether an order's event has to wait for an earlier one. The event directly before it may have been sent by hand while
/// still earlier ones are pending, so all are checked.
pub(crate) fn has_pending_predecessor(tx: &mut Tx<'_>, order: OrderId, sequence: i64) -> Result<bool> {
    let before = tx.query_opt(
        "SELECT sequence FROM events
         WHERE order_id = ?1 AND sequence < ?2 AND state = 'pending' AND failures < ?3
         LIMIT 1",
        params![&order, sequence, FAILURES_THAT_HOLD],
        value::<i64>,
    )?;
    Ok(before.is_some())
}

/// Events of deleted restaurants are no longer sent; the sweep removes them. The subquery reads a small index that is usually
/// empty.
const NOT_DELETED: &str = "restaurant_id NOT IN
                             (SELECT r.id FROM restaurants r WHERE r.account_id = ?1 AND r.deleted_at IS NOT NULL)";

/// Deliveries after a position that are due and have had no attempt.
pub fn untried_after(
    tx: &mut Tx<'_>,
    account: AccountId,
    position: i64,
    limit: i64,
) -> Result<Vec<Delivery>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM events
         WHERE account_id = ?1 AND state = 'pending' AND position > ?2 AND failures = 0 AND held = 0
           AND {NOT_DELETED}
         ORDER BY position LIMIT ?3"
    );
    tx.query(&sql, params![&account, position, limit], each(delivery))
}

/// Failed deliveries whose next attempt is due.
pub fn due_retries(tx: &mut Tx<'_>, account: AccountId, now: Timestamp, limit: i64) -> Result<Vec<Delivery>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM events
         WHERE account_id = ?1 AND state = 'pending' AND failures > 0 AND due_at <= ?2
           AND {NOT_DELETED}
         ORDER BY due_at LIMIT ?3"
    );
    tx.query(&sql, params![&account, now, limit], each(delivery))
}

/// When the first retry after a timestamp is due.
pub fn next_retry_at(tx: &mut Tx<'_>, account: AccountId, after: Timestamp) -> Result<Option<Timestamp>> {
    tx.query_opt(
        "SELECT due_at FROM events WHERE account_id = ?1 AND state = 'pending' AND failures > 0 AND due_at > ?2
         ORDER BY due_at LIMIT 1",
        params![&account, after],
        value,
    )
}

/// Brings forward retries that are due later than any backoff allows: the clock was ahead when they were scheduled.
pub fn bring_forward_retries(
    tx: &mut Tx<'_>,
    account: AccountId,
    failures: i64,
    latest: Timestamp,
    now: Timestamp,
) -> Result<u64> {
    tx.execute(
        "UPDATE events SET due_at = ?4
         WHERE account_id = ?1 AND state = 'pending' AND failures > 0 AND due_at > ?3 AND failures = ?2",
        params![&account, failures, latest, now],
    )
}

/// An account with pending deliveries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingAccount {
    pub account: AccountId,
    /// The node that delivers for it, if it is still a member.
    pub node: Option<NodeId>,
    /// The account's last position and its `deliver_version`.
    pub last_position: i64,
    pub version: i64,
    /// When the oldest pending event happened, and when the first retry is due.
    pub oldest_at: Timestamp,
    pub retry_at: Option<Timestamp>,
}

/// The accounts after an id that have pending deliveries.
pub fn pending_accounts(
    tx: &mut Tx<'_>,
    after: Option<AccountId>,
    limit: usize,
) -> Result<Vec<PendingAccount>> {
    let mut found = Vec::new();
    let mut last = after.map_or_else(Vec::new, |account| account.as_bytes().to_vec());
    while found.len() < limit {
        let sql = "SELECT account_id, created_at FROM events WHERE state = 'pending' AND account_id > ?1
                   ORDER BY account_id, position LIMIT 1";
        let first = tx.query_opt(sql, params![&last], tuple::<(AccountId, Timestamp)>)?;
        let Some((account, oldest_at)) = first else { break };
        last = account.as_bytes().to_vec();
        let Some((last_position, version, node)) = delivering_state(tx, account)? else {
            continue;
        };
        found.push(PendingAccount {
            account,
            node,
            last_position,
            version,
            oldest_at,
            retry_at: next_retry_at(tx, account, Timestamp::from_millis(0))?,
        });
    }
    Ok(found)
}

/// The last position, `deliver_version` and delivering node of an account; none if it is not active.
pub(super) fn delivering_state(
    tx: &mut Tx<'_>,
    account: AccountId,
) -> Result<Option<(i64, i64, Option<NodeId>)>> {
    let sql = "SELECT position, deliver_version, CASE WHEN deliver_node IN (SELECT id FROM nodes)
                      THEN deliver_node ELSE NULL END
               FROM accounts WHERE id = ?1
                 AND NOT EXISTS (SELECT 1 FROM account_states s WHERE s.account_id = ?1 AND s.state <> 'active')";
    tx.on(ACCOUNTS).query_opt(sql, params![&account], tuple)
}

/// Which node delivers for an account, and the state that it has to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub node: Option<NodeId>,
    pub last_position: i64,
    pub version: i64,
    /// It may have endpoints besides the default one.
    pub has_routes: bool,
    /// Changes when personal data is erased from events that are not delivered yet.
    pub erase_version: i64,
}

pub fn assignment(tx: &mut Tx<'_>, account: AccountId) -> Result<Option<Assignment>> {
    let sql = "SELECT deliver_node, position, deliver_version,
                      CAST(CASE WHEN webhook_routes IS NULL THEN 0 ELSE 1 END AS BIGINT), erase_version
               FROM accounts WHERE id = ?1";
    let found = tx.on(ACCOUNTS).query_opt(sql, params![&account], tuple)?;
    Ok(found.map(
        |(node, last_position, version, has_routes, erase_version)| Assignment {
            node,
            last_position,
            version,
            has_routes,
            erase_version,
        },
    ))
}

/// Counts pending deliveries up to a limit.
pub fn count_pending(tx: &mut Tx<'_>, limit: i64) -> Result<i64> {
    // Ordered by the index: otherwise PostgreSQL may choose to scan the table.
    let sql = "SELECT COUNT(*) FROM (SELECT account_id FROM events WHERE state = 'pending'
                                     ORDER BY account_id, position LIMIT ?1) AS part";
    tx.query_one(sql, params![limit], value)
}

/// Counts an account's pending deliveries up to a limit, and returns when the oldest of them happened.
pub fn count_pending_of(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<(i64, Option<Timestamp>)> {
    let sql = "SELECT COUNT(*), MIN(created_at) FROM (SELECT created_at FROM events
                   WHERE account_id = ?1 AND state = 'pending' ORDER BY position LIMIT ?2) AS part";
    tx.query_one(sql, params![&account, limit], tuple)
}

/// Counts an account's pending deliveries that have failed, of events up to a timestamp, among those that are due first, and
/// returns when the oldest of them happened.
pub fn count_failing(
    tx: &mut Tx<'_>,
    account: AccountId,
    up_to: Timestamp,
    limit: i64,
) -> Result<(i64, Option<Timestamp>)> {
    let sql = "SELECT COUNT(*), MIN(created_at) FROM (SELECT created_at FROM events
                   WHERE account_id = ?1 AND state = 'pending' AND failures > 0
                   ORDER BY due_at LIMIT ?3) AS part
               WHERE created_at <= ?2";
    tx.query_one(sql, params![&account, up_to, limit], tuple)
}

/// Counts an account's failed deliveries of events since a timestamp, among the `newest` that have failed since the account has
/// acknowledged them.
pub fn count_given_up(tx: &mut Tx<'_>, account: AccountId, since: Timestamp, newest: i64) -> Result<i64> {
    let sql = "SELECT given_up_seen FROM accounts WHERE id = ?1";
    let seen = tx.on(ACCOUNTS).query_opt(sql, params![&account], value::<i64>)?;
    // A range and an order that only one index supports.
    let sql = "SELECT COUNT(*) FROM (SELECT created_at FROM events
                   WHERE account_id = ?1 AND state <> 'pending' AND (state, position) > ('failed', ?4)
                     AND state <= 'failed'
                   ORDER BY state DESC, position DESC LIMIT ?3) AS part
               WHERE created_at >= ?2";
    tx.query_one(
        sql,
        params![&account, since, newest, seen.unwrap_or_default()],
        value,
    )
}

/// Counts an account's failed deliveries of events since a timestamp, among the `newest` that have failed.
pub fn count_failed(tx: &mut Tx<'_>, account: AccountId, since: Timestamp, newest: i64) -> Result<i64> {
    // A range and an order that only one index supports.
    let sql = "SELECT COUNT(*) FROM (SELECT created_at FROM events
                   WHERE account_id = ?1 AND state <> 'pending' AND state >= 'failed' AND state <= 'failed'
                   ORDER BY state DESC, position DESC LIMIT ?3) AS part
               WHERE created_at >= ?2";
    tx.query_one(sql, params![&account, since, newest], value)
}

/// How an account's deliveries have gone lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecentDeliveries {
    /// A pending event has failed more than once.
    pub keeps_failing: bool,
    /// The newest event that was given up is newer than the newest that was delivered.
    pub gave_up_last: bool,
}

/// How an account's deliveries have gone lately, with a few index steps.
pub fn recent(tx: &mut Tx<'_>, account: AccountId) -> Result<RecentDeliveries> {
    // More retries than these wait behind them in any case.
    let sql = "SELECT COUNT(*) FROM (SELECT failures FROM events
                   WHERE account_id = ?1 AND state = 'pending' AND failures > 0 ORDER BY due_at LIMIT 50) AS part
               WHERE failures >= ?2";
    let failing: i64 = tx.query_one(sql, params![&account, FAILURES_THAT_HOLD], value)?;
    let sql = "SELECT position FROM events
               WHERE account_id = ?1 AND state <> 'pending' AND state >= ?2 AND state <= ?2
               ORDER BY state DESC, position DESC LIMIT 1";
    let mut newest =
        |state: DeliveryState| tx.query_opt(sql, params![&account, state.as_str()], value::<i64>);
    let (failed, delivered) = (newest(DeliveryState::Failed)?, newest(DeliveryState::Delivered)?);
    Ok(RecentDeliveries {
        keeps_failing: failing > 0,
        gave_up_last: failed.is_some() && failed > delivered,
    })
}

/// Counts the deliveries without an attempt among an account's `newest` pending ones up to a position.
pub fn count_untried(tx: &mut Tx<'_>, account: AccountId, up_to: i64, newest: i64) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM (SELECT failures FROM events
                                     WHERE account_id = ?1 AND state = 'pending' AND position <= ?2
                                     ORDER BY position DESC LIMIT ?3) AS part
               WHERE failures = 0";
    tx.query_one(sql, params![&account, up_to, newest], value)
}

/// How many events one statement makes due again.
const REQUEUE_SIZE: usize = 16;

/// Makes undelivered events due again, with a fresh count of failures, and returns how many. The caller passes them in order of
/// position and holds the account's lock. An event is held if an earlier one of its order is pending or becomes so with it.
/// Events that the endpoint does not want stay skipped.
pub fn requeue(tx: &mut Tx<'_>, account: AccountId, events: &[EventId], now: Timestamp) -> Result<u64> {
    let marks = marks(6, REQUEUE_SIZE);
    let is_held = format!(
        "CASE WHEN EXISTS (SELECT 1 FROM events b WHERE b.order_id = events.order_id
                             AND b.sequence < events.sequence
                             AND (b.state = 'pending' AND b.failures < ?3
                                  OR b.id IN ({marks}) AND b.state IN ('failed', 'skipped')
                                     AND (b.reason IS NULL OR b.reason <> 'filtered')))"
    );
    let sql = format!(
        "UPDATE events SET state = 'pending', failures = 0, due_at = ?2,
                held = {is_held} THEN 1 ELSE 0 END, reason = {is_held} THEN ?4 ELSE ?5 END
         WHERE id IN ({marks}) AND account_id = ?1 AND state IN ('failed', 'skipped')
           AND (reason IS NULL OR reason <> 'filtered')"
    );
    let mut requeued = 0;
    for chunk in events.chunks(REQUEUE_SIZE) {
        let mut params: Vec<Param<'_>> = vec![
            (&account).into(),
            now.into(),
            FAILURES_THAT_HOLD.into(),
            UndeliveredReason::Earlier.as_str().into(),
            UndeliveredReason::Waiting.as_str().into(),
        ];
        params.extend(filled(chunk, REQUEUE_SIZE).map(Param::from));
        requeued += tx.execute(&sql, &params)?;
    }
    if requeued > 0 {
        accounts::wake_delivery(tx, account)?;
    }
    Ok(requeued)
}
