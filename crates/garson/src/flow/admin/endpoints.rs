//! Webhook endpoints: create, read, change, rotate secrets, delete.
//!
//! The first in every list is the default one, which `PUT /webhook` describes too: its address is the account's webhook, and its
//! further settings are a row of their own that exists once one of them was changed.

mod secrets;

use crate::app::App;
use crate::flow::admin::input::Line;
use crate::flow::admin::{quotas, recorded_fields};
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::account::Webhook;
use garson_core::audit::{RecordKind, Verb};
use garson_core::event::NAMES;
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, EndpointId, RestaurantId};
use garson_core::platform::Provider;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_core::webhook_endpoint::{
    EndpointAuthorization, EndpointFilter, EndpointState, EventBody, MAX_ENDPOINTS, RetryPlan,
    WebhookEndpoint,
};
use garson_store::Tx;
use garson_store::tables::webhook_endpoints;
use garson_store::tables::webhook_endpoints::EndpointSecrets;
use garson_store::tables::{accounts, restaurants};
use secrets::{check_token, new_signing_secret, new_token};
use std::sync::Arc;
use std::time::Duration;

/// Restaurants in a filter.
pub const MAX_RESTAURANTS: usize = 200;

/// What can be written about an endpoint; `None` stays as it is, or is the default of a new one.
#[derive(Clone, Debug, Default)]
pub struct EndpointInput {
    pub label: Option<Line>,
    pub url: Option<String>,
    pub is_active: Option<bool>,
    pub events: Option<Vec<String>>,
    pub restaurants: Option<Vec<RestaurantId>>,
    pub platforms: Option<Vec<Provider>>,
    pub authorization: Option<EndpointAuthorization>,
    pub token: Option<Secret<String>>,
    pub is_signed: Option<bool>,
    pub body: Option<EventBody>,
    pub retries: Option<RetryPlan>,
}

/// An endpoint as it is after a change, with the secrets that the change has made: they are shown this once.
#[derive(Clone, Debug)]
pub struct ChangedEndpoint {
    pub endpoint: WebhookEndpoint,
    pub token: Option<Secret<String>>,
    pub signing_secret: Option<Secret<String>>,
}

/// The default endpoint of an account.
fn default_endpoint(tx: &mut Tx<'_>, account: AccountId) -> Result<WebhookEndpoint, Fault> {
    let id = EndpointId::default_of(account);
    let webhook = accounts::webhook(tx, account)?;
    let mut endpoint = match webhook_endpoints::find(tx, account, id)? {
        Some(stored) => stored,
        None => {
            let since = webhook
                .as_ref()
                .map_or_else(Timestamp::default, |it| it.updated_at);
            blank(id, since)
        }
    };
    if endpoint.authorization.key_form().is_some() {
        let form = webhook.as_ref().map(|it| it.authorization).unwrap_or_default();
        endpoint.authorization = form.into();
    }
    endpoint.url = webhook.map(|it| it.url);
    endpoint.state = EndpointState::Active;
    Ok(endpoint)
}

fn blank(id: EndpointId, now: Timestamp) -> WebhookEndpoint {
    WebhookEndpoint {
        id,
        label: String::new(),
        url: None,
        state: EndpointState::Active,
        state_at: None,
        filter: EndpointFilter::default(),
        authorization: EndpointAuthorization::Key,
        is_signed: false,
        old_secret_until: None,
        body: EventBody::Event,
        retries: RetryPlan::Standard,
        failing_since: None,
        created_at: now,
        updated_at: now,
    }
}

fn find(tx: &mut Tx<'_>, account: AccountId, id: EndpointId) -> Result<WebhookEndpoint, Fault> {
    if id.is_default_of(account) {
        return default_endpoint(tx, account);
    }
    webhook_endpoints::find(tx, account, id)?.ok_or_else(|| Fault::not_found(Thing::Endpoint, id))
}

