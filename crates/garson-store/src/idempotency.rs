//! Answers kept for a day under the client's `Idempotency-Key`.

use crate::engine::Tx;
use crate::{Result, params};
use garson_core::id::AccountId;
use garson_core::time::Timestamp;
use uuid::Uuid;

/// What is known of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reservation {
    /// The request is ours to run. Whatever it creates gets this id, so that a second run after a crash in between
    /// finds what the first has made.
    Run { reserved_id: Uuid },
    /// It has been answered.
    Answered { status: i64, body: Vec<u8> },
    /// Another request with this key is under way.
    Running,
    /// The key was used for another request.
    OtherRequest,
}

/// A request under a key.
#[derive(Clone, Debug)]
pub struct KeyedRequest {
    pub account: AccountId,
    pub key_hash: [u8; 32],
    pub request_hash: [u8; 32],
}

/// Reserves a key for a request, or says what is known of it.
pub fn reserve(
    tx: &mut Tx<'_>,
    request: &KeyedRequest,
    fresh_id: Uuid,
    now: Timestamp,
    oldest: Timestamp,
    leased_until: Timestamp,
) -> Result<Reservation> {
    tx.execute(
        "DELETE FROM idempotency WHERE account_id = ?1 AND key_hash = ?2 AND created_at < ?3",
        params![&request.account, &request.key_hash, oldest],
    )?;
    let inserted = tx.execute(
        "INSERT INTO idempotency (account_id, key_hash, request_hash, reserved_id, leased_until, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (account_id, key_hash) DO NOTHING",
        params![
            &request.account,
            &request.key_hash,
            &request.request_hash,
            &fresh_id.as_bytes()[..],
            leased_until,
            now
        ],
    )?;
    if inserted == 1 {
        return Ok(Reservation::Run {
            reserved_id: fresh_id,
        });
    }
    let (hash, reserved, status, body, lease) = tx.query_one(
        "SELECT request_hash, reserved_id, status, body, leased_until FROM idempotency
         WHERE account_id = ?1 AND key_hash = ?2 {lock}",
        params![&request.account, &request.key_hash],
        |row| {
            Ok((
                row.get::<Vec<u8>>(0)?,
                row.get::<Vec<u8>>(1)?,
                row.get::<Option<i64>>(2)?,
                row.get::<Option<Vec<u8>>>(3)?,
                row.get::<Timestamp>(4)?,
            ))
        },
    )?;
    if hash != request.request_hash {
        return Ok(Reservation::OtherRequest);
    }
    if let (Some(status), Some(body)) = (status, body) {
        return Ok(Reservation::Answered { status, body });
    }
    if lease > now {
        return Ok(Reservation::Running);
    }
    // Whoever ran it has died without an answer.
    tx.execute(
        "UPDATE idempotency SET leased_until = ?3 WHERE account_id = ?1 AND key_hash = ?2",
        params![&request.account, &request.key_hash, leased_until],
    )?;
    Ok(Reservation::Run {
        reserved_id: Uuid::from_slice(&reserved).unwrap_or(fresh_id),
    })
}

/// What a step that must not be taken twice has noted when it was taken under this key.
pub fn acted(tx: &mut Tx<'_>, request: &KeyedRequest) -> Result<Option<i64>> {
    let sql = "SELECT acted FROM idempotency WHERE account_id = ?1 AND key_hash = ?2";
    Ok(tx
        .query_opt(sql, params![&request.account, &request.key_hash], |row| {
            row.get::<Option<i64>>(0)
        })?
        .flatten())
}

/// Notes, in the transaction of the step itself, that it has been taken: after a crash before the answer was kept, a
/// second run sees it.
pub fn note_acted(tx: &mut Tx<'_>, request: &KeyedRequest, note: i64) -> Result<()> {
    tx.execute(
        "UPDATE idempotency SET acted = ?3 WHERE account_id = ?1 AND key_hash = ?2",
        params![&request.account, &request.key_hash, note],
    )?;
    Ok(())
}

/// Keeps the answer.
pub fn answer(tx: &mut Tx<'_>, request: &KeyedRequest, status: i64, body: &[u8]) -> Result<()> {
    tx.execute(
        "UPDATE idempotency SET status = ?3, body = ?4 WHERE account_id = ?1 AND key_hash = ?2",
        params![&request.account, &request.key_hash, status, body],
    )?;
    Ok(())
}

/// Gives the key back: the request failed in a way that another try may mend.
pub fn release(tx: &mut Tx<'_>, request: &KeyedRequest) -> Result<()> {
    tx.execute(
        "UPDATE idempotency SET leased_until = 0 WHERE account_id = ?1 AND key_hash = ?2 AND status IS NULL",
        params![&request.account, &request.key_hash],
    )?;
    Ok(())
}

/// Removes a chunk of answers that are too old; says how many.
pub fn sweep(tx: &mut Tx<'_>, oldest: Timestamp, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM idempotency WHERE (account_id, key_hash) IN
             (SELECT account_id, key_hash FROM idempotency WHERE created_at < ?1 LIMIT ?2)",
        params![oldest, limit],
    )
}
