//! Writes the outcomes of delivery attempts.

use super::row::{COLUMNS, delivery};
use crate::engine::Param;
use crate::engine::in_list::{filled, marks};
use crate::publish::Delivery;
use crate::tables::attempts;
use crate::tables::attempts::Attempt;
use crate::tables::row::{each, value};
use crate::{Result, Tx, params};
use garson_core::delivery::{DeliveryState, FAILURES_THAT_HOLD, UndeliveredReason};
use garson_core::id::{EventId, OrderId};
use garson_core::time::Timestamp;
use std::sync::LazyLock;

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Delivered,
    /// The next attempt is due at `due_at`.
    Retry {
        due_at: Timestamp,
        reason: UndeliveredReason,
    },
    Failed {
        reason: UndeliveredReason,
    },
    /// The account has no webhook.
    Skipped,
}

/// The outcome of a delivery, to be written.
#[derive(Clone, Debug)]
pub struct Settlement {
    pub id: EventId,
    pub order_id: Option<OrderId>,
    pub outcome: Outcome,
    /// The attempt, if one was made.
    pub attempt: Option<Attempt>,
    /// How many attempts the delivery had when this one began. It makes writing idempotent: a node that does not learn
    /// whether its commit succeeded writes the same settlement again.
    pub attempts_before: i64,
}

/// Writes the outcomes of deliveries and returns the held deliveries that they release. The caller holds the account's lock.
/// Idempotent.
pub fn settle(tx: &mut Tx<'_>, settlements: &[Settlement], now: Timestamp) -> Result<Vec<Delivery>> {
    let mut rest = settlements;
    while let Some(first) = rest.first() {
        let delivered = delivered_prefix(rest);
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
    release_held(tx, &orders, now)
}

/// How many delivered settlements one statement writes; few sizes, so that each statement is prepared once.
const BATCH_SIZES: [usize; 2] = [attempts::MAX_PER_STATEMENT, 4];

/// The settlements at the start that one statement can write: each delivered by an attempt, after equally many others.
fn delivered_prefix(settlements: &[Settlement]) -> &[Settlement] {
    let before = settlements.first().map(|first| first.attempts_before);
    let mut count = 0;
    for settlement in settlements.iter().take(BATCH_SIZES[0]) {
        let is_known = settlements[..count].iter().any(|it| it.id == settlement.id);
        let has_same_count = Some(settlement.attempts_before) == before;
        if settlement.attempt.is_none()
            || settlement.outcome != Outcome::Delivered
            || is_known
            || !has_same_count
        {
            break;
        }
        count += 1;
    }
    let size = BATCH_SIZES.into_iter().find(|size| *size <= count);
    &settlements[..size.unwrap_or(1).min(settlements.len())]
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
        return attempts::insert_counted(tx, &attempted);
    }
    // Some events were removed during the attempts, have had other attempts since, or have this one recorded already. The
    // others are delivered now, and only their attempts are missing.
    let sql = format!(
        "SELECT id FROM events WHERE state = 'delivered' AND attempts = ?1 AND id IN ({marks})
           AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.event_id = events.id AND a.number = events.attempts)"
    );
    params[0] = (before + 1).into();
    let counted: Vec<EventId> = tx.query(&sql, &params, value)?;
    for settlement in delivered {
        let Some(attempt) = &settlement.attempt else {
            continue;
        };
        if attempts::is_recorded(tx, settlement.id, attempt)? {
            continue;
        }
        if counted.contains(&settlement.id) {
            attempts::insert_counted(tx, &[(settlement.id, attempt)])?;
        } else {
            write_one(tx, settlement)?;
        }
    }
    Ok(())
}

