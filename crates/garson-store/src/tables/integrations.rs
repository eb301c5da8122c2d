//! Integrations: found by restaurant, by branch, or by the secret that a platform presents.

use crate::engine::{Param, Row};
use crate::log_throttle::Throttle;
use crate::tables::branches;
use crate::tables::packages::Standing;
use crate::vault::{Vault, lookup_hash};
use crate::{INTEGRATIONS, Result, StoreError, StoreErrorKind, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, IntegrationId, NodeId, RestaurantId};
use garson_core::integration::{Credentials, Health, Integration};
use garson_core::platform::Provider;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use std::collections::HashMap;
use std::time::Duration;

const COLUMNS: &str = "id, account_id, restaurant_id, provider, is_active, remote_id, default_cancel_reason, \
                       last_order_at, last_error_at, last_error, created_at, updated_at, credentials, trouble_at, \
                       owns_branch, branch_proven_at";

/// How many they are.
const COUNT: usize = 16;

fn columns_of(table: &str) -> String {
    COLUMNS
        .split(", ")
        .map(|column| format!("{table}.{column}"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn integration(row: &Row<'_>) -> Result<(Integration, Option<Vec<u8>>)> {
    let credentials: Option<Vec<u8>> = row.get(12)?;
    let integration = Integration {
        id: row.get(0)?,
        account_id: row.get(1)?,
        restaurant_id: row.get(2)?,
        provider: row.get(3)?,
        is_active: row.get(4)?,
        remote_id: row.get(5)?,
        branch: branches::claim(row.get(14)?, row.get(15)?),
        has_credentials: credentials.is_some(),
        default_cancel_reason: row.get(6)?,
        health: Health {
            last_order_at: row.get(7)?,
            last_error_at: row.get(8)?,
            last_error: row.get(9)?,
            trouble_at: row.get(13)?,
        },
        created_at: row.get(10)?,
        updated_at: row.get(11)?,
    };
    Ok((integration, credentials))
}

/// An integration with what its platform needs to know of us.
#[derive(Clone, Debug)]
pub struct Connected {
    pub integration: Integration,
    pub credentials: Credentials,
}

fn connected(row: &Row<'_>, vault: &Vault) -> Result<Connected> {
    let (integration, sealed) = integration(row)?;
    let credentials = vault.open_credentials(integration.id.as_bytes(), sealed.as_deref())?;
    Ok(Connected {
        integration,
        credentials,
    })
}

pub fn of_restaurant(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<Vec<Integration>> {
    let sql = format!("SELECT {COLUMNS} FROM integrations WHERE restaurant_id = ?1 ORDER BY id");
    tx.on(INTEGRATIONS)
        .query(&sql, params![&restaurant], |row| Ok(integration(row)?.0))
}

pub(crate) fn of_account(
    tx: &mut Tx<'_>,
    account: AccountId,
) -> Result<HashMap<RestaurantId, Vec<Integration>>> {
    let columns = columns_of("i");
    let sql = format!(
        "SELECT {columns} FROM integrations i JOIN restaurants r ON r.id = i.restaurant_id
         WHERE r.account_id = ?1 ORDER BY i.id"
    );
    let mut grouped: HashMap<_, Vec<_>> = HashMap::new();
    for found in tx
        .on(INTEGRATIONS)
        .query(&sql, params![&account], |row| Ok(integration(row)?.0))?
    {
        grouped.entry(found.restaurant_id).or_default().push(found);
    }
    Ok(grouped)
}

/// The integrations of an account with the names of their restaurants, in the order of those.
pub fn list(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<Vec<(String, Integration)>> {
    let columns = columns_of("i");
    let sql = format!(
        "SELECT {columns}, r.name FROM restaurants r JOIN integrations i ON i.restaurant_id = r.id
         WHERE r.account_id = ?1 AND r.deleted_at IS NULL ORDER BY r.name, i.provider, i.id LIMIT ?2"
    );
    tx.on(INTEGRATIONS).query(&sql, params![&account, limit], |row| {
        Ok((row.get(COUNT)?, integration(row)?.0))
    })
}

pub fn find(
    tx: &mut Tx<'_>,
    vault: &Vault,
    restaurant: RestaurantId,
    provider: Provider,
) -> Result<Option<Connected>> {
    let sql = format!("SELECT {COLUMNS} FROM integrations WHERE restaurant_id = ?1 AND provider = ?2");
    tx.on(INTEGRATIONS)
        .query_opt(&sql, params![&restaurant, &provider], |row| connected(row, vault))
}

pub fn by_id(tx: &mut Tx<'_>, vault: &Vault, id: IntegrationId) -> Result<Option<Connected>> {
    let sql = format!("SELECT {COLUMNS} FROM integrations WHERE id = ?1");
    tx.on(INTEGRATIONS)
        .query_opt(&sql, params![&id], |row| connected(row, vault))
}

/// An integration with what its restaurant has decided.
#[derive(Clone, Debug)]
pub struct Served {
    pub connected: Connected,
    pub standing: Standing,
    /// It grows with every change to any of these. None when it does not matter, because they have just been read.
    pub version: Option<i64>,
}

/// The integrations for whose platform this secret speaks; a chain may give all its branches the same one.
pub fn by_secret(tx: &mut Tx<'_>, vault: &Vault, provider: Provider, secret: &[u8]) -> Result<Vec<Served>> {
    let (hash, former) = (vault.lookup_hash(secret), lookup_hash(secret));
    let condition = "i.inbound_hash IN (?2, ?3)";
    served(tx, vault, condition, params![&provider, &hash, &former])
}

/// A part of the integrations that are found by a secret, in the order of their ids, with their credentials where these can be
/// opened.
pub fn found_by_secret(
    tx: &mut Tx<'_>,
    vault: &Vault,
    after: IntegrationId,
    limit: i64,
) -> Result<Vec<(Integration, Option<Credentials>)>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM integrations WHERE inbound_hash IS NOT NULL AND id > ?1 ORDER BY id LIMIT ?2"
    );
    let found = tx
        .on(INTEGRATIONS)
        .query(&sql, params![&after, limit], integration)?;
    let open = |(it, sealed): (Integration, Option<Vec<u8>>)| {
        let credentials = vault.open_credentials(it.id.as_bytes(), sealed.as_deref());
        (it, credentials.ok())
    };
    Ok(found.into_iter().map(open).collect())
}

/// Replaces the hash of an integration's secret that an earlier version has written, without the master key; says whether it
/// was such a one.
pub fn rehash(tx: &mut Tx<'_>, vault: &Vault, id: IntegrationId, secret: &Secret<Vec<u8>>) -> Result<bool> {
    let (hash, former) = (vault.lookup_hash(secret.expose()), lookup_hash(secret.expose()));
    let sql = "UPDATE integrations SET inbound_hash = ?2 WHERE id = ?1 AND inbound_hash = ?3";
    Ok(tx.on(INTEGRATIONS).execute(sql, params![&id, &hash, &former])? > 0)
}

/// Those of a platform that meet a condition, owners of their branches first, with everything that taking an order asks for, in
/// one statement. One that cannot be read is left out, so that messages for the others are taken. When it is the only one, its
/// error is returned: the message may be for it, and must not be refused as if there were none.
pub(crate) fn served(
    tx: &mut Tx<'_>,
    vault: &Vault,
    condition: &str,
    params: &[Param<'_>],
) -> Result<Vec<Served>> {
    let sql = format!(
        "SELECT {}, i.version, {} FROM integrations i LEFT JOIN restaurants r ON r.id = i.restaurant_id
           LEFT JOIN packages p ON p.restaurant_id = r.id
         WHERE i.provider = ?1 AND {condition} ORDER BY i.owns_branch DESC, i.id, p.id",
        columns_of("i"),
        Standing::columns()
    );
    let mut found: Vec<Served> = Vec::new();
    let mut unreadable: Option<(IntegrationId, StoreError)> = None;
    tx.on(INTEGRATIONS).query(&sql, params, |row| {
        let id: IntegrationId = row.get(0)?;
        if unreadable.as_ref().is_some_and(|(last, _)| *last == id) {
            // A further package of the same integration.
            return Ok(());
        }
        match add_row(&mut found, id, row, vault) {
            Err(error) if error.kind == StoreErrorKind::Corrupt => {
                found.retain(|served| served.connected.integration.id != id);
                if let Some(suppressed) = UNREADABLE.pass() {
                    tracing::error!(integration = %id, %error, suppressed, "an integration cannot be read, and is left out");
                }
                unreadable = Some((id, error));
                Ok(())
            }
            added => added,
        }
    })?;
    match unreadable {
        Some((_, error)) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

/// Every message that shares the secret of a damaged integration finds it.
static UNREADABLE: Throttle = Throttle::new(Duration::from_secs(60));

/// Adds an integration with its restaurant's next package.
fn add_row(found: &mut Vec<Served>, id: IntegrationId, row: &Row<'_>, vault: &Vault) -> Result<()> {
    let is_known = found
        .last()
        .is_some_and(|last| last.connected.integration.id == id);
    if !is_known {
        found.push(Served {
            connected: connected(row, vault)?,
            standing: Standing::default(),
            version: Some(row.get(COUNT)?),
        });
    }
    let last = found.last_mut();
    last.map_or(Ok(()), |served| served.standing.add(row, COUNT + 1))
}

/// Writes an integration, new or changed; one that names another branch than before has proven nothing about it. `inbound` is the secret that its platform will present, if it has one.
pub fn save(
    tx: &mut Tx<'_>,
    vault: &Vault,
    integration: &Integration,
    credentials: &Credentials,
    inbound: Option<&Secret<Vec<u8>>>,
) -> Result<()> {
    let sealed = match credentials.is_empty() {
        true => None,
        false => Some(vault.seal_credentials(integration.id.as_bytes(), credentials)?),
    };
    let hash = inbound.map(|secret| vault.lookup_hash(secret.expose()));
    tx.on(INTEGRATIONS).execute(
        "INSERT INTO integrations (id, account_id, restaurant_id, provider, is_active, remote_id, credentials,
                                   inbound_hash, default_cancel_reason, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (id) DO UPDATE SET is_active = ?5, remote_id = ?6, credentials = ?7, inbound_hash = ?8,
             default_cancel_reason = ?9, updated_at = ?11, version = integrations.version + 1,
             owns_branch = CASE WHEN integrations.remote_id = ?6 THEN integrations.owns_branch ELSE 0 END,
             branch_proven_at = CASE WHEN integrations.remote_id = ?6 THEN integrations.branch_proven_at END",
        params![
            &integration.id,
            &integration.account_id,
            &integration.restaurant_id,
            &integration.provider,
            integration.is_active,
            integration.remote_id.as_ref(),
            sealed.as_ref(),
            hash.as_ref(),
            integration.default_cancel_reason.as_ref(),
            integration.created_at,
            integration.updated_at,
        ],
    )?;
    Ok(())
}

pub fn delete(tx: &mut Tx<'_>, id: IntegrationId) -> Result<()> {
    tx.on(INTEGRATIONS)
        .execute("DELETE FROM integrations WHERE id = ?1", params![&id])?;
    Ok(())
}

pub fn switch(tx: &mut Tx<'_>, id: IntegrationId, is_active: bool, at: Timestamp) -> Result<()> {
    tx.on(INTEGRATIONS).execute(
        "UPDATE integrations SET is_active = ?2, updated_at = ?3, version = version + 1 WHERE id = ?1",
        params![&id, is_active, at],
    )?;
    Ok(())
}

/// Notes that something has changed about the restaurant of integrations.
pub(crate) fn note_change(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<()> {
    let sql = "UPDATE integrations SET version = version + 1 WHERE restaurant_id = ?1";
    tx.on(INTEGRATIONS).execute(sql, params![&restaurant]).map(drop)
}

/// The last order's moment never falls, though a clock that is set right may go back.
const NOTE_ORDER: &str = "UPDATE integrations \
    SET last_order_at = CASE WHEN last_order_at > ?2 THEN last_order_at ELSE ?2 END WHERE id = ?1";
const NOTE_ORDER_OF_VERSION: &str = "UPDATE integrations \
    SET last_order_at = CASE WHEN last_order_at > ?2 THEN last_order_at ELSE ?2 END WHERE id = ?1 AND version = ?3";

/// Notes that an order has come; `false` when the integration is gone, or has another version than this. Its row stays
/// locked until the commit.
pub fn note_order(tx: &mut Tx<'_>, id: IntegrationId, version: Option<i64>, at: Timestamp) -> Result<bool> {
    if tx.deferred().record_order(id, version, at) {
        return Ok(true);
    }
    let is_as_known = match version {
        None => tx.on(INTEGRATIONS).write_one(NOTE_ORDER, params![&id, at])?,
        Some(version) => tx
            .on(INTEGRATIONS)
            .write_one(NOTE_ORDER_OF_VERSION, params![&id, at, version])?,
    };
    if is_as_known {
        tx.deferred().lock_integration(id, version, at);
    }
    Ok(is_as_known)
}

/// Writes the deferred time of the last order.
pub(crate) fn write_last_order(tx: &mut Tx<'_>, id: IntegrationId, at: Timestamp) -> Result<()> {
    tx.on(INTEGRATIONS).write(NOTE_ORDER, params![&id, at])
}

pub fn note_error(tx: &mut Tx<'_>, id: IntegrationId, message: &Explanation, at: Timestamp) -> Result<()> {
    tx.on(INTEGRATIONS).execute(
        "UPDATE integrations SET last_error = ?2, last_error_at = ?3 WHERE id = ?1",
        params![&id, &message.stored(), at],
    )?;
    Ok(())
}

/// The same of an error that is not about one order: the platform is away, or does not let us in.
pub fn note_trouble(tx: &mut Tx<'_>, id: IntegrationId, message: &Explanation, at: Timestamp) -> Result<()> {
    tx.on(INTEGRATIONS).execute(
        "UPDATE integrations SET last_error = ?2, last_error_at = ?3, trouble_at = ?3 WHERE id = ?1",
        params![&id, &message.stored(), at],
    )?;
    Ok(())
}

/// The account's active integrations whose platforms were in trouble after a moment, newest trouble first.
pub fn in_trouble(
    tx: &mut Tx<'_>,
    account: AccountId,
    since: Timestamp,
    limit: i64,
) -> Result<Vec<Integration>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM integrations
         WHERE account_id = ?1 AND trouble_at > ?2 AND is_active = 1 ORDER BY trouble_at DESC LIMIT ?3"
    );
    tx.on(INTEGRATIONS)
        .query(&sql, params![&account, since, limit], |row| {
            Ok(integration(row)?.0)
        })
}

/// Active integrations of restaurants that have a package which has ended; the caller looks closer.
pub fn with_an_ended_package(
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
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// An integration whose platform this node asks for orders.
#[derive(Clone, Debug)]
pub struct Polled {
    pub connected: Connected,
    /// Everything up to then has been seen.
    pub polled_at: Option<Timestamp>,
}

/// An integration that this node polls and whose row cannot be read, its sealed credentials for example.
#[derive(Debug)]
pub struct Unreadable {
    pub id: IntegrationId,
    pub account_id: AccountId,
    pub error: StoreError,
}

/// Is there an integration of a platform that should be polled and that no living node polls? Asked by a read job first, so
/// that a writer is only needed when there is something to claim.
pub fn has_unclaimed(tx: &mut Tx<'_>, provider: Provider) -> Result<bool> {
    let found = tx.on(INTEGRATIONS).query_opt(
        "SELECT id FROM integrations
         WHERE provider = ?1 AND is_active = 1 AND remote_id IS NOT NULL
           AND (poll_node IS NULL OR poll_node NOT IN (SELECT id FROM nodes)) LIMIT 1",
        params![&provider],
        |row| row.get::<IntegrationId>(0),
    )?;
    Ok(found.is_some())
}

/// Claims the integrations of a platform that no living node polls. A node that others have given up gets none.
pub fn claim_polling(tx: &mut Tx<'_>, provider: Provider, node: NodeId) -> Result<()> {
    // What somebody else changes just now is taken over the next time: whoever waits here, with many in hand, may be waited for.
    tx.on(INTEGRATIONS).execute(
        "UPDATE integrations SET poll_node = ?2 WHERE id IN
             (SELECT id FROM integrations
              WHERE provider = ?1 AND is_active = 1 AND remote_id IS NOT NULL
                AND (poll_node IS NULL OR poll_node NOT IN (SELECT id FROM nodes))
                AND ?2 IN (SELECT id FROM nodes) {skip_locked})",
        params![&provider, &node],
    )?;
    Ok(())
}

/// The integrations of a platform that this node polls. Each row is read by itself: one that is damaged must not keep the
/// others from being polled.
pub fn polled_by(
    tx: &mut Tx<'_>,
    vault: &Vault,
    provider: Provider,
    node: NodeId,
) -> Result<Vec<std::result::Result<Polled, Unreadable>>> {
    let sql = format!(
        "SELECT {COLUMNS}, polled_at FROM integrations
         WHERE provider = ?1 AND is_active = 1 AND remote_id IS NOT NULL AND poll_node = ?2
           AND ?2 IN (SELECT id FROM nodes)"
    );
    tx.on(INTEGRATIONS).query(&sql, params![&provider, &node], |row| {
        let (id, account_id) = (row.get(0)?, row.get(1)?);
        let polled = connected(row, vault).and_then(|connected| {
            let polled_at = row.get(COUNT)?;
            Ok(Polled { connected, polled_at })
        });
        Ok(polled.map_err(|error| Unreadable {
            id,
            account_id,
            error,
        }))
    })
}

/// Notes up to when everything of these integrations has been seen; of one that somebody else changes just now, the next time.
pub fn note_polled(tx: &mut Tx<'_>, seen: &[(IntegrationId, Timestamp)]) -> Result<()> {
    for (id, at) in seen {
        tx.on(INTEGRATIONS).execute(
            "UPDATE integrations SET polled_at = ?2 WHERE id IN
                 (SELECT id FROM integrations WHERE id = ?1 {skip_locked})",
            params![id, *at],
        )?;
    }
    Ok(())
}
