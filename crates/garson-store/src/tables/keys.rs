//! API keys: found by hash, and recoverable, since webhooks send the primary one.

use crate::tables::json::{from_json, to_json};
use crate::tables::row::{columns, each, insert, tuple, value};
use crate::tables::{accounts, restaurant_scope};
use crate::vault::{Vault, lookup_hash};
use crate::{Result, Tx, params};
use garson_core::account::{ApiKey, IssuedKey};
use garson_core::id::{AccountId, KeyId};
use garson_core::key_access::KeyAccess;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;

/// Where the vault says that sealed keys are stored.
pub(crate) const SEALED: &str = "api_keys/sealed";

columns! {
    const COLUMNS = "" of api_keys {
        id, label, hint, is_primary, scopes: Option<String>, restaurants: Option<String>, networks: Option<String>,
        expires_at, replaced_by_id, created_at, last_used_at, last_used_from
    }
    fn key() -> ApiKey {
        Ok(ApiKey {
            id,
            label,
            hint,
            is_primary,
            access: read_access(scopes.as_deref(), restaurants.as_deref(), networks.as_deref())?,
            expires_at,
            replaced_by: replaced_by_id,
            created_at,
            last_used_at,
            last_used_from,
        })
    }
}

fn read_access(scopes: Option<&str>, restaurants: Option<&str>, networks: Option<&str>) -> Result<KeyAccess> {
    Ok(KeyAccess {
        scopes: scopes
            .map(|json| from_json("scopes of a key", json))
            .transpose()?,
        restaurants: restaurant_scope::read(restaurants)?,
        networks: networks
            .map(|json| from_json("networks of a key", json))
            .transpose()?
            .unwrap_or_default(),
    })
}

/// Stores a new key. An account's first key is its primary one.
pub fn issue(tx: &mut Tx<'_>, vault: &Vault, account: AccountId, issued: &IssuedKey) -> Result<ApiKey> {
    let record = &issued.record;
    // Serialises changes of keys: two at once could both remove the last but one.
    accounts::lock(tx, account)?;
    let is_first = list(tx, account)?.is_empty();
    let access = &record.access;
    let scopes = access.scopes.as_ref();
    let scopes = scopes.map(|it| to_json("scopes of a key", it)).transpose()?;
    let networks = Some(&access.networks).filter(|it| !it.is_empty());
    let networks = networks.map(|it| to_json("networks of a key", it)).transpose()?;
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
            scopes: scopes.as_ref(),
            restaurants: restaurant_scope::write(&access.restaurants)?.as_ref(),
            networks: networks.as_ref(),
            expires_at: record.expires_at,
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

/// The key with this hash, and its account.
pub fn find(tx: &mut Tx<'_>, hash: &[u8; 32]) -> Result<Option<(AccountId, ApiKey)>> {
    let sql = "SELECT account_id, id FROM api_keys WHERE hash = ?1";
    let Some((account, id)) = tx.query_opt(sql, params![hash], tuple::<(AccountId, KeyId)>)? else {
        return Ok(None);
    };
    Ok(get(tx, account, id)?.map(|key| (account, key)))
}

pub fn get(tx: &mut Tx<'_>, account: AccountId, id: KeyId) -> Result<Option<ApiKey>> {
    let sql = format!("SELECT {COLUMNS} FROM api_keys WHERE account_id = ?1 AND id = ?2");
    tx.query_opt(&sql, params![&account, &id], each(key))
}

/// Is there such a key that has not expired?
pub fn is_valid(tx: &mut Tx<'_>, id: KeyId, now: Timestamp) -> Result<bool> {
    let sql = "SELECT created_at FROM api_keys WHERE id = ?1 AND (expires_at IS NULL OR expires_at > ?2)";
    let found = tx.query_opt(sql, params![&id, now], value::<i64>)?;
    Ok(found.is_some())
}

pub fn is_primary(tx: &mut Tx<'_>, account: AccountId, id: KeyId) -> Result<bool> {
    let sql = "SELECT is_primary FROM api_keys WHERE account_id = ?1 AND id = ?2";
    let found = tx.query_opt(sql, params![&account, &id], value::<bool>)?;
    Ok(found.unwrap_or(false))
}

/// Records when a key was last used; called now and then, not with every request.
pub fn record_use(tx: &mut Tx<'_>, id: KeyId, at: Timestamp, from: Option<&str>) -> Result<()> {
    tx.execute(
        "UPDATE api_keys SET last_used_at = ?2, last_used_from = ?3 WHERE id = ?1",
        params![&id, at, from],
    )?;
    Ok(())
}

/// The result of revoking a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revoked {
    Done,
    NotFound,
    /// It is the account's last key, or the last without limits and end, so that none could become primary.
    IsLast,
}

/// Revokes a key; if it was the primary one, the newest remaining key without limits and end becomes primary.
pub fn revoke(tx: &mut Tx<'_>, account: AccountId, id: KeyId) -> Result<Revoked> {
    // Serialises changes of keys: two at once could both remove the last but one.
    accounts::lock(tx, account)?;
    let keys = list(tx, account)?;
    let Some(revoked) = keys.iter().find(|key| key.id == id) else {
        return Ok(Revoked::NotFound);
    };
    let newest = keys
        .iter()
        .rev()
        .find(|key| key.id != id && key.expires_at.is_none() && key.access.is_unlimited());
    if newest.is_none() && (revoked.is_primary || keys.len() == 1) {
        return Ok(Revoked::IsLast);
    }
    tx.execute(
        "DELETE FROM api_keys WHERE account_id = ?1 AND id = ?2",
        params![&account, &id],
    )?;
    // If it was to take the place of another one: a primary key stays then, and any other still ends.
    tx.execute(
        "UPDATE api_keys SET replaced_by_id = NULL, expires_at = CASE WHEN is_primary = 1 THEN NULL ELSE expires_at END
         WHERE account_id = ?1 AND replaced_by_id = ?2",
        params![&account, &id],
    )?;
    // Open streams that were authorised by this key must check it again.
    tx.wake_watchers(account);
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

/// Lets a key end at a time, when the other one takes its place.
pub fn replace(tx: &mut Tx<'_>, account: AccountId, id: KeyId, by: KeyId, ends_at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE api_keys SET expires_at = ?4, replaced_by_id = ?3 WHERE account_id = ?1 AND id = ?2",
        params![&account, &id, &by, ends_at],
    )?;
    Ok(())
}

/// The primary keys that have expired, with those that take their places.
pub fn expired_primaries(
    tx: &mut Tx<'_>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(AccountId, KeyId, KeyId)>> {
    tx.query(
        "SELECT account_id, id, replaced_by_id FROM api_keys
         WHERE expires_at IS NOT NULL AND expires_at <= ?1 AND is_primary = 1 AND replaced_by_id IS NOT NULL
         ORDER BY expires_at LIMIT ?2",
        params![now, limit],
        tuple,
    )
}

/// Keys that expired before a time.
pub fn expired_before(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<Vec<(AccountId, KeyId)>> {
    tx.query(
        "SELECT account_id, id FROM api_keys
         WHERE expires_at IS NOT NULL AND expires_at < ?1 AND is_primary = 0 ORDER BY expires_at LIMIT ?2",
        params![before, limit],
        tuple,
    )
}
