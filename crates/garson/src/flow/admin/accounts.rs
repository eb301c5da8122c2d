//! Accounts, their webhook and their events.

use super::email_address::checked_email;
use super::keys::NewKey;
use super::passwords::hash_new;
use super::{keys, recorded_fields};
use crate::app::App;
use crate::app::password_threads::Requester;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::account::{Account, AuthorizationForm, IssuedKey, Webhook};
use garson_core::audit::{RecordKind, Verb};
use garson_core::channel::Language;
use garson_core::event::{OptionalEvent, OptionalEvents};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, EndpointId, EventId, KeyId, OrderId, UserId};
use garson_core::permission::RestaurantScope;
use garson_core::role::Role;
use garson_core::secret::Secret;
use garson_core::user::User;
use garson_store::lists;
use garson_store::lists::events::EventFilter;
use garson_store::lists::feed::{Page, PageRequest};
use garson_store::tables;
use garson_store::tables::attempts;
use garson_store::tables::attempts::Attempt;
use garson_store::tables::events;
use garson_store::tables::events::StoredEvent;
use garson_store::tables::{accounts, orders, users, webhook_endpoints};
use garson_store::{Partition, Tx};
use serde_json::json;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Creates an account with its first key and its owner, who signs in with the account's e-mail address and has the account's id.
pub async fn create(
    app: &App,
    name: String,
    email: &str,
    password: Option<Secret<String>>,
) -> Result<(Account, IssuedKey), Fault> {
    let now = app.now();
    let email = checked_email(email)?;
    if name.trim().is_empty() || name.chars().count() > 200 {
        return Err(Fault::invalid(
            "name",
            FieldProblem::Characters { min: 1, max: 200 },
        ));
    }
    let hash = match password {
        Some(password) => {
            let known = vec![email.clone(), name.clone()];
            Some(hash_new(app, Requester::Known, password, known).await?)
        }
        None => None,
    };
    let account = Account {
        id: AccountId::at(now),
        name,
        email,
        created_at: now,
    };
    let owner = User {
        id: UserId(account.id.0),
        account_id: account.id,
        email: account.email.clone(),
        name: String::new(),
        language: Language::default(),
        role: Role::Owner,
        restaurants: RestaurantScope::All,
        is_disabled: false,
        has_password: hash.is_some(),
        has_openid: false,
        has_two_factor: false,
        created_at: now,
        last_sign_in_at: None,
    };
    let first = NewKey {
        label: Some("First key".to_owned()),
        ..NewKey::default()
    };
    let issued = keys::new_key(first, KeyId::at(now), now)?;
    let vault = Arc::clone(&app.vault);
    app.store
        .write(Partition::COMMON, move |tx| {
            if !accounts::create(tx, &account)? || !users::create(tx, &owner, hash.as_deref())? {
                return Err(Fault::EmailTaken);
            }
            let record = tables::keys::issue(tx, &vault, account.id, &issued)?;
            let by = By::operator(account.id, "account create");
            let fields = json!({ "name": account.name, "email": account.email });
            by.record(
                tx,
                Recorded::new(RecordKind::Account, Verb::Created)
                    .id(account.id)
                    .after(fields),
                now,
            );
            keys::record(tx, &by, Verb::Created, &record, now);
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

pub async fn list(app: &App) -> Result<Vec<Account>, Fault> {
    app.store.read(|tx| Ok(accounts::list(tx)?)).await
}

/// An account by its id.
pub async fn get(app: &App, id: AccountId) -> Result<Account, Fault> {
    let found = app
        .store
        .read(move |tx| Ok::<_, Fault>(accounts::by_id(tx, id)?))
        .await?;
    found.ok_or_else(|| Fault::not_found(Thing::Account, id))
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
    by: By,
    url: Option<String>,
    authorization: Option<AuthorizationForm>,
    updates: Option<bool>,
) -> Result<(Option<Webhook>, bool), Fault> {
    if let Some(url) = &url {
        app.net
            .check_address(url)
            .map_err(|refusal| Fault::target("url", refusal))?;
    }
    let (account, now) = (by.account, app.now());
    let vault = Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            let before = accounts::webhook(tx, account)?;
            let fields_before =
                recorded_fields::webhook(&vault, before.as_ref(), accounts::wants_updates(tx, account)?);
            let record = |tx: &mut Tx<'_>, webhook: Option<&Webhook>, updates| {
                let fields = recorded_fields::webhook(&vault, webhook, updates);
                let change = Recorded::new(RecordKind::Webhook, Verb::Changed);
                by.record(tx, change.change(fields_before.clone(), fields), now);
            };
            let wants_updates = match updates {
                Some(wants) => {
                    accounts::set_wants_updates(tx, account, wants)?;
                    wants
                }
                None => accounts::wants_updates(tx, account)?,
            };
            let is_about_address = url.is_some() || authorization.is_some() || updates.is_none();
            if !is_about_address {
                record(tx, before.as_ref(), wants_updates);
                return Ok((before, wants_updates));
            }
            let url = url.clone().or(before.as_ref().map(|w| w.url.clone()));
            let url = url.ok_or_else(|| Fault::invalid("url", FieldProblem::Required))?;
            if before.as_ref().is_none_or(|before| before.url != url) {
                by.must_hold_primary(tx)?;
            }
            if authorization.is_some() {
                let stored = webhook_endpoints::find(tx, account, EndpointId::default_of(account))?;
                if stored.is_some_and(|it| it.authorization.key_form().is_none()) {
                    by.must_hold_primary(tx)?;
                }
                webhook_endpoints::use_key(tx, account)?;
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
            record(tx, Some(&webhook), wants_updates);
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
pub async fn set_optional_events(app: &App, by: By, events: OptionalEvents) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            let before = accounts::optional_events(tx, account)?;
            accounts::set_optional_events(tx, account, events)?;
            let fields = |events: OptionalEvents| {
                let names = OptionalEvent::ALL.iter().filter(|event| events.contains(**event));
                json!({ "optionalEvents": names.map(|event| event.as_str()).collect::<Vec<_>>() })
            };
            let change = Recorded::new(RecordKind::Webhook, Verb::Changed);
            by.record(tx, change.change(fields(before), fields(events)), now);
            Ok(())
        })
        .await
}

pub async fn remove_webhook(app: &App, by: By) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    let vault = Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            let before = accounts::webhook(tx, account)?;
            accounts::set_webhook(tx, account, None)?;
            // Its further settings go with it.
            webhook_endpoints::delete(tx, account, EndpointId::default_of(account), now)?;
            if before.is_some() {
                let updates = accounts::wants_updates(tx, account)?;
                let fields = recorded_fields::webhook(&vault, before.as_ref(), updates);
                by.record(
                    tx,
                    Recorded::new(RecordKind::Webhook, Verb::Deleted).before(fields),
                    now,
                );
            }
            Ok(())
        })
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
