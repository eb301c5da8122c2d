//! Sessions of users in browsers: who is signed in, for how long, and whether the user was recently asked for the password.

use super::guessing::{Guessed, Guesser, WRONG_CODE, WRONG_PASSWORD, limited, record_refusal};
use super::passwords::matches;
use super::second_factor;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::{By, Fault};
use garson_core::account::Account;
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::{AccountId, UserId};
use garson_core::permission::RestaurantScope;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_core::user::User;
use garson_store::Tx;
use garson_store::tables::account_states;
use garson_store::tables::sessions;
use garson_store::tables::sessions::{Session, SessionHash};
use garson_store::tables::{accounts, restaurants, users};
use garson_store::vault::lookup_hash;
use serde_json::json;
use std::time::Duration;

/// A session ends when it has not been used for this time.
pub const LASTS_SECONDS: u32 = 30 * 24 * 60 * 60;
pub(super) const LASTS: Duration = Duration::from_secs(LASTS_SECONDS as u64);
/// However much it is used, a session ends after this time, and its browser signs in again.
pub const LONGEST: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// How often it is noted that a session is used.
const NOTED: Duration = Duration::from_secs(10 * 60);
/// For this time after giving the password or a code, a user is not asked again before a sensitive change.
pub const CONFIRMED_FOR: Duration = Duration::from_secs(10 * 60);

/// Somebody who is signed in, with the account.
pub struct Visit {
    pub session: Session,
    pub account: Account,
    pub user: User,
    /// The owner wants all users to have a second factor.
    pub requires_two_factor: bool,
}

/// Who holds this, if it still is worth something.
pub async fn visit(app: &App, cookie: &str) -> Result<Option<Visit>, Fault> {
    let hash = lookup_hash(cookie.as_bytes());
    let now = app.now();
    let visit = app
        .store
        .read(move |tx| {
            let found = sessions::find(tx, &hash, now)?;
            let Some(session) = found.filter(|session| now < session.created_at.plus(LONGEST)) else {
                return Ok::<_, Fault>(None);
            };
            if !account_states::is_active(tx, session.account_id)? {
                return Err(Fault::AccountDisabled);
            }
            let user = users::find(tx, session.account_id, session.user_id)?;
            let Some(mut user) = user.filter(|user| !user.is_disabled) else {
                return Ok(None);
            };
            user.restaurants = remaining(tx, user.account_id, user.restaurants)?;
            let Some(account) = accounts::by_id(tx, session.account_id)? else {
                return Ok(None);
            };
            Ok(Some(Visit {
                requires_two_factor: accounts::requires_two_factor(tx, account.id)?,
                session,
                account,
                user,
            }))
        })
        .await?;
    if let Some(visit) = &visit
        && now.since(visit.session.seen_at) > NOTED
    {
        let ends_at = now.plus(LASTS).min(visit.session.created_at.plus(LONGEST));
        let renewed = app.store.write(visit.account.id, move |tx| {
            sessions::renew(tx, &hash, now, ends_at)
        });
        if let Err(error) = renewed.await {
            tracing::warn!(%error, "a session could not be renewed");
        }
    }
    Ok(visit)
}

/// Those of a user's restaurants that were not deleted.
fn remaining(tx: &mut Tx<'_>, account: AccountId, scope: RestaurantScope) -> Result<RestaurantScope, Fault> {
    let RestaurantScope::Only(mut ids) = scope else {
        return Ok(scope);
    };
    for id in ids.clone() {
        if !restaurants::exists(tx, account, id)? {
            ids.remove(&id);
        }
    }
    Ok(RestaurantScope::Only(ids))
}

pub async fn list(app: &App, account: AccountId, user: UserId) -> Result<Vec<Session>, Fault> {
    let now = app.now();
    app.store
        .read(move |tx| Ok(sessions::list(tx, account, user, now)?))
        .await
}

pub async fn end(app: &App, by: By, user: UserId, hash: SessionHash) -> Result<bool, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            let has_ended = sessions::end(tx, account, user, &hash)?;
            record_ended(tx, &by, user, u64::from(has_ended), now);
            Ok(has_ended)
        })
        .await
}

pub async fn end_others(app: &App, by: By, user: UserId, but: SessionHash) -> Result<u64, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            let ended = sessions::end_others(tx, account, user, &but)?;
            record_ended(tx, &by, user, ended, now);
            Ok(ended)
        })
        .await
}

/// Ends all sessions of a user, also the one that asks for it.
pub async fn end_all(app: &App, by: By, user: UserId) -> Result<u64, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            let ended = sessions::end_all(tx, account, user)?;
            record_ended(tx, &by, user, ended, now);
            Ok(ended)
        })
        .await
}

/// Records that sessions of a user were ended.
pub(super) fn record_ended(tx: &mut Tx<'_>, by: &By, user: UserId, ended: u64, now: Timestamp) {
    if ended > 0 {
        let action = Recorded::new(RecordKind::Session, Verb::SignedOut).id(user);
        by.record(tx, action.after(json!({ "sessions": ended })), now);
    }
}

/// Has the user of this session given the password or a code recently?
#[must_use]
pub fn is_confirmed(app: &App, session: &Session) -> bool {
    app.now() < session.confirmed_at.plus(CONFIRMED_FOR)
}

/// By what a user proves again who uses the session.
pub enum Proof {
    Password(Secret<String>),
    Code(Secret<String>),
}

/// Checks a proof, unless too many were wrong in this session, and remembers it.
pub async fn confirm(app: &App, by: By, session: &Session, user: &User, proof: Proof) -> Result<(), Fault> {
    let wrong = match &proof {
        Proof::Password(_) => WRONG_PASSWORD,
        Proof::Code(_) => WRONG_CODE,
    };
    let checked = check_proof(app, session, user, proof).await;
    if let Err(refused) = &checked {
        record_refusal(app, refused, by, wrong).await;
    }
    checked?;
    let (hash, now) = (session.hash, app.now());
    app.store
        .write(user.account_id, move |tx| Ok(sessions::confirm(tx, &hash, now)?))
        .await
}

/// Strangers who guess at this user do not lock out those who are signed in, because failures are counted per session.
pub(super) async fn check_proof(
    app: &App,
    session: &Session,
    user: &User,
    proof: Proof,
) -> Result<(), Fault> {
    let id = user.id;
    let hash = app
        .store
        .read(move |tx| Ok::<_, Fault>(users::password_hash(tx, id)?))
        .await?;
    let guesser = Guesser::Session(session.hash);
    match proof {
        Proof::Password(password) => {
            let key = guesser.key(Guessed::Password { email: &user.email }, hash.as_deref());
            limited(app, key, matches(app, guesser.requester(), password, hash)).await
        }
        Proof::Code(code) => {
            let key = guesser.key(Guessed::Code { email: &user.email }, hash.as_deref());
            limited(app, key, second_factor::is_right(app, user, &code)).await
        }
    }
}
