//! Deliveries that are not finished: what is due, what has to wait, and how an attempt is written down.
//!
//! A delivery is its event's row. The node that delivers for the account reads what is due and remembers what it has
//! read; nobody else touches it, so nothing is marked when it is taken.

use crate::engine::in_list::{filled, marks};
use crate::engine::{Param, Row};
pub use crate::publish::Delivery;
use crate::tables::accounts;
use crate::tables::events;
use crate::tables::events::Attempt;
use crate::{ACCOUNTS, Result, Tx, params};
use garson_core::delivery::{DeliveryState, FAILURES_THAT_HOLD, UndeliveredReason};
use garson_core::id::{AccountId, EventId, NodeId, OrderId};
use garson_core::time::Timestamp;
use std::sync::LazyLock;

const COLUMNS: &str = "id, order_id, position, failures, body, created_at, attempts";

fn delivery(row: &Row<'_>) -> Result<Delivery> {
    Ok(Delivery {
        id: row.get(0)?,
        order_id: row.get(1)?,
        place: row.get(2)?,
        failures: row.get(3)?,
        body: row.get(4)?,
        created_at: row.get(5)?,
        attempts: row.get(6)?,
    })
}

/// Must an order's event wait for the one before it?
pub fn must_wait(tx: &mut Tx<'_>, order: OrderId, sequence: i64) -> Result<bool> {
    let before = tx.query_opt(
        "SELECT sequence FROM events
         WHERE order_id = ?1 AND sequence = ?2 AND state = 'pending' AND failures < ?3",
        params![&order, sequence - 1, FAILURES_THAT_HOLD],
        |row| row.get::<i64>(0),
    )?;
    Ok(before.is_some())
}

/// What belongs to a deleted restaurant is not sent any more; the sweep removes it. The list is that of a small index, and
/// most often empty.
const OF_NO_DELETED: &str = "restaurant_id NOT IN
                             (SELECT r.id FROM restaurants r WHERE r.account_id = ?1 AND r.deleted_at IS NOT NULL)";

/// Those that have not been tried and may be, after a place.
pub fn fresh_after(tx: &mut Tx<'_>, account: AccountId, place: i64, limit: i64) -> Result<Vec<Delivery>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM events
         WHERE account_id = ?1 AND state = 'pending' AND position > ?2 AND failures = 0 AND held = 0
           AND {OF_NO_DELETED}
         ORDER BY position LIMIT ?3"
    );
    tx.query(&sql, params![&account, place, limit], delivery)
}

/// Those whose next attempt is due.
pub fn late(tx: &mut Tx<'_>, account: AccountId, now: Timestamp, limit: i64) -> Result<Vec<Delivery>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM events
         WHERE account_id = ?1 AND state = 'pending' AND failures > 0 AND due_at <= ?2
           AND {OF_NO_DELETED}
         ORDER BY due_at LIMIT ?3"
    );
    tx.query(&sql, params![&account, now, limit], delivery)
}

/// When the next attempt after a moment is due.
pub fn next_late(tx: &mut Tx<'_>, account: AccountId, after: Timestamp) -> Result<Option<Timestamp>> {
    tx.query_opt(
        "SELECT due_at FROM events WHERE account_id = ?1 AND state = 'pending' AND failures > 0 AND due_at > ?2
         ORDER BY due_at LIMIT 1",
        params![&account, after],
        |row| row.get(0),
    )
}

/// Brings attempts forward that lie further ahead than any pause: the clock was ahead when they were planned.
pub fn pull_in(
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

/// How an attempt leaves a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Delivered,
    /// It is tried again then.
    Again {
        due_at: Timestamp,
        reason: UndeliveredReason,
    },
    Failed {
        reason: UndeliveredReason,
    },
    /// There was nowhere to send it.
    Skipped,
}

/// What came of a delivery, to be written down.
#[derive(Clone, Debug)]
pub struct Settlement {
    pub id: EventId,
    pub order_id: Option<OrderId>,
    pub end: End,
    /// The attempt, if one was made.
    pub attempt: Option<Attempt>,
    /// How many attempts the delivery had had when this one began. It is what makes writing a result repeatable: whoever
    /// does not hear whether a commit succeeded writes the same once more.
    pub attempts_before: i64,
}

