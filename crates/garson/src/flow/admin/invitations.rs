//! Invitations: a new user gets a link, sets name and password, and signs in.

use super::passwords::hash_new;
use super::randomness::random_text;
use super::recorded_fields;
use super::user_mail::{self, LinkMail, can_send, send_link};
use super::users::{NewUser, check_restaurants};
use crate::app::App;
use crate::app::password_threads::Requester;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::account::Account;
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::UserId;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_core::user::User;
use garson_store::Tx;
use garson_store::tables::user_tokens::{self, Purpose};
use garson_store::tables::{accounts, users};
use garson_store::vault::lookup_hash;
use std::net::IpAddr;
use std::time::Duration;

/// How long a link works.
pub const LASTS: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The most users of an account, invited ones included.
const MAX_USERS: i64 = 500;

/// An invitation that was made.
pub struct Invited {
    pub user: User,
    /// The link, shown this once; nothing when it was sent by e-mail.
    pub link: Option<Secret<String>>,
}

/// Invites a person. `base`: how the caller reaches the panel. The id is given, so that a repeated request makes no second user.
pub async fn invite(
    app: &App,
    by: By,
    account: &Account,
    id: UserId,
    new: NewUser,
    base: &str,
) -> Result<Invited, Fault> {
    let (user, of) = (new.into_user(account.id, id, app.now())?, account.id);
    let token = random_text()?;
    let (hash, now) = (lookup_hash(token.expose().as_bytes()), app.now());
    let stored = user.clone();
    app.store
        .write(of, move |tx| {
            accounts::lock(tx, of)?;
            // An owner may choose where the primary key is sent.
            by.must_hold_primary(tx)?;
            check_restaurants(tx, of, &stored.restaurants)?;
            let is_repeated = users::find(tx, of, stored.id)?.is_some_and(|it| it.email == stored.email);
            if !is_repeated {
                if users::count(tx, of)? >= MAX_USERS {
                    return Err(Fault::TooManyUsers);
                }
                // Without this, PostgreSQL would only report the conflict after waiting for another transaction.
                if users::by_email(tx, &stored.email)?.is_some() || !users::create(tx, &stored, None)? {
                    return Err(Fault::EmailTaken);
                }
                record(tx, &by, Verb::Invited, &stored, now);
            }
            Ok(user_tokens::issue(
                tx,
                stored.id,
                Purpose::Invitation,
                &hash,
                now,
                now.plus(LASTS),
            )?)
        })
        .await?;
    deliver(app, account, user, &token, base).await
}

/// Makes another link for a user who has not accepted yet; the earlier one stops working.
pub async fn invite_again(
    app: &App,
    by: By,
    account: &Account,
    id: UserId,
    base: &str,
) -> Result<Invited, Fault> {
    let (token, of) = (random_text()?, account.id);
    let (hash, now) = (lookup_hash(token.expose().as_bytes()), app.now());
    let user = app
        .store
        .write(of, move |tx| {
            let user = users::find(tx, of, id)?.ok_or_else(|| Fault::not_found(Thing::User, id))?;
            if user.has_accepted() {
                return Err(Fault::AlreadyAccepted);
            }
            user_tokens::issue(tx, id, Purpose::Invitation, &hash, now, now.plus(LASTS))?;
            record(tx, &by, Verb::Invited, &user, now);
            Ok(user)
        })
        .await?;
    deliver(app, account, user, &token, base).await
}

fn record(tx: &mut Tx<'_>, by: &By, verb: Verb, user: &User, now: Timestamp) {
    let action = Recorded::new(RecordKind::User, verb).id(user.id);
    by.record(tx, action.after(recorded_fields::user(user)), now);
}

/// Sends the link, or returns it.
async fn deliver(
    app: &App,
    account: &Account,
    user: User,
    token: &Secret<String>,
    base: &str,
) -> Result<Invited, Fault> {
    let base = user_mail::base_url(app, base);
    let link = Secret::new(format!("{base}/invitation/{}", token.expose()));
    let mail = LinkMail::Invitation {
        account: &account.name,
    };
    let is_sent = can_send(app) && send_link(app, &user, mail, &link).await;
    Ok(Invited {
        user,
        link: (!is_sent).then_some(link),
    })
}

/// The user of an invitation that still works.
pub async fn find(app: &App, token: &str) -> Result<User, Fault> {
    let (hash, now) = (lookup_hash(token.as_bytes()), app.now());
    let found = app
        .store
        .read(move |tx| {
            let Some(id) = user_tokens::find(tx, Purpose::Invitation, &hash, now)? else {
                return Ok::<_, Fault>(None);
            };
            Ok(users::by_id(tx, id)?)
        })
        .await?;
    found.filter(|user| !user.is_disabled).ok_or(Fault::LinkInvalid)
}

/// Accepts an invitation: sets the name and the password. The link does not work again.
pub async fn accept(
    app: &App,
    token: &str,
    name: String,
    password: Secret<String>,
    client: Option<IpAddr>,
) -> Result<(), Fault> {
    let user = find(app, token).await?;
    let known = vec![user.email.clone(), name.clone()];
    let made = hash_new(app, Requester::Stranger(client), password, known).await?;
    let (hash, now) = (lookup_hash(token.as_bytes()), app.now());
    app.store
        .write(user.account_id, move |tx| {
            let found = users::by_id(tx, user.id)?.filter(|user| !user.is_disabled);
            let Some(mut user) = found else {
                return Err(Fault::LinkInvalid);
            };
            if !user_tokens::consume(tx, &hash)? {
                return Err(Fault::LinkInvalid);
            }
            name.clone_into(&mut user.name);
            users::update(tx, &user)?;
            users::set_password_hash(tx, user.id, &made)?;
            record(tx, &By::user(&user, client), Verb::Accepted, &user, now);
            Ok(())
        })
        .await
}