/// The endpoints of an account, the default one first.
pub async fn list(app: &App, account: AccountId) -> Result<Vec<WebhookEndpoint>, Fault> {
    app.store
        .read(move |tx| {
            let mut all = vec![default_endpoint(tx, account)?];
            let stored = webhook_endpoints::list(tx, account)?;
            all.extend(stored.into_iter().filter(|it| !it.id.is_default_of(account)));
            Ok(all)
        })
        .await
}

pub async fn get(app: &App, account: AccountId, id: EndpointId) -> Result<WebhookEndpoint, Fault> {
    app.store.read(move |tx| find(tx, account, id)).await
}

/// Creates an endpoint. If an earlier run of the same idempotent request has already created the id, that one is returned, with
/// its secrets.
pub async fn create(
    app: &App,
    by: By,
    id: EndpointId,
    input: EndpointInput,
) -> Result<ChangedEndpoint, Fault> {
    if input.url.is_none() {
        return Err(Fault::invalid("url", FieldProblem::Required));
    }
    check(app, &input)?;
    let (account, now) = (by.account, app.now());
    let (vault, defaults) = (Arc::clone(&app.vault), app.settings.quotas);
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            if let Some(endpoint) = webhook_endpoints::find(tx, account, id)? {
                let secrets = webhook_endpoints::secrets(tx, &vault, id)?;
                return Ok(ChangedEndpoint {
                    endpoint,
                    token: secrets.token,
                    signing_secret: secrets.signing,
                });
            }
            let authorization = input.authorization.unwrap_or(EndpointAuthorization::Key);
            by.must_decide_receiver(tx, authorization.key_form().is_some())?;
            quotas::check_endpoints(tx, account, &defaults, webhook_endpoints::count)?;
            let max = MAX_ENDPOINTS;
            if webhook_endpoints::count(tx, account)? >= i64::try_from(max).unwrap_or(i64::MAX) {
                return Err(Fault::invalid("endpoints", FieldProblem::TooMany { max }));
            }
            let mut changed = Draft {
                endpoint: blank(id, now),
                secrets: EndpointSecrets::default(),
                shown: Shown::default(),
            };
            changed.apply(tx, account, &input, now)?;
            webhook_endpoints::save(tx, &vault, account, &changed.endpoint, &changed.secrets)?;
            let fields = recorded_fields::endpoint(&vault, &changed.endpoint, &changed.secrets);
            let created = Recorded::new(RecordKind::Webhook, Verb::Created);
            by.record(tx, created.id(id).after(fields), now);
            Ok(changed.into())
        })
        .await
}

/// Changes an endpoint.
pub async fn update(
    app: &App,
    by: By,
    id: EndpointId,
    input: EndpointInput,
) -> Result<ChangedEndpoint, Fault> {
    let (account, now) = (by.account, app.now());
    check(app, &input)?;
    let is_default = id.is_default_of(account);
    if is_default && input.is_active.is_some() {
        let problem =
            FieldProblem::text("cannot be set for the endpoint of PUT /webhook; remove its address instead");
        return Err(Fault::invalid("isActive", problem));
    }
    let vault = Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            let before = find(tx, account, id)?;
            let secrets = webhook_endpoints::secrets(tx, &vault, id)?;
            let fields_before = recorded_fields::endpoint(&vault, &before, &secrets);
            let mut changed = Draft {
                endpoint: before.clone(),
                secrets,
                shown: Shown::default(),
            };
            changed.apply(tx, account, &input, now)?;
            let after = &changed.endpoint;
            let is_about_key = after.url != before.url || after.authorization != before.authorization;
            if is_about_key || after.is_signed != before.is_signed {
                by.must_decide_receiver(tx, is_about_key && after.authorization.key_form().is_some())?;
            }
            if is_default {
                save_webhook(tx, account, &before, after, now)?;
            }
            webhook_endpoints::save(tx, &vault, account, after, &changed.secrets)?;
            let fields = recorded_fields::endpoint(&vault, after, &changed.secrets);
            let change = Recorded::new(RecordKind::Webhook, Verb::Changed).id(id);
            by.record(tx, change.change(fields_before, fields), now);
            Ok(changed.into())
        })
        .await
}

