//! Answers kept for a day under the client's `Idempotency-Key`.

use crate::{Result, Tx, params};
use garson_core::id::{AccountId, NodeId};
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

/// One run of a request, and what it needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub id: Uuid,
    /// The process that runs it, if it is among the nodes.
    pub node: Option<NodeId>,
    pub now: Timestamp,
    /// However it ends, nobody waits for it longer than this.
    pub leased_until: Timestamp,
    /// What the request creates gets this id, unless an earlier run has reserved another.
    pub fresh_id: Uuid,
}

/// What is stored of a key.
struct Kept {
    request_hash: Vec<u8>,
    reserved_id: Vec<u8>,
    answer: Option<(i64, Vec<u8>)>,
    leased_until: Timestamp,
    node: Option<NodeId>,
    run_id: Option<Vec<u8>>,
    /// The node that runs it is gone.
    is_abandoned: bool,
}

impl Kept {
    /// Is somebody running it, as far as can be known? Its own runs a process knows exactly; those of another one are dead
    /// with it.
    fn is_running(&self, run: &Run, is_ours_running: &dyn Fn(Uuid) -> bool) -> bool {
        let id = self.run_id.as_deref().and_then(|id| Uuid::from_slice(id).ok());
        let is_dead = match id {
            Some(id) if self.node.is_some() && self.node == run.node => !is_ours_running(id),
            _ => self.is_abandoned,
        };
        self.leased_until > run.now && !is_dead
    }
}

/// Reserves a key for a request, or says what is known of it. Answers from before `oldest` are forgotten.
/// `is_ours_running` knows which runs of this process have not come to their end.
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
    let inserted = tx.execute(
        "INSERT INTO idempotency (account_id, key_hash, request_hash, reserved_id, leased_until, created_at, node, run_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (account_id, key_hash) DO NOTHING",
        params![
            &request.account,
            &request.key_hash,
            &request.request_hash,
            &run.fresh_id.as_bytes()[..],
            run.leased_until,
            run.now,
            run.node.as_ref(),
            &run.id.as_bytes()[..]
        ],
    )?;
    if inserted == 1 {
        return Ok(Reservation::Run {
            reserved_id: run.fresh_id,
        });
    }
    let kept = tx.query_one(
        "SELECT request_hash, reserved_id, status, body, leased_until, node, run_id,
                CAST(CASE WHEN node IS NULL OR node IN (SELECT id FROM nodes) THEN 0 ELSE 1 END AS BIGINT)
         FROM idempotency WHERE account_id = ?1 AND key_hash = ?2 {lock}",
        params![&request.account, &request.key_hash],
        |row| {
            Ok(Kept {
                request_hash: row.get(0)?,
                reserved_id: row.get(1)?,
                answer: row.get::<Option<i64>>(2)?.zip(row.get::<Option<Vec<u8>>>(3)?),
                leased_until: row.get(4)?,
                node: row.get(5)?,
                run_id: row.get(6)?,
                is_abandoned: row.get::<i64>(7)? == 1,
            })
        },
    )?;
    if kept.request_hash != request.request_hash {
        return Ok(Reservation::OtherRequest);
    }
    if let Some((status, body)) = kept.answer {
        return Ok(Reservation::Answered { status, body });
    }
    if kept.is_running(run, is_ours_running) {
        return Ok(Reservation::Running);
    }
    // Whoever ran it has died without an answer.
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
        reserved_id: Uuid::from_slice(&kept.reserved_id).unwrap_or(run.fresh_id),
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

/// Gives the key back: this run of the request failed in a way that another try may mend. Whoever has taken the key since
/// keeps it.
pub fn release(tx: &mut Tx<'_>, request: &KeyedRequest, run_id: Uuid) -> Result<()> {
    tx.execute(
        "UPDATE idempotency SET leased_until = 0
         WHERE account_id = ?1 AND key_hash = ?2 AND run_id = ?3 AND status IS NULL",
        params![&request.account, &request.key_hash, &run_id.as_bytes()[..]],
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
