//! Resends: jobs that redeliver everything that has failed since a timestamp, in small chunks, and store their progress.
//!
//! A resend goes once through the positions that the account had when it was started. What fails again is not resent a third
//! time, and later events are not touched.

use crate::engine::Param;
use crate::tables::row::{columns, each, insert, tuple, value};
use crate::tables::{accounts, deliveries, endpoint_deliveries, webhook_endpoints};
use crate::{ACCOUNTS, Result, Tx, params};
use garson_core::delivery::DeliveryState;
use garson_core::id::{AccountId, EndpointId, EventId, NodeId, ResendId};
use garson_core::time::Timestamp;
use garson_core::webhook_endpoint::EndpointState;

/// What to redeliver, and the progress so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resend {
    pub id: ResendId,
    pub account: AccountId,
    /// The endpoint whose deliveries it redelivers; `None` for the default one.
    pub endpoint: Option<EndpointId>,
    /// Events since this timestamp.
    pub since: Timestamp,
    /// Includes events that were skipped because the account had no webhook.
    pub with_skipped: bool,
    /// The position where it ends, and the one that it has reached.
    pub last_position: i64,
    pub reached: i64,
    /// How many events it had to redeliver when it was started, and how many of them are due again by now.
    pub found: i64,
    pub requeued: i64,
    pub created_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

columns! {
    const COLUMNS = "" of resends {
        id, account_id, since, with_skipped, last_place, reached, found, requeued, created_at, finished_at,
        endpoint_id
    }
    fn resend() -> Resend {
        Ok(Resend {
            id,
            account: account_id,
            endpoint: endpoint_id,
            since,
            with_skipped,
            last_position: last_place,
            reached,
            found,
            requeued,
            created_at,
            finished_at,
        })
    }
}

/// The delivery states that a resend picks up.
fn states(with_skipped: bool) -> &'static [DeliveryState] {
    if with_skipped {
        &[DeliveryState::Failed, DeliveryState::Skipped]
    } else {
        &[DeliveryState::Failed]
    }
}

/// Computes what a resend would have to do; writes nothing.
pub fn plan(
    tx: &mut Tx<'_>,
    id: ResendId,
    account: AccountId,
    endpoint: Option<EndpointId>,
    since: Timestamp,
    with_skipped: bool,
    now: Timestamp,
) -> Result<Resend> {
    let last_position = accounts::last_position(tx, account)?;
    let reached = position_before(tx, account, since, last_position)?;
    let mut found = 0;
    for state in states(with_skipped) {
        let sql = "SELECT COUNT(*) FROM events
                   WHERE account_id = ?1 AND state <> 'pending'
                         AND (state, position) > (?2, ?3) AND (state, position) <= (?2, ?4)";
        let of_endpoint = "SELECT COUNT(*) FROM endpoint_deliveries
                   WHERE endpoint_id = ?1 AND state IN ('failed', 'skipped')
                         AND (state, position) > (?2, ?3) AND (state, position) <= (?2, ?4)";
        found += match &endpoint {
            None => {
                let params = params![&account, state.as_str(), reached, last_position];
                tx.query_one(sql, params, value::<i64>)?
            }
            Some(endpoint) => {
                let params = params![endpoint, state.as_str(), reached, last_position];
                tx.query_one(of_endpoint, params, value::<i64>)?
            }
        };
    }
    Ok(Resend {
        id,
        account,
        endpoint,
        since,
        with_skipped,
        last_position,
        reached,
        found,
        requeued: 0,
        created_at: now,
        finished_at: None,
    })
}

