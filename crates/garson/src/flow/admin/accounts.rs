//! Accounts, their keys, their webhook and their events.

pub use super::common_passwords::SHORTEST_PASSWORD;

use super::common_passwords::is_common;
use super::quotas;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::fault::Thing;
use argon2::{Argon2, PasswordHasher};
use garson_core::account::{Account, ApiKey, AuthorizationForm, IssuedKey, Webhook};
use garson_core::event::OptionalEvents;
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, EventId, KeyId, OrderId};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::lists;
use garson_store::lists::events::EventFilter;
use garson_store::lists::feed::{Page, PageRequest};
use garson_store::tables::attempts;
use garson_store::tables::attempts::Attempt;
use garson_store::tables::events;
use garson_store::tables::events::StoredEvent;
use garson_store::tables::keys;
use garson_store::tables::keys::Revoked;
use garson_store::tables::{accounts, orders};
use garson_store::{Partition, StoreError, Tx};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// Who asks for something in the name of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// Somebody who is signed in to the panel, or runs the service.
    Owner,
    /// The holder of a key.
    Key(KeyId),
}

impl Actor {
    /// Refuses any key but the primary one. Webhooks carry the primary key, so whoever decides where they go, or which key that
    /// is, could otherwise have it sent to an address of their own.
    pub(crate) fn must_hold_primary(self, tx: &mut Tx<'_>, account: AccountId) -> Result<(), Fault> {
        match self {
            Self::Owner => Ok(()),
            Self::Key(key) if keys::is_primary(tx, account, key)? => Ok(()),
            Self::Key(_) => Err(Fault::PrimaryKeyRequired),
        }
    }
}

/// Creates an account with its first key.
pub async fn create(
    app: &App,
    name: String,
    email: &str,
    password: Option<Secret<String>>,
) -> Result<(Account, IssuedKey), Fault> {
    let now = app.now();
    let email = email.trim().to_lowercase();
    if !looks_like_email(&email) {
        return Err(Fault::invalid("email", FieldProblem::NotEmail));
    }
    if name.trim().is_empty() || name.chars().count() > 200 {
        return Err(Fault::invalid(
            "name",
            FieldProblem::Characters { min: 1, max: 200 },
        ));
    }
    let hash = password.map(|password| hash_password(&password)).transpose()?;
    let account = Account {
        id: AccountId::at(now),
        name,
        email,
        created_at: now,
    };
    let issued = new_key(Some("First key".to_owned()), KeyId::at(now), now)?;
    let vault = Arc::clone(&app.vault);
    app.store
        .write(Partition::COMMON, move |tx| {
            if !accounts::create(tx, &account, hash.as_deref())? {
                return Err(Fault::EmailTaken);
            }
            let record = keys::issue(tx, &vault, account.id, &issued)?;
            Ok((
                account.clone(),
                IssuedKey {
                    record,
                    secret: issued.secret.clone(),
                },
            ))
        })
        .await
}

fn looks_like_email(email: &str) -> bool {
    let parts = email.split_once('@');
    parts.is_some_and(|(user, host)| !user.is_empty() && host.contains('.') && !host.contains('@'))
        && email.len() <= 254
        && !email.chars().any(|c| c.is_whitespace() || c.is_control())
}

pub(crate) fn hash_password(password: &Secret<String>) -> Result<String, Fault> {
    if password.expose().chars().count() < SHORTEST_PASSWORD {
        let min = SHORTEST_PASSWORD;
        return Err(Fault::invalid("password", FieldProblem::PasswordTooShort { min }));
    }
    if is_common(password.expose()) {
        return Err(Fault::invalid("password", FieldProblem::CommonPassword));
    }
    Argon2::default()
        .hash_password(password.expose().as_bytes())
        .map(|hash| hash.to_string())
        .map_err(|_| Fault::Store(StoreError::internal("the password cannot be hashed")))
}

#[expect(clippy::disallowed_methods, reason = "needs real randomness")]
fn new_key(label: Option<String>, id: KeyId, now: Timestamp) -> Result<IssuedKey, Fault> {
    use base64::Engine as _;
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|_| Fault::Store(StoreError::unavailable("no randomness to be had")))?;
    let text = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(random);
    let hint = text.chars().skip(text.len().saturating_sub(4)).collect();
    let record = ApiKey {
        id,
        label,
        hint,
        is_primary: false,
        created_at: now,
        last_used_at: None,
    };
    Ok(IssuedKey {
        record,
        secret: Secret::new(format!("gsn_{text}")),
    })
}

