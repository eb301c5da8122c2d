//! Webhook endpoints: the receivers of an account's events, with their sealed secrets.
//!
//! `accounts.webhook_routes` repeats what the writer of an event needs; every change here rewrites it under the account's lock.

use crate::tables::accounts;
use crate::tables::json::{from_json, to_json};
use crate::tables::row::{columns, each, insert, tuple, value};
use crate::vault::Vault;
use crate::{ACCOUNTS, Result, StoreError, Tx, params};
use garson_core::id::{AccountId, EndpointId};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_core::webhook_endpoint::{
    EndpointAuthorization, EndpointState, EventBody, RetryPlan, Route, WebhookEndpoint,
};

/// Where the vault says that sealed values are stored.
pub(super) const TOKEN: &str = "webhook_endpoints/token";
pub(super) const SECRET: &str = "webhook_endpoints/secret";
pub(super) const OLD_SECRET: &str = "webhook_endpoints/old_secret";

/// The secrets of an endpoint.
#[derive(Clone, Debug, Default)]
pub struct EndpointSecrets {
    pub token: Option<Secret<String>>,
    /// What its requests are signed with.
    pub signing: Option<Secret<String>>,
    /// The signing secret before that one, while both are valid.
    pub old_signing: Option<Secret<String>>,
}

columns! {
    const COLUMNS = "" of webhook_endpoints {
        id, label, url, state: String, state_at, filter: String, auth: String, body: String, retries: String,
        is_signed: bool = "CAST(CASE WHEN secret IS NULL THEN 0 ELSE 1 END AS BIGINT)", old_secret_until, failing_since, created_at,
        updated_at
    }
    fn endpoint() -> WebhookEndpoint {
        let unknown = |what: &str| StoreError::corrupt(format!("an endpoint has an unknown {what}"));
        Ok(WebhookEndpoint {
            id,
            label,
            url,
            state: EndpointState::named(&state).ok_or_else(|| unknown("state"))?,
            state_at,
            filter: from_json("filter of an endpoint", &filter)?,
            authorization: EndpointAuthorization::named(&auth).ok_or_else(|| unknown("authorization"))?,
            is_signed,
            old_secret_until,
            body: EventBody::named(&body).ok_or_else(|| unknown("form of its body"))?,
            retries: RetryPlan::named(&retries).ok_or_else(|| unknown("retry plan"))?,
            failing_since,
            created_at,
            updated_at,
        })
    }
}

/// The stored endpoints of an account, the oldest first. The settings of the default one are among them if they were changed.
pub fn list(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<WebhookEndpoint>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM webhook_endpoints WHERE account_id = ?1 AND deleted_at IS NULL ORDER BY id"
    );
    tx.query(&sql, params![&account], each(endpoint))
}

pub fn find(tx: &mut Tx<'_>, account: AccountId, id: EndpointId) -> Result<Option<WebhookEndpoint>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM webhook_endpoints WHERE id = ?2 AND account_id = ?1 AND deleted_at IS NULL"
    );
    tx.query_opt(&sql, params![&account, &id], each(endpoint))
}

/// Counts an account's endpoints besides the default one.
pub fn count(tx: &mut Tx<'_>, account: AccountId) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM webhook_endpoints
               WHERE account_id = ?1 AND deleted_at IS NULL AND id <> ?1";
    tx.query_one(sql, params![&account], value)
}

pub fn secrets(tx: &mut Tx<'_>, vault: &Vault, id: EndpointId) -> Result<EndpointSecrets> {
    let sql = "SELECT token, secret, old_secret FROM webhook_endpoints WHERE id = ?1";
    type Sealed = (Option<Vec<u8>>, Option<Vec<u8>>, Option<Vec<u8>>);
    let Some((token, secret, old)) = tx.query_opt(sql, params![&id], tuple::<Sealed>)? else {
        return Ok(EndpointSecrets::default());
    };
    let open = |place: &str, sealed: Option<Vec<u8>>| {
        sealed
            .map(|sealed| vault.open_text(place, id.as_bytes(), &sealed))
            .transpose()
    };
    Ok(EndpointSecrets {
        token: open(TOKEN, token)?,
        signing: open(SECRET, secret)?,
        old_signing: open(OLD_SECRET, old)?,
    })
}