/// The last position before a timestamp. Timestamps follow positions, so a binary search finds it.
fn position_before(tx: &mut Tx<'_>, account: AccountId, since: Timestamp, last_position: i64) -> Result<i64> {
    // Everything up to `low` happened before `since`, nothing after `high` did.
    let (mut low, mut high) = (0, last_position);
    while low < high {
        let middle = low + (high - low) / 2;
        let next = tx.query_opt(
            "SELECT position, created_at FROM events WHERE account_id = ?1 AND position > ?2 AND position <= ?3
             ORDER BY position LIMIT 1",
            params![&account, middle, high],
            tuple::<(i64, Timestamp)>,
        )?;
        match next {
            Some((position, at)) if at < since => low = position,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// Stores a planned resend, so that it runs.
pub fn start(tx: &mut Tx<'_>, resend: &Resend) -> Result<()> {
    insert!(
        tx,
        resends {
            id: &resend.id,
            account_id: &resend.account,
            endpoint_id: resend.endpoint.as_ref(),
            since: resend.since,
            with_skipped: resend.with_skipped,
            last_place: resend.last_position,
            reached: resend.reached,
            found: resend.found,
            requeued: resend.requeued,
            created_at: resend.created_at,
            finished_at: resend.finished_at,
        }
    )?;
    Ok(())
}

pub fn find(tx: &mut Tx<'_>, account: AccountId, id: ResendId) -> Result<Option<Resend>> {
    let sql = format!("SELECT {COLUMNS} FROM resends WHERE id = ?1 AND account_id = ?2");
    tx.query_opt(&sql, params![&id, &account], each(resend))
}

/// The account's resends, newest first.
pub fn list(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<Vec<Resend>> {
    let sql = format!("SELECT {COLUMNS} FROM resends WHERE account_id = ?1 ORDER BY id DESC LIMIT ?2");
    tx.query(&sql, params![&account, limit], each(resend))
}

/// The account's unfinished resends, oldest first.
pub fn open_of(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<Resend>> {
    let sql =
        format!("SELECT {COLUMNS} FROM resends WHERE account_id = ?1 AND finished_at IS NULL ORDER BY id");
    tx.query(&sql, params![&account], each(resend))
}

/// A receiver's oldest unfinished resend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenResend {
    pub account: AccountId,
    pub id: ResendId,
    /// The node that delivers for the account, if it is still a member.
    pub node: Option<NodeId>,
    /// How many of the newest deliveries that this or another resend has made due have had no attempt yet.
    pub untried: i64,
}

/// The next unfinished resend after another one: of each receiver only the oldest. `newest` limits how many deliveries are checked
/// for [`OpenResend::untried`].
pub fn next_open(
    tx: &mut Tx<'_>,
    after: Option<(AccountId, ResendId)>,
    newest: i64,
) -> Result<Option<OpenResend>> {
    let (after_account, after_id) = after.map_or_else(
        || (Vec::new(), Vec::new()),
        |(account, id)| (account.as_bytes().to_vec(), id.as_bytes().to_vec()),
    );
    let sql = "SELECT account_id, id, reached, last_place, endpoint_id FROM resends
               WHERE finished_at IS NULL AND (account_id, id) > (?1, ?2)
                     AND NOT EXISTS (SELECT 1 FROM resends o
                                     WHERE o.account_id = resends.account_id AND o.id < resends.id
                                       AND o.finished_at IS NULL
                                       AND o.endpoint_id IS NOT DISTINCT FROM resends.endpoint_id)
               ORDER BY account_id, id LIMIT 1";
    type Open = (AccountId, ResendId, i64, i64, Option<EndpointId>);
    let found = tx.query_opt(sql, params![&after_account, &after_id], tuple::<Open>)?;
    let Some((account, id, reached, last_position, endpoint)) = found else {
        return Ok(None);
    };
    // After the position that it has reached there may be deliveries that another resend has made due.
    let of_this = count_untried(tx, account, endpoint, reached, newest)?;
    let of_all = count_untried(tx, account, endpoint, last_position, newest)?;
    let sql = "SELECT deliver_node FROM accounts WHERE id = ?1 AND deliver_node IN (SELECT id FROM nodes)";
    let node = tx
        .on(ACCOUNTS)
        .query_opt(sql, params![&account], value::<Option<NodeId>>)?;
    Ok(Some(OpenResend {
        account,
        id,
        node: node.flatten(),
        untried: of_this.max(of_all),
    }))
}

/// Counts the deliveries without an attempt among the `newest` pending ones of a receiver up to a position.
pub fn count_untried(
    tx: &mut Tx<'_>,
    account: AccountId,
    endpoint: Option<EndpointId>,
    up_to: i64,
    newest: i64,
) -> Result<i64> {
    match endpoint {
        None => deliveries::count_untried(tx, account, up_to, newest),
        Some(endpoint) => endpoint_deliveries::count_untried(tx, account, endpoint, up_to, newest),
    }
}

/// Can a receiver get anything? Otherwise events would only be skipped again.
pub fn has_receiver(tx: &mut Tx<'_>, account: AccountId, endpoint: Option<EndpointId>) -> Result<bool> {
    match endpoint {
        None => Ok(accounts::webhook(tx, account)?.is_some()),
        Some(id) => {
            let found = webhook_endpoints::find(tx, account, id)?;
            Ok(found.is_some_and(|it| it.state == EndpointState::Active))
        }
    }
}

/// Runs one chunk and returns the new progress; `None` when the resend is already finished.
pub fn step(
    tx: &mut Tx<'_>,
    account: AccountId,
    id: ResendId,
    limit: usize,
    now: Timestamp,
) -> Result<Option<Resend>> {
    // Another node with the same chunk waits here, and then sees that it is done.
    accounts::lock(tx, account)?;
    let sql = format!(
        "SELECT {COLUMNS} FROM resends WHERE id = ?1 AND account_id = ?2 AND finished_at IS NULL {{lock}}"
    );
    let Some(mut resend) = tx.query_opt(&sql, params![&id, &account], each(resend))? else {
        return Ok(None);
    };
    if !has_receiver(tx, account, resend.endpoint)? {
        // The events would only be skipped again.
        resend.finished_at = Some(now);
    } else {
        let chunk = next_events(tx, &resend, limit)?;
        let last = chunk.last().map(|(_, position, _)| *position);
        let (reached, finished_at) = match last.filter(|_| chunk.len() == limit) {
            Some(position) => (position, None),
            None => (resend.last_position, Some(now)),
        };
        let live = chunk.iter().filter(|(_, _, is_deleted)| !is_deleted);
        let ids: Vec<EventId> = live.map(|(id, ..)| *id).collect();
        let requeued = match resend.endpoint {
            None => deliveries::requeue(tx, account, &ids, now)?,
            Some(endpoint) => endpoint_deliveries::requeue(tx, account, endpoint, &ids, now)?,
        };
        resend.requeued += i64::try_from(requeued).unwrap_or(i64::MAX);
        resend.reached = reached;
        resend.finished_at = finished_at;
    }
    tx.execute(
        "UPDATE resends SET reached = ?2, requeued = ?3, finished_at = ?4 WHERE id = ?1",
        params![&id, resend.reached, resend.requeued, resend.finished_at],
    )?;
    Ok(Some(resend))
}

/// The next events to redeliver: id, position, and whether the restaurant is deleted, so that the sweep will remove the event.
fn next_events(tx: &mut Tx<'_>, resend: &Resend, limit: usize) -> Result<Vec<(EventId, i64, bool)>> {
    let sql = "SELECT id, position,
                      (SELECT COUNT(*) FROM restaurants r
                       WHERE r.id = events.restaurant_id AND r.deleted_at IS NOT NULL)
               FROM events
               WHERE account_id = ?1 AND state <> 'pending'
                     AND (state, position) > (?2, ?3) AND (state, position) <= (?2, ?4)
               ORDER BY state, position LIMIT ?5";
    let of_endpoint = "SELECT d.event_id, d.position,
                      (SELECT COUNT(*) FROM events e JOIN restaurants r ON r.id = e.restaurant_id
                       WHERE e.id = d.event_id AND r.deleted_at IS NOT NULL)
               FROM endpoint_deliveries d
               WHERE d.endpoint_id = ?1 AND d.state IN ('failed', 'skipped')
                     AND (d.state, d.position) > (?2, ?3) AND (d.state, d.position) <= (?2, ?4)
               ORDER BY d.state, d.position LIMIT ?5";
    let mut found = Vec::new();
    for state in states(resend.with_skipped) {
        let (sql, owner) = match &resend.endpoint {
            None => (sql, Param::from(&resend.account)),
            Some(endpoint) => (of_endpoint, Param::from(endpoint)),
        };
        let params = &[
            owner,
            state.as_str().into(),
            resend.reached.into(),
            resend.last_position.into(),
            i64::try_from(limit).unwrap_or(i64::MAX).into(),
        ];
        found.extend(tx.query(sql, params, tuple::<(EventId, i64, bool)>)?);
    }
    found.sort_by_key(|(_, position, _)| *position);
    found.truncate(limit);
    Ok(found)
}
