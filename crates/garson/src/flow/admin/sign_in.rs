//! Signing in to the control panel: e-mail and password, then a code if the user has a second factor, then a session.

use super::guessing::{Guessed, Guesser, WRONG_CODE, WRONG_PASSWORD, limited, note_refusal, record_refusal};
use super::identities::{Recognised, connect};
use super::passwords::matches;
use super::randomness::{random, random_text};
use super::second_factor;
use super::sessions::LASTS;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::{By, Fault};
use crate::net::client_address::one_address;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::UserId;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_core::user::User;
use garson_store::tables::sessions::Session;
use garson_store::tables::{account_states, sessions, users};
use garson_store::vault::lookup_hash;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::net::IpAddr;
use std::time::Duration;

const BROWSER: &str = "panel/known_browser";
const SECOND_STEP: &str = "panel/second_step";
/// How long the code may be entered after the password.
pub const SECOND_STEP_SECONDS: u32 = 10 * 60;
const SECOND_STEP_LASTS: Duration = Duration::from_secs(SECOND_STEP_SECONDS as u64);

/// Where somebody signs in from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'a> {
    pub client: Option<IpAddr>,
    /// What the browser was given when somebody signed in there before.
    pub browser: Option<&'a str>,
    /// What the browser says of itself.
    pub agent: &'a str,
}

/// What a user was recognised by, before a code.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Method {
    Password,
    OpenId(Recognised),
}

impl Method {
    fn as_str(&self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::OpenId(_) => "openid",
        }
    }

    /// When the user has proved to be the one. A provider may let people in who did so hours ago; not all of them say when.
    fn proved_at(&self, now: Timestamp) -> Timestamp {
        match self {
            Self::Password => now,
            Self::OpenId(recognised) => {
                let at = recognised.identity.authenticated_at;
                at.map_or(Timestamp::from_millis(0), |at| at.min(now))
            }
        }
    }
}

/// What a browser is to hold.
pub struct SignedIn {
    pub user: User,
    pub session: Secret<String>,
    /// Worth nothing by itself: it sets the browser apart from strangers that guess.
    pub browser: Secret<String>,
}

/// What came of a right password.
pub enum SignIn {
    Done(SignedIn),
    /// The user has a second factor. The browser holds this until the code is entered.
    NeedsCode(Secret<String>),
}

/// Checks e-mail and password. Whether there is such a user cannot be told from the answer.
pub async fn sign_in(
    app: &App,
    email: &str,
    password: Secret<String>,
    from: Origin<'_>,
) -> Result<SignIn, Fault> {
    let email = email.trim().to_lowercase();
    let wanted = email.clone();
    let found = app
        .store
        .read(move |tx| {
            let user = users::by_email(tx, &wanted)?;
            let Some(user) = user.filter(|user| !user.is_disabled) else {
                return Ok::<_, Fault>(None);
            };
            let hash = users::password_hash(tx, user.id)?;
            Ok(Some((user, hash)))
        })
        .await?;
    let (user, hash) = found.map_or((None, None), |(user, hash)| (Some(user), hash));
    let browser = user
        .as_ref()
        .and_then(|user| known_browser(app, user.id, from.browser?));
    let checked = check_password(app, &email, password, hash.clone(), from.client, browser).await;
    if let Err(refused) = &checked {
        match &user {
            Some(user) => record_refusal(app, refused, By::user(user, from.client), WRONG_PASSWORD).await,
            // An e-mail address without a user has no log.
            None => note_refusal(app, refused, from.client, None),
        }
    }
    checked?;
    let user = user.ok_or(Fault::SignInRefused)?;
    code_or_start(app, user, Method::Password, hash.as_deref(), from, browser).await
}

/// Goes on with a user whom the OpenID Connect provider has recognised.
pub(super) async fn go_on(
    app: &App,
    user: User,
    recognised: Recognised,
    from: Origin<'_>,
) -> Result<SignIn, Fault> {
    let id = user.id;
    let hash = app
        .store
        .read(move |tx| Ok::<_, Fault>(users::password_hash(tx, id)?))
        .await?;
    let browser = from.browser.and_then(|held| known_browser(app, id, held));
    let method = Method::OpenId(recognised);
    code_or_start(app, user, method, hash.as_deref(), from, browser).await
}

async fn code_or_start(
    app: &App,
    user: User,
    method: Method,
    hash: Option<&str>,
    from: Origin<'_>,
    browser: Option<[u8; 16]>,
) -> Result<SignIn, Fault> {
    if user.has_two_factor {
        return Ok(SignIn::NeedsCode(second_step(app, user.id, method, hash)?));
    }
    let proved_at = method.proved_at(app.now());
    start(app, user, method, proved_at, from, browser)
        .await
        .map(SignIn::Done)
}

async fn check_password(
    app: &App,
    email: &str,
    password: Secret<String>,
    hash: Option<String>,
    client: Option<IpAddr>,
    browser: Option<[u8; 16]>,
) -> Result<(), Fault> {
    let client = client.map(one_address);
    let guesser = browser.map_or(Guesser::Address(client), Guesser::Browser);
    if let Guesser::Address(Some(client)) = guesser
        && !app.sign_in_limits.allow(client)
    {
        return Err(Fault::SignInFlood);
    }
    let key = guesser.key(Guessed::Password { email }, hash.as_deref());
    limited(app, key, matches(app, guesser.requester(), password, hash)).await
}