/// Writes down what came of deliveries, and answers those that waited for them and need not wait any longer. The caller
/// holds the account. Done twice, it counts once.
pub fn settle(tx: &mut Tx<'_>, settlements: &[Settlement], now: Timestamp) -> Result<Vec<Delivery>> {
    let mut rest = settlements;
    while let Some(first) = rest.first() {
        let delivered = delivered_together(rest);
        match delivered.len() {
            0 | 1 => {
                write_one(tx, first)?;
                rest = &rest[1..];
            }
            count => {
                write_delivered(tx, delivered)?;
                rest = &rest[count..];
            }
        }
    }
    let orders: Vec<OrderId> = settlements.iter().filter_map(|it| it.order_id).collect();
    release(tx, &orders, now)
}

/// So many that were delivered are written at once, or as many less.
const TOGETHER: [usize; 2] = [events::MOST_ATTEMPTS, 4];

/// Those at the beginning that can be written together: each delivered, by an attempt, and after as many others.
fn delivered_together(settlements: &[Settlement]) -> &[Settlement] {
    let before = settlements.first().map(|first| first.attempts_before);
    let mut count = 0;
    for settlement in settlements.iter().take(TOGETHER[0]) {
        let is_known = settlements[..count].iter().any(|it| it.id == settlement.id);
        let is_like_the_first = Some(settlement.attempts_before) == before;
        if settlement.attempt.is_none() || settlement.end != End::Delivered || is_known || !is_like_the_first
        {
            break;
        }
        count += 1;
    }
    let together = TOGETHER.into_iter().find(|together| *together <= count);
    &settlements[..together.unwrap_or(1).min(settlements.len())]
}

fn write_delivered(tx: &mut Tx<'_>, delivered: &[Settlement]) -> Result<()> {
    let attempted: Vec<(EventId, &Attempt)> = delivered
        .iter()
        .filter_map(|it| Some((it.id, it.attempt.as_ref()?)))
        .collect();
    let before = delivered.first().map_or(0, |first| first.attempts_before);
    let marks = marks(2, delivered.len());
    let sql = format!("UPDATE events SET {DELIVERED} WHERE attempts = ?1 AND id IN ({marks})");
    let mut params: Vec<Param<'_>> = vec![before.into()];
    params.extend(delivered.iter().map(|it| Param::from(&it.id)));
    if tx.write_many(&sql, &params, delivered.len() as u64)? {
        return events::write_attempts(tx, &attempted);
    }
    // Some have been removed while the attempts were under way, or have had other attempts meanwhile, or this one has been
    // written before. The others are delivered now, and their attempts are still to be written.
    let sql = format!(
        "SELECT id FROM events WHERE state = 'delivered' AND attempts = ?1 AND id IN ({marks})
           AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.event_id = events.id AND a.number = events.attempts)"
    );
    params[0] = (before + 1).into();
    let counted: Vec<EventId> = tx.query(&sql, &params, |row| row.get(0))?;
    for settlement in delivered {
        let Some(attempt) = &settlement.attempt else {
            continue;
        };
        if events::is_attempt_written(tx, settlement.id, attempt)? {
            continue;
        }
        match counted.contains(&settlement.id) {
            true => events::write_attempts(tx, &[(settlement.id, attempt)])?,
            false => write_one(tx, settlement)?,
        }
    }
    Ok(())
}

fn write_one(tx: &mut Tx<'_>, settlement: &Settlement) -> Result<()> {
    let Some(attempt) = &settlement.attempt else {
        return write_end(tx, settlement, None).map(drop);
    };
    let mut is_counted = write_end(tx, settlement, Some(settlement.attempts_before))?;
    if !is_counted && !events::is_attempt_written(tx, settlement.id, attempt)? {
        // Another attempt was made meanwhile, by hand; or the event has been removed.
        is_counted = write_end(tx, settlement, None)?;
    }
    match is_counted {
        true => events::write_attempts(tx, &[(settlement.id, attempt)]),
        false => Ok(()),
    }
}

/// What is written into the row of an event that was delivered by an attempt.
const DELIVERED: &str =
    "state = 'delivered', reason = NULL, due_at = NULL, held = 0, attempts = attempts + 1";

