//! The users of an account: list, change, disable and remove them. An account always has an owner who can sign in.

use super::email_address::checked_email;
use super::recorded_fields;
use super::sessions::record_ended;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::channel::Language;
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, UserId};
use garson_core::permission::RestaurantScope;
use garson_core::role::Role;
use garson_core::time::Timestamp;
use garson_core::user::User;
use garson_store::Tx;
use garson_store::tables::user_tokens;
use garson_store::tables::{accounts, restaurants, sessions, users};
use serde_json::json;

/// The most characters of a name.
pub const MAX_NAME: usize = 200;

/// A person to invite.
#[derive(Clone, Debug)]
pub struct NewUser {
    pub email: String,
    pub name: String,
    pub language: Language,
    pub role: Role,
    pub restaurants: RestaurantScope,
}

impl NewUser {
    pub(super) fn into_user(self, account: AccountId, id: UserId, now: Timestamp) -> Result<User, Fault> {
        Ok(User {
            id,
            account_id: account,
            email: checked_email(&self.email)?,
            name: checked_name(&self.name)?,
            language: self.language,
            role: self.role,
            restaurants: checked_scope(self.role, self.restaurants)?,
            is_disabled: false,
            has_password: false,
            has_openid: false,
            has_two_factor: false,
            created_at: now,
            last_sign_in_at: None,
        })
    }
}

/// A name; it may be empty until the invitation is accepted.
pub fn checked_name(name: &str) -> Result<String, Fault> {
    let name = name.trim();
    if name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        let problem = FieldProblem::Characters {
            min: 0,
            max: MAX_NAME,
        };
        return Err(Fault::invalid("name", problem));
    }
    Ok(name.to_owned())
}

/// An owner is responsible for all restaurants; anybody else for all, or for at least one.
fn checked_scope(role: Role, restaurants: RestaurantScope) -> Result<RestaurantScope, Fault> {
    match &restaurants {
        RestaurantScope::Only(ids) if ids.is_empty() => {
            Err(Fault::invalid("restaurantIds", FieldProblem::Required))
        }
        RestaurantScope::Only(_) if role == Role::Owner => {
            Err(Fault::invalid("restaurantIds", FieldProblem::OwnerOfAll))
        }
        _ => Ok(restaurants),
    }
}

/// Refuses restaurants that the account does not have.
pub(super) fn check_restaurants(
    tx: &mut Tx<'_>,
    account: AccountId,
    scope: &RestaurantScope,
) -> Result<(), Fault> {
    if let RestaurantScope::Only(ids) = scope {
        for id in ids {
            if !restaurants::exists(tx, account, *id)? {
                return Err(Fault::not_found(Thing::Restaurant, id));
            }
        }
    }
    Ok(())
}

pub async fn list(app: &App, account: AccountId) -> Result<Vec<User>, Fault> {
    app.store.read(move |tx| Ok(users::list(tx, account)?)).await
}

pub async fn get(app: &App, account: AccountId, id: UserId) -> Result<User, Fault> {
    let found = app
        .store
        .read(move |tx| Ok::<_, Fault>(users::find(tx, account, id)?))
        .await?;
    found.ok_or_else(|| Fault::not_found(Thing::User, id))
}

/// The user with an e-mail address, in any account: for operators.
pub async fn by_email(app: &App, email: &str) -> Result<User, Fault> {
    let wanted = email.trim().to_lowercase();
    let not_found = Fault::NoSuchUser {
        email: wanted.clone(),
    };
    let found = app
        .store
        .read(move |tx| Ok::<_, Fault>(users::by_email(tx, &wanted)?))
        .await?;
    found.ok_or(not_found)
}

/// When the invitation of a user ends, if it was not accepted.
pub async fn invitation_end(app: &App, id: UserId) -> Result<Option<Timestamp>, Fault> {
    app.store
        .read(move |tx| Ok(user_tokens::invitation_end(tx, id)?))
        .await
}

/// What is to be changed of a user; `None` leaves it.
#[derive(Clone, Debug, Default)]
pub struct UserChange {
    pub name: Option<String>,
    pub role: Option<Role>,
    pub restaurants: Option<RestaurantScope>,
    pub is_disabled: Option<bool>,
}

