//! Deliveries to the endpoints besides the default one, whose delivery is the event's own row.
//!
//! They follow the same rules: the node that delivers for the account reads what is due and remembers it, and an event whose
//! predecessor of the same order is pending at the same endpoint is held.

mod attempts;
mod row;
mod settle;

pub use attempts::{of_delivery, record};
pub use settle::settle;

pub(crate) use settle::release_held;

use crate::engine::in_list::{filled, marks};
use crate::engine::{Insert, Param};
use crate::publish::Delivery;
use crate::tables::accounts;
use crate::tables::deliveries::{PendingAccount, delivering_state};
use crate::tables::row::{column_list, each, tuple, value};
use crate::{Result, Tx, params};
use garson_core::delivery::{DeliveryState, FAILURES_THAT_HOLD, UndeliveredReason};
use garson_core::id::{AccountId, EndpointId, EventId, OrderId};
use garson_core::time::Timestamp;
use row::{COLUMNS, delivery};

const INSERT: Insert<'_> = Insert {
    constants: &[("attempts", "0"), ("failures", "0")],
    ..Insert::into(
        "endpoint_deliveries",
        column_list!(endpoint_deliveries {
            event_id,
            endpoint_id,
            account_id,
            order_id,
            position,
            state,
            reason,
            held,
            due_at
        }),
    )
};

/// A delivery to write.
pub(crate) struct NewDelivery {
    pub event: EventId,
    pub endpoint: EndpointId,
    pub account: AccountId,
    pub order: Option<OrderId>,
    pub position: i64,
    pub state: DeliveryState,
    pub reason: UndeliveredReason,
    pub is_held: bool,
    pub at: Timestamp,
}

pub(crate) fn write(tx: &mut Tx<'_>, new: &NewDelivery) -> Result<()> {
    let is_pending = new.state == DeliveryState::Pending;
    tx.insert(
        &INSERT,
        params![
            &new.event,
            &new.endpoint,
            &new.account,
            new.order.as_ref(),
            new.position,
            new.state.as_str(),
            new.reason.as_str(),
            new.is_held,
            is_pending.then_some(new.at),
        ],
    )?;
    Ok(())
}

/// The endpoints at which an earlier event of an order holds back the next one.
pub(crate) fn holding(tx: &mut Tx<'_>, order: OrderId) -> Result<Vec<EndpointId>> {
    tx.query(
        "SELECT endpoint_id FROM endpoint_deliveries WHERE order_id = ?1 AND state = 'pending' AND failures < ?2",
        params![&order, FAILURES_THAT_HOLD],
        value,
    )
}

/// Events of deleted restaurants are no longer sent; the sweep removes them.
const NOT_DELETED: &str = "e.restaurant_id NOT IN
                             (SELECT r.id FROM restaurants r WHERE r.account_id = ?1 AND r.deleted_at IS NOT NULL)";

/// Deliveries after a position that are due and have had no attempt.
pub fn untried_after(
    tx: &mut Tx<'_>,
    account: AccountId,
    endpoint: EndpointId,
    position: i64,
    limit: i64,
) -> Result<Vec<Delivery>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM endpoint_deliveries d JOIN events e ON e.id = d.event_id
         WHERE d.account_id = ?1 AND d.endpoint_id = ?2 AND d.state = 'pending' AND d.position > ?3
           AND d.failures = 0 AND d.held = 0 AND {NOT_DELETED}
         ORDER BY d.position LIMIT ?4"
    );
    tx.query(
        &sql,
        params![&account, &endpoint, position, limit],
        each(delivery),
    )
}

/// Failed deliveries whose next attempt is due.
pub fn due_retries(
    tx: &mut Tx<'_>,
    account: AccountId,
    endpoint: EndpointId,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<Delivery>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM endpoint_deliveries d JOIN events e ON e.id = d.event_id
         WHERE d.endpoint_id = ?2 AND d.state = 'pending' AND d.failures > 0 AND d.due_at <= ?3 AND {NOT_DELETED}
         ORDER BY d.due_at LIMIT ?4"
    );
    tx.query(&sql, params![&account, &endpoint, now, limit], each(delivery))
}