fn write_one(tx: &mut Tx<'_>, settlement: &Settlement) -> Result<()> {
    let Some(attempt) = &settlement.attempt else {
        write_outcome(tx, settlement, None)?;
        return Ok(());
    };
    let mut is_counted = write_outcome(tx, settlement, Some(settlement.attempts_before))?;
    if !is_counted && !attempts::is_recorded(tx, settlement.id, attempt)? {
        // There was another attempt meanwhile, made manually; or the event was removed.
        is_counted = write_outcome(tx, settlement, None)?;
    }
    if is_counted {
        attempts::insert_counted(tx, &[(settlement.id, attempt)])?;
    }
    Ok(())
}

/// The columns of an event that an attempt has delivered.
const DELIVERED: &str =
    "state = 'delivered', reason = NULL, due_at = NULL, held = 0, attempts = attempts + 1";

/// Writes the new state of a delivery; `false` when the event no longer exists or had another number of attempts.
fn write_outcome(tx: &mut Tx<'_>, settlement: &Settlement, before: Option<i64>) -> Result<bool> {
    let id = &settlement.id;
    let (state, reason, due_at) = match (settlement.outcome, before) {
        (Outcome::Delivered, Some(before)) => {
            let sql = format!("UPDATE events SET {DELIVERED} WHERE id = ?1 AND attempts = ?2");
            return tx.write_one(&sql, params![id, before]);
        }
        (Outcome::Delivered, None) => {
            let sql = format!("UPDATE events SET {DELIVERED} WHERE id = ?1");
            return tx.write_one(&sql, params![id]);
        }
        (Outcome::Retry { due_at, reason }, _) => (DeliveryState::Pending, reason, Some(due_at)),
        (Outcome::Failed { reason }, _) => (DeliveryState::Failed, reason, None),
        (Outcome::Skipped, _) => (DeliveryState::Skipped, UndeliveredReason::UrlRemoved, None),
    };
    let made = i64::from(settlement.attempt.is_some());
    // A manual attempt may have settled it meanwhile: then this attempt is only counted.
    let sql = "UPDATE events SET attempts = attempts + ?5, held = 0,
                      failures = CASE WHEN state = 'pending' THEN failures + ?5 ELSE failures END,
                      reason = CASE WHEN state = 'pending' THEN ?3 ELSE reason END,
                      due_at = CASE WHEN state = 'pending' THEN ?4 ELSE due_at END,
                      state = CASE WHEN state = 'pending' THEN ?2 ELSE state END
               WHERE id = ?1 AND (CAST(?6 AS BIGINT) IS NULL OR attempts = ?6)";
    let params = params![id, state.as_str(), reason.as_str(), due_at, made, before];
    tx.write_one(sql, params)
}

/// How many orders one statement releases.
const RELEASE_SIZES: [usize; 2] = [16, 64];
static RELEASE: LazyLock<[String; 2]> = LazyLock::new(|| RELEASE_SIZES.map(release_sql));

fn release_sql(count: usize) -> String {
    format!(
        "UPDATE events SET held = 0, reason = ?3, due_at = ?1
         WHERE order_id IN ({}) AND held = 1 AND state = 'pending'
           AND NOT EXISTS (SELECT 1 FROM events b WHERE b.order_id = events.order_id
                             AND b.sequence < events.sequence AND b.state = 'pending' AND b.failures < ?2)
         RETURNING {COLUMNS}",
        marks(4, count)
    )
}

/// Releases the held deliveries of these orders whose predecessors no longer hold them back.
pub(crate) fn release_held(tx: &mut Tx<'_>, orders: &[OrderId], now: Timestamp) -> Result<Vec<Delivery>> {
    let mut released = Vec::new();
    for chunk in orders.chunks(RELEASE_SIZES[1]) {
        let size = usize::from(chunk.len() > RELEASE_SIZES[0]);
        let mut params: Vec<Param<'_>> = vec![
            now.into(),
            FAILURES_THAT_HOLD.into(),
            UndeliveredReason::Waiting.as_str().into(),
        ];
        params.extend(filled(chunk, RELEASE_SIZES[size]).map(Param::from));
        released.extend(tx.write_returning(&RELEASE[size], &params, each(delivery))?);
    }
    Ok(released)
}
