//! Integrations: a restaurant's connections to platforms, switched on and off with an event.

use super::accounts::Actor;
use crate::app::App;
use crate::flow::Fault;
use garson_core::event::{INTEGRATION_TOGGLED, integration_body};
use garson_core::id::{AccountId, EventId, IntegrationId, RestaurantId};
use garson_core::integration::{BranchClaim, Credentials, Health, Integration};
use garson_core::platform::{CredentialField, CredentialKind, Platform, Provider};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::tables::accounts::reserve_positions;
use garson_store::tables::events::{NewEvent, write};
use garson_store::tables::integrations::Connected;
use garson_store::tables::{branches, integrations, packages, restaurants};
use garson_store::{Lane, StoreErrorKind, Tx, Vault};
use std::collections::BTreeMap;
use std::sync::Arc;

const MIN_SECRET: usize = 8;

/// The platform of a key that a client gives.
pub fn platform(key: &str) -> Result<&'static dyn Platform, Fault> {
    garson_platforms::find(key).ok_or_else(|| Fault::UnknownProvider {
        provider: key.to_owned(),
    })
}

/// What a client wants changed; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct IntegrationChange {
    pub is_active: Option<bool>,
    pub remote_id: Option<Option<String>>,
    /// Values to set, and names to remove.
    pub credentials: Option<Vec<(String, Option<Secret<String>>)>>,
    pub default_cancel_reason: Option<Option<String>>,
}

pub async fn get(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    key: &str,
) -> Result<Integration, Fault> {
    let platform = platform(key)?;
    find(app, account, restaurant, platform.provider())
        .await?
        .map(|c| c.integration)
        .ok_or_else(|| Fault::not_found("integration", platform.provider()))
}

/// What connects a restaurant of the account to a platform, if it is connected.
pub(crate) async fn find(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    provider: Provider,
) -> Result<Option<Connected>, Fault> {
    let vault = Arc::clone(&app.vault);
    app.store
        .read(move |tx| {
            if !restaurants::exists(tx, account, restaurant)? {
                return Err(Fault::not_found("restaurant", restaurant));
            }
            Ok(integrations::find(tx, &vault, restaurant, provider)?)
        })
        .await
}

/// Who has given a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Giver {
    Account,
    /// It stands in the settings of the service, for all integrations that have none of their own.
    Operator,
}

/// An integration, if there is one, and the names of the credentials that are known; never what they are.
pub async fn given(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    key: &str,
) -> Result<(Option<Integration>, BTreeMap<String, Giver>), Fault> {
    let platform = platform(key)?;
    let found = find(app, account, restaurant, platform.provider()).await?;
    let shared = app.terms(platform.provider());
    let shared = shared
        .credentials
        .keys()
        .map(|name| (name.clone(), Giver::Operator));
    let own = found.iter().flat_map(|connected| connected.credentials.keys());
    let names = shared
        .chain(own.map(|name| (name.clone(), Giver::Account)))
        .collect();
    Ok((found.map(|connected| connected.integration), names))
}

/// What is shown of an integration's right to its branch; nothing while it names none. Where the platform is the restaurant's
/// own channel, a name belongs to the account that uses it.
#[must_use]
pub fn shown_claim(integration: &Integration) -> Option<BranchClaim> {
    integration.remote_id.as_ref()?;
    let is_own_channel = integration.has_credentials
        && garson_platforms::of(integration.provider)
            .is_some_and(|platform| platform.branch_credentials().is_empty());
    Some(match is_own_channel {
        true => BranchClaim::Proven,
        false => integration.branch,
    })
}