pub async fn list(app: &App) -> Result<Vec<Account>, Fault> {
    app.store.read(|tx| Ok(accounts::list(tx)?)).await
}

/// The account of an e-mail address.
pub async fn by_email(app: &App, email: &str) -> Result<Account, Fault> {
    let wanted = email.trim().to_lowercase();
    let not_found = Fault::not_found(Thing::Account, &wanted);
    let found = app
        .store
        .read(move |tx| Ok::<_, Fault>(accounts::by_email(tx, &wanted)?))
        .await?;
    found.ok_or(not_found)
}

/// Issues a key; it is shown this once. The id is there already when an earlier run of the same keyed request got
/// this far: then it is the same key.
pub async fn issue_key(
    app: &App,
    account: AccountId,
    id: KeyId,
    label: Option<String>,
) -> Result<IssuedKey, Fault> {
    let fresh = new_key(label, id, app.now())?;
    let defaults = app.settings.quotas;
    let vault = Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            let secret = match keys::secret(tx, &vault, account, id)? {
                Some(secret) => secret,
                None => {
                    accounts::lock(tx, account)?;
                    quotas::check_keys(tx, account, &defaults)?;
                    keys::issue(tx, &vault, account, &fresh)?;
                    fresh.secret.clone()
                }
            };
            let record = keys::list(tx, account)?.into_iter().find(|key| key.id == id);
            let record = record.ok_or_else(|| Fault::not_found(Thing::Key, id))?;
            Ok(IssuedKey { record, secret })
        })
        .await
}

/// Whoever presses twice, or whose browser sends again by itself, does so within this time.
const SAME_PRESS: Duration = Duration::from_secs(10);

/// Issues the key that a form has chosen the id for, so that a form that is sent again makes no second one. Nothing when it was
/// issued already, and shown; whoever has pressed twice is shown the same key.
pub async fn issue_key_once(
    app: &App,
    account: AccountId,
    id: KeyId,
    label: Option<String>,
) -> Result<Option<IssuedKey>, Fault> {
    let shown_before = app.now().minus(SAME_PRESS);
    let before = list_keys(app, account).await?;
    if before
        .iter()
        .any(|key| key.id == id && key.created_at < shown_before)
    {
        return Ok(None);
    }
    issue_key(app, account, id, label).await.map(Some)
}

pub async fn list_keys(app: &App, account: AccountId) -> Result<Vec<ApiKey>, Fault> {
    app.store.read(move |tx| Ok(keys::list(tx, account)?)).await
}

/// Revokes a key; the primary one, whose place another takes then, only for who holds it.
pub async fn revoke_key(app: &App, account: AccountId, actor: Actor, id: KeyId) -> Result<(), Fault> {
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            if keys::is_primary(tx, account, id)? {
                actor.must_hold_primary(tx, account)?;
            }
            match keys::revoke(tx, account, id)? {
                Revoked::Done => Ok(()),
                Revoked::NotFound => Err(Fault::not_found(Thing::Key, id)),
                Revoked::IsLast => Err(Fault::LastKey),
            }
        })
        .await
}

pub async fn make_key_primary(
    app: &App,
    account: AccountId,
    actor: Actor,
    id: KeyId,
) -> Result<ApiKey, Fault> {
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            actor.must_hold_primary(tx, account)?;
            keys::make_primary(tx, account, id)?;
            let found = keys::list(tx, account)?.into_iter().find(|key| key.id == id);
            found.ok_or_else(|| Fault::not_found(Thing::Key, id))
        })
        .await
}

pub async fn webhook(app: &App, account: AccountId) -> Result<Option<Webhook>, Fault> {
    app.store
        .read(move |tx| Ok(accounts::webhook(tx, account)?))
        .await
}

/// The webhook, and whether the account wants an event of every later version of an order.
pub async fn webhook_and_updates(app: &App, account: AccountId) -> Result<(Option<Webhook>, bool), Fault> {
    app.store
        .read(move |tx| {
            let webhook = accounts::webhook(tx, account)?;
            Ok((webhook, accounts::wants_updates(tx, account)?))
        })
        .await
}

