//! Signing in to the control panel: e-mail and password, a session in the browser, and patience with those who guess.

use super::accounts::hash_password;
use crate::app::App;
use crate::app::password_threads::{Busy, Requester};
use crate::flow::Fault;
use crate::net::client_address::one_address;
use crate::telemetry::Refusal;
use argon2::{Argon2, PasswordHash, PasswordVerifier};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use garson_core::account::Account;
use garson_core::id::AccountId;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::tables::account_states;
use garson_store::tables::accounts;
use garson_store::tables::sessions;
use garson_store::tables::sessions::{Session, SessionHash};
use garson_store::vault::lookup_hash;
use garson_store::{Partition, StoreError};
use std::net::IpAddr;
use std::sync::LazyLock;
use std::time::Duration;

/// A session ends when it has not been used for this time.
pub const LASTS_SECONDS: u32 = 30 * 24 * 60 * 60;
const LASTS: Duration = Duration::from_secs(LASTS_SECONDS as u64);
/// However much it is used, a session ends after this time, and its browser signs in again.
pub const LONGEST: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// How often it is noted that a session is used.
const NOTED: Duration = Duration::from_secs(10 * 60);
/// So many failures in a row are forgiven.
const FORGIVEN: i64 = 5;
/// How long an address is locked after one more, and at most; it doubles with each.
const FIRST_LOCK: Duration = Duration::from_secs(60);
const LONGEST_LOCK: Duration = Duration::from_secs(15 * 60);
/// Failures are forgotten after this time.
pub const FORGET_FAILURES: Duration = Duration::from_secs(24 * 60 * 60);
/// What an unknown address is checked against, so that it takes as long as a known one.
static NOBODY: LazyLock<Option<String>> =
    LazyLock::new(|| hash_password(&Secret::new("nobody's".to_owned())).ok());

const BROWSER: &str = "panel/known_browser";

/// Where somebody signs in from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'a> {
    pub client: Option<IpAddr>,
    /// What the browser was given when somebody signed in there before.
    pub browser: Option<&'a str>,
    /// What the browser says of itself.
    pub agent: &'a str,
}

/// What a browser is to hold.
pub struct SignedIn {
    pub session: Secret<String>,
    /// Worth nothing by itself: it sets the browser apart from strangers that guess.
    pub browser: Secret<String>,
}

/// By whom wrong passwords for an account are counted: a stranger's do not lock out anybody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guesser {
    /// A browser on which the account has been signed in before.
    Browser([u8; 16]),
    /// Somebody who is signed in.
    Session(SessionHash),
    Address(Option<IpAddr>),
}

impl Guesser {
    fn requester(self) -> Requester {
        match self {
            Self::Browser(_) | Self::Session(_) => Requester::Known,
            Self::Address(client) => Requester::Stranger(client),
        }
    }

    /// What the failures are kept under. They end with the password that was guessed at.
    fn key(self, email: &str, hash: Option<&str>) -> SessionHash {
        let guesser = match self {
            Self::Browser(id) => [b"browser ".as_slice(), &id].concat(),
            Self::Session(id) => [b"session ".as_slice(), &id].concat(),
            Self::Address(client) => {
                let client = client.map_or_else(String::new, |client| client.to_string());
                format!("address {client}").into_bytes()
            }
        };
        let email = lookup_hash(email.as_bytes());
        let password = lookup_hash(hash.unwrap_or_default().as_bytes());
        lookup_hash(&[&email, &password, guesser.as_slice()].concat())
    }
}

