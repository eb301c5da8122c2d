//! Attempts to deliver an event to an endpoint.

use crate::engine::Insert;
use crate::tables::attempts::Attempt;
use crate::tables::attempts::{COLUMNS, attempt};
use crate::tables::row::{column_list, each, value};
use crate::{Result, Tx, params};
use garson_core::id::{EndpointId, EventId};

const INSERT: Insert<'_> = Insert::into(
    "endpoint_attempts",
    column_list!(endpoint_attempts {
        event_id,
        endpoint_id,
        number,
        at,
        url,
        status,
        duration_ms,
        name_us,
        connect_us,
        tls_us,
        first_byte_us,
        explanation,
        response
    }),
);

/// The attempts to deliver an event to an endpoint, oldest first.
pub fn of_delivery(tx: &mut Tx<'_>, endpoint: EndpointId, event: EventId) -> Result<Vec<Attempt>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM endpoint_attempts WHERE event_id = ?1 AND endpoint_id = ?2 ORDER BY number"
    );
    tx.query(&sql, params![&event, &endpoint], each(attempt))
}

pub(super) fn insert(
    tx: &mut Tx<'_>,
    endpoint: EndpointId,
    event: EventId,
    number: i64,
    attempt: &Attempt,
) -> Result<()> {
    let timing = attempt.timing;
    tx.insert(
        &INSERT,
        params![
            &event,
            &endpoint,
            number,
            attempt.at,
            &attempt.url,
            attempt.status,
            attempt.duration_ms,
            timing.name,
            timing.connect,
            timing.tls,
            timing.first_byte,
            &attempt.explanation.stored(),
            attempt.response.as_ref(),
        ],
    )?;
    Ok(())
}

/// Records an attempt and counts it in its delivery. The caller holds the account's lock.
pub fn record(tx: &mut Tx<'_>, endpoint: EndpointId, event: EventId, attempt: &Attempt) -> Result<()> {
    let sql =
        "UPDATE endpoint_deliveries SET attempts = attempts + 1 WHERE event_id = ?1 AND endpoint_id = ?2";
    // The event may have been deleted during the attempt.
    if tx.execute(sql, params![&event, &endpoint])? > 0 {
        insert_last(tx, endpoint, event, attempt)?;
    }
    Ok(())
}

/// Inserts an attempt that its delivery has counted as its last.
pub(super) fn insert_last(
    tx: &mut Tx<'_>,
    endpoint: EndpointId,
    event: EventId,
    attempt: &Attempt,
) -> Result<()> {
    let sql = "SELECT attempts FROM endpoint_deliveries WHERE event_id = ?1 AND endpoint_id = ?2";
    match tx.query_opt(sql, params![&event, &endpoint], value)? {
        Some(number) => insert(tx, endpoint, event, number, attempt),
        None => Ok(()),
    }
}

/// Reports whether exactly this attempt is stored.
pub(super) fn is_recorded(
    tx: &mut Tx<'_>,
    endpoint: EndpointId,
    event: EventId,
    attempt: &Attempt,
) -> Result<bool> {
    let sql = "SELECT number FROM endpoint_attempts
               WHERE event_id = ?1 AND endpoint_id = ?2 AND at = ?3 AND duration_ms = ?4 AND url = ?5
                 AND explanation = ?6";
    let explanation = attempt.explanation.stored();
    let params = params![
        &event,
        &endpoint,
        attempt.at,
        attempt.duration_ms,
        &attempt.url,
        &explanation
    ];
    let found = tx.query(sql, params, value::<i64>)?;
    Ok(!found.is_empty())
}
