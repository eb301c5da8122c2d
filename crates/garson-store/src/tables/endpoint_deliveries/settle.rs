//! Writes the outcomes of attempts at an endpoint.

use super::attempts::{insert, insert_last, is_recorded};
use super::row::{COLUMNS, delivery};
use crate::engine::Param;
use crate::engine::in_list::{filled, marks};
use crate::publish::Delivery;
use crate::tables::deliveries::{Outcome, Settlement};
use crate::tables::row::{each, value};
use crate::{Result, Tx, params};
use garson_core::delivery::{DeliveryState, FAILURES_THAT_HOLD, UndeliveredReason};
use garson_core::id::{EndpointId, EventId, OrderId};
use garson_core::time::Timestamp;

/// How many delivered settlements one statement writes; few sizes, so that each statement is prepared once.
const BATCH_SIZES: [usize; 2] = [16, 4];

/// Writes the outcomes of deliveries and returns the held deliveries that they release. `skipped` is the reason of those that were
/// skipped. The caller holds the account's lock. Idempotent.
pub fn settle(
    tx: &mut Tx<'_>,
    endpoint: EndpointId,
    settlements: &[Settlement],
    skipped: UndeliveredReason,
    now: Timestamp,
) -> Result<Vec<Delivery>> {
    let mut rest = settlements;
    while let Some(first) = rest.first() {
        let count = delivered_prefix(rest);
        if count > 1 {
            write_delivered(tx, endpoint, &rest[..count])?;
            rest = &rest[count..];
        } else {
            write_one(tx, endpoint, first, skipped)?;
            rest = &rest[1..];
        }
    }
    let orders: Vec<OrderId> = settlements.iter().filter_map(|it| it.order_id).collect();
    release_held(tx, Some(endpoint), &orders, now)
}

/// How many settlements at the start one statement can write: each delivered by an attempt, after equally many others.
fn delivered_prefix(settlements: &[Settlement]) -> usize {
    let before = settlements.first().map(|first| first.attempts_before);
    let mut count = 0;
    for settlement in settlements.iter().take(BATCH_SIZES[0]) {
        let is_known = settlements[..count].iter().any(|it| it.id == settlement.id);
        if settlement.attempt.is_none()
            || settlement.outcome != Outcome::Delivered
            || is_known
            || Some(settlement.attempts_before) != before
        {
            break;
        }
        count += 1;
    }
    BATCH_SIZES.into_iter().find(|size| *size <= count).unwrap_or(1)
}

/// The columns of a delivery that an attempt has made.
const DELIVERED: &str =
    "state = 'delivered', reason = NULL, due_at = NULL, held = 0, attempts = attempts + 1";

fn write_delivered(tx: &mut Tx<'_>, endpoint: EndpointId, delivered: &[Settlement]) -> Result<()> {
    let before = delivered.first().map_or(0, |first| first.attempts_before);
    let marks = marks(3, delivered.len());
    let sql = format!(
        "UPDATE endpoint_deliveries SET {DELIVERED} WHERE event_id IN ({marks}) AND endpoint_id = ?1 AND attempts = ?2"
    );
    let mut params: Vec<Param<'_>> = vec![(&endpoint).into(), before.into()];
    params.extend(delivered.iter().map(|it| Param::from(&it.id)));
    if tx.write_many(&sql, &params, delivered.len() as u64)? {
        for settlement in delivered {
            if let Some(attempt) = &settlement.attempt {
                insert(tx, endpoint, settlement.id, before + 1, attempt)?;
            }
        }
        return Ok(());
    }
    // Some were removed during the attempts, have had other attempts since, or have this one recorded already. The others are
    // delivered now, and only their attempts are missing.
    let sql = format!(
        "SELECT event_id FROM endpoint_deliveries d
         WHERE d.event_id IN ({marks}) AND d.endpoint_id = ?1 AND d.attempts = ?2 AND d.state = 'delivered'
           AND NOT EXISTS (SELECT 1 FROM endpoint_attempts a WHERE a.event_id = d.event_id
                             AND a.endpoint_id = d.endpoint_id AND a.number = d.attempts)"
    );
    params[1] = (before + 1).into();
    let counted: Vec<EventId> = tx.query(&sql, &params, value)?;
    for settlement in delivered {
        let Some(attempt) = &settlement.attempt else {
            continue;
        };
        if is_recorded(tx, endpoint, settlement.id, attempt)? {
            continue;
        }
        if counted.contains(&settlement.id) {
            insert(tx, endpoint, settlement.id, before + 1, attempt)?;
        } else {
            write_one(tx, endpoint, settlement, UndeliveredReason::UrlRemoved)?;
        }
    }
    Ok(())
}

