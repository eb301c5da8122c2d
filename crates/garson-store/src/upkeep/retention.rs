//! Retention: removes old events, oldest first, in chunks so small that other writes do not wait for them.
//!
//! Within an account timestamps follow positions, so the old events are the first ones: no index by age is needed.

use crate::engine::in_list::remove;
use crate::tables::accounts;
use crate::tables::row::{columns, each, tuple};
use crate::tables::{deliveries, endpoint_deliveries};
use crate::{ACCOUNTS, Result, Tx, params};
use garson_core::delivery::DeliveryState;
use garson_core::id::{AccountId, EventId, OrderId};
use garson_core::time::Timestamp;

/// The most attempts that a chunk removes, unless a single event has more.
const MAX_ATTEMPTS: i64 = 1_000;

/// The accounts of a chunk that have old events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldAccounts {
    pub accounts: Vec<AccountId>,
    /// The last account of the chunk; `None` when there are no more.
    pub last: Option<AccountId>,
}

/// Checks the next accounts after another one for events from before `oldest`.
pub fn accounts_with_old_events(
    tx: &mut Tx<'_>,
    after: Option<AccountId>,
    oldest: Timestamp,
    limit: i64,
) -> Result<OldAccounts> {
    let after = after.map_or_else(Vec::new, |account| account.as_bytes().to_vec());
    // Starts after `forgotten`: everything up to there is removed already.
    let sql = "SELECT a.id, (SELECT e.created_at FROM events e WHERE e.account_id = a.id AND e.position > a.forgotten
                             ORDER BY e.position LIMIT 1)
               FROM accounts a WHERE a.id > ?1 ORDER BY a.id LIMIT ?2";
    let checked = tx.on(ACCOUNTS).query(
        sql,
        params![&after, limit],
        tuple::<(AccountId, Option<Timestamp>)>,
    )?;
    let is_old = |at: Option<Timestamp>| at.is_some_and(|at| at < oldest);
    Ok(OldAccounts {
        last: checked.last().map(|(account, _)| *account),
        accounts: checked
            .into_iter()
            .filter(|(_, at)| is_old(*at))
            .map(|(account, _)| account)
            .collect(),
    })
}

/// What a chunk has removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    pub events: u64,
    /// How many of them were not delivered yet.
    pub pending: u64,
}

struct OldEvent {
    id: EventId,
    position: i64,
    at: Timestamp,
    is_pending: bool,
    order_id: Option<OrderId>,
    attempts: i64,
}

columns! {
    const COLUMNS = "" of events { id, position, created_at, state: String, order_id, attempts }
    fn old_event() -> OldEvent {
        let is_pending = state == DeliveryState::Pending.as_str();
        Ok(OldEvent { id, position, at: created_at, is_pending, order_id, attempts })
    }
}

/// Removes an account's oldest events from before `oldest` with their attempts, at most `limit`, and stores up to which position
/// they are removed.
pub fn remove_chunk(
    tx: &mut Tx<'_>,
    account: AccountId,
    oldest: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<Removed> {
    accounts::lock(tx, account)?;
    let removed_up_to = accounts::event_range(tx, account)?.removed_up_to;
    let old = oldest_events(tx, account, removed_up_to, oldest, limit)?;
    let Some(last) = old.last() else {
        return Ok(Removed::default());
    };
    let ids: Vec<EventId> = old.iter().map(|event| event.id).collect();
    let held_elsewhere = endpoint_deliveries::pending_orders_of(tx, &ids)?;
    remove(tx, "attempts", "event_id", &ids)?;
    endpoint_deliveries::remove_of_events(tx, &ids)?;
    remove(tx, "events", "id", &ids)?;
    tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET forgotten = ?2 WHERE id = ?1",
        params![&account, last.position],
    )?;
    let pending: Vec<&OldEvent> = old.iter().filter(|event| event.is_pending).collect();
    // No event may wait for a removed one.
    let orders: Vec<OrderId> = pending.iter().filter_map(|event| event.order_id).collect();
    let released = deliveries::release_held(tx, &orders, now)?.len()
        + endpoint_deliveries::release_held(tx, None, &held_elsewhere, now)?.len();
    if released > 0 {
        accounts::wake_delivery(tx, account)?;
    }
    Ok(Removed {
        events: old.len() as u64,
        pending: pending.len() as u64,
    })
}

fn oldest_events(
    tx: &mut Tx<'_>,
    account: AccountId,
    removed_up_to: i64,
    oldest: Timestamp,
    limit: i64,
) -> Result<Vec<OldEvent>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM events WHERE account_id = ?1 AND position > ?2 ORDER BY position LIMIT ?3"
    );
    let events = tx.query(&sql, params![&account, removed_up_to, limit], each(old_event))?;
    let mut attempts = 0;
    let fits = |event: &OldEvent| {
        let is_first = attempts == 0;
        attempts += event.attempts;
        event.at < oldest && (is_first || attempts <= MAX_ATTEMPTS)
    };
    Ok(events.into_iter().take_while(fits).collect())
}

/// Removes a chunk of the resends that were finished before `oldest` and returns how many.
pub fn remove_resends(tx: &mut Tx<'_>, oldest: Timestamp, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM resends WHERE id IN
             (SELECT id FROM resends WHERE finished_at IS NOT NULL AND finished_at < ?1 LIMIT ?2)",
        params![oldest, limit],
    )
}