/// Creates or changes an integration.
pub async fn put(
    app: &App,
    account: AccountId,
    actor: Actor,
    restaurant: RestaurantId,
    key: &str,
    change: IntegrationChange,
) -> Result<Integration, Fault> {
    let platform = platform(key)?;
    check(app, platform, &change)?;
    let now = app.now();
    let vault = Arc::clone(&app.vault);
    let remote_id = change.remote_id.clone().flatten().unwrap_or_default();
    let shared = app.terms(platform.provider());
    let trusts_claims = app.settings.trust_branch_claims;
    let put = app
        .store
        .write(account, move |tx| {
            let mut integration = put_in(
                tx,
                &vault,
                (platform, &shared.credentials),
                (account, actor, restaurant),
                &change,
                now,
            )?;
            if let Some(branch) = integration.remote_id.as_ref().filter(|_| trusts_claims)
                && branches::claim_if_free(tx, integration.id, branch, now)?
            {
                integration.branch = BranchClaim::Proven;
            }
            Ok(integration)
        })
        .await;
    app.hurry.posts_changed();
    app.branch_claims_changed.notify_one();
    match put {
        // Another node has written down the branch for this account since we looked.
        Err(Fault::Store(error)) if error.kind == StoreErrorKind::Constraint => {
            Err(Fault::RemoteIdTaken { remote_id })
        }
        other => other,
    }
}

fn check(app: &App, platform: &dyn Platform, change: &IntegrationChange) -> Result<(), Fault> {
    let fields = platform.credential_fields();
    for (name, value) in change.credentials.iter().flatten() {
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            let names: Vec<_> = fields.iter().map(|field| field.name).collect();
            let message = format!(
                "is not a credential of this platform; it has: {}",
                names.join(", ")
            );
            return Err(Fault::invalid(format!("credentials.{name}"), message));
        };
        if let Some(value) = value {
            check_credential(app, field, value)?;
        }
    }
    if let Some(Some(branch)) = &change.remote_id
        && (branch.trim() != branch || branch.chars().any(char::is_control))
    {
        return Err(Fault::invalid(
            "remoteId",
            "must not have white space around it, nor control characters",
        ));
    }
    if let Some(Some(branch)) = &change.remote_id {
        platform
            .check_branch(branch)
            .map_err(|problem| Fault::invalid("remoteId", problem))?;
    }
    if let Some(Some(reason)) = &change.default_cancel_reason
        && !platform.capability().live_reasons
    {
        let accepted = platform.fixed_reasons(None);
        if !accepted.iter().any(|known| known.id == *reason) {
            return Err(Fault::ReasonNotAccepted { accepted });
        }
    }
    Ok(())
}

fn check_credential(app: &App, field: &CredentialField, value: &Secret<String>) -> Result<(), Fault> {
    let text = value.expose();
    let wrong = |message: String| Err(Fault::invalid(format!("credentials.{}", field.name), message));
    match field.kind {
        CredentialKind::Secret if field.is_given && !is_given_secret(text) => {
            wrong("must be visible ASCII characters, without spaces".to_owned())
        }
        CredentialKind::Secret if !field.is_given && !is_secret(text) => wrong(format!(
            "must be at least {MIN_SECRET} visible ASCII characters, without spaces"
        )),
        CredentialKind::Plain if !is_plain(text) => {
            wrong("must be visible ASCII characters, without spaces around them".to_owned())
        }
        CredentialKind::Choice(words) if !words.contains(&text.as_str()) => {
            wrong(format!("must be one of: {}", words.join(", ")))
        }
        CredentialKind::Headers if !are_headers(text) => wrong(format!(
            "must be a JSON object of header names and values, such as {{\"x-api-key\": \"…\"}}, of which each value has \
             at least {MIN_SECRET} visible ASCII characters"
        )),
        CredentialKind::Address => app
            .net
            .check_address(text)
            .map_err(|refusal| Fault::target(field.name, &refusal)),
        _ => Ok(()),
    }
}