/// When the first retry after a timestamp is due.
pub fn next_retry_at(tx: &mut Tx<'_>, endpoint: EndpointId, after: Timestamp) -> Result<Option<Timestamp>> {
    tx.query_opt(
        "SELECT due_at FROM endpoint_deliveries
         WHERE endpoint_id = ?1 AND state = 'pending' AND failures > 0 AND due_at > ?2 ORDER BY due_at LIMIT 1",
        params![&endpoint, after],
        value,
    )
}

/// Brings forward retries that are due later than any backoff allows: the clock was ahead when they were scheduled.
pub fn bring_forward_retries(
    tx: &mut Tx<'_>,
    endpoint: EndpointId,
    failures: i64,
    latest: Timestamp,
    now: Timestamp,
) -> Result<u64> {
    tx.execute(
        "UPDATE endpoint_deliveries SET due_at = ?4
         WHERE endpoint_id = ?1 AND state = 'pending' AND failures > 0 AND due_at > ?3 AND failures = ?2",
        params![&endpoint, failures, latest, now],
    )
}

/// The endpoints of an account with pending deliveries.
pub fn pending_endpoints(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<EndpointId>> {
    let mut found: Vec<EndpointId> = Vec::new();
    loop {
        let last = found.last().map_or_else(Vec::new, |id| id.as_bytes().to_vec());
        let next = tx.query_opt(
            "SELECT endpoint_id FROM endpoint_deliveries
             WHERE account_id = ?1 AND state = 'pending' AND endpoint_id > ?2
             ORDER BY account_id, endpoint_id, position LIMIT 1",
            params![&account, &last],
            value,
        )?;
        match next {
            Some(next) => found.push(next),
            None => return Ok(found),
        }
    }
}

/// An endpoint with pending deliveries, and the state of its account.
pub type PendingEndpoint = (EndpointId, PendingAccount);

/// The endpoints after another one that have pending deliveries, in the order of their accounts.
pub fn pending_after(
    tx: &mut Tx<'_>,
    after: Option<(AccountId, EndpointId)>,
    limit: usize,
) -> Result<Vec<PendingEndpoint>> {
    let mut found = Vec::new();
    let bytes = |id: &[u8]| id.to_vec();
    let (mut account, mut endpoint) = after.map_or_else(
        || (Vec::new(), Vec::new()),
        |(account, endpoint)| (bytes(account.as_bytes()), bytes(endpoint.as_bytes())),
    );
    while found.len() < limit {
        let sql = "SELECT account_id, endpoint_id, event_id FROM endpoint_deliveries
                   WHERE state = 'pending' AND (account_id, endpoint_id) > (?1, ?2)
                   ORDER BY account_id, endpoint_id, position LIMIT 1";
        let next = tx.query_opt(
            sql,
            params![&account, &endpoint],
            tuple::<(AccountId, EndpointId, EventId)>,
        )?;
        let Some((of, id, event)) = next else { break };
        (account, endpoint) = (bytes(of.as_bytes()), bytes(id.as_bytes()));
        let Some((last_position, version, node)) = delivering_state(tx, of)? else {
            continue;
        };
        let oldest = "SELECT created_at FROM events WHERE id = ?1";
        let oldest_at = tx.query_opt(oldest, params![&event], value)?;
        found.push((
            id,
            PendingAccount {
                account: of,
                node,
                last_position,
                version,
                oldest_at: oldest_at.unwrap_or_default(),
                retry_at: next_retry_at(tx, id, Timestamp::from_millis(0))?,
            },
        ));
    }
    Ok(found)
}

/// Counts pending deliveries up to a limit.
pub fn count_pending(tx: &mut Tx<'_>, limit: i64) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM (SELECT account_id FROM endpoint_deliveries WHERE state = 'pending'
                                     ORDER BY account_id, endpoint_id, position LIMIT ?1) AS part";
    tx.query_one(sql, params![limit], value)
}

/// Counts an endpoint's pending deliveries up to a limit.
pub fn count_pending_of(
    tx: &mut Tx<'_>,
    account: AccountId,
    endpoint: EndpointId,
    limit: i64,
) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM (SELECT position FROM endpoint_deliveries
                   WHERE account_id = ?1 AND endpoint_id = ?2 AND state = 'pending'
                   ORDER BY account_id, endpoint_id, position LIMIT ?3) AS part";
    tx.query_one(sql, params![&account, &endpoint, limit], value)
}