/// Stores what the account's webhook itself has of the default endpoint.
fn save_webhook(
    tx: &mut Tx<'_>,
    account: AccountId,
    before: &WebhookEndpoint,
    after: &WebhookEndpoint,
    now: Timestamp,
) -> Result<(), Fault> {
    let Some(url) = &after.url else { return Ok(()) };
    let form = after.authorization.key_form();
    if before.url == after.url && before.authorization.key_form() == form {
        return Ok(());
    }
    let webhook = Webhook {
        url: url.clone(),
        authorization: form.unwrap_or_default(),
        updated_at: now,
    };
    Ok(accounts::set_webhook(tx, account, Some(&webhook))?)
}

/// Replaces the signing secret of an endpoint; the old one stays valid for a while.
pub async fn rotate_secret(
    app: &App,
    by: By,
    id: EndpointId,
    overlap: Duration,
) -> Result<ChangedEndpoint, Fault> {
    let fresh = new_signing_secret()?;
    let (account, now) = (by.account, app.now());
    let vault = Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            by.must_decide_receiver(tx, false)?;
            let mut endpoint = find(tx, account, id)?;
            let mut secrets = webhook_endpoints::secrets(tx, &vault, id)?;
            let fields_before = recorded_fields::endpoint(&vault, &endpoint, &secrets);
            let Some(old) = secrets.signing.replace(fresh.clone()) else {
                return Err(Fault::invalid(
                    "signed",
                    FieldProblem::text("is off: there is no secret to rotate"),
                ));
            };
            let is_kept = !overlap.is_zero();
            secrets.old_signing = is_kept.then_some(old);
            endpoint.old_secret_until = is_kept.then(|| now.plus(overlap));
            endpoint.updated_at = now;
            webhook_endpoints::save(tx, &vault, account, &endpoint, &secrets)?;
            let fields = recorded_fields::endpoint(&vault, &endpoint, &secrets);
            let change = Recorded::new(RecordKind::Webhook, Verb::Changed).id(id);
            by.record(tx, change.change(fields_before, fields), now);
            Ok(ChangedEndpoint {
                endpoint,
                token: None,
                signing_secret: Some(fresh.clone()),
            })
        })
        .await
}

/// Deletes an endpoint; its deliveries are swept. Of the default one the address and all settings are removed.
pub async fn delete(app: &App, by: By, id: EndpointId) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    let vault = Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            let before = find(tx, account, id)?;
            let secrets = webhook_endpoints::secrets(tx, &vault, id)?;
            if id.is_default_of(account) {
                accounts::set_webhook(tx, account, None)?;
            }
            webhook_endpoints::delete(tx, account, id, now)?;
            if before.url.is_some() {
                let fields = recorded_fields::endpoint(&vault, &before, &secrets);
                let deleted = Recorded::new(RecordKind::Webhook, Verb::Deleted);
                by.record(tx, deleted.id(id).before(fields), now);
            }
            Ok::<_, Fault>(())
        })
        .await?;
    app.wake_sweep.notify_one();
    Ok(())
}

/// Checks what needs no database.
fn check(app: &App, input: &EndpointInput) -> Result<(), Fault> {
    if let Some(url) = &input.url {
        app.net
            .check_address(url)
            .map_err(|refusal| Fault::target("url", refusal))?;
    }
    for (row, name) in input.events.iter().flatten().enumerate() {
        if !NAMES.contains(&name.as_str()) {
            let choices = NAMES.join(", ");
            return Err(Fault::invalid(
                format!("events[{row}]"),
                FieldProblem::NotOneOf { choices },
            ));
        }
    }
    if input
        .restaurants
        .as_ref()
        .is_some_and(|it| it.len() > MAX_RESTAURANTS)
    {
        let max = MAX_RESTAURANTS;
        return Err(Fault::invalid("restaurantIds", FieldProblem::TooMany { max }));
    }
    input.token.as_ref().map_or(Ok(()), check_token)
}