/// Creates or replaces an endpoint. The caller holds the account's lock, and has checked that the endpoint is the account's.
pub fn save(
    tx: &mut Tx<'_>,
    vault: &Vault,
    account: AccountId,
    endpoint: &WebhookEndpoint,
    secrets: &EndpointSecrets,
) -> Result<()> {
    let seal = |place: &str, secret: Option<&Secret<String>>| {
        secret
            .map(|secret| vault.seal_text(place, endpoint.id.as_bytes(), secret))
            .transpose()
    };
    let token = seal(TOKEN, secrets.token.as_ref())?;
    let secret = seal(SECRET, secrets.signing.as_ref())?;
    let old_secret = seal(OLD_SECRET, secrets.old_signing.as_ref())?;
    insert!(
        tx,
        webhook_endpoints {
            id: &endpoint.id,
            account_id: &account,
            label: &endpoint.label,
            url: endpoint.url.as_ref(),
            state: endpoint.state.as_str(),
            state_at: endpoint.state_at,
            filter: &to_json("filter of an endpoint", &endpoint.filter)?,
            auth: endpoint.authorization.as_str(),
            token: token.as_ref(),
            secret: secret.as_ref(),
            old_secret: old_secret.as_ref(),
            old_secret_until: endpoint.old_secret_until,
            body: endpoint.body.as_str(),
            retries: endpoint.retries.as_str(),
            created_at: endpoint.created_at,
            updated_at: endpoint.updated_at,
        },
        "ON CONFLICT (id) DO UPDATE SET label = excluded.label, url = excluded.url, state = excluded.state,
             state_at = excluded.state_at, filter = excluded.filter, auth = excluded.auth, token = excluded.token,
             secret = excluded.secret, old_secret = excluded.old_secret,
             old_secret_until = excluded.old_secret_until, body = excluded.body, retries = excluded.retries,
             updated_at = excluded.updated_at,
             failing_since = CASE WHEN webhook_endpoints.url = excluded.url
                                       AND webhook_endpoints.state = excluded.state
                                  THEN webhook_endpoints.failing_since ELSE NULL END,
             failures = CASE WHEN webhook_endpoints.url = excluded.url
                                  AND webhook_endpoints.state = excluded.state
                             THEN webhook_endpoints.failures ELSE 0 END"
    )?;
    write_routes(tx, account)
}

/// Makes requests to the default endpoint carry the account's key again.
pub fn use_key(tx: &mut Tx<'_>, account: AccountId) -> Result<()> {
    tx.execute(
        "UPDATE webhook_endpoints SET auth = 'key', token = NULL WHERE id = ?1",
        params![&account],
    )?;
    Ok(())
}

/// Removes an endpoint from all lists; the sweep removes its rows. `false` when the account has no such endpoint.
pub fn delete(tx: &mut Tx<'_>, account: AccountId, id: EndpointId, now: Timestamp) -> Result<bool> {
    if id.is_default_of(account) {
        // Its deliveries are the events' own.
        tx.execute("DELETE FROM webhook_endpoints WHERE id = ?1", params![&id])?;
        write_routes(tx, account)?;
        return Ok(true);
    }
    let rows = tx.execute(
        "UPDATE webhook_endpoints SET deleted_at = ?3, state = 'paused', token = NULL, secret = NULL, old_secret = NULL
         WHERE id = ?2 AND account_id = ?1 AND deleted_at IS NULL",
        params![&account, &id, now],
    )?;
    if rows > 0 {
        write_routes(tx, account)?;
    }
    Ok(rows > 0)
}