/// Changes a user. If what the user may do changes, the user is signed out everywhere, and open boards end.
pub async fn change(app: &App, by: By, id: UserId, change: UserChange) -> Result<User, Fault> {
    let (account, now) = (by.account, app.now());
    let name = change.name.as_deref().map(checked_name).transpose()?;
    app.store
        .write(account, move |tx| {
            // Serialises changes of users: two at once could both remove the last but one owner.
            accounts::lock(tx, account)?;
            by.must_hold_primary(tx)?;
            let before = users::find(tx, account, id)?.ok_or_else(|| Fault::not_found(Thing::User, id))?;
            let role = change.role.unwrap_or(before.role);
            let restaurants = match (&change.restaurants, role) {
                (Some(restaurants), _) => restaurants.clone(),
                // Who becomes an owner is responsible for everything.
                (None, Role::Owner) => RestaurantScope::All,
                (None, _) => before.restaurants.clone(),
            };
            let user = User {
                name: name.clone().unwrap_or_else(|| before.name.clone()),
                role,
                restaurants: checked_scope(role, restaurants)?,
                is_disabled: change.is_disabled.unwrap_or(before.is_disabled),
                ..before.clone()
            };
            if user.restaurants != before.restaurants {
                check_restaurants(tx, account, &user.restaurants)?;
            }
            users::update(tx, &user)?;
            if before.is_disabled != user.is_disabled {
                users::end_resets(tx, id)?;
            }
            keep_an_owner(tx, account)?;
            record_change(tx, &by, &before, &user, now);
            let was = (before.role, &before.restaurants, before.is_disabled);
            if was != (user.role, &user.restaurants, user.is_disabled) {
                let ended = sessions::end_all(tx, account, id)?;
                record_ended(tx, &by, id, ended, now);
            }
            Ok(user)
        })
        .await
}

/// Removes a user, who is signed out everywhere.
pub async fn remove(app: &App, by: By, id: UserId) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            by.must_hold_primary(tx)?;
            let user = users::find(tx, account, id)?.ok_or_else(|| Fault::not_found(Thing::User, id))?;
            users::remove(tx, account, id)?;
            let action = Recorded::new(RecordKind::User, Verb::Deleted).id(id);
            by.record(tx, action.before(recorded_fields::user(&user)), now);
            keep_an_owner(tx, account)
        })
        .await
}

fn record_change(tx: &mut Tx<'_>, by: &By, before: &User, after: &User, now: Timestamp) {
    let action = Recorded::new(RecordKind::User, Verb::Changed).id(after.id);
    let (before, after) = (recorded_fields::user(before), recorded_fields::user(after));
    by.record(tx, action.change(before, after), now);
}

/// Refuses a change after which no owner could sign in.
pub(super) fn keep_an_owner(tx: &mut Tx<'_>, account: AccountId) -> Result<(), Fault> {
    let all = users::list(tx, account)?;
    let mut owners = all.iter().filter(|it| it.role == Role::Owner && !it.is_disabled);
    // An account that the operator has created without a password has an owner without one.
    if owners.any(|it| it.has_accepted() || it.id.0 == account.0) {
        Ok(())
    } else {
        Err(Fault::LastOwner)
    }
}

/// What users change of themselves.
#[derive(Clone, Debug)]
pub struct Profile {
    pub name: String,
    pub email: String,
    pub language: Language,
}

pub async fn set_profile(app: &App, by: By, user: &User, profile: Profile) -> Result<(), Fault> {
    let changed = User {
        name: checked_name(&profile.name)?,
        email: checked_email(&profile.email)?,
        language: profile.language,
        ..user.clone()
    };
    let (account, now) = (user.account_id, app.now());
    app.store
        .write(account, move |tx| {
            // The role may have changed since the page was opened.
            let Some(before) = users::by_id(tx, changed.id)? else {
                return Err(Fault::not_found(Thing::User, changed.id));
            };
            let other = users::by_email(tx, &changed.email)?;
            if other.is_some_and(|other| other.id != changed.id) {
                return Err(Fault::EmailTaken);
            }
            let changed = User {
                name: changed.name.clone(),
                email: changed.email.clone(),
                language: changed.language,
                ..before.clone()
            };
            users::update(tx, &changed)?;
            // Links to the old address.
            users::end_resets(tx, changed.id)?;
            record_change(tx, &by, &before, &changed, now);
            // With the address, OpenID Connect forgets the user.
            keep_an_owner(tx, account)
        })
        .await
}

/// Remembers the language that a user has switched to.
pub async fn set_language(
    app: &App,
    account: AccountId,
    id: UserId,
    language: Language,
) -> Result<(), Fault> {
    app.store
        .write(account, move |tx| {
            if let Some(user) = users::find(tx, account, id)? {
                users::update(tx, &User { language, ..user })?;
            }
            Ok(())
        })
        .await
}

/// Must all users of the account have a second factor?
pub async fn requires_two_factor(app: &App, account: AccountId) -> Result<bool, Fault> {
    app.store
        .read(move |tx| Ok(accounts::requires_two_factor(tx, account)?))
        .await
}

pub async fn set_requires_two_factor(app: &App, by: By, requires: bool) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            let before = accounts::requires_two_factor(tx, account)?;
            accounts::set_requires_two_factor(tx, account, requires)?;
            let fields = |requires: bool| json!({ "requiresTwoFactor": requires });
            let action = Recorded::new(RecordKind::Account, Verb::Changed).id(account);
            by.record(tx, action.change(fields(before), fields(requires)), now);
            Ok(())
        })
        .await
}
