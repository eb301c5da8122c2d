//! Sending again everything that has failed since a moment: a piece of work that is done in small chunks, and remembers
//! how far it has come.
//!
//! It goes through the places that the account had when it was started, each once. What fails again behind it is not sent
//! a third time, and what happens after its start is not touched.

use crate::engine::Row;
use crate::tables::{accounts, deliveries};
use crate::{ACCOUNTS, Result, Tx, params};
use garson_core::delivery::DeliveryState;
use garson_core::id::{AccountId, EventId, NodeId, ResendId};
use garson_core::time::Timestamp;

/// What to send again, and how far that has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resend {
    pub id: ResendId,
    pub account: AccountId,
    /// Events since this moment.
    pub since: Timestamp,
    /// Also those that had nowhere to go.
    pub with_skipped: bool,
    /// The last place that it goes to, and the one up to which it has come.
    pub last_place: i64,
    pub reached: i64,
    /// How many there were when it was started, and how many of them are due again by now.
    pub found: i64,
    pub requeued: i64,
    pub created_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

const COLUMNS: &str =
    "id, account_id, since, with_skipped, last_place, reached, found, requeued, created_at, finished_at";

fn resend(row: &Row<'_>) -> Result<Resend> {
    Ok(Resend {
        id: row.get(0)?,
        account: row.get(1)?,
        since: row.get(2)?,
        with_skipped: row.get(3)?,
        last_place: row.get(4)?,
        reached: row.get(5)?,
        found: row.get(6)?,
        requeued: row.get(7)?,
        created_at: row.get(8)?,
        finished_at: row.get(9)?,
    })
}

/// The states of what is sent again.
fn states(with_skipped: bool) -> &'static [DeliveryState] {
    match with_skipped {
        true => &[DeliveryState::Failed, DeliveryState::Skipped],
        false => &[DeliveryState::Failed],
    }
}

/// Looks through an account and says what sending again would have to do; nothing is written.
pub fn plan(
    tx: &mut Tx<'_>,
    id: ResendId,
    account: AccountId,
    since: Timestamp,
    with_skipped: bool,
    now: Timestamp,
) -> Result<Resend> {
    let last_place = accounts::last_place(tx, account)?;
    let reached = place_before(tx, account, since, last_place)?;
    let mut found = 0;
    for state in states(with_skipped) {
        let sql = "SELECT COUNT(*) FROM events
                   WHERE account_id = ?1 AND state <> 'pending'
                         AND (state, position) > (?2, ?3) AND (state, position) <= (?2, ?4)";
        let params = params![&account, state.as_str(), reached, last_place];
        found += tx.query_one(sql, params, |row| row.get::<i64>(0))?;
    }
    Ok(Resend {
        id,
        account,
        since,
        with_skipped,
        last_place,
        reached,
        found,
        requeued: 0,
        created_at: now,
        finished_at: None,
    })
}

