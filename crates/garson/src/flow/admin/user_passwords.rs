//! New passwords of users: changed by themselves, by a link that is sent to them, or by the operator.

use super::guessing::{WRONG_PASSWORD, note_refusal, record_refusal};
use super::passwords::hash_new;
use super::randomness::random_text;
use super::sessions::{Proof, check_proof, record_ended};
use super::user_mail::{LinkMail, base_url, can_send, send_link};
use crate::app::App;
use crate::app::password_threads::Requester;
use crate::flow::by::Recorded;
use crate::flow::{By, Fault};
use crate::net::client_address::one_address;
use garson_core::account::Account;
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::UserId;
use garson_core::role::Role;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_core::user::User;
use garson_store::Tx;
use garson_store::tables::sessions::Session;
use garson_store::tables::user_tokens::{self, Purpose};
use garson_store::tables::{accounts, sessions, users};
use garson_store::vault::lookup_hash;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long a link works.
const LASTS: Duration = Duration::from_secs(60 * 60);
/// A user is sent at most one link in this time.
const BETWEEN_LINKS: Duration = Duration::from_secs(2 * 60);

fn known(user: &User) -> Vec<String> {
    vec![user.email.clone(), user.name.clone()]
}

/// Writes a new password. The account's own, which nodes of the previous version still accept, is removed with the first user's.
fn set(tx: &mut Tx<'_>, by: &By, user: &User, hash: &str, now: Timestamp) -> Result<(), Fault> {
    let action = Recorded::new(RecordKind::Password, Verb::Changed).id(user.id);
    by.record(tx, action, now);
    users::set_password_hash(tx, user.id, hash)?;
    if user.id.0 == user.account_id.0 {
        accounts::clear_password_hash(tx, user.account_id)?;
    }
    Ok(())
}

/// Sets another password, given the old one; the user's other sessions end. A user without one, who signs in with OpenID Connect, has
/// confirmed it instead.
pub async fn change(
    app: &App,
    by: By,
    session: &Session,
    user: &User,
    old: Secret<String>,
    new: Secret<String>,
) -> Result<(), Fault> {
    let made = hash_new(app, Requester::Known, new, known(user)).await?;
    if user.has_password {
        let checked = check_proof(app, session, user, Proof::Password(old)).await;
        if let Err(refused) = &checked {
            record_refusal(app, refused, by.clone(), WRONG_PASSWORD).await;
        }
        checked?;
    }
    let (user, hash, now) = (user.clone(), session.hash, app.now());
    app.store
        .write(user.account_id, move |tx| {
            set(tx, &by, &user, &made, now)?;
            sessions::confirm(tx, &hash, now)?;
            let ended = sessions::end_others(tx, user.account_id, user.id, &hash)?;
            record_ended(tx, &by, user.id, ended, now);
            Ok(())
        })
        .await
}

/// Sets another password on the operator's word; all sessions of the user end. Earlier failures count no more: they were kept
/// under the old password.
pub async fn reset(app: &App, command: &'static str, user: &User, new: Secret<String>) -> Result<(), Fault> {
    let by = By::operator(user.account_id, command);
    let made = hash_new(app, Requester::Known, new, known(user)).await?;
    let (user, now) = (user.clone(), app.now());
    app.store
        .write(user.account_id, move |tx| {
            set(tx, &by, &user, &made, now)?;
            user_tokens::remove_all(tx, user.id)?;
            let ended = sessions::end_all(tx, user.account_id, user.id)?;
            record_ended(tx, &by, user.id, ended, now);
            Ok(())
        })
        .await
}

