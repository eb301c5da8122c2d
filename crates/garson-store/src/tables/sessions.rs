//! Sessions of the control panel, and failed sign-ins.

use crate::tables::row::{columns, each, insert, tuple};
use crate::{Result, StoreError, Tx, params};
use garson_core::id::{AccountId, UserId};
use garson_core::time::Timestamp;

/// The hash of a session token, which only the browser has; also of an e-mail address.
pub type SessionHash = [u8; 32];

/// A signed-in browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub hash: SessionHash,
    pub account_id: AccountId,
    pub user_id: UserId,
    /// The browser's `User-Agent`.
    pub agent: String,
    /// The address from which it signed in.
    pub address: Option<String>,
    pub created_at: Timestamp,
    pub seen_at: Timestamp,
    pub ends_at: Timestamp,
    /// When the user last gave the password or a code.
    pub confirmed_at: Timestamp,
}

columns! {
    const COLUMNS = "" of sessions {
        hash: Vec<u8>, account_id: AccountId, user_id: Option<UserId>, agent, address, created_at, seen_at, ends_at,
        confirmed_at: Option<Timestamp>,
    }
    fn session() -> Session {
        let hash = hash.try_into().map_err(|_| StoreError::corrupt("the hash of a session is damaged"))?;
        Ok(Session {
            hash,
            account_id,
            // A node of the previous version knows one user, who has the account's id.
            user_id: user_id.unwrap_or(UserId(account_id.0)),
            agent,
            address,
            created_at,
            seen_at,
            ends_at,
            confirmed_at: confirmed_at.unwrap_or(created_at),
        })
    }
}

pub fn start(tx: &mut Tx<'_>, session: &Session) -> Result<()> {
    insert!(
        tx,
        sessions {
            hash: &session.hash,
            account_id: &session.account_id,
            agent: &session.agent,
            created_at: session.created_at,
            seen_at: session.seen_at,
            ends_at: session.ends_at,
            user_id: &session.user_id,
            address: session.address.as_ref(),
            confirmed_at: session.confirmed_at,
        }
    )?;
    Ok(())
}

/// A session that has not ended.
pub fn find(tx: &mut Tx<'_>, hash: &SessionHash, now: Timestamp) -> Result<Option<Session>> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE hash = ?1 AND ends_at > ?2");
    tx.query_opt(&sql, params![hash, now], each(session))
}

/// The user's sessions that have not ended, newest first.
pub fn list(tx: &mut Tx<'_>, account: AccountId, user: UserId, now: Timestamp) -> Result<Vec<Session>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM sessions
         WHERE account_id = ?1 AND COALESCE(user_id, account_id) = ?2 AND ends_at > ?3
         ORDER BY created_at DESC LIMIT 100"
    );
    tx.query(&sql, params![&account, &user, now], each(session))
}

/// Records that a session was used, and extends it.
pub fn renew(tx: &mut Tx<'_>, hash: &SessionHash, now: Timestamp, ends_at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE sessions SET seen_at = ?2, ends_at = ?3 WHERE hash = ?1",
        params![hash, now, ends_at],
    )?;
    Ok(())
}

/// Records that the user has given the password or a code again.
pub fn confirm(tx: &mut Tx<'_>, hash: &SessionHash, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE sessions SET confirmed_at = ?2 WHERE hash = ?1",
        params![hash, now],
    )?;
    Ok(())
}

/// Ends a session of a user; `false` when there is no such session.
pub fn end(tx: &mut Tx<'_>, account: AccountId, user: UserId, hash: &SessionHash) -> Result<bool> {
    let rows = tx.execute(
        "DELETE FROM sessions WHERE account_id = ?1 AND COALESCE(user_id, account_id) = ?2 AND hash = ?3",
        params![&account, &user, hash],
    )?;
    // Open boards of this session must check it again.
    tx.wake_watchers(account);
    Ok(rows > 0)
}

/// Ends all sessions of a user except one.
pub fn end_others(tx: &mut Tx<'_>, account: AccountId, user: UserId, except: &SessionHash) -> Result<u64> {
    let rows = tx.execute(
        "DELETE FROM sessions WHERE account_id = ?1 AND COALESCE(user_id, account_id) = ?2 AND hash <> ?3",
        params![&account, &user, except],
    )?;
    tx.wake_watchers(account);
    Ok(rows)
}

/// Ends all sessions of a user.
pub fn end_all(tx: &mut Tx<'_>, account: AccountId, user: UserId) -> Result<u64> {
    let rows = tx.execute(
        "DELETE FROM sessions WHERE account_id = ?1 AND COALESCE(user_id, account_id) = ?2",
        params![&account, &user],
    )?;
    tx.wake_watchers(account);
    Ok(rows)
}

/// Ends all sessions of an account.
pub fn end_all_of_account(tx: &mut Tx<'_>, account: AccountId) -> Result<()> {
    tx.execute("DELETE FROM sessions WHERE account_id = ?1", params![&account])?;
    tx.wake_watchers(account);
    Ok(())
}

/// How many sign-ins in a row have failed for an e-mail address, and when the last one did. Locks the row.
pub fn failures(tx: &mut Tx<'_>, email: &SessionHash) -> Result<Option<(i64, Timestamp)>> {
    tx.query_opt(
        "SELECT failures, last_at FROM sign_in_failures WHERE hash = ?1 {lock}",
        params![email],
        tuple,
    )
}

pub fn record_failure(tx: &mut Tx<'_>, email: &SessionHash, now: Timestamp) -> Result<()> {
    tx.execute(
        "INSERT INTO sign_in_failures (hash, failures, last_at) VALUES (?1, 1, ?2)
         ON CONFLICT (hash) DO UPDATE SET failures = sign_in_failures.failures + 1, last_at = ?2",
        params![email, now],
    )?;
    Ok(())
}

pub fn clear_failures(tx: &mut Tx<'_>, email: &SessionHash) -> Result<()> {
    tx.execute("DELETE FROM sign_in_failures WHERE hash = ?1", params![email])?;
    Ok(())
}

/// Removes a chunk of ended sessions and old failures, and returns how many.
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
