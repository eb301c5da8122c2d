//! Signing in to the control panel: e-mail and password, a session in the browser, and patience with those who guess.

use super::Fault;
use super::accounts::hash_password;
use crate::app::App;
use argon2::{Argon2, PasswordHash, PasswordVerifier};
use garson_core::account::Account;
use garson_core::id::AccountId;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::sessions::{self, Session, SessionHash};
use garson_store::vault::lookup_hash;
use garson_store::{Lane, StoreError, accounts};
use std::sync::LazyLock;
use std::time::Duration;
use tokio::sync::Semaphore;

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
/// A password costs memory and time to check; no more than this many are checked at once.
static CHECKS: Semaphore = Semaphore::const_new(2);
/// What an unknown address is checked against, so that it takes as long as a known one.
static NOBODY: LazyLock<Option<String>> =
    LazyLock::new(|| hash_password(&Secret::new("nobody's".to_owned())).ok());

/// Signs in; answers what the browser is to hold. Whether there is such an account cannot be told from the answer.
pub async fn sign_in(
    app: &App,
    email: &str,
    password: Secret<String>,
    agent: &str,
) -> Result<Secret<String>, Fault> {
    let email = email.trim().to_lowercase();
    let wanted = email.clone();
    let found = app
        .store
        .read(move |tx| {
            let Some(account) = accounts::by_email(tx, &wanted)? else {
                return Ok::<_, Fault>(None);
            };
            let hash = accounts::password_hash(tx, account.id)?;
            Ok(Some((account.id, hash)))
        })
        .await?;
    let (account, hash) = found.map_or((None, None), |(id, hash)| (Some(id), hash));
    check(app, &email, password, hash).await?;
    let account = account.ok_or(Fault::SignInRefused)?;
    let (now, cookie) = (app.now(), random_text()?);
    let session = Session {
        hash: lookup_hash(cookie.expose().as_bytes()),
        account_id: account,
        agent: agent.chars().take(200).collect(),
        created_at: now,
        seen_at: now,
        ends_at: now.plus(LASTS),
    };
    app.store
        .write(account, move |tx| sessions::start(tx, &session))
        .await?;
    Ok(cookie)
}

/// Checks a password for an e-mail address, unless there were too many wrong ones.
async fn check(app: &App, email: &str, password: Secret<String>, hash: Option<String>) -> Result<(), Fault> {
    let (email, now) = (lookup_hash(email.as_bytes()), app.now());
    // It counts as a failure until it has turned out right: many at once are not judged by a count that all of them saw.
    app.store
        .write(Lane::COMMON, move |tx| {
            match sessions::failures(tx, &email)? {
                Some((count, last_at)) if locked_until(count, last_at).is_some_and(|until| now < until) => {
                    return Err(Fault::SignInLocked);
                }
                Some((_, last_at)) if now.since(last_at) > FORGET_FAILURES => {
                    sessions::forget_failures(tx, &email)?;
                }
                _ => {}
            }
            Ok(sessions::note_failure(tx, &email, now)?)
        })
        .await?;
    if !matches(password, hash).await? {
        return Err(Fault::SignInRefused);
    }
    app.store
        .write(Lane::COMMON, move |tx| Ok(sessions::forget_failures(tx, &email)?))
        .await
}

/// Until when an address is locked after so many failures.
fn locked_until(failures: i64, last_at: Timestamp) -> Option<Timestamp> {
    let over = u32::try_from(failures - FORGIVEN).ok()?;
    let lock = FIRST_LOCK.saturating_mul(1 << over.min(10));
    Some(last_at.plus(lock.min(LONGEST_LOCK)))
}

/// Checks a password; without a hash it takes as long and is wrong.
async fn matches(password: Secret<String>, hash: Option<String>) -> Result<bool, Fault> {
    let broken = || Fault::Store(StoreError::internal("a password could not be checked"));
    let _permit = CHECKS.acquire().await.map_err(|_| broken())?;
    let check = move || {
        let is_known = hash.is_some();
        let hash = hash.or_else(|| NOBODY.clone()).unwrap_or_default();
        let Ok(parsed) = PasswordHash::new(&hash) else {
            return false;
        };
        let fits = Argon2::default().verify_password(password.expose().as_bytes(), &parsed);
        fits.is_ok() && is_known
    };
    tokio::task::spawn_blocking(check).await.map_err(|_| broken())
}

fn random_text() -> Result<Secret<String>, Fault> {
    use base64::Engine as _;
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|_| Fault::Store(StoreError::unavailable("no randomness to be had")))?;
    Ok(Secret::new(
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(random),
    ))
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
    old: Secret<String>,
    new: Secret<String>,
) -> Result<(), Fault> {
    let (account, hash) = (visit.account_id, visit.hash);
    let made = hash_aside(new).await?;
    let kept = app
        .store
        .read(move |tx| {
            let email = accounts::by_id(tx, account)?.map(|account| account.email);
            Ok::<_, Fault>((email, accounts::password_hash(tx, account)?))
        })
        .await?;
    let (email, kept) = kept;
    check(app, &email.unwrap_or_default(), old, kept).await?;
    app.store
        .write(account, move |tx| {
            accounts::set_password_hash(tx, account, &made)?;
            sessions::end_others(tx, account, &hash)?;
            Ok(())
        })
        .await
}

/// Sets another password on the operator's word; everybody is signed out, and earlier failures are forgiven.
pub async fn reset_password(app: &App, account: &Account, new: Secret<String>) -> Result<(), Fault> {
    let made = hash_aside(new).await?;
    let (account, email) = (account.id, lookup_hash(account.email.as_bytes()));
    app.store
        .write(account, move |tx| {
            accounts::set_password_hash(tx, account, &made)?;
            sessions::forget_failures(tx, &email)?;
            sessions::end_all(tx, account)?;
            Ok(())
        })
        .await
}

/// Where it does not hold up others.
async fn hash_aside(password: Secret<String>) -> Result<String, Fault> {
    tokio::task::spawn_blocking(move || hash_password(&password))
        .await
        .map_err(|_| Fault::Store(StoreError::internal("a password could not be hashed")))?
}

/// A password that nobody has thought of.
pub fn random_password() -> Result<Secret<String>, Fault> {
    let text = random_text()?;
    Ok(Secret::new(text.expose().chars().take(20).collect()))
}