/// The same for the first user of an account, or the oldest owner if that user was removed; returns the user.
pub async fn reset_of_account(app: &App, account: &Account, new: Secret<String>) -> Result<User, Fault> {
    let (account, first) = (account.id, UserId(account.id.0));
    let mut found = app
        .store
        .read(move |tx| Ok::<_, Fault>(users::list(tx, account)?))
        .await?;
    found.retain(|user| user.id == first || (user.role == Role::Owner && !user.is_disabled));
    let user = found
        .into_iter()
        .min_by_key(|user| (user.id != first, user.created_at))
        .ok_or_else(|| Fault::not_found(crate::flow::fault::Thing::User, first))?;
    reset(app, "account password", &user, new).await?;
    Ok(user)
}

/// Sends a link for a new password, if there is such a user and links can be sent. The answer and its time do not depend on that;
/// only too many requests from one address are refused.
pub fn request_link(app: &Arc<App>, email: &str, client: Option<IpAddr>) -> Result<(), Fault> {
    if let Some(client) = client
        && !app.sign_in_limits.allow_reset(one_address(client))
    {
        note_refusal(app, &Fault::SignInFlood, Some(client), None);
        return Err(Fault::SignInFlood);
    }
    let (app, email) = (Arc::clone(app), email.trim().to_lowercase());
    tokio::spawn(async move {
        if let Err(fault) = send_reset_link(&app, email).await {
            tracing::warn!(?fault, "a link for a new password could not be made");
        }
    });
    Ok(())
}

async fn send_reset_link(app: &App, email: String) -> Result<(), Fault> {
    if !can_send(app) {
        tracing::info!("no link for a new password was sent: smtp or public_url is not set");
        return Ok(());
    }
    let token = random_text()?;
    let (hash, now) = (lookup_hash(token.expose().as_bytes()), app.now());
    let found = app
        .store
        .read(move |tx| Ok::<_, Fault>(users::by_email(tx, &email)?))
        .await?;
    let Some(user) = found.filter(|user| !user.is_disabled && user.has_accepted()) else {
        return Ok(());
    };
    let id = user.id;
    let is_issued = app
        .store
        .write(user.account_id, move |tx| {
            let recent = user_tokens::newest(tx, id, Purpose::PasswordReset)?;
            if recent.is_some_and(|at| now < at.plus(BETWEEN_LINKS)) {
                return Ok::<_, Fault>(false);
            }
            user_tokens::issue(tx, id, Purpose::PasswordReset, &hash, now, now.plus(LASTS))?;
            Ok(true)
        })
        .await?;
    if is_issued {
        let link = format!("{}/reset-password/{}", base_url(app, ""), token.expose());
        send_link(app, &user, LinkMail::PasswordReset, &Secret::new(link)).await;
    }
    Ok(())
}

/// The user of a link that still works.
pub async fn find_link(app: &App, token: &str) -> Result<User, Fault> {
    let (hash, now) = (lookup_hash(token.as_bytes()), app.now());
    let found = app
        .store
        .read(move |tx| {
            let Some(id) = user_tokens::find(tx, Purpose::PasswordReset, &hash, now)? else {
                return Ok::<_, Fault>(None);
            };
            Ok(users::by_id(tx, id)?)
        })
        .await?;
    found.filter(|user| !user.is_disabled).ok_or(Fault::LinkInvalid)
}

/// Sets a new password by a link; all sessions of the user end. The second factor stays.
pub async fn reset_by_link(
    app: &App,
    token: &str,
    new: Secret<String>,
    client: Option<IpAddr>,
) -> Result<(), Fault> {
    let user = find_link(app, token).await?;
    let made = hash_new(app, Requester::Stranger(client), new, known(&user)).await?;
    let (hash, by, now) = (lookup_hash(token.as_bytes()), By::user(&user, client), app.now());
    app.store
        .write(user.account_id, move |tx| {
            if !user_tokens::consume(tx, &hash)? {
                return Err(Fault::LinkInvalid);
            }
            set(tx, &by, &user, &made, now)?;
            let ended = sessions::end_all(tx, user.account_id, user.id)?;
            record_ended(tx, &by, user.id, ended, now);
            Ok(())
        })
        .await
}
