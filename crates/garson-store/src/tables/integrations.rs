//! Integrations: found by restaurant, by branch, or by the secret that a platform presents.

mod inbound;
mod polling;
pub(crate) mod row;
pub(crate) mod version;

pub use inbound::{InboundIntegration, by_secret};
pub use polling::{Polled, Unreadable, claim_polling, has_unclaimed, polled_by, record_polled};
pub use row::Connected;

pub(crate) use inbound::find_inbound;

use crate::tables::row::{Cells, each, insert, tuple};
use crate::tables::store_states;
use crate::vault::{Vault, lookup_hash};
use crate::{INTEGRATIONS, Result, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, IntegrationId, RestaurantId};
use garson_core::integration::{Credentials, Integration};
use garson_core::platform::Provider;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use row::{COLUMNS, connected, integration, sealed};
use std::collections::HashMap;

pub fn of_restaurant(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<Vec<Integration>> {
    let sql = format!("SELECT {COLUMNS} FROM integrations i WHERE i.restaurant_id = ?1 ORDER BY i.id");
    tx.on(INTEGRATIONS)
        .query(&sql, params![&restaurant], each(integration))
}

pub(crate) fn of_account(
    tx: &mut Tx<'_>,
    account: AccountId,
) -> Result<HashMap<RestaurantId, Vec<Integration>>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM integrations i JOIN restaurants r ON r.id = i.restaurant_id
         WHERE r.account_id = ?1 ORDER BY i.id"
    );
    let mut by_restaurant: HashMap<_, Vec<_>> = HashMap::new();
    for found in tx
        .on(INTEGRATIONS)
        .query(&sql, params![&account], each(integration))?
    {
        by_restaurant.entry(found.restaurant_id).or_default().push(found);
    }
    Ok(by_restaurant)
}

/// The integrations of an account with the names of their restaurants, sorted by restaurant name.
pub fn list(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<Vec<(String, Integration)>> {
    let sql = format!(
        "SELECT r.name, {COLUMNS} FROM restaurants r JOIN integrations i ON i.restaurant_id = r.id
         WHERE r.account_id = ?1 AND r.deleted_at IS NULL ORDER BY r.name, i.provider, i.id LIMIT ?2"
    );
    tx.on(INTEGRATIONS).query(
        &sql,
        params![&account, limit],
        each(|cells| Ok((cells.read()?, integration(cells)?))),
    )
}

pub fn find(
    tx: &mut Tx<'_>,
    vault: &Vault,
    restaurant: RestaurantId,
    provider: Provider,
) -> Result<Option<Connected>> {
    let sql = format!("SELECT {COLUMNS} FROM integrations i WHERE i.restaurant_id = ?1 AND i.provider = ?2");
    tx.on(INTEGRATIONS)
        .query_opt(&sql, params![&restaurant, &provider], |row| {
            connected(&mut Cells::new(row), vault)
        })
}

pub fn by_id(tx: &mut Tx<'_>, vault: &Vault, id: IntegrationId) -> Result<Option<Connected>> {
    let sql = format!("SELECT {COLUMNS} FROM integrations i WHERE i.id = ?1");
    tx.on(INTEGRATIONS)
        .query_opt(&sql, params![&id], |row| connected(&mut Cells::new(row), vault))
}

/// A chunk of the integrations that have an inbound secret, by id, with their credentials where these can be opened.
pub fn with_inbound_secret(
    tx: &mut Tx<'_>,
    vault: &Vault,
    after: IntegrationId,
    limit: i64,
) -> Result<Vec<(Integration, Option<Credentials>)>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM integrations i
         WHERE i.inbound_hash IS NOT NULL AND i.id > ?1 ORDER BY i.id LIMIT ?2"
    );
    let found = tx
        .on(INTEGRATIONS)
        .query(&sql, params![&after, limit], each(sealed))?;
    let open = |(it, sealed): row::SealedIntegration| {
        let credentials = vault.open_credentials(it.id.as_bytes(), sealed.as_deref());
        (it, credentials.ok())
    };
    Ok(found.into_iter().map(open).collect())
}