/// Secrets travel in headers, and whoever guesses one can place orders.
fn is_secret(text: &str) -> bool {
    text.len() >= MIN_SECRET && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// What a platform gives out is as long as it is; it still travels in headers.
fn is_given_secret(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_plain(text: &str) -> bool {
    text.trim() == text && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}

fn are_headers(text: &str) -> bool {
    let headers: BTreeMap<String, String> = serde_json::from_str(text).unwrap_or_default();
    let is_name = |name: &str| http::HeaderName::from_bytes(name.as_bytes()).is_ok();
    !headers.is_empty()
        && headers.len() <= 10
        && headers.iter().all(|(n, value)| is_name(n) && is_secret(value))
}

fn put_in(
    tx: &mut Tx<'_>,
    vault: &Vault,
    (platform, shared): (&dyn Platform, &Credentials),
    (account, actor, restaurant): (AccountId, Actor, RestaurantId),
    change: &IntegrationChange,
    now: Timestamp,
) -> Result<Integration, Fault> {
    if !restaurants::lock(tx, account, restaurant)? {
        return Err(Fault::not_found("restaurant", restaurant));
    }
    let provider = platform.provider();
    let (mut integration, mut credentials) = match integrations::find(tx, vault, restaurant, provider)? {
        Some(connected) => (connected.integration, connected.credentials),
        None => (fresh(account, restaurant, platform, now), Credentials::new()),
    };
    if diverts(platform, change, &credentials) {
        actor.must_hold_primary(tx, account)?;
    }
    let was_active = integration.is_active;
    for (name, value) in change.credentials.iter().flatten() {
        match value {
            Some(secret) => drop(credentials.insert(name.clone(), secret.clone())),
            None => drop(credentials.remove(name)),
        }
    }
    if let Some(remote_id) = &change.remote_id
        && *remote_id != integration.remote_id
    {
        integration.remote_id.clone_from(remote_id);
        integration.branch = BranchClaim::Unproven;
    }
    if let Some(reason) = &change.default_cancel_reason {
        integration.default_cancel_reason.clone_from(reason);
    }
    integration.is_active = change.is_active.unwrap_or(was_active);
    integration.has_credentials = !credentials.is_empty();
    integration.updated_at = now;
    if let Some(branch) = &integration.remote_id
        && branches::is_used_in_account(tx, account, provider, branch, integration.id)?
    {
        return Err(Fault::RemoteIdTaken {
            remote_id: branch.clone(),
        });
    }
    if integration.is_active {
        can_be_active(tx, platform, &integration, &[&credentials, shared], now)?;
    }
    let inbound = platform.inbound_secret(&credentials);
    integrations::save(tx, vault, &integration, &credentials, inbound.as_ref())?;
    if integration.is_active != was_active {
        toggled(tx, &integration, now)?;
    }
    Ok(integration)
}

/// Would this have a stored secret sent to an address of the sender's choice? One that the change gives is known to the sender.
fn diverts(platform: &dyn Platform, change: &IntegrationChange, stored: &Credentials) -> bool {
    let given = |field: &CredentialField| {
        let mut entries = change.credentials.iter().flatten();
        entries
            .find(|(name, _)| name == field.name)
            .map(|(_, value)| value)
    };
    let mut is_elsewhere = false;
    let mut keeps_secret = false;
    for field in platform.credential_fields() {
        let before = stored.get(field.name);
        match (field.kind, given(field)) {
            (CredentialKind::Address, Some(Some(address))) => is_elsewhere |= before != Some(address),
            (CredentialKind::Secret | CredentialKind::Headers, None) => keeps_secret |= before.is_some(),
            _ => {}
        }
    }
    is_elsewhere && keeps_secret
}

fn fresh(
    account: AccountId,
    restaurant: RestaurantId,
    platform: &dyn Platform,
    now: Timestamp,
) -> Integration {
    Integration {
        id: IntegrationId::at(now),
        account_id: account,
        restaurant_id: restaurant,
        provider: platform.provider(),
        is_active: false,
        remote_id: None,
        branch: BranchClaim::Unproven,
        has_credentials: false,
        default_cancel_reason: None,
        health: Health::default(),
        created_at: now,
        updated_at: now,
    }
}

fn can_be_active(
    tx: &mut Tx<'_>,
    platform: &dyn Platform,
    integration: &Integration,
    credentials: &[&Credentials],
    now: Timestamp,
) -> Result<(), Fault> {
    if integration.remote_id.is_none() {
        return Err(Fault::invalid(
            "remoteId",
            "is needed before the integration can be switched on",
        ));
    }
    let missing = platform
        .credential_fields()
        .iter()
        .find(|f| f.required && !credentials.iter().any(|given| given.contains_key(f.name)));
    if let Some(field) = missing {
        let message = "is needed before the integration can be switched on";
        return Err(Fault::invalid(format!("credentials.{}", field.name), message));
    }
    let packages = packages::of_restaurant(tx, integration.restaurant_id)?;
    match packages
        .iter()
        .any(|package| package.covers(integration.provider, now))
    {
        true => Ok(()),
        false => Err(Fault::NotCovered {
            provider: integration.provider.to_string(),
        }),
    }
}

/// Writes the event that an integration was switched.
fn toggled(tx: &mut Tx<'_>, integration: &Integration, now: Timestamp) -> Result<(), Fault> {
    let mut places = reserve_positions(tx, integration.account_id, 1, now)?;
    let id = EventId::at(places.at);
    let body = integration_body(
        id,
        integration.restaurant_id,
        integration.provider,
        integration.is_active,
        places.at,
    );
    let event = NewEvent {
        id,
        account_id: integration.account_id,
        restaurant_id: integration.restaurant_id,
        order_id: None,
        sequence: None,
        name: INTEGRATION_TOGGLED,
        body: &body,
    };
    Ok(write(tx, &event, &mut places)?)
}

pub async fn delete(app: &App, account: AccountId, restaurant: RestaurantId, key: &str) -> Result<(), Fault> {
    let platform = platform(key)?;
    let now = app.now();
    let vault = Arc::clone(&app.vault);
    let deleted = app
        .store
        .write(account, move |tx| {
            if !restaurants::lock(tx, account, restaurant)? {
                return Err(Fault::not_found("restaurant", restaurant));
            }
            let provider = platform.provider();
            let found = integrations::find(tx, &vault, restaurant, provider)?;
            let mut integration = found
                .map(|c| c.integration)
                .ok_or_else(|| Fault::not_found("integration", provider))?;
            integrations::delete(tx, integration.id)?;
            if integration.is_active {
                integration.is_active = false;
                toggled(tx, &integration, now)?;
            }
            Ok(())
        })
        .await;
    app.hurry.posts_changed();
    app.branch_claims_changed.notify_one();
    deleted
}

/// Switches off the integrations of a restaurant that no package covers now.
pub fn switch_off_uncovered(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    now: Timestamp,
) -> Result<(), Fault> {
    restaurants::lock(tx, account, restaurant)?;
    let packages = packages::of_restaurant(tx, restaurant)?;
    for mut integration in integrations::of_restaurant(tx, restaurant)? {
        let covered = packages
            .iter()
            .any(|package| package.covers(integration.provider, now));
        if integration.is_active && !covered {
            integrations::set_active(tx, integration.id, false, now)?;
            integration.is_active = false;
            toggled(tx, &integration, now)?;
        }
    }
    Ok(())
}

/// How many integrations are looked through in one transaction.
const REHASHED_AT_ONCE: i64 = 200;

/// Hashes anew, under the master key, the inbound secrets that an earlier version has hashed without it. Both forms are found
/// meanwhile. One that cannot be opened stays as it is.
pub async fn rehash_secrets(app: &App) -> Result<u64, Fault> {
    let (mut after, mut count) = (IntegrationId(uuid::Uuid::nil()), 0);
    loop {
        let (vault, from) = (Arc::clone(&app.vault), after);
        let found = app
            .store
            .read(move |tx| integrations::with_inbound_secret(tx, &vault, from, REHASHED_AT_ONCE))
            .await?;
        let Some(last) = found.last() else {
            return Ok(count);
        };
        after = last.0.id;
        let vault = Arc::clone(&app.vault);
        let rehash = move |tx: &mut Tx<'_>| {
            let mut count = 0;
            for (it, credentials) in &found {
                let secret = garson_platforms::of(it.provider)
                    .and_then(|platform| platform.inbound_secret(credentials.as_ref()?));
                if let Some(secret) = secret
                    && integrations::rehash(tx, &vault, it.id, &secret)?
                {
                    count += 1;
                }
            }
            Ok::<_, Fault>(count)
        };
        count += app.store.write(Lane::COMMON, rehash).await?;
    }
}
