//! Links that work once: invitations and new passwords.

use crate::tables::row::{insert, value};
use crate::{Result, Tx, params};
use garson_core::id::UserId;
use garson_core::time::Timestamp;

/// The hash of a token, which only the link has.
pub type TokenHash = [u8; 32];

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Invitation,
    PasswordReset,
}

impl Purpose {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Invitation => "invitation",
            Self::PasswordReset => "password_reset",
        }
    }
}

/// Stores a token. Earlier ones of the user for the same purpose stop working.
pub fn issue(
    tx: &mut Tx<'_>,
    user: UserId,
    purpose: Purpose,
    hash: &TokenHash,
    now: Timestamp,
    ends_at: Timestamp,
) -> Result<()> {
    tx.execute(
        "DELETE FROM user_tokens WHERE user_id = ?1 AND purpose = ?2",
        params![&user, purpose.as_str()],
    )?;
    insert!(
        tx,
        user_tokens {
            hash: hash,
            user_id: &user,
            purpose: purpose.as_str(),
            created_at: now,
            ends_at: ends_at,
        }
    )?;
    Ok(())
}

/// The user of a token that still works.
pub fn find(tx: &mut Tx<'_>, purpose: Purpose, hash: &TokenHash, now: Timestamp) -> Result<Option<UserId>> {
    let sql = "SELECT user_id FROM user_tokens WHERE hash = ?1 AND purpose = ?2 AND ends_at > ?3";
    tx.query_opt(sql, params![hash, purpose.as_str(), now], value)
}

/// When the user's invitation stops working, if there is one that was not used.
pub fn invitation_end(tx: &mut Tx<'_>, user: UserId) -> Result<Option<Timestamp>> {
    let sql =
        "SELECT ends_at FROM user_tokens WHERE user_id = ?1 AND purpose = ?2 ORDER BY ends_at DESC LIMIT 1";
    tx.query_opt(sql, params![&user, Purpose::Invitation.as_str()], value)
}

/// When the user was last given a token of this kind that was not used.
pub fn newest(tx: &mut Tx<'_>, user: UserId, purpose: Purpose) -> Result<Option<Timestamp>> {
    let sql = "SELECT created_at FROM user_tokens WHERE user_id = ?1 AND purpose = ?2 ORDER BY created_at DESC LIMIT 1";
    tx.query_opt(sql, params![&user, purpose.as_str()], value)
}

/// Uses up a token; `false` when it was used before. Of two at the same time, one gets `true`.
pub fn consume(tx: &mut Tx<'_>, hash: &TokenHash) -> Result<bool> {
    let rows = tx.execute("DELETE FROM user_tokens WHERE hash = ?1", params![hash])?;
    Ok(rows > 0)
}

pub fn remove(tx: &mut Tx<'_>, user: UserId, purpose: Purpose) -> Result<()> {
    tx.execute(
        "DELETE FROM user_tokens WHERE user_id = ?1 AND purpose = ?2",
        params![&user, purpose.as_str()],
    )?;
    Ok(())
}

pub fn remove_all(tx: &mut Tx<'_>, user: UserId) -> Result<()> {
    tx.execute("DELETE FROM user_tokens WHERE user_id = ?1", params![&user])?;
    Ok(())
}

/// Removes a chunk of tokens that have ended before a time, and returns how many.
pub fn sweep(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM user_tokens WHERE hash IN (SELECT hash FROM user_tokens WHERE ends_at <= ?1 LIMIT ?2)",
        params![before, limit],
    )
}
