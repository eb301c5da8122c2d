//! Integrations: a restaurant's connections to platforms. Switching one on or off writes an event.

pub use super::integration_checks::IntegrationChange;

use super::integration_checks::{check, check_can_be_active, diverts_stored_secret};
use super::recorded_fields;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::event::{INTEGRATION_TOGGLED, integration_body};
use garson_core::id::{AccountId, EventId, IntegrationId, RestaurantId};
use garson_core::integration::{BranchClaim, Credentials, Health, Integration};
use garson_core::platform::{Platform, Provider};
use garson_core::time::Timestamp;
use garson_store::tables::accounts::reserve_positions;
use garson_store::tables::events::{NewEvent, write};
use garson_store::tables::integrations::Connected;
use garson_store::tables::{branches, integrations, packages, platform_items, restaurants};
use garson_store::{StoreErrorKind, Tx, Vault};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The platform with this key.
pub fn platform(key: &str) -> Result<&'static dyn Platform, Fault> {
    garson_platforms::find(key).ok_or_else(|| Fault::UnknownProvider {
        provider: key.to_owned(),
    })
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
        .ok_or_else(|| Fault::not_found(Thing::Integration, platform.provider()))
}

/// The integration of an account's restaurant with a platform, with its credentials.
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
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            Ok(integrations::find(tx, &vault, restaurant, provider)?)
        })
        .await
}

/// Who has set a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialSource {
    Account,
    /// It is in the settings of the service, for all integrations without their own.
    Operator,
}

/// An integration, if there is one, and the names of the credentials that are set, without their values.
pub async fn credential_sources(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    key: &str,
) -> Result<(Option<Integration>, BTreeMap<String, CredentialSource>), Fault> {
    let platform = platform(key)?;
    let found = find(app, account, restaurant, platform.provider()).await?;
    let shared = app.terms(platform.provider());
    let shared = shared
        .credentials
        .keys()
        .map(|name| (name.clone(), CredentialSource::Operator));
    let own = found.iter().flat_map(|connected| connected.credentials.keys());
    let names = shared
        .chain(own.map(|name| (name.clone(), CredentialSource::Account)))
        .collect();
    Ok((found.map(|connected| connected.integration), names))
}

/// Whether an integration owns its branch, as shown to clients; `None` while it names no branch. On the restaurant's own channel
/// a branch belongs to the account that uses it.
#[must_use]
pub fn shown_claim(integration: &Integration) -> Option<BranchClaim> {
    integration.remote_id.as_ref()?;
    let is_own_channel = integration.has_credentials
        && garson_platforms::of(integration.provider)
            .is_some_and(|platform| platform.branch_credentials().is_empty());
    Some(if is_own_channel {
        BranchClaim::Proven
    } else {
        integration.branch
    })
}