/// The secrets that a change has made.
#[derive(Clone, Debug, Default)]
struct Shown {
    token: Option<Secret<String>>,
    signing: Option<Secret<String>>,
}

/// An endpoint that is being changed.
struct Draft {
    endpoint: WebhookEndpoint,
    secrets: EndpointSecrets,
    shown: Shown,
}

impl From<Draft> for ChangedEndpoint {
    fn from(draft: Draft) -> Self {
        Self {
            endpoint: draft.endpoint,
            token: draft.shown.token,
            signing_secret: draft.shown.signing,
        }
    }
}

impl Draft {
    fn apply(
        &mut self,
        tx: &mut Tx<'_>,
        account: AccountId,
        input: &EndpointInput,
        now: Timestamp,
    ) -> Result<(), Fault> {
        for (row, restaurant) in input.restaurants.iter().flatten().enumerate() {
            if !restaurants::exists(tx, account, *restaurant)? {
                let problem = FieldProblem::text("is not a restaurant of this account");
                return Err(Fault::invalid(format!("restaurantIds[{row}]"), problem));
            }
        }
        let endpoint = &mut self.endpoint;
        endpoint.updated_at = now;
        if let Some(label) = &input.label {
            label.as_str().clone_into(&mut endpoint.label);
        }
        if input.url.is_some() {
            endpoint.url.clone_from(&input.url);
        }
        if let Some(is_active) = input.is_active {
            let state = if is_active {
                EndpointState::Active
            } else {
                EndpointState::Paused
            };
            if state != endpoint.state {
                endpoint.state = state;
                endpoint.state_at = (!is_active).then_some(now);
            }
        }
        let filter = &mut endpoint.filter;
        if let Some(events) = &input.events {
            filter.events.clone_from(events);
        }
        if let Some(restaurants) = &input.restaurants {
            filter.restaurants.clone_from(restaurants);
        }
        if let Some(platforms) = &input.platforms {
            filter.platforms.clone_from(platforms);
        }
        endpoint.body = input.body.unwrap_or(endpoint.body);
        endpoint.retries = input.retries.unwrap_or(endpoint.retries);
        endpoint.authorization = input.authorization.unwrap_or(endpoint.authorization);
        self.apply_token(input)?;
        self.apply_signing(input)
    }

    fn apply_token(&mut self, input: &EndpointInput) -> Result<(), Fault> {
        if self.endpoint.authorization != EndpointAuthorization::Token {
            if input.token.is_some() {
                let problem = FieldProblem::text("needs the authorization \"token\"");
                return Err(Fault::invalid("token", problem));
            }
            self.secrets.token = None;
        } else if input.token.is_some() {
            self.secrets.token.clone_from(&input.token);
        } else if self.secrets.token.is_none() {
            let token = new_token()?;
            self.shown.token = Some(token.clone());
            self.secrets.token = Some(token);
        }
        Ok(())
    }

    fn apply_signing(&mut self, input: &EndpointInput) -> Result<(), Fault> {
        match input.is_signed {
            Some(true) if self.secrets.signing.is_none() => {
                let secret = new_signing_secret()?;
                self.shown.signing = Some(secret.clone());
                self.secrets.signing = Some(secret);
            }
            Some(false) => {
                self.secrets.signing = None;
                self.secrets.old_signing = None;
                self.endpoint.old_secret_until = None;
            }
            Some(true) | None => {}
        }
        self.endpoint.is_signed = self.secrets.signing.is_some();
        Ok(())
    }
}