/// Registers where the account's events go, and the primary key with them. Whether there are events of later versions of
/// orders is the account's choice also where it reads its events instead.
pub async fn set_webhook(
    app: &App,
    account: AccountId,
    actor: Actor,
    url: Option<String>,
    authorization: Option<AuthorizationForm>,
    updates: Option<bool>,
) -> Result<(Option<Webhook>, bool), Fault> {
    if let Some(url) = &url {
        app.net
            .check_address(url)
            .map_err(|refusal| Fault::target("url", refusal))?;
    }
    let now = app.now();
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            let before = accounts::webhook(tx, account)?;
            let wants_updates = match updates {
                Some(wants) => {
                    accounts::set_wants_updates(tx, account, wants)?;
                    wants
                }
                None => accounts::wants_updates(tx, account)?,
            };
            let is_about_address = url.is_some() || authorization.is_some() || updates.is_none();
            if !is_about_address {
                return Ok((before, wants_updates));
            }
            let url = url.clone().or(before.as_ref().map(|w| w.url.clone()));
            let url = url.ok_or_else(|| Fault::invalid("url", FieldProblem::Required))?;
            if before.as_ref().is_none_or(|before| before.url != url) {
                actor.must_hold_primary(tx, account)?;
            }
            let authorization = authorization
                .or(before.map(|w| w.authorization))
                .unwrap_or_default();
            let webhook = Webhook {
                url,
                authorization,
                updated_at: now,
            };
            accounts::set_webhook(tx, account, Some(&webhook))?;
            Ok((Some(webhook), wants_updates))
        })
        .await
}

/// The optional events that the account has opted in to.
pub async fn optional_events(app: &App, account: AccountId) -> Result<OptionalEvents, Fault> {
    app.store
        .read(move |tx| Ok(accounts::optional_events(tx, account)?))
        .await
}

/// Replaces the optional events that the account gets.
pub async fn set_optional_events(app: &App, account: AccountId, events: OptionalEvents) -> Result<(), Fault> {
    app.store
        .write(account, move |tx| {
            Ok(accounts::set_optional_events(tx, account, events)?)
        })
        .await
}

pub async fn remove_webhook(app: &App, account: AccountId) -> Result<(), Fault> {
    app.store
        .write(account, move |tx| Ok(accounts::set_webhook(tx, account, None)?))
        .await
}

/// A webhook record with its attempts.
pub struct Delivery {
    pub event: StoredEvent,
    pub attempts: Vec<Attempt>,
}

/// An event with the attempts that were made to deliver it.
pub(crate) fn with_attempts(tx: &mut Tx<'_>, event: StoredEvent) -> Result<Delivery, Fault> {
    let attempts = if event.attempts > 0 {
        attempts::of_event(tx, event.id)?
    } else {
        Vec::new()
    };
    Ok(Delivery { event, attempts })
}

/// What people call these orders: by their code, or by the platform's id where there is none.
pub async fn order_codes(
    app: &App,
    account: AccountId,
    ids: BTreeSet<OrderId>,
) -> Result<HashMap<OrderId, String>, Fault> {
    let ids: Vec<OrderId> = ids.into_iter().collect();
    app.store
        .read(move |tx| Ok(orders::codes(tx, account, &ids)?.into_iter().collect()))
        .await
}

/// One webhook record.
pub async fn delivery(app: &App, account: AccountId, id: EventId) -> Result<Delivery, Fault> {
    app.store
        .read(move |tx| match events::find(tx, account, id)? {
            Some(event) => with_attempts(tx, event),
            None => Err(Fault::not_found(Thing::WebhookRecord, id)),
        })
        .await
}

/// A page of webhook records; those of one order are answered whole.
pub async fn list_deliveries(
    app: &App,
    account: AccountId,
    filter: EventFilter,
    order: Option<String>,
    request: PageRequest,
) -> Result<Page<Delivery>, Fault> {
    app.store
        .read(move |tx| {
            let page = match &order {
                None => lists::events::filtered(tx, account, &filter, request)?,
                Some(path_id) => {
                    let order = crate::flow::find_order::find_one(tx, account, path_id)?;
                    let mut page = lists::events::of_order(tx, order.id, filter.state, request)?;
                    // An order has few events.
                    page.items.retain(|event| filter.matches(event));
                    page
                }
            };
            let items = page
                .items
                .into_iter()
                .map(|event| with_attempts(tx, event))
                .collect::<Result<_, _>>()?;
            Ok(Page {
                items,
                next: page.next,
                prev: page.prev,
            })
        })
        .await
}