/// The place behind which everything has happened since a moment. Moments follow places, so halving finds it.
fn place_before(tx: &mut Tx<'_>, account: AccountId, since: Timestamp, last_place: i64) -> Result<i64> {
    // Up to `low` everything happened before, behind `high` nothing did.
    let (mut low, mut high) = (0, last_place);
    while low < high {
        let middle = low + (high - low) / 2;
        let next = tx.query_opt(
            "SELECT position, created_at FROM events WHERE account_id = ?1 AND position > ?2 AND position <= ?3
             ORDER BY position LIMIT 1",
            params![&account, middle, high],
            |row| Ok((row.get::<i64>(0)?, row.get::<Timestamp>(1)?)),
        )?;
        match next {
            Some((place, at)) if at < since => low = place,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// Writes down what is to be done.
pub fn start(tx: &mut Tx<'_>, resend: &Resend) -> Result<()> {
    tx.execute(
        "INSERT INTO resends (id, account_id, since, with_skipped, last_place, reached, found, requeued, created_at,
                              finished_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            &resend.id,
            &resend.account,
            resend.since,
            resend.with_skipped,
            resend.last_place,
            resend.reached,
            resend.found,
            resend.requeued,
            resend.created_at,
            resend.finished_at
        ],
    )?;
    Ok(())
}

pub fn find(tx: &mut Tx<'_>, account: AccountId, id: ResendId) -> Result<Option<Resend>> {
    let sql = format!("SELECT {COLUMNS} FROM resends WHERE id = ?1 AND account_id = ?2");
    tx.query_opt(&sql, params![&id, &account], resend)
}

/// The account's newest ones, the newest first.
pub fn list(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<Vec<Resend>> {
    let sql = format!("SELECT {COLUMNS} FROM resends WHERE account_id = ?1 ORDER BY id DESC LIMIT ?2");
    tx.query(&sql, params![&account, limit], resend)
}

/// Those of an account that are not finished, the oldest first.
pub fn open_of(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<Resend>> {
    let sql =
        format!("SELECT {COLUMNS} FROM resends WHERE account_id = ?1 AND finished_at IS NULL ORDER BY id");
    tx.query(&sql, params![&account], resend)
}

/// An account's oldest piece of work that is not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    pub account: AccountId,
    pub id: ResendId,
    /// The node that delivers for the account, if that is still there.
    pub node: Option<NodeId>,
    /// How many of the newest deliveries that it, or another one, has made due have not been tried yet.
    pub untried: i64,
}

/// The next account after another one that has something open. Of the newest so many deliveries it is said how many have not
/// been tried.
pub fn next_open(tx: &mut Tx<'_>, after: Option<AccountId>, newest: i64) -> Result<Option<Open>> {
    let after = after.map_or_else(Vec::new, |account| account.as_bytes().to_vec());
    let sql = "SELECT account_id, id, reached, last_place FROM resends WHERE finished_at IS NULL AND account_id > ?1
               ORDER BY account_id, id LIMIT 1";
    let found = tx.query_opt(sql, params![&after], |row| {
        Ok((
            row.get::<AccountId>(0)?,
            row.get::<ResendId>(1)?,
            row.get::<i64>(2)?,
            row.get::<i64>(3)?,
        ))
    })?;
    let Some((account, id, reached, last_place)) = found else {
        return Ok(None);
    };
    // Behind the place that it has come to may be what another one has made due.
    let of_its_own = deliveries::count_untried(tx, account, reached, newest)?;
    let of_all = deliveries::count_untried(tx, account, last_place, newest)?;
    let sql = "SELECT deliver_node FROM accounts WHERE id = ?1 AND deliver_node IN (SELECT id FROM nodes)";
    let node = tx
        .on(ACCOUNTS)
        .query_opt(sql, params![&account], |row| row.get::<Option<NodeId>>(0))?;
    Ok(Some(Open {
        account,
        id,
        node: node.flatten(),
        untried: of_its_own.max(of_all),
    }))
}

/// Does one chunk, and answers how far it has come; nothing when it is finished already.
pub fn step(
    tx: &mut Tx<'_>,
    account: AccountId,
    id: ResendId,
    limit: usize,
    now: Timestamp,
) -> Result<Option<Resend>> {
    // Whoever else wants to do the same chunk waits here, and then sees that it is done.
    accounts::lock(tx, account)?;
    let sql = format!(
        "SELECT {COLUMNS} FROM resends WHERE id = ?1 AND account_id = ?2 AND finished_at IS NULL {{lock}}"
    );
    let Some(mut resend) = tx.query_opt(&sql, params![&id, &account], resend)? else {
        return Ok(None);
    };
    if accounts::webhook(tx, account)?.is_none() {
        // They would only be skipped.
        resend.finished_at = Some(now);
    } else {
        let chunk = next_events(tx, &resend, limit)?;
        let last = chunk.last().map(|event| event.place);
        let (reached, finished_at) = match last.filter(|_| chunk.len() == limit) {
            Some(place) => (place, None),
            None => (resend.last_place, Some(now)),
        };
        let ids: Vec<EventId> = chunk.iter().filter(|it| !it.is_deleted).map(|it| it.id).collect();
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

struct Found {
    id: EventId,
    place: i64,
    /// Its restaurant is gone for everybody, and it soon is too.
    is_deleted: bool,
}

/// The next events that are to be sent again.
fn next_events(tx: &mut Tx<'_>, resend: &Resend, limit: usize) -> Result<Vec<Found>> {
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
            resend.last_place,
            i64::try_from(limit).unwrap_or(i64::MAX)
        ];
        found.extend(tx.query(sql, params, |row| {
            Ok(Found {
                id: row.get(0)?,
                place: row.get(1)?,
                is_deleted: row.get::<i64>(2)? > 0,
            })
        })?);
    }
    found.sort_by_key(|event| event.place);
    found.truncate(limit);
    Ok(found)
}