/// Replaces the hash of an inbound secret that an earlier release wrote without the master key; `false` when the stored hash
/// is not of that kind.
pub fn rehash(tx: &mut Tx<'_>, vault: &Vault, id: IntegrationId, secret: &Secret<Vec<u8>>) -> Result<bool> {
    let (hash, former) = (vault.lookup_hash(secret.expose()), lookup_hash(secret.expose()));
    replace_hash(tx, id, &former, &hash)
}

/// Replaces the hash of an inbound secret that was made with the other master key, while that is rotated; `false` when the
/// stored hash is another one.
pub fn rehash_rotated(
    tx: &mut Tx<'_>,
    vault: &Vault,
    id: IntegrationId,
    secret: &Secret<Vec<u8>>,
) -> Result<bool> {
    let (hash, other) = (
        vault.lookup_hash(secret.expose()),
        vault.other_lookup_hash(secret.expose()),
    );
    Ok(hash != other && replace_hash(tx, id, &other, &hash)?)
}

fn replace_hash(tx: &mut Tx<'_>, id: IntegrationId, from: &[u8; 32], to: &[u8; 32]) -> Result<bool> {
    let sql = "UPDATE integrations SET inbound_hash = ?2 WHERE id = ?1 AND inbound_hash = ?3";
    Ok(tx.on(INTEGRATIONS).execute(sql, params![&id, to, from])? > 0)
}

/// Creates or updates an integration. One that names another branch than before loses its claim on the old one. `inbound` is
/// the secret that its platform will present, if it has one.
pub fn save(
    tx: &mut Tx<'_>,
    vault: &Vault,
    integration: &Integration,
    credentials: &Credentials,
    inbound: Option<&Secret<Vec<u8>>>,
) -> Result<()> {
    let sealed = if credentials.is_empty() {
        None
    } else {
        Some(vault.seal_credentials(integration.id.as_bytes(), credentials)?)
    };
    let hash = inbound.map(|secret| vault.lookup_hash(secret.expose()));
    insert!(
        tx.on(INTEGRATIONS),
        integrations {
            id: &integration.id,
            account_id: &integration.account_id,
            restaurant_id: &integration.restaurant_id,
            provider: &integration.provider,
            is_active: integration.is_active,
            remote_id: integration.remote_id.as_ref(),
            credentials: sealed.as_ref(),
            inbound_hash: hash.as_ref(),
            default_cancel_reason: integration.default_cancel_reason.as_ref(),
            created_at: integration.created_at,
            updated_at: integration.updated_at,
        },
        "ON CONFLICT (id) DO UPDATE SET is_active = excluded.is_active, remote_id = excluded.remote_id,
             credentials = excluded.credentials, inbound_hash = excluded.inbound_hash,
             default_cancel_reason = excluded.default_cancel_reason, updated_at = excluded.updated_at,
             version = integrations.version + 1,
             owns_branch = CASE WHEN integrations.remote_id = excluded.remote_id THEN integrations.owns_branch
                                ELSE 0 END,
             branch_proven_at = CASE WHEN integrations.remote_id = excluded.remote_id
                                     THEN integrations.branch_proven_at END"
    )?;
    Ok(())
}

pub fn delete(tx: &mut Tx<'_>, id: IntegrationId) -> Result<()> {
    tx.on(INTEGRATIONS)
        .execute("DELETE FROM integrations WHERE id = ?1", params![&id])?;
    store_states::remove(tx, id)
}

pub fn set_active(tx: &mut Tx<'_>, id: IntegrationId, is_active: bool, at: Timestamp) -> Result<()> {
    tx.on(INTEGRATIONS).execute(
        "UPDATE integrations SET is_active = ?2, updated_at = ?3, version = version + 1 WHERE id = ?1",
        params![&id, is_active, at],
    )?;
    Ok(())
}

/// The time of the last order never decreases, even if the clock goes back.
const RECORD_ORDER: &str = "UPDATE integrations \
    SET last_order_at = CASE WHEN last_order_at > ?2 THEN last_order_at ELSE ?2 END WHERE id = ?1";
const RECORD_ORDER_OF_VERSION: &str = "UPDATE integrations \
    SET last_order_at = CASE WHEN last_order_at > ?2 THEN last_order_at ELSE ?2 END WHERE id = ?1 AND version = ?3";