/// Checks the code after the password, and starts the session.
pub async fn enter_code(
    app: &App,
    held: &str,
    code: &Secret<String>,
    from: Origin<'_>,
) -> Result<SignedIn, Fault> {
    let Some(step) = read_second_step(app, held) else {
        return Err(Fault::LinkInvalid);
    };
    let id = step.user;
    let found = app
        .store
        .read(move |tx| {
            let hash = users::password_hash(tx, id)?;
            Ok::<_, Fault>((users::by_id(tx, id)?, hash))
        })
        .await?;
    let (Some(user), hash) = found else {
        return Err(Fault::LinkInvalid);
    };
    if user.is_disabled || !user.has_two_factor || fingerprint(hash.as_deref()) != step.password {
        return Err(Fault::LinkInvalid);
    }
    let browser = from.browser.and_then(|held| known_browser(app, id, held));
    let guesser = browser.map_or(Guesser::Anybody, Guesser::Browser);
    let key = guesser.key(Guessed::Code { email: &user.email }, hash.as_deref());
    let checked = limited(app, key, second_factor::is_right(app, &user, code)).await;
    if let Err(refused) = &checked {
        record_refusal(app, refused, By::user(&user, from.client), WRONG_CODE).await;
    }
    checked?;
    start(app, user, step.method, app.now(), from, browser).await
}

/// Starts a session of a user.
async fn start(
    app: &App,
    user: User,
    method: Method,
    proved_at: Timestamp,
    from: Origin<'_>,
    browser: Option<[u8; 16]>,
) -> Result<SignedIn, Fault> {
    let (now, cookie) = (app.now(), random_text()?);
    let session = Session {
        hash: lookup_hash(cookie.expose().as_bytes()),
        account_id: user.account_id,
        user_id: user.id,
        agent: from.agent.chars().take(200).collect(),
        address: from.client.map(|client| one_address(client).to_string()),
        created_at: now,
        seen_at: now,
        ends_at: now.plus(LASTS),
        confirmed_at: proved_at,
    };
    let (id, account, by) = (user.id, user.account_id, By::user(&user, from.client));
    let client = from.client;
    app.store
        .write(account, move |tx| {
            // The user may have been removed or disabled since the password was read.
            let is_there = users::by_id(tx, id)?.is_some_and(|user| !user.is_disabled);
            if !is_there {
                return Err(Fault::SignInRefused);
            }
            // Only who knows the password learns of it.
            if !account_states::is_active(tx, account)? {
                return Err(Fault::AccountDisabled);
            }
            if let Method::OpenId(recognised) = &method {
                connect(tx, id, recognised, client, now)?;
            }
            users::record_sign_in(tx, id, now)?;
            sessions::start(tx, &session)?;
            let action = Recorded::new(RecordKind::Session, Verb::SignedIn);
            by.record(
                tx,
                action.after(json!({ "browser": session.agent, "method": method.as_str() })),
                now,
            );
            Ok(())
        })
        .await?;
    Ok(SignedIn {
        session: cookie,
        browser: mark_browser(app, id, browser)?,
        user,
    })
}

/// The id of a browser on which this user has been signed in before.
fn known_browser(app: &App, user: UserId, held: &str) -> Option<[u8; 16]> {
    let sealed = URL_SAFE_NO_PAD.decode(held).ok()?;
    let opened = app.vault.open(BROWSER, user.as_bytes(), &sealed).ok()?;
    opened.expose().as_slice().try_into().ok()
}

fn mark_browser(app: &App, user: UserId, known: Option<[u8; 16]>) -> Result<Secret<String>, Fault> {
    let id = match known {
        Some(id) => id,
        None => random()?,
    };
    let sealed = app.vault.seal(BROWSER, user.as_bytes(), &id)?;
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(sealed)))
}

/// Tells one password from another.
fn fingerprint(hash: Option<&str>) -> [u8; 32] {
    lookup_hash(hash.unwrap_or_default().as_bytes())
}

/// Says that a user was recognised, and only the code is missing: sealed, for a short time, and while the password is this one.
#[derive(Serialize, Deserialize)]
struct SecondStep {
    user: UserId,
    method: Method,
    at: i64,
    password: [u8; 32],
}

fn second_step(app: &App, user: UserId, method: Method, hash: Option<&str>) -> Result<Secret<String>, Fault> {
    let step = SecondStep {
        user,
        method,
        at: app.now().as_millis(),
        password: fingerprint(hash),
    };
    let sealed = app
        .vault
        .seal(SECOND_STEP, b"", json!(step).to_string().as_bytes())?;
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(sealed)))
}

fn read_second_step(app: &App, held: &str) -> Option<SecondStep> {
    let sealed = URL_SAFE_NO_PAD.decode(held).ok()?;
    let opened = app.vault.open(SECOND_STEP, b"", &sealed).ok()?;
    let step: SecondStep = serde_json::from_slice(opened.expose()).ok()?;
    let ends_at = Timestamp::from_millis(step.at).plus(SECOND_STEP_LASTS);
    (app.now() < ends_at).then_some(step)
}