/// Writes what the writer of an event has to know, and makes the delivering node read the endpoints again.
fn write_routes(tx: &mut Tx<'_>, account: AccountId) -> Result<()> {
    let routes: Vec<Route> = list(tx, account)?
        .into_iter()
        // The default endpoint needs no route while it gets everything.
        .filter(|it| !it.id.is_default_of(account) || !it.filter.allows_all())
        .map(|it| Route {
            endpoint: it.id,
            state: it.state,
            filter: it.filter,
        })
        .collect();
    let json = if routes.is_empty() {
        None
    } else {
        Some(to_json("routes of an account", &routes)?)
    };
    tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET webhook_routes = ?2 WHERE id = ?1",
        params![&account, json.as_ref()],
    )?;
    accounts::wake_delivery(tx, account)
}

/// After this many failed attempts in a row an endpoint may be disabled.
const LEAST_FAILURES: i64 = 10;

/// What failed attempts mean for an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Failing,
    /// It has failed for so long that it was disabled now.
    Disabled,
}

/// Records that an endpoint has accepted an event. The caller holds the account's lock.
pub fn note_accepted(tx: &mut Tx<'_>, id: EndpointId) -> Result<()> {
    tx.write(
        "UPDATE webhook_endpoints SET failing_since = NULL, failures = 0 WHERE id = ?1 AND failing_since IS NOT NULL",
        params![&id],
    )
}

/// Records that so many attempts at an endpoint have failed, and none has succeeded. If every attempt has failed since
/// `disable_before` or earlier, the endpoint is disabled. The caller holds the account's lock.
pub fn note_failures(
    tx: &mut Tx<'_>,
    account: AccountId,
    id: EndpointId,
    count: usize,
    now: Timestamp,
    disable_before: Timestamp,
) -> Result<Verdict> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    tx.write(
        "UPDATE webhook_endpoints SET failures = failures + ?3,
                failing_since = CASE WHEN failing_since IS NULL THEN ?2 ELSE failing_since END
         WHERE id = ?1",
        params![&id, now, count],
    )?;
    let rows = tx.execute(
        "UPDATE webhook_endpoints SET state = 'disabled', state_at = ?2
         WHERE id = ?1 AND state = 'active' AND deleted_at IS NULL AND failing_since <= ?3 AND failures >= ?4",
        params![&id, now, disable_before, LEAST_FAILURES],
    )?;
    if rows == 0 {
        return Ok(Verdict::Failing);
    }
    write_routes(tx, account)?;
    Ok(Verdict::Disabled)
}

/// The endpoints of an account that were disabled because they kept failing.
pub fn disabled(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<WebhookEndpoint>> {
    let mut all = list(tx, account)?;
    all.retain(|it| it.state == EndpointState::Disabled);
    Ok(all)
}

/// The next deleted endpoint after another one.
pub fn next_deleted(tx: &mut Tx<'_>, after: Option<EndpointId>) -> Result<Option<(AccountId, EndpointId)>> {
    let after = after.map_or_else(Vec::new, |id| id.as_bytes().to_vec());
    tx.query_opt(
        "SELECT account_id, id FROM webhook_endpoints WHERE deleted_at IS NOT NULL AND id > ?1 ORDER BY id LIMIT 1",
        params![&after],
        tuple,
    )
}

/// Removes the row of a deleted endpoint and its statistics.
pub(crate) fn remove(tx: &mut Tx<'_>, id: EndpointId) -> Result<()> {
    tx.execute("DELETE FROM endpoint_stats WHERE endpoint_id = ?1", params![&id])?;
    tx.execute("DELETE FROM resends WHERE endpoint_id = ?1", params![&id])?;
    tx.execute(
        "DELETE FROM webhook_endpoints WHERE id = ?1 AND deleted_at IS NOT NULL",
        params![&id],
    )?;
    Ok(())
}
