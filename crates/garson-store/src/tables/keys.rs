//! API keys: looked up by hash, recoverable from their seal (webhooks carry the primary one).

use crate::engine::Row;
use crate::tables::accounts;
use crate::vault::{Vault, lookup_hash};
use crate::{Result, Tx, params};
use garson_core::account::{ApiKey, IssuedKey};
use garson_core::id::{AccountId, KeyId};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;

const PLACE: &str = "api_keys/sealed";
const COLUMNS: &str = "id, label, hint, is_primary, created_at, last_used_at";

fn key(row: &Row<'_>) -> Result<ApiKey> {
    Ok(ApiKey {
        id: row.get(0)?,
        label: row.get(1)?,
        hint: row.get(2)?,
        is_primary: row.get(3)?,
        created_at: row.get(4)?,
        last_used_at: row.get(5)?,
    })
}

/// Stores a new key. An account's first key is its primary one.
pub fn issue(tx: &mut Tx<'_>, vault: &Vault, account: AccountId, issued: &IssuedKey) -> Result<ApiKey> {
    let record = &issued.record;
    // Two changes must not pass each other: both could remove "the last but one".
    accounts::lock(tx, account)?;
    let is_first = list(tx, account)?.is_empty();
    tx.execute(
        "INSERT INTO api_keys (id, account_id, label, hint, hash, sealed, is_primary, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            &record.id,
            &account,
            record.label.as_ref(),
            &record.hint,
            &lookup_hash(issued.secret.expose().as_bytes()),
            &vault.seal_text(PLACE, record.id.as_bytes(), &issued.secret)?,
            is_first,
            record.created_at,
        ],
    )?;
    Ok(ApiKey {
        is_primary: is_first,
        ..record.clone()
    })
}

pub fn list(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<ApiKey>> {
    let sql = format!("SELECT {COLUMNS} FROM api_keys WHERE account_id = ?1 ORDER BY id");
    tx.query(&sql, params![&account], key)
}

/// The account and key that a presented key stands for, and whether it is the primary one.
pub fn find(tx: &mut Tx<'_>, hash: &[u8; 32]) -> Result<Option<(AccountId, KeyId, bool)>> {
    tx.query_opt(
        "SELECT account_id, id, is_primary FROM api_keys WHERE hash = ?1",
        params![hash],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )
}

/// Is this key still there?
pub fn exists(tx: &mut Tx<'_>, id: KeyId) -> Result<bool> {
    let sql = "SELECT created_at FROM api_keys WHERE id = ?1";
    let found = tx.query_opt(sql, params![&id], |row| row.get::<i64>(0))?;
    Ok(found.is_some())
}

/// Is this the account's primary key?
pub fn is_primary(tx: &mut Tx<'_>, account: AccountId, id: KeyId) -> Result<bool> {
    let sql = "SELECT is_primary FROM api_keys WHERE account_id = ?1 AND id = ?2";
    let found = tx.query_opt(sql, params![&account, &id], |row| row.get::<bool>(0))?;
    Ok(found.unwrap_or(false))
}

/// Notes when keys were last used; called now and then, not with every request.
pub fn note_use(tx: &mut Tx<'_>, id: KeyId, at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE api_keys SET last_used_at = ?2 WHERE id = ?1",
        params![&id, at],
    )?;
    Ok(())
}

/// How an attempt to revoke a key ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revoked {
    Done,
    NotFound,
    /// It is the account's last key.
    IsLast,
}

/// Revokes a key; when it was the primary one, the newest remaining one takes its place.
pub fn revoke(tx: &mut Tx<'_>, account: AccountId, id: KeyId) -> Result<Revoked> {
    // Two changes must not pass each other: both could remove "the last but one".
    accounts::lock(tx, account)?;
    let keys = list(tx, account)?;
    let Some(victim) = keys.iter().find(|key| key.id == id) else {
        return Ok(Revoked::NotFound);
    };
    if keys.len() == 1 {
        return Ok(Revoked::IsLast);
    }
    tx.execute(
        "DELETE FROM api_keys WHERE account_id = ?1 AND id = ?2",
        params![&account, &id],
    )?;
    // Those who follow the account with this key are to notice.
    tx.wake_watchers(account);
    let heir = keys.iter().rev().find(|key| key.id != id);
    if victim.is_primary
        && let Some(heir) = heir
    {
        make_primary(tx, account, heir.id)?;
    }
    Ok(Revoked::Done)
}

/// Makes a key the one that webhooks carry; `false` when the account has no such key.
pub fn make_primary(tx: &mut Tx<'_>, account: AccountId, id: KeyId) -> Result<bool> {
    // Two changes must not pass each other: both could remove "the last but one".
    accounts::lock(tx, account)?;
    if !list(tx, account)?.iter().any(|key| key.id == id) {
        return Ok(false);
    }
    tx.execute(
        "UPDATE api_keys SET is_primary = CASE WHEN id = ?2 THEN 1 ELSE 0 END WHERE account_id = ?1",
        params![&account, &id],
    )?;
    accounts::look_again(tx, account)?;
    Ok(true)
}

/// A key itself.
pub fn secret(
    tx: &mut Tx<'_>,
    vault: &Vault,
    account: AccountId,
    id: KeyId,
) -> Result<Option<Secret<String>>> {
    let sql = "SELECT sealed FROM api_keys WHERE account_id = ?1 AND id = ?2";
    let sealed = tx.query_opt(sql, params![&account, &id], |row| row.get::<Vec<u8>>(0))?;
    sealed
        .map(|sealed| vault.open_text(PLACE, id.as_bytes(), &sealed))
        .transpose()
}

/// The primary key itself.
pub fn primary(tx: &mut Tx<'_>, vault: &Vault, account: AccountId) -> Result<Option<Secret<String>>> {
    let found = tx.query_opt(
        "SELECT id, sealed FROM api_keys WHERE account_id = ?1 AND is_primary = 1",
        params![&account],
        |row| Ok((row.get::<KeyId>(0)?, row.get::<Vec<u8>>(1)?)),
    )?;
    found
        .map(|(id, sealed)| vault.open_text(PLACE, id.as_bytes(), &sealed))
        .transpose()
}