/// Signs in; answers what the browser is to hold. Whether there is such an account cannot be told from the answer.
pub async fn sign_in(
    app: &App,
    email: &str,
    password: Secret<String>,
    from: Origin<'_>,
) -> Result<SignedIn, Fault> {
    let email = email.trim().to_lowercase();
    let wanted = email.clone();
    let found = app
        .store
        .read(move |tx| {
            let Some(account) = accounts::by_email(tx, &wanted)? else {
                return Ok::<_, Fault>(None);
            };
            let hash = accounts::password_hash(tx, account.id)?;
            let is_active = account_states::is_active(tx, account.id)?;
            Ok(Some((account.id, hash, is_active)))
        })
        .await?;
    let is_active = found.as_ref().is_none_or(|(_, _, is_active)| *is_active);
    let (account, hash) = found.map_or((None, None), |(id, hash, _)| (Some(id), hash));
    let client = from.client.map(one_address);
    let browser = account.zip(from.browser);
    let browser = browser.and_then(|(account, held)| known_browser(app, account, held));
    let guesser = browser.map_or(Guesser::Address(client), Guesser::Browser);
    let checked = check(app, &email, password, hash, guesser).await;
    if let Err(refused) = &checked {
        note_refusal(app, refused, from.client, account);
    }
    checked?;
    let account = account.ok_or(Fault::SignInRefused)?;
    // Only who knows the password learns of it.
    if !is_active {
        return Err(Fault::AccountDisabled);
    }
    let (now, cookie) = (app.now(), random_text()?);
    let session = Session {
        hash: lookup_hash(cookie.expose().as_bytes()),
        account_id: account,
        agent: from.agent.chars().take(200).collect(),
        created_at: now,
        seen_at: now,
        ends_at: now.plus(LASTS),
    };
    app.store
        .write(account, move |tx| sessions::start(tx, &session))
        .await?;
    Ok(SignedIn {
        session: cookie,
        browser: mark_browser(app, account, browser)?,
    })
}

/// The id of a browser on which this account has been signed in before.
fn known_browser(app: &App, account: AccountId, held: &str) -> Option<[u8; 16]> {
    let sealed = URL_SAFE_NO_PAD.decode(held).ok()?;
    let opened = app.vault.open(BROWSER, account.as_bytes(), &sealed).ok()?;
    opened.expose().as_slice().try_into().ok()
}

fn mark_browser(app: &App, account: AccountId, known: Option<[u8; 16]>) -> Result<Secret<String>, Fault> {
    let id = match known {
        Some(id) => id,
        None => random()?,
    };
    let sealed = app.vault.seal(BROWSER, account.as_bytes(), &id)?;
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(sealed)))
}

/// The e-mail address is personal data, and what a stranger types may be anything: the account's id is enough.
fn note_refusal(app: &App, refused: &Fault, client: Option<IpAddr>, account: Option<AccountId>) {
    let kind = match refused {
        Fault::SignInRefused => Refusal::WrongPassword,
        Fault::SignInLocked => Refusal::SignInLocked,
        Fault::SignInFlood => Refusal::SignInFlood,
        _ => return,
    };
    let account = account.map_or_else(|| "no such account".to_owned(), |id| format!("account {id}"));
    app.metrics.refusals.note_with(kind, client, &account);
}

/// Checks a password for an e-mail address, unless the same guesser has given too many wrong ones.
async fn check(
    app: &App,
    email: &str,
    password: Secret<String>,
    hash: Option<String>,
    guesser: Guesser,
) -> Result<(), Fault> {
    if let Guesser::Address(Some(client)) = guesser
        && !app.sign_in_limits.allow(client)
    {
        return Err(Fault::SignInFlood);
    }
    let (key, now) = (guesser.key(email, hash.as_deref()), app.now());
    // It counts as a failure until it has turned out right: many at once are not judged by a count that all of them saw.
    app.store
        .write(Partition::COMMON, move |tx| {
            match sessions::failures(tx, &key)? {
                Some((count, last_at)) if locked_until(count, last_at).is_some_and(|until| now < until) => {
                    return Err(Fault::SignInLocked);
                }
                Some((_, last_at)) if now.since(last_at) > FORGET_FAILURES => {
                    sessions::clear_failures(tx, &key)?;
                }
                _ => {}
            }
            Ok(sessions::record_failure(tx, &key, now)?)
        })
        .await?;
    if !matches(app, guesser.requester(), password, hash).await? {
        return Err(Fault::SignInRefused);
    }
    app.store
        .write(Partition::COMMON, move |tx| {
            Ok(sessions::clear_failures(tx, &key)?)
        })
        .await
}

/// Until when an address is locked after so many failures.
fn locked_until(failures: i64, last_at: Timestamp) -> Option<Timestamp> {
    let over = u32::try_from(failures - FORGIVEN).ok()?;
    let lock = FIRST_LOCK.saturating_mul(1 << over.min(10));
    Some(last_at.plus(lock.min(LONGEST_LOCK)))
}