/// Creates or changes an integration.
pub async fn put(
    app: &App,
    by: By,
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
        .write(by.account, move |tx| {
            let mut integration = put_in(
                tx,
                &vault,
                (platform, &shared.credentials),
                (&by, restaurant),
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
    app.poll_requests.integrations_changed();
    app.store_signals.integrations_changed();
    app.branch_claims_changed.notify_one();
    match put {
        // Another node has saved the branch for this account since we checked.
        Err(Fault::Store(error)) if error.kind == StoreErrorKind::Constraint => {
            Err(Fault::RemoteIdTaken { remote_id })
        }
        other => other,
    }
}

fn put_in(
    tx: &mut Tx<'_>,
    vault: &Vault,
    (platform, shared): (&dyn Platform, &Credentials),
    (by, restaurant): (&By, RestaurantId),
    change: &IntegrationChange,
    now: Timestamp,
) -> Result<Integration, Fault> {
    let account = by.account;
    if !restaurants::lock(tx, account, restaurant)? {
        return Err(Fault::not_found(Thing::Restaurant, restaurant));
    }
    let provider = platform.provider();
    let known = integrations::find(tx, vault, restaurant, provider)?;
    let before = known
        .as_ref()
        .map(|it| recorded_fields::integration(vault, &it.integration, &it.credentials));
    let (mut integration, mut credentials) = match known {
        Some(connected) => (connected.integration, connected.credentials),
        None => (
            new_integration(account, restaurant, platform, now),
            Credentials::new(),
        ),
    };
    if diverts_stored_secret(platform, change, &credentials) {
        by.must_hold_primary(tx)?;
    }
    let was_active = integration.is_active;
    for (name, value) in change.credentials.iter().flatten() {
        match value {
            Some(secret) => credentials.insert(name.clone(), secret.clone()),
            None => credentials.remove(name),
        };
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
        check_can_be_active(tx, platform, &integration, &[&credentials, shared], now)?;
    }
    let inbound = platform.inbound_secret(&credentials);
    integrations::save(tx, vault, &integration, &credentials, inbound.as_ref())?;
    let after = recorded_fields::integration(vault, &integration, &credentials);
    let action = match before {
        Some(before) => recorded(Verb::Changed, &integration).change(before, after),
        None => recorded(Verb::Created, &integration).after(after),
    };
    by.record(tx, action, now);
    if integration.is_active != was_active {
        write_toggled(tx, &integration, now)?;
    }
    Ok(integration)
}

/// An integration is named by its platform: a restaurant has one for each.
fn recorded(verb: Verb, integration: &Integration) -> Recorded {
    Recorded::new(RecordKind::Integration, verb)
        .id(integration.provider)
        .restaurant(integration.restaurant_id)
}

fn new_integration(
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

/// Writes the event that an integration was switched on or off.
fn write_toggled(tx: &mut Tx<'_>, integration: &Integration, now: Timestamp) -> Result<(), Fault> {
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

pub async fn delete(app: &App, by: By, restaurant: RestaurantId, key: &str) -> Result<(), Fault> {
    let platform = platform(key)?;
    let (account, now) = (by.account, app.now());
    let vault = Arc::clone(&app.vault);
    let deleted = app
        .store
        .write(account, move |tx| {
            if !restaurants::lock(tx, account, restaurant)? {
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            let provider = platform.provider();
            let found = integrations::find(tx, &vault, restaurant, provider)?;
            let Connected {
                mut integration,
                credentials,
                ..
            } = found.ok_or_else(|| Fault::not_found(Thing::Integration, provider))?;
            integrations::delete(tx, integration.id)?;
            let fields = recorded_fields::integration(&vault, &integration, &credentials);
            by.record(tx, recorded(Verb::Deleted, &integration).before(fields), now);
            platform_items::disconnect(tx, restaurant, provider, now)?;
            if integration.is_active {
                integration.is_active = false;
                write_toggled(tx, &integration, now)?;
            }
            Ok(())
        })
        .await;
    app.poll_requests.integrations_changed();
    app.store_signals.integrations_changed();
    app.branch_claims_changed.notify_one();
    deleted
}

/// Switches off the integrations of a restaurant that are no longer covered by a package.
pub fn switch_off_uncovered(
    tx: &mut Tx<'_>,
    by: &By,
    restaurant: RestaurantId,
    now: Timestamp,
) -> Result<(), Fault> {
    restaurants::lock(tx, by.account, restaurant)?;
    let packages = packages::of_restaurant(tx, restaurant)?;
    for mut integration in integrations::of_restaurant(tx, restaurant)? {
        let covered = packages
            .iter()
            .any(|package| package.covers(integration.provider, now));
        if integration.is_active && !covered {
            integrations::set_active(tx, integration.id, false, now)?;
            integration.is_active = false;
            write_toggled(tx, &integration, now)?;
            let (before, after) = (json!({ "isActive": true }), json!({ "isActive": false }));
            by.record(
                tx,
                recorded(Verb::Changed, &integration).change(before, after),
                now,
            );
        }
    }
    Ok(())
}
