//! API keys: found by hash, and recoverable, since webhooks send the primary one.

use crate::tables::accounts;
use crate::tables::row::{columns, each, insert, tuple, value};
use crate::vault::{Vault, lookup_hash};
use crate::{Result, Tx, params};
use garson_core::account::{ApiKey, IssuedKey};
use garson_core::id::{AccountId, KeyId};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;

/// Where the vault says that sealed keys are stored.
pub(crate) const SEALED: &str = "api_keys/sealed";

columns! {
    const COLUMNS = "" of api_keys { id, label, hint, is_primary, created_at, last_used_at }
    fn key() -> ApiKey {
        Ok(ApiKey { id, label, hint, is_primary, created_at, last_used_at })
    }
}

/// Stores a new key. An account's first key is its primary one.
pub fn issue(tx: &mut Tx<'_>, vault: &Vault, account: AccountId, issued: &IssuedKey) -> Result<ApiKey> {
    let record = &issued.record;
    // Serialises changes of keys: two at once could both remove the last but one.
    accounts::lock(tx, account)?;
    let is_first = list(tx, account)?.is_empty();
    insert!(
        tx,
        api_keys {
            id: &record.id,
            account_id: &account,
            label: record.label.as_ref(),
            hint: &record.hint,
            hash: &lookup_hash(issued.secret.expose().as_bytes()),
            sealed: &vault.seal_text(SEALED, record.id.as_bytes(), &issued.secret)?,
            is_primary: is_first,
            created_at: record.created_at,
        }
    )?;
    Ok(ApiKey {
        is_primary: is_first,
        ..record.clone()
    })
}

pub fn list(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<ApiKey>> {
    let sql = format!("SELECT {COLUMNS} FROM api_keys WHERE account_id = ?1 ORDER BY id");
    tx.query(&sql, params![&account], each(key))
}

/// The account and id of the key with this hash, and whether it is the primary one.
pub fn find(tx: &mut Tx<'_>, hash: &[u8; 32]) -> Result<Option<(AccountId, KeyId, bool)>> {
    tx.query_opt(
        "SELECT account_id, id, is_primary FROM api_keys WHERE hash = ?1",
        params![hash],
        tuple,
    )
}

pub fn exists(tx: &mut Tx<'_>, id: KeyId) -> Result<bool> {
    let sql = "SELECT created_at FROM api_keys WHERE id = ?1";
    let found = tx.query_opt(sql, params![&id], value::<i64>)?;
    Ok(found.is_some())
}

pub fn is_primary(tx: &mut Tx<'_>, account: AccountId, id: KeyId) -> Result<bool> {
    let sql = "SELECT is_primary FROM api_keys WHERE account_id = ?1 AND id = ?2";
    let found = tx.query_opt(sql, params![&account, &id], value::<bool>)?;
    Ok(found.unwrap_or(false))
}

/// Records when a key was last used; called now and then, not with every request.
pub fn record_use(tx: &mut Tx<'_>, id: KeyId, at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE api_keys SET last_used_at = ?2 WHERE id = ?1",
        params![&id, at],
    )?;
    Ok(())
}

/// The result of revoking a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revoked {
    Done,
    NotFound,
    /// It is the account's last key.
    IsLast,
}

/// Revokes a key; if it was the primary one, the newest remaining key becomes primary.
pub fn revoke(tx: &mut Tx<'_>, account: AccountId, id: KeyId) -> Result<Revoked> {
    // Serialises changes of keys: two at once could both remove the last but one.
    accounts::lock(tx, account)?;
    let keys = list(tx, account)?;
    let Some(revoked) = keys.iter().find(|key| key.id == id) else {
        return Ok(Revoked::NotFound);
    };
    if keys.len() == 1 {
        return Ok(Revoked::IsLast);
    }
    tx.execute(
        "DELETE FROM api_keys WHERE account_id = ?1 AND id = ?2",
        params![&account, &id],
    )?;
    // Open streams that were authorised by this key must check it again.
    tx.wake_watchers(account);
    let newest = keys.iter().rev().find(|key| key.id != id);
    if revoked.is_primary
        && let Some(newest) = newest
    {
        make_primary(tx, account, newest.id)?;
    }
    Ok(Revoked::Done)
}

/// Removes all keys of an account that is being deleted.
pub(crate) fn remove_all(tx: &mut Tx<'_>, account: AccountId) -> Result<()> {
    tx.execute("DELETE FROM api_keys WHERE account_id = ?1", params![&account])?;
    Ok(())
}

/// Makes a key the one that webhooks send; `false` when the account has no such key.
pub fn make_primary(tx: &mut Tx<'_>, account: AccountId, id: KeyId) -> Result<bool> {
    // Serialises changes of keys: two at once could both remove the last but one.
    accounts::lock(tx, account)?;
    if !list(tx, account)?.iter().any(|key| key.id == id) {
        return Ok(false);
    }
    tx.execute(
        "UPDATE api_keys SET is_primary = CASE WHEN id = ?2 THEN 1 ELSE 0 END WHERE account_id = ?1",
        params![&account, &id],
    )?;
    accounts::wake_delivery(tx, account)?;
    Ok(true)
}

/// The secret of a key.
pub fn secret(
    tx: &mut Tx<'_>,
    vault: &Vault,
    account: AccountId,
    id: KeyId,
) -> Result<Option<Secret<String>>> {
    let sql = "SELECT sealed FROM api_keys WHERE account_id = ?1 AND id = ?2";
    let sealed = tx.query_opt(sql, params![&account, &id], value::<Vec<u8>>)?;
    sealed
        .map(|sealed| vault.open_text(SEALED, id.as_bytes(), &sealed))
        .transpose()
}

/// The secret of the primary key.
pub fn primary(tx: &mut Tx<'_>, vault: &Vault, account: AccountId) -> Result<Option<Secret<String>>> {
    let found = tx.query_opt(
        "SELECT id, sealed FROM api_keys WHERE account_id = ?1 AND is_primary = 1",
        params![&account],
        tuple::<(KeyId, Vec<u8>)>,
    )?;
    found
        .map(|(id, sealed)| vault.open_text(SEALED, id.as_bytes(), &sealed))
        .transpose()
}
