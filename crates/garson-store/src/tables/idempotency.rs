//! Responses stored for a day under the client's `Idempotency-Key`.

use crate::tables::row::{columns, each, insert, value};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, NodeId};
use garson_core::time::Timestamp;
use uuid::Uuid;

/// The result of reserving a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reservation {
    /// The caller runs the request. What it creates gets this id, so that a second run after a crash finds what the first has
    /// created.
    Run { reserved_id: Uuid },
    /// The request has a response.
    Answered { status: i64, body: Vec<u8> },
    /// Another request with this key is running.
    Running,
    /// The key was used for another request.
    OtherRequest,
}

/// A request with an idempotency key.
#[derive(Clone, Debug)]
pub struct KeyedRequest {
    pub account: AccountId,
    pub key_hash: [u8; 32],
    pub request_hash: [u8; 32],
}

/// One run of a request.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub id: Uuid,
    /// The node that runs it, if the process is one.
    pub node: Option<NodeId>,
    pub now: Timestamp,
    /// When the key becomes free even if the run never ends.
    pub leased_until: Timestamp,
    /// The id for what the request creates, unless an earlier run has reserved another.
    pub fresh_id: Uuid,
}

/// The stored state of a key.
struct StoredKey {
    request_hash: Vec<u8>,
    reserved_id: Vec<u8>,
    response: Option<(i64, Vec<u8>)>,
    leased_until: Timestamp,
    node: Option<NodeId>,
    run_id: Option<Vec<u8>>,
    /// The node that ran it is no longer a member.
    is_abandoned: bool,
}

columns! {
    const COLUMNS = "" of idempotency {
        request_hash, reserved_id, status: Option<i64>, body, leased_until, node, run_id,
        is_abandoned
            = "CAST(CASE WHEN node IS NULL OR node IN (SELECT id FROM nodes) THEN 0 ELSE 1 END AS BIGINT)",
    }
    fn stored() -> StoredKey {
        let response = status.zip(body);
        Ok(StoredKey { request_hash, reserved_id, response, leased_until, node, run_id, is_abandoned })
    }
}

impl StoredKey {
    /// Reports whether a run is alive. A process knows its own runs exactly; those of another node end with its membership.
    fn is_running(&self, run: &Run, is_ours_running: &dyn Fn(Uuid) -> bool) -> bool {
        let id = self.run_id.as_deref().and_then(|id| Uuid::from_slice(id).ok());
        let is_dead = match id {
            Some(id) if self.node.is_some() && self.node == run.node => !is_ours_running(id),
            _ => self.is_abandoned,
        };
        self.leased_until > run.now && !is_dead
    }
}

/// Reserves a key for a request, or returns its state. Responses from before `oldest` are dropped. `is_ours_running` tells
/// which runs of this process have not ended.
pub fn reserve(
    tx: &mut Tx<'_>,
    request: &KeyedRequest,
    run: &Run,
    oldest: Timestamp,
    is_ours_running: &dyn Fn(Uuid) -> bool,
) -> Result<Reservation> {
    tx.execute(
        "DELETE FROM idempotency WHERE account_id = ?1 AND key_hash = ?2 AND created_at < ?3",
        params![&request.account, &request.key_hash, oldest],
    )?;
    let inserted = insert!(
        tx,
        idempotency {
            account_id: &request.account,
            key_hash: &request.key_hash,
            request_hash: &request.request_hash,
            reserved_id: &run.fresh_id.as_bytes()[..],
            leased_until: run.leased_until,
            created_at: run.now,
            node: run.node.as_ref(),
            run_id: &run.id.as_bytes()[..],
        },
        "ON CONFLICT (account_id, key_hash) DO NOTHING"
    )?;
    if inserted == 1 {
        return Ok(Reservation::Run {
            reserved_id: run.fresh_id,
        });
    }
    let sql = format!("SELECT {COLUMNS} FROM idempotency WHERE account_id = ?1 AND key_hash = ?2 {{lock}}");
    let stored = tx.query_one(&sql, params![&request.account, &request.key_hash], each(stored))?;
    if stored.request_hash != request.request_hash {
        return Ok(Reservation::OtherRequest);
    }
    if let Some((status, body)) = stored.response {
        return Ok(Reservation::Answered { status, body });
    }
    if stored.is_running(run, is_ours_running) {
        return Ok(Reservation::Running);
    }
    // The earlier run died without a response.
    tx.execute(
        "UPDATE idempotency SET leased_until = ?3, node = ?4, run_id = ?5 WHERE account_id = ?1 AND key_hash = ?2",
        params![
            &request.account,
            &request.key_hash,
            run.leased_until,
            run.node.as_ref(),
            &run.id.as_bytes()[..]
        ],
    )?;
    Ok(Reservation::Run {
        reserved_id: Uuid::from_slice(&stored.reserved_id).unwrap_or(run.fresh_id),
    })
}

/// The note that a step left which must not run twice, if it has run under this key.
pub fn completed_step(tx: &mut Tx<'_>, request: &KeyedRequest) -> Result<Option<i64>> {
    let sql = "SELECT acted FROM idempotency WHERE account_id = ?1 AND key_hash = ?2";
    let found = tx.query_opt(
        sql,
        params![&request.account, &request.key_hash],
        value::<Option<i64>>,
    )?;
    Ok(found.flatten())
}

/// Records, in the step's own transaction, that it has run: a second run after a crash before the response was stored sees it.
pub fn record_step(tx: &mut Tx<'_>, request: &KeyedRequest, note: i64) -> Result<()> {
    tx.execute(
        "UPDATE idempotency SET acted = ?3 WHERE account_id = ?1 AND key_hash = ?2",
        params![&request.account, &request.key_hash, note],
    )?;
    Ok(())
}

pub fn store_response(tx: &mut Tx<'_>, request: &KeyedRequest, status: i64, body: &[u8]) -> Result<()> {
    tx.execute(
        "UPDATE idempotency SET status = ?3, body = ?4 WHERE account_id = ?1 AND key_hash = ?2",
        params![&request.account, &request.key_hash, status, body],
    )?;
    Ok(())
}

/// Releases the key: this run failed in a way that another attempt may not. Does nothing if another run holds the key by now.
pub fn release(tx: &mut Tx<'_>, request: &KeyedRequest, run_id: Uuid) -> Result<()> {
    tx.execute(
        "UPDATE idempotency SET leased_until = 0
         WHERE account_id = ?1 AND key_hash = ?2 AND run_id = ?3 AND status IS NULL",
        params![&request.account, &request.key_hash, &run_id.as_bytes()[..]],
    )?;
    Ok(())
}

/// Removes a chunk of responses from before `oldest` and returns how many.
pub fn sweep(tx: &mut Tx<'_>, oldest: Timestamp, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM idempotency WHERE (account_id, key_hash) IN
             (SELECT account_id, key_hash FROM idempotency WHERE created_at < ?1 LIMIT ?2)",
        params![oldest, limit],
    )
}