fn write_one(
    tx: &mut Tx<'_>,
    endpoint: EndpointId,
    settlement: &Settlement,
    skipped: UndeliveredReason,
) -> Result<()> {
    let Some(attempt) = &settlement.attempt else {
        write_outcome(tx, endpoint, settlement, None, skipped)?;
        return Ok(());
    };
    let before = settlement.attempts_before;
    if write_outcome(tx, endpoint, settlement, Some(before), skipped)? {
        return insert(tx, endpoint, settlement.id, before + 1, attempt);
    }
    // There was another attempt meanwhile, made manually; or the event was removed.
    if !is_recorded(tx, endpoint, settlement.id, attempt)?
        && write_outcome(tx, endpoint, settlement, None, skipped)?
    {
        insert_last(tx, endpoint, settlement.id, attempt)?;
    }
    Ok(())
}

/// Writes the new state of a delivery; `false` when it no longer exists or had another number of attempts.
fn write_outcome(
    tx: &mut Tx<'_>,
    endpoint: EndpointId,
    settlement: &Settlement,
    before: Option<i64>,
    skipped: UndeliveredReason,
) -> Result<bool> {
    let id = &settlement.id;
    let (state, reason, due_at) = match settlement.outcome {
        Outcome::Delivered => {
            let sql = format!(
                "UPDATE endpoint_deliveries SET {DELIVERED}
                 WHERE event_id = ?1 AND endpoint_id = ?2 AND (CAST(?3 AS BIGINT) IS NULL OR attempts = ?3)"
            );
            return tx.write_one(&sql, params![id, &endpoint, before]);
        }
        Outcome::Retry { due_at, reason } => (DeliveryState::Pending, reason, Some(due_at)),
        Outcome::Failed { reason } => (DeliveryState::Failed, reason, None),
        Outcome::Skipped => (DeliveryState::Skipped, skipped, None),
    };
    let made = i64::from(settlement.attempt.is_some());
    // A manual attempt may have settled it meanwhile: then this attempt is only counted.
    let sql = "UPDATE endpoint_deliveries SET attempts = attempts + ?5, held = 0,
                      failures = CASE WHEN state = 'pending' THEN failures + ?5 ELSE failures END,
                      reason = CASE WHEN state = 'pending' THEN ?3 ELSE reason END,
                      due_at = CASE WHEN state = 'pending' THEN ?4 ELSE due_at END,
                      state = CASE WHEN state = 'pending' THEN ?2 ELSE state END
               WHERE event_id = ?1 AND endpoint_id = ?7 AND (CAST(?6 AS BIGINT) IS NULL OR attempts = ?6)";
    let params = params![
        id,
        state.as_str(),
        reason.as_str(),
        due_at,
        made,
        before,
        &endpoint
    ];
    tx.write_one(sql, params)
}

/// How many orders one statement looks at.
const RELEASE_SIZE: usize = 16;

/// Releases the held deliveries of these orders whose predecessors no longer hold them back; at one endpoint or at all.
pub(crate) fn release_held(
    tx: &mut Tx<'_>,
    endpoint: Option<EndpointId>,
    orders: &[OrderId],
    now: Timestamp,
) -> Result<Vec<Delivery>> {
    let find = format!(
        "SELECT d.event_id, d.endpoint_id, {COLUMNS} FROM endpoint_deliveries d JOIN events e ON e.id = d.event_id
         WHERE d.order_id IN ({}) AND d.held = 1 AND d.state = 'pending'
           AND (CAST(?1 AS {{blob}}) IS NULL OR d.endpoint_id = ?1)
           AND NOT EXISTS (SELECT 1 FROM endpoint_deliveries b
                           WHERE b.order_id = d.order_id AND b.endpoint_id = d.endpoint_id
                             AND b.position < d.position AND b.state = 'pending' AND b.failures < ?2)
         ORDER BY d.position",
        marks(3, RELEASE_SIZE)
    );
    let mut released = Vec::new();
    for chunk in orders.chunks(RELEASE_SIZE) {
        let mut params: Vec<Param<'_>> = vec![endpoint.as_ref().into(), FAILURES_THAT_HOLD.into()];
        params.extend(filled(chunk, RELEASE_SIZE).map(Param::from));
        let found = tx.query(
            &find,
            &params,
            each(|cells| {
                let key: (EventId, EndpointId) = (cells.read()?, cells.read()?);
                Ok((key, delivery(cells)?))
            }),
        )?;
        for ((event, endpoint), delivery) in found {
            tx.write(
                "UPDATE endpoint_deliveries SET held = 0, reason = ?3, due_at = ?4
                 WHERE event_id = ?1 AND endpoint_id = ?2",
                params![&event, &endpoint, UndeliveredReason::Waiting.as_str(), now],
            )?;
            released.push(delivery);
        }
    }
    Ok(released)
}