/// Writes how a delivery stands now; `false` when it is gone, or has not had so many attempts before.
fn write_end(tx: &mut Tx<'_>, settlement: &Settlement, before: Option<i64>) -> Result<bool> {
    let id = &settlement.id;
    let (state, reason, due_at) = match (settlement.end, before) {
        (End::Delivered, Some(before)) => {
            let sql = format!("UPDATE events SET {DELIVERED} WHERE id = ?1 AND attempts = ?2");
            return tx.write_one(&sql, params![id, before]);
        }
        (End::Delivered, None) => {
            let sql = format!("UPDATE events SET {DELIVERED} WHERE id = ?1");
            return tx.write_one(&sql, params![id]);
        }
        (End::Again { due_at, reason }, _) => (DeliveryState::Pending, reason, Some(due_at)),
        (End::Failed { reason }, _) => (DeliveryState::Failed, reason, None),
        (End::Skipped, _) => (DeliveryState::Skipped, UndeliveredReason::UrlRemoved, None),
    };
    let made = i64::from(settlement.attempt.is_some());
    // It may have been settled by hand meanwhile: then the attempt is only noted.
    let sql = "UPDATE events SET attempts = attempts + ?5, held = 0,
                      failures = CASE WHEN state = 'pending' THEN failures + ?5 ELSE failures END,
                      reason = CASE WHEN state = 'pending' THEN ?3 ELSE reason END,
                      due_at = CASE WHEN state = 'pending' THEN ?4 ELSE due_at END,
                      state = CASE WHEN state = 'pending' THEN ?2 ELSE state END
               WHERE id = ?1 AND (CAST(?6 AS BIGINT) IS NULL OR attempts = ?6)";
    let params = params![id, state.as_str(), reason.as_str(), due_at, made, before];
    tx.write_one(sql, params)
}

/// So many orders are asked about at once, or so many.
const AT_ONCE: [usize; 2] = [16, 64];
/// Lets go what waits in so many orders.
static RELEASE: LazyLock<[String; 2]> = LazyLock::new(|| AT_ONCE.map(release_of));

fn release_of(count: usize) -> String {
    format!(
        "UPDATE events SET held = 0, reason = ?3, due_at = ?1
         WHERE order_id IN ({}) AND held = 1 AND state = 'pending'
           AND NOT EXISTS (SELECT 1 FROM events b WHERE b.order_id = events.order_id
                             AND b.sequence = events.sequence - 1 AND b.state = 'pending' AND b.failures < ?2)
         RETURNING {COLUMNS}",
        marks(4, count)
    )
}

/// Lets go what waited for an earlier event of these orders and need not wait any longer.
pub(crate) fn release(tx: &mut Tx<'_>, orders: &[OrderId], now: Timestamp) -> Result<Vec<Delivery>> {
    let mut released = Vec::new();
    for some in orders.chunks(AT_ONCE[1]) {
        let size = usize::from(some.len() > AT_ONCE[0]);
        let mut params: Vec<Param<'_>> = vec![
            now.into(),
            FAILURES_THAT_HOLD.into(),
            UndeliveredReason::Waiting.as_str().into(),
        ];
        params.extend(filled(some, AT_ONCE[size]).map(Param::from));
        released.extend(tx.write_returning(&RELEASE[size], &params, delivery)?);
    }
    Ok(released)
}

/// An account with deliveries that are not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub account: AccountId,
    /// The node that delivers for it, if that is still there.
    pub node: Option<NodeId>,
    /// The account's last place and its `deliver_version`.
    pub last_place: i64,
    pub version: i64,
    /// When the oldest of them happened, and when the first one that has failed is due.
    pub oldest_at: Timestamp,
    pub late_at: Option<Timestamp>,
}

/// The accounts after an id that have something to deliver.
pub fn waiting(tx: &mut Tx<'_>, after: Option<AccountId>, limit: usize) -> Result<Vec<Waiting>> {
    let mut found = Vec::new();
    let mut last = after.map_or_else(Vec::new, |account| account.as_bytes().to_vec());
    while found.len() < limit {
        let sql = "SELECT account_id, created_at FROM events WHERE state = 'pending' AND account_id > ?1
                   ORDER BY account_id, position LIMIT 1";
        let first = tx.query_opt(sql, params![&last], |row| {
            Ok((row.get::<AccountId>(0)?, row.get(1)?))
        })?;
        let Some((account, oldest_at)) = first else { break };
        last = account.as_bytes().to_vec();
        let sql = "SELECT position, deliver_version, CASE WHEN deliver_node IN (SELECT id FROM nodes)
                          THEN deliver_node ELSE NULL END
                   FROM accounts WHERE id = ?1";
        let row = tx.on(ACCOUNTS).query_opt(sql, params![&account], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        let Some((last_place, version, node)) = row else {
            continue;
        };
        found.push(Waiting {
            account,
            node,
            last_place,
            version,
            oldest_at,
            late_at: next_late(tx, account, Timestamp::from_millis(0))?,
        });
    }
    Ok(found)
}

/// What a node that delivers for an account has to know about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub node: Option<NodeId>,
    pub last_place: i64,
    pub version: i64,
}

