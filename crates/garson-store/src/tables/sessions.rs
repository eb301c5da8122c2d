//! Who is signed in to the control panel, and whose sign-ins have failed.

use crate::engine::Row;
use crate::{Result, Tx, params};
use garson_core::id::AccountId;
use garson_core::time::Timestamp;

/// The hash of what a browser holds.
pub type SessionHash = [u8; 32];

/// Somebody who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub hash: SessionHash,
    pub account_id: AccountId,
    /// What the browser says it is.
    pub agent: String,
    pub created_at: Timestamp,
    pub seen_at: Timestamp,
    pub ends_at: Timestamp,
}

const COLUMNS: &str = "hash, account_id, agent, created_at, seen_at, ends_at";

fn session(row: &Row<'_>) -> Result<Session> {
    let hash: Vec<u8> = row.get(0)?;
    Ok(Session {
        hash: hash
            .try_into()
            .map_err(|_| crate::StoreError::corrupt("a session has no proper hash"))?,
        account_id: row.get(1)?,
        agent: row.get(2)?,
        created_at: row.get(3)?,
        seen_at: row.get(4)?,
        ends_at: row.get(5)?,
    })
}

pub fn start(tx: &mut Tx<'_>, session: &Session) -> Result<()> {
    tx.execute(
        "INSERT INTO sessions (hash, account_id, agent, created_at, seen_at, ends_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            &session.hash,
            &session.account_id,
            &session.agent,
            session.created_at,
            session.seen_at,
            session.ends_at
        ],
    )?;
    Ok(())
}

/// A session that has not ended.
pub fn find(tx: &mut Tx<'_>, hash: &SessionHash, now: Timestamp) -> Result<Option<Session>> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE hash = ?1 AND ends_at > ?2");
    tx.query_opt(&sql, params![hash, now], session)
}

/// The account's sessions that have not ended, newest first.
pub fn list(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<Vec<Session>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM sessions WHERE account_id = ?1 AND ends_at > ?2 ORDER BY created_at DESC LIMIT 100"
    );
    tx.query(&sql, params![&account, now], session)
}

/// Notes that a session is used, and lets it last longer.
pub fn renew(tx: &mut Tx<'_>, hash: &SessionHash, now: Timestamp, ends_at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE sessions SET seen_at = ?2, ends_at = ?3 WHERE hash = ?1",
        params![hash, now, ends_at],
    )?;
    Ok(())
}

/// Ends a session of an account; `false` when it has none of that name.
pub fn end(tx: &mut Tx<'_>, account: AccountId, hash: &SessionHash) -> Result<bool> {
    let rows = tx.execute(
        "DELETE FROM sessions WHERE account_id = ?1 AND hash = ?2",
        params![&account, hash],
    )?;
    Ok(rows > 0)
}

/// Ends all sessions of an account but one.
pub fn end_others(tx: &mut Tx<'_>, account: AccountId, but: &SessionHash) -> Result<u64> {
    tx.execute(
        "DELETE FROM sessions WHERE account_id = ?1 AND hash <> ?2",
        params![&account, but],
    )
}

/// Ends all sessions of an account.
pub fn end_all(tx: &mut Tx<'_>, account: AccountId) -> Result<u64> {
    tx.execute("DELETE FROM sessions WHERE account_id = ?1", params![&account])
}

/// How many sign-ins have failed in a row for an e-mail address, and when the last one did; held until the commit.
pub fn failures(tx: &mut Tx<'_>, email: &SessionHash) -> Result<Option<(i64, Timestamp)>> {
    tx.query_opt(
        "SELECT failures, last_at FROM sign_in_failures WHERE hash = ?1 {lock}",
        params![email],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

pub fn note_failure(tx: &mut Tx<'_>, email: &SessionHash, now: Timestamp) -> Result<()> {
    tx.execute(
        "INSERT INTO sign_in_failures (hash, failures, last_at) VALUES (?1, 1, ?2)
         ON CONFLICT (hash) DO UPDATE SET failures = sign_in_failures.failures + 1, last_at = ?2",
        params![email, now],
    )?;
    Ok(())
}

pub fn forget_failures(tx: &mut Tx<'_>, email: &SessionHash) -> Result<()> {
    tx.execute("DELETE FROM sign_in_failures WHERE hash = ?1", params![email])?;
    Ok(())
}

/// Removes a chunk of what has ended; says how many.
pub fn sweep(tx: &mut Tx<'_>, now: Timestamp, oldest_failure: Timestamp, limit: i64) -> Result<u64> {
    let sessions = tx.execute(
        "DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE ends_at <= ?1 LIMIT ?2)",
        params![now, limit],
    )?;
    let failures = tx.execute(
        "DELETE FROM sign_in_failures WHERE hash IN
             (SELECT hash FROM sign_in_failures WHERE last_at < ?1 LIMIT ?2)",
        params![oldest_failure, limit],
    )?;
    Ok(sessions + failures)
}
