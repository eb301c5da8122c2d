//! Resends: jobs that redeliver everything that has failed since a timestamp, in small chunks, and store their progress.
//!
//! A resend goes once through the positions that the account had when it was started. What fails again is not resent a third
//! time, and later events are not touched.

use crate::tables::row::{columns, each, insert, tuple, value};
use crate::tables::{accounts, deliveries};
use crate::{ACCOUNTS, Result, Tx, params};
use garson_core::delivery::DeliveryState;
use garson_core::id::{AccountId, EventId, NodeId, ResendId};
use garson_core::time::Timestamp;

/// What to redeliver, and the progress so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resend {
    pub id: ResendId,
    pub account: AccountId,
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
        id, account_id, since, with_skipped, last_place, reached, found, requeued, created_at, finished_at
    }
    fn resend() -> Resend {
        Ok(Resend {
            id,
            account: account_id,
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
        let params = params![&account, state.as_str(), reached, last_position];
        found += tx.query_one(sql, params, value::<i64>)?;
    }
    Ok(Resend {
        id,
        account,
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

/// An account's oldest unfinished resend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenResend {
    pub account: AccountId,
    pub id: ResendId,
    /// The node that delivers for the account, if it is still a member.
    pub node: Option<NodeId>,
    /// How many of the newest deliveries that this or another resend has made due have had no attempt yet.
    pub untried: i64,
}

/// The oldest unfinished resend of the next account after `after`. `newest` limits how many deliveries are checked for
/// [`OpenResend::untried`].
pub fn next_open(tx: &mut Tx<'_>, after: Option<AccountId>, newest: i64) -> Result<Option<OpenResend>> {
    let after = after.map_or_else(Vec::new, |account| account.as_bytes().to_vec());
    let sql = "SELECT account_id, id, reached, last_place FROM resends WHERE finished_at IS NULL AND account_id > ?1
               ORDER BY account_id, id LIMIT 1";
    let found = tx.query_opt(sql, params![&after], tuple::<(AccountId, ResendId, i64, i64)>)?;
    let Some((account, id, reached, last_position)) = found else {
        return Ok(None);
    };
    // After the position that it has reached there may be deliveries that another resend has made due.
    let of_this = deliveries::count_untried(tx, account, reached, newest)?;
    let of_all = deliveries::count_untried(tx, account, last_position, newest)?;
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
    if accounts::webhook(tx, account)?.is_none() {
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
        let requeued = deliveries::requeue(tx, account, &ids, now)?;
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
    let mut found = Vec::new();
    for state in states(resend.with_skipped) {
        let params = params![
            &resend.account,
            state.as_str(),
            resend.reached,
            resend.last_position,
            i64::try_from(limit).unwrap_or(i64::MAX)
        ];
        found.extend(tx.query(sql, params, tuple::<(EventId, i64, bool)>)?);
    }
    found.sort_by_key(|(_, position, _)| *position);
    found.truncate(limit);
    Ok(found)
}