/// Checks a password; without a hash it takes as long and is wrong.
async fn matches(
    app: &App,
    requester: Requester,
    password: Secret<String>,
    hash: Option<String>,
) -> Result<bool, Fault> {
    let check = move || {
        let is_known = hash.is_some();
        let hash = hash.or_else(|| NOBODY.clone()).unwrap_or_default();
        let Ok(parsed) = PasswordHash::new(&hash) else {
            return false;
        };
        let fits = Argon2::default().verify_password(password.expose().as_bytes(), &parsed);
        fits.is_ok() && is_known
    };
    let checked = app.sign_in_limits.password_threads.run(requester, check).await;
    checked.map_err(|Busy| Fault::SignInFlood)
}

#[expect(clippy::disallowed_methods, reason = "needs real randomness")]
fn random<const N: usize>() -> Result<[u8; N], Fault> {
    let mut random = [0; N];
    getrandom::fill(&mut random)
        .map_err(|_| Fault::Store(StoreError::unavailable("no randomness to be had")))?;
    Ok(random)
}

/// A secret that cannot be guessed, as text that may be a part of a URL.
pub(crate) fn random_text() -> Result<Secret<String>, Fault> {
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(random::<32>()?)))
}

/// Somebody who is signed in, with the account.
pub struct Visit {
    pub session: Session,
    pub account: Account,
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
            let account = accounts::by_id(tx, session.account_id)?;
            Ok(account.map(|account| Visit { session, account }))
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

pub async fn list(app: &App, account: AccountId) -> Result<Vec<Session>, Fault> {
    let now = app.now();
    app.store
        .read(move |tx| Ok(sessions::list(tx, account, now)?))
        .await
}

pub async fn end(app: &App, account: AccountId, hash: SessionHash) -> Result<bool, Fault> {
    app.store
        .write(account, move |tx| Ok(sessions::end(tx, account, &hash)?))
        .await
}

pub async fn end_others(app: &App, account: AccountId, but: SessionHash) -> Result<u64, Fault> {
    app.store
        .write(account, move |tx| Ok(sessions::end_others(tx, account, &but)?))
        .await
}

/// Sets another password, given the old one; everybody else is signed out.
pub async fn change_password(
    app: &App,
    visit: &Session,
    client: Option<IpAddr>,
    old: Secret<String>,
    new: Secret<String>,
) -> Result<(), Fault> {
    let (account, hash) = (visit.account_id, visit.hash);
    let made = hash_aside(app, new).await?;
    let kept = app
        .store
        .read(move |tx| {
            let email = accounts::by_id(tx, account)?.map(|account| account.email);
            Ok::<_, Fault>((email, accounts::password_hash(tx, account)?))
        })
        .await?;
    let (email, kept) = kept;
    // Strangers who guess at this account do not lock its password for those who are signed in.
    let guesser = Guesser::Session(hash);
    let checked = check(app, &email.unwrap_or_default(), old, kept, guesser).await;
    if let Err(refused) = &checked {
        note_refusal(app, refused, client, Some(account));
    }
    checked?;
    app.store
        .write(account, move |tx| {
            accounts::set_password_hash(tx, account, &made)?;
            sessions::end_others(tx, account, &hash)?;
            Ok(())
        })
        .await
}

/// Sets another password on the operator's word; everybody is signed out. Earlier failures count no more: they were kept under
/// the old password.
pub async fn reset_password(app: &App, account: &Account, new: Secret<String>) -> Result<(), Fault> {
    let made = hash_aside(app, new).await?;
    let account = account.id;
    app.store
        .write(account, move |tx| {
            accounts::set_password_hash(tx, account, &made)?;
            sessions::end_all(tx, account)?;
            Ok(())
        })
        .await
}

/// Where it does not hold up others.
async fn hash_aside(app: &App, password: Secret<String>) -> Result<String, Fault> {
    let threads = &app.sign_in_limits.password_threads;
    let hashed = threads
        .run(Requester::Known, move || hash_password(&password))
        .await;
    hashed.map_err(|Busy| Fault::SignInFlood)?
}

/// A password that nobody has thought of.
pub fn random_password() -> Result<Secret<String>, Fault> {
    let text = random_text()?;
    Ok(Secret::new(text.expose().chars().take(20).collect()))
}
