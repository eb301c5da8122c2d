//! Signing in, and confirming a sensitive change, by the operator's OpenID Connect provider. The provider takes the place of the
//! password; a second factor is asked for as well.

use super::identities::{Recognised, has_other_identity};
use super::sessions::{self, record_ended};
use super::sign_in::{Origin, SignIn, go_on};
use super::users::keep_an_owner;
use crate::app::App;
use crate::flow::by::{Recorded, Who};
use crate::flow::{By, Fault};
use crate::net::client_address::one_address;
use crate::net::{Attempt, Identity, OpenIdError, OpenIdProvider};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use garson_core::audit::{RecordKind, Verb};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_core::user::User;
use garson_store::tables::{accounts, sessions as session_rows, users};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const ATTEMPT: &str = "panel/openid";
/// How long a sign-in at the provider may take.
pub const ATTEMPT_SECONDS: u32 = 10 * 60;
const ATTEMPT_LASTS: Duration = Duration::from_secs(ATTEMPT_SECONDS as u64);
/// How much the provider's clock may differ.
const CLOCK_SKEW: Duration = Duration::from_secs(60);
/// A longer page to return to is dropped: the browser would not keep it.
const MAX_NEXT: usize = 1000;

/// Why a browser is sent to the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    SignIn,
    /// A signed-in user confirms a sensitive change.
    Confirm,
}

/// Where to send the browser, and what it has to keep until it comes back.
pub struct Begun {
    pub url: String,
    pub held: Secret<String>,
}

#[derive(Serialize, Deserialize)]
struct Held {
    attempt: Attempt,
    purpose: Purpose,
    next: String,
    at: i64,
}

/// What the provider sends the browser back with.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    pub state: &'a str,
    /// Empty: the provider refuses the person, or the person has cancelled.
    pub code: &'a str,
}

pub enum Finished {
    SignIn { outcome: Box<SignIn>, next: String },
    Confirmed,
}