pub fn standing(tx: &mut Tx<'_>, account: AccountId) -> Result<Option<Standing>> {
    let sql = "SELECT deliver_node, position, deliver_version FROM accounts WHERE id = ?1";
    tx.on(ACCOUNTS).query_opt(sql, params![&account], |row| {
        Ok(Standing {
            node: row.get(0)?,
            last_place: row.get(1)?,
            version: row.get(2)?,
        })
    })
}

/// How many deliveries are not finished; counted up to a limit.
pub fn count_pending(tx: &mut Tx<'_>, limit: i64) -> Result<i64> {
    // In the order of the index: otherwise PostgreSQL may think that reading the table from its start is quicker.
    let sql = "SELECT COUNT(*) FROM (SELECT account_id FROM events WHERE state = 'pending'
                                     ORDER BY account_id, position LIMIT ?1) AS part";
    tx.query_one(sql, params![limit], |row| row.get(0))
}

/// How many deliveries of an account are not finished, counted up to a limit, and when the oldest of them happened.
pub fn pending_of(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<(i64, Option<Timestamp>)> {
    let sql = "SELECT COUNT(*), MIN(created_at) FROM (SELECT created_at FROM events
                   WHERE account_id = ?1 AND state = 'pending' ORDER BY position LIMIT ?2) AS part";
    tx.query_one(sql, params![&account, limit], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// How many deliveries of an account have failed of events since a moment; of the newest so many that have failed.
pub fn count_failed(tx: &mut Tx<'_>, account: AccountId, since: Timestamp, newest: i64) -> Result<i64> {
    // As a range, in an order that only one index has.
    let sql = "SELECT COUNT(*) FROM (SELECT created_at FROM events
                   WHERE account_id = ?1 AND state <> 'pending' AND state >= 'failed' AND state <= 'failed'
                   ORDER BY state DESC, position DESC LIMIT ?3) AS part
               WHERE created_at >= ?2";
    tx.query_one(sql, params![&account, since, newest], |row| row.get(0))
}

/// How many of an account's newest unfinished deliveries up to a place have not been tried yet.
pub fn count_untried(tx: &mut Tx<'_>, account: AccountId, up_to: i64, newest: i64) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM (SELECT failures FROM events
                                     WHERE account_id = ?1 AND state = 'pending' AND position <= ?2
                                     ORDER BY position DESC LIMIT ?3) AS part
               WHERE failures = 0";
    tx.query_one(sql, params![&account, up_to, newest], |row| row.get(0))
}

/// Makes events that were not delivered due again, with all their attempts; says how many. They are given in the order of
/// their places, and the caller holds the account. One whose predecessor in its order is on its way, or is made due with it,
/// waits for that.
pub fn requeue(tx: &mut Tx<'_>, account: AccountId, events: &[EventId], now: Timestamp) -> Result<u64> {
    let marks = marks(6, AT_ONCE[0]);
    let waits = format!(
        "CASE WHEN EXISTS (SELECT 1 FROM events b WHERE b.order_id = events.order_id
                             AND b.sequence = events.sequence - 1
                             AND (b.state = 'pending' AND b.failures < ?3
                                  OR b.id IN ({marks}) AND b.state IN ('failed', 'skipped')))"
    );
    let sql = format!(
        "UPDATE events SET state = 'pending', failures = 0, due_at = ?2,
                held = {waits} THEN 1 ELSE 0 END, reason = {waits} THEN ?4 ELSE ?5 END
         WHERE id IN ({marks}) AND account_id = ?1 AND state IN ('failed', 'skipped')"
    );
    let mut requeued = 0;
    for some in events.chunks(AT_ONCE[0]) {
        let mut params: Vec<Param<'_>> = vec![
            (&account).into(),
            now.into(),
            FAILURES_THAT_HOLD.into(),
            UndeliveredReason::Earlier.as_str().into(),
            UndeliveredReason::Waiting.as_str().into(),
        ];
        params.extend(filled(some, AT_ONCE[0]).map(Param::from));
        requeued += tx.execute(&sql, &params)?;
    }
    if requeued > 0 {
        accounts::look_again(tx, account)?;
    }
    Ok(requeued)
}