/// Counts the deliveries without an attempt among an endpoint's `newest` pending ones up to a position.
pub fn count_untried(
    tx: &mut Tx<'_>,
    account: AccountId,
    endpoint: EndpointId,
    up_to: i64,
    newest: i64,
) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM (SELECT failures FROM endpoint_deliveries
                   WHERE account_id = ?1 AND endpoint_id = ?2 AND state = 'pending' AND position <= ?3
                   ORDER BY account_id DESC, endpoint_id DESC, position DESC LIMIT ?4) AS part
               WHERE failures = 0";
    tx.query_one(sql, params![&account, &endpoint, up_to, newest], value)
}

/// How many deliveries one statement makes due again.
const REQUEUE_SIZE: usize = 16;

/// Makes undelivered events due again at an endpoint, with a fresh count of failures, and returns how many. The caller passes them
/// in order of position and holds the account's lock. An event behind a pending one of its order is held.
pub fn requeue(
    tx: &mut Tx<'_>,
    account: AccountId,
    endpoint: EndpointId,
    events: &[EventId],
    now: Timestamp,
) -> Result<u64> {
    let marks = marks(7, REQUEUE_SIZE);
    let is_held = format!(
        "CASE WHEN EXISTS (SELECT 1 FROM endpoint_deliveries b
                           WHERE b.order_id = endpoint_deliveries.order_id AND b.endpoint_id = ?2
                             AND b.position < endpoint_deliveries.position
                             AND (b.state = 'pending' AND b.failures < ?4
                                  OR b.event_id IN ({marks}) AND b.state IN ('failed', 'skipped')))"
    );
    let sql = format!(
        "UPDATE endpoint_deliveries SET state = 'pending', failures = 0, due_at = ?3,
                held = {is_held} THEN 1 ELSE 0 END, reason = {is_held} THEN ?5 ELSE ?6 END
         WHERE event_id IN ({marks}) AND endpoint_id = ?2 AND account_id = ?1 AND state IN ('failed', 'skipped')"
    );
    let mut requeued = 0;
    for chunk in events.chunks(REQUEUE_SIZE) {
        let mut params: Vec<Param<'_>> = vec![
            (&account).into(),
            (&endpoint).into(),
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

/// The orders of those events whose delivery to any endpoint is pending.
pub(crate) fn pending_orders_of(tx: &mut Tx<'_>, events: &[EventId]) -> Result<Vec<OrderId>> {
    const AT_ONCE: usize = 50;
    let sql = format!(
        "SELECT DISTINCT order_id FROM endpoint_deliveries
         WHERE event_id IN ({}) AND state = 'pending' AND order_id IS NOT NULL",
        marks(1, AT_ONCE)
    );
    let mut orders = Vec::new();
    for some in events.chunks(AT_ONCE) {
        let params: Vec<Param<'_>> = filled(some, AT_ONCE).map(Param::from).collect();
        orders.extend(tx.query(&sql, &params, value::<OrderId>)?);
    }
    Ok(orders)
}

/// Removes the deliveries of events and their attempts.
pub(crate) fn remove_of_events(tx: &mut Tx<'_>, events: &[EventId]) -> Result<()> {
    crate::engine::in_list::remove(tx, "endpoint_attempts", "event_id", events)?;
    crate::engine::in_list::remove(tx, "endpoint_deliveries", "event_id", events)
}

/// Removes a chunk of a deleted endpoint's deliveries; `false` when none are left.
pub(crate) fn sweep(tx: &mut Tx<'_>, endpoint: EndpointId, limit: i64) -> Result<bool> {
    const AT_ONCE: usize = 50;
    let events: Vec<EventId> = tx.query(
        "SELECT event_id FROM endpoint_deliveries WHERE endpoint_id = ?1 ORDER BY position LIMIT ?2",
        params![&endpoint, limit],
        value,
    )?;
    for table in ["endpoint_attempts", "endpoint_deliveries"] {
        let sql = format!(
            "DELETE FROM {table} WHERE endpoint_id = ?1 AND event_id IN ({})",
            marks(2, AT_ONCE)
        );
        for some in events.chunks(AT_ONCE) {
            let mut params: Vec<Param<'_>> = vec![(&endpoint).into()];
            params.extend(filled(some, AT_ONCE).map(Param::from));
            tx.write(&sql, &params)?;
        }
    }
    Ok(!events.is_empty())
}