/// Why a sign-in or a confirmation failed.
#[derive(Debug)]
pub enum Refusal {
    /// The operator has configured no provider.
    Off,
    /// The attempt took too long.
    Ended,
    /// Another one was begun in the same browser, or none: this answer does not end it.
    OtherAttempt,
    /// The provider cannot be reached.
    Unavailable,
    /// The provider, or the check of what it says, refuses the person.
    Refused,
    /// The provider does not say that the e-mail address is verified.
    NotVerified,
    NoUser,
    /// The user with this address is connected to another identity.
    OtherIdentity,
    /// It is not the user who is signed in, or was not asked again.
    NotConfirmed,
    TooMany,
    Fault(Fault),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<OpenIdError> for Refusal {
    fn from(error: OpenIdError) -> Self {
        tracing::info!(%error, "sign-in with OpenID Connect failed");
        match error {
            OpenIdError::Unavailable(_) => Self::Unavailable,
            OpenIdError::Refused(_) => Self::Refused,
        }
    }
}

fn provider(app: &App) -> Result<&Arc<OpenIdProvider>, Refusal> {
    app.openid.as_ref().ok_or(Refusal::Off)
}

/// What the provider is called, if there is one.
#[must_use]
pub fn label(app: &App) -> Option<&str> {
    app.openid.as_ref().map(|provider| provider.label.as_str())
}

pub async fn begin(app: &App, purpose: Purpose, next: &str) -> Result<Begun, Refusal> {
    let (url, attempt) = provider(app)?.start(purpose == Purpose::Confirm).await?;
    let held = Held {
        attempt,
        purpose,
        next: if next.len() > MAX_NEXT { "/" } else { next }.to_owned(),
        at: app.now().as_millis(),
    };
    let plain = serde_json::to_vec(&held).map_err(|error| OpenIdError::Unavailable(error.to_string()))?;
    let sealed = app.vault.seal(ATTEMPT, b"", &plain).map_err(Fault::from)?;
    let held = Secret::new(URL_SAFE_NO_PAD.encode(sealed));
    Ok(Begun { url, held })
}

/// Recognises the person who comes back from the provider. `session`: the cookie of who is signed in in this browser.
pub async fn finish(
    app: &App,
    held: &str,
    answered: Answered<'_>,
    from: Origin<'_>,
    session: Option<&str>,
) -> Result<Finished, Refusal> {
    let provider = provider(app)?;
    let held = read(app, held).ok_or(Refusal::Ended)?;
    if held.attempt.state != answered.state {
        return Err(Refusal::OtherAttempt);
    }
    if answered.code.is_empty() {
        tracing::info!("the OpenID Connect provider refused somebody, or the person cancelled");
        return Err(Refusal::Refused);
    }
    match held.purpose {
        Purpose::SignIn => {
            // Each costs a request to the provider.
            if let Some(client) = from.client
                && !app.sign_in_limits.allow_openid(one_address(client))
            {
                return Err(Refusal::TooMany);
            }
            let identity = provider.finish(&held.attempt, answered.code).await?;
            let (user, recognised) = user_of(app, identity).await?;
            let outcome = Box::new(go_on(app, user, recognised, from).await?);
            let next = held.next;
            Ok(Finished::SignIn { outcome, next })
        }
        Purpose::Confirm => {
            let visit = match session {
                Some(cookie) => sessions::visit(app, cookie).await?,
                None => None,
            };
            let visit = visit.ok_or(Refusal::NotConfirmed)?;
            let identity = provider.finish(&held.attempt, answered.code).await?;
            // A provider that did not ask again says an earlier time.
            let (from, to) = (
                Timestamp::from_millis(held.at).minus(CLOCK_SKEW),
                app.now().plus(CLOCK_SKEW),
            );
            let is_fresh = identity.authenticated_at.is_some_and(|at| from <= at && at <= to);
            let known = app
                .store
                .read(move |tx| Ok::<_, Fault>(users::by_openid(tx, &identity.issuer, &identity.subject)?));
            let is_the_user = known.await?.is_some_and(|known| known.id == visit.user.id);
            if !is_fresh || !is_the_user {
                tracing::info!(user = %visit.user.id, is_fresh, is_the_user, "a change was not confirmed by OpenID Connect");
                return Err(Refusal::NotConfirmed);
            }
            let (hash, now) = (visit.session.hash, app.now());
            let confirmed = app.store.write(visit.account.id, move |tx| {
                Ok::<_, Fault>(session_rows::confirm(tx, &hash, now)?)
            });
            confirmed.await?;
            Ok(Finished::Confirmed)
        }
    }
}

fn read(app: &App, held: &str) -> Option<Held> {
    let sealed = URL_SAFE_NO_PAD.decode(held).ok()?;
    let opened = app.vault.open(ATTEMPT, b"", &sealed).ok()?;
    let held: Held = serde_json::from_slice(opened.expose()).ok()?;
    let at = Timestamp::from_millis(held.at);
    (app.now() < at.plus(ATTEMPT_LASTS)).then_some(held)
}

/// The user who is this for the provider. At first it is the one with the same e-mail address, who is recognised by the provider's id
/// from the first session on: an address that the provider later gives to another person does not open the account.
async fn user_of(app: &App, identity: Identity) -> Result<(User, Recognised), Refusal> {
    app.store
        .read(move |tx| {
            let known = users::by_openid(tx, &identity.issuer, &identity.subject)?;
            let is_known = known.is_some();
            let found = match (known, &identity.email) {
                (Some(known), _) => Some(known),
                (None, Some(email)) => users::by_email(tx, email)?,
                (None, None) => return Ok::<_, Fault>(Err(Refusal::NotVerified)),
            };
            let Some(user) = found.filter(|user| !user.is_disabled) else {
                return Ok(Err(Refusal::NoUser));
            };
            if !is_known && has_other_identity(tx, user.id, &identity)? {
                tracing::info!(user = %user.id, "the user is connected to another identity of the OpenID Connect provider");
                return Ok(Err(Refusal::OtherIdentity));
            }
            let identity = identity.clone();
            Ok(Ok((user, Recognised { identity, is_known })))
        })
        .await?
}

/// Disconnects a user from the identity at the provider. The next sign-in with the verified address connects one again.
pub async fn forget(app: &App, by: By, user: &User) -> Result<(), Fault> {
    let (id, now) = (user.id, app.now());
    app.store
        .write(user.account_id, move |tx| {
            accounts::lock(tx, by.account)?;
            users::remove_openid(tx, id)?;
            // An operator can give anybody a password afterwards.
            if !matches!(by.who, Who::Operator(_)) {
                keep_an_owner(tx, by.account)?;
            }
            let ended = session_rows::end_all(tx, by.account, id)?;
            record_ended(tx, &by, id, ended, now);
            let action = Recorded::new(RecordKind::User, Verb::Changed).id(id);
            by.record(tx, action.after(json!({ "openid": null })), now);
            Ok(())
        })
        .await
}