/// Records that an order has arrived; `false` when the integration no longer exists or has another version. Its row stays
/// locked until the commit.
pub fn record_order(tx: &mut Tx<'_>, id: IntegrationId, version: Option<i64>, at: Timestamp) -> Result<bool> {
    if tx.deferred().record_order(id, version, at) {
        return Ok(true);
    }
    let is_as_known = match version {
        None => tx.on(INTEGRATIONS).write_one(RECORD_ORDER, params![&id, at])?,
        Some(version) => tx
            .on(INTEGRATIONS)
            .write_one(RECORD_ORDER_OF_VERSION, params![&id, at, version])?,
    };
    if is_as_known {
        tx.deferred().lock_integration(id, version, at);
    }
    Ok(is_as_known)
}

/// Writes the deferred time of the last order.
pub(crate) fn write_last_order(tx: &mut Tx<'_>, id: IntegrationId, at: Timestamp) -> Result<()> {
    tx.on(INTEGRATIONS).write(RECORD_ORDER, params![&id, at])
}

/// Records an error that concerns one order.
pub fn record_error(tx: &mut Tx<'_>, id: IntegrationId, message: &Explanation, at: Timestamp) -> Result<()> {
    tx.on(INTEGRATIONS).execute(
        "UPDATE integrations SET last_error = ?2, last_error_at = ?3 WHERE id = ?1",
        params![&id, &message.stored(), at],
    )?;
    Ok(())
}

/// Records an error that concerns the whole platform: it is unreachable, or rejects the credentials.
pub fn record_trouble(
    tx: &mut Tx<'_>,
    id: IntegrationId,
    message: &Explanation,
    at: Timestamp,
) -> Result<()> {
    tx.on(INTEGRATIONS).execute(
        "UPDATE integrations SET last_error = ?2, last_error_at = ?3, trouble_at = ?3 WHERE id = ?1",
        params![&id, &message.stored(), at],
    )?;
    Ok(())
}

/// Ends the trouble of an integration, unless there was another after `since`. A time after `now` was noted by a clock that was
/// ahead.
pub fn end_trouble(tx: &mut Tx<'_>, id: IntegrationId, since: Timestamp, now: Timestamp) -> Result<()> {
    tx.on(INTEGRATIONS).execute(
        "UPDATE integrations SET trouble_at = NULL
         WHERE id = ?1 AND trouble_at IS NOT NULL AND (trouble_at <= ?2 OR trouble_at > ?3)",
        params![&id, since, now],
    )?;
    Ok(())
}

/// The account's active integrations whose platforms had trouble after `since`, newest trouble first.
pub fn in_trouble(
    tx: &mut Tx<'_>,
    account: AccountId,
    since: Timestamp,
    limit: i64,
) -> Result<Vec<Integration>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM integrations i
         WHERE i.account_id = ?1 AND i.trouble_at > ?2 AND i.is_active = 1 ORDER BY i.trouble_at DESC LIMIT ?3"
    );
    tx.on(INTEGRATIONS)
        .query(&sql, params![&account, since, limit], each(integration))
}

/// An integration of an account.
pub fn find_of_account(
    tx: &mut Tx<'_>,
    account: AccountId,
    id: IntegrationId,
) -> Result<Option<Integration>> {
    let sql = format!("SELECT {COLUMNS} FROM integrations i WHERE i.account_id = ?1 AND i.id = ?2");
    tx.on(INTEGRATIONS)
        .query_opt(&sql, params![&account, &id], each(integration))
}

/// Restaurants with an active integration, a package that has ended and no current one; the caller checks the details.
pub fn with_ended_package(
    tx: &mut Tx<'_>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(AccountId, RestaurantId)>> {
    tx.on(INTEGRATIONS).query(
        "SELECT DISTINCT i.account_id, i.restaurant_id
         FROM integrations i JOIN packages p ON p.restaurant_id = i.restaurant_id
         WHERE p.ends_at IS NOT NULL AND p.ends_at <= ?1 AND i.is_active = 1
           AND NOT EXISTS (SELECT 1 FROM packages q WHERE q.restaurant_id = i.restaurant_id AND q.starts_at <= ?1
                           AND (q.ends_at IS NULL OR q.ends_at > ?1)
                           AND (q.providers IS NULL OR q.providers LIKE '%\"' || i.provider || '\"%'))
         LIMIT ?2",
        params![now, limit],
        tuple,
    )
}
