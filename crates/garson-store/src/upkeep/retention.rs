//! Forgetting events when their time is over, oldest first, in chunks so small that nobody else's writes notice.
//!
//! Within an account moments follow places, so what is too old is where the account's events begin: no index by age is
//! needed.

use crate::engine::in_list::remove;
use crate::tables::accounts;
use crate::tables::deliveries;
use crate::{ACCOUNTS, Result, Tx, params};
use garson_core::id::{AccountId, EventId, OrderId};
use garson_core::time::Timestamp;

/// Attempts that are removed in one chunk, unless a single event has more.
const MAX_ATTEMPTS: i64 = 1_000;

/// Some accounts that were looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// Those with events from before the moment.
    pub with_old: Vec<AccountId>,
    /// The last one that was looked at; none when there are no more.
    pub last: Option<AccountId>,
}

/// Looks at the next accounts after another one.
pub fn look(tx: &mut Tx<'_>, after: Option<AccountId>, oldest: Timestamp, limit: i64) -> Result<Looked> {
    let after = after.map_or_else(Vec::new, |account| account.as_bytes().to_vec());
    // What is gone lies up to `forgotten`: nobody need look there for what may be left.
    let sql = "SELECT a.id, (SELECT e.created_at FROM events e WHERE e.account_id = a.id AND e.position > a.forgotten
                             ORDER BY e.position LIMIT 1)
               FROM accounts a WHERE a.id > ?1 ORDER BY a.id LIMIT ?2";
    let accounts = tx.on(ACCOUNTS).query(sql, params![&after, limit], |row| {
        Ok((row.get::<AccountId>(0)?, row.get::<Option<Timestamp>>(1)?))
    })?;
    let is_old = |at: Option<Timestamp>| at.is_some_and(|at| at < oldest);
    Ok(Looked {
        last: accounts.last().map(|(account, _)| *account),
        with_old: accounts
            .into_iter()
            .filter(|(_, at)| is_old(*at))
            .map(|(account, _)| account)
            .collect(),
    })
}

/// What a chunk has removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub events: u64,
    /// How many of them were still to be delivered.
    pub pending: u64,
}

struct Old {
    id: EventId,
    place: i64,
    at: Timestamp,
    is_pending: bool,
    order_id: Option<OrderId>,
    attempts: i64,
}

/// Removes an account's oldest events from before a moment, so many at most, with their attempts; and remembers up to where
/// they are gone.
pub fn chunk(
    tx: &mut Tx<'_>,
    account: AccountId,
    oldest: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<Forgotten> {
    accounts::lock(tx, account)?;
    let forgotten = accounts::span(tx, account)?.forgotten;
    let old = oldest_events(tx, account, forgotten, oldest, limit)?;
    let Some(last) = old.last() else {
        return Ok(Forgotten::default());
    };
    let ids: Vec<EventId> = old.iter().map(|event| event.id).collect();
    remove(tx, "attempts", "event_id", &ids)?;
    remove(tx, "events", "id", &ids)?;
    tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET forgotten = ?2 WHERE id = ?1",
        params![&account, last.place],
    )?;
    let pending: Vec<&Old> = old.iter().filter(|event| event.is_pending).collect();
    // Nothing must wait for an event that is gone.
    let orders: Vec<OrderId> = pending.iter().filter_map(|event| event.order_id).collect();
    if !deliveries::release(tx, &orders, now)?.is_empty() {
        accounts::look_again(tx, account)?;
    }
    Ok(Forgotten {
        events: old.len() as u64,
        pending: pending.len() as u64,
    })
}

fn oldest_events(
    tx: &mut Tx<'_>,
    account: AccountId,
    forgotten: i64,
    oldest: Timestamp,
    limit: i64,
) -> Result<Vec<Old>> {
    let events = tx.query(
        "SELECT id, position, created_at, state, order_id, attempts FROM events
         WHERE account_id = ?1 AND position > ?2 ORDER BY position LIMIT ?3",
        params![&account, forgotten, limit],
        |row| {
            Ok(Old {
                id: row.get(0)?,
                place: row.get(1)?,
                at: row.get(2)?,
                is_pending: row.get::<String>(3)? == "pending",
                order_id: row.get(4)?,
                attempts: row.get(5)?,
            })
        },
    )?;
    let mut attempts = 0;
    let fits = |event: &Old| {
        let is_first = attempts == 0;
        attempts += event.attempts;
        event.at < oldest && (is_first || attempts <= MAX_ATTEMPTS)
    };
    Ok(events.into_iter().take_while(fits).collect())
}

/// Removes some of the resends that were finished before a moment; says how many.
pub fn resends(tx: &mut Tx<'_>, oldest: Timestamp, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM resends WHERE id IN
             (SELECT id FROM resends WHERE finished_at IS NOT NULL AND finished_at < ?1 LIMIT ?2)",
        params![oldest, limit],
    )
}
