//! The line to a platform: whoever wants something of one speaks through here, logged in and within its limits.

mod refused;

use self::refused::RefusedAddresses;
use crate::app::App;
use crate::config::Terms;
use crate::fair_slots::{FairSlots, Permit};
use crate::net::{HeaderCase, Log, Outgoing, SendError};
use crate::telemetry::{CallOutcome, Topic};
use bytes::Bytes;
use garson_core::explanation::{Explanation, PlatformFailure, PlatformTask};
use garson_core::id::AccountId;
use garson_core::integration::Credentials;
use garson_core::platform::{
    HttpRequest, HttpResponse, Limit, Link, Platform, PlatformError, Session, Trouble, Trust,
};
use garson_core::secret::Secret;
use garson_store::tables::integrations::Connected;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How much of a platform's answer is read: menus are large, and nothing is larger.
const MAX_ANSWER: usize = 4 * 1024 * 1024;
/// A session is renewed when a tenth of its time is left.
const RENEW_AT: f64 = 0.9;
/// How long a log-in that was refused is left alone.
const AFTER_A_REFUSED_LOGIN: Duration = Duration::from_secs(30);
/// When so many are remembered, those that are of no use any more are forgotten.
const MAX_REMEMBERED: usize = 20_000;

type Fingerprint = [u8; 32];

/// An integration's platform, with everything that is needed to call it.
#[derive(Clone)]
pub struct Contact {
    pub platform: &'static dyn Platform,
    /// The account of the integration, which has given the addresses that the operator has not.
    pub account: Option<AccountId>,
    pub terms: Arc<Terms>,
    pub branch: String,
    /// The integration's own, and the operator's where it has none.
    pub credentials: Credentials,
    /// Where calls are many and mean little, successes are not logged one by one.
    pub log: Log,
    /// What its requests have to wait for, and how long each may take; nothing for requests that somebody waits for.
    pub share: Option<Share>,
}

/// The part of an account in requests that are made in the background.
#[derive(Clone)]
pub struct Share {
    pub slots: Arc<FairSlots>,
    pub account: AccountId,
    /// The last one has failed.
    pub is_failing: bool,
    /// How long a request may hold a slot.
    pub request_deadline: Duration,
}

impl Contact {
    /// The platform of an order whose integration this is; without one there is nobody to call, but what follows for the
    /// order can still be decided.
    #[must_use]
    pub fn new(app: &App, platform: &'static dyn Platform, connected: Option<&Connected>) -> Self {
        let provider = platform.provider();
        let own = connected.map(|connected| &connected.credentials);
        Self {
            platform,
            account: connected.map(|connected| connected.integration.account_id),
            terms: app.terms(provider),
            branch: connected
                .and_then(|connected| connected.integration.remote_id.clone())
                .unwrap_or_default(),
            credentials: app.credentials(provider, own.unwrap_or(&Credentials::new())),
            log: Log::Every,
            share: None,
        }
    }

    /// A slot for one request, where those have to be waited for.
    async fn slot(&self, until: Instant) -> Result<Option<Permit>, Trouble> {
        let Some(share) = &self.share else {
            return Ok(None);
        };
        let acquired = share.slots.acquire(share.account, share.is_failing);
        match tokio::time::timeout_at(until, acquired).await {
            Ok(permit) => Ok(Some(permit)),
            Err(_) => Err(Trouble::later(PlatformFailure::NoFreeSlot)),
        }
    }

    fn link<'a>(&'a self, token: Option<&'a Secret<String>>) -> Link<'a> {
        Link {
            base: &self.terms.base_url,
            branch: &self.branch,
            credentials: &self.credentials,
            token,
            callback_hosts: &self.terms.callback_hosts,
        }
    }
}

impl App {
    /// The platform of an integration; nothing when this version does not know it.
    #[must_use]
    pub fn contact(&self, connected: &Connected) -> Option<Contact> {
        let platform = garson_platforms::of(connected.integration.provider)?;
        Some(Contact::new(self, platform, Some(connected)))
    }
}

/// What is remembered of the lines to all platforms.
#[derive(Default)]
pub struct Lines {
    sessions: Mutex<HashMap<Fingerprint, Arc<tokio::sync::Mutex<SessionState>>>>,
    limits: Mutex<HashMap<(Fingerprint, &'static str), Instant>>,
    pub refused: RefusedAddresses,
}

#[derive(Default)]
enum SessionState {
    #[default]
    None,
    Live {
        token: Secret<String>,
        renew_at: Instant,
        branch: Option<String>,
    },
    Refused {
        message: Explanation,
        until: Instant,
    },
}

/// Asks a platform something and reads the answer; logs in first, and once more when the session turns out to be over.
pub async fn converse<T>(
    app: &App,
    contact: &Contact,
    topic: Topic,
    until: Instant,
    write: impl Fn(&Link<'_>) -> Result<HttpRequest, PlatformError>,
    read: impl Fn(&Link<'_>, &HttpResponse) -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    let began = Instant::now();
    let answered = ask(app, contact, until, write, read).await;
    count(app, contact, topic, &answered, began);
    answered
}

fn count<T>(app: &App, contact: &Contact, topic: Topic, answered: &Result<T, Trouble>, began: Instant) {
    let (provider, outcome) = (contact.platform.provider(), CallOutcome::from(answered));
    app.metrics.calls.count(provider, topic, outcome, began.elapsed());
}

async fn ask<T>(
    app: &App,
    contact: &Contact,
    until: Instant,
    write: impl Fn(&Link<'_>) -> Result<HttpRequest, PlatformError>,
    read: impl Fn(&Link<'_>, &HttpResponse) -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    let mut tries = 0;
    loop {
        tries += 1;
        let token = token(app, contact, until).await?;
        let link = contact.link(token.as_ref());
        let request = write(&link).map_err(unwritten)?;
        wait_for_limit(app, contact, &request, until).await?;
        // Taken last: whoever waits for a rate limit of its own holds up nobody else.
        let slot = contact.slot(until).await?;
        let response = send(app, contact, request, until).await?;
        drop(slot);
        match read(&link, &response) {
            Err(Trouble::SessionOver) if tries == 1 && token.is_some() => forget(app, contact, &token).await,
            Err(Trouble::SessionOver) => {
                return Err(Trouble::later(PlatformFailure::SessionNotAccepted));
            }
            other => return other,
        }
    }
}

/// Logs in anew, so that the credentials are really tried; says whether the platform has sessions at all. A log-in that was
/// refused a moment ago is not repeated.
pub async fn log_in(app: &App, contact: &Contact, until: Instant) -> Result<bool, Trouble> {
    if let Some(login) = contact.platform.login(&contact.link(None)).map_err(unwritten)? {
        let state = session_state(app, &login);
        if let Ok(mut state) = tokio::time::timeout_at(until, state.lock()).await
            && matches!(&*state, SessionState::Live { .. })
        {
            *state = SessionState::None;
        }
    }
    Ok(token(app, contact, until).await?.is_some())
}

/// Logs in unless there is a session; says whether the platform has sessions at all.
pub async fn has_session(app: &App, contact: &Contact, until: Instant) -> Result<bool, Trouble> {
    Ok(token(app, contact, until).await?.is_some())
}

/// Tells a platform that orders may come, where it wants to be told.
pub async fn enlist(app: &App, contact: &Contact, until: Instant) -> Result<(), Trouble> {
    let platform = contact.platform;
    if platform.enlist(&contact.link(None)).map_err(unwritten)?.is_none() {
        return Ok(());
    }
    let nothing = PlatformError::Unsupported {
        what: PlatformTask::Enlist,
    };
    converse(
        app,
        contact,
        Topic::Enlist,
        until,
        |link| platform.enlist(link)?.ok_or(nothing.clone()),
        |_, response| match response.status {
            200..=299 => Ok(()),
            status => Err(Trouble::later(Explanation::NotEnlisted { status })),
        },
    )
    .await
}

fn unwritten(error: PlatformError) -> Trouble {
    match error {
        PlatformError::Answered(trouble) => trouble,
        other => Trouble::refused(other.explanation()),
    }
}

/// The token of the session, begun if need be; nothing where the platform has no sessions.
async fn token(app: &App, contact: &Contact, until: Instant) -> Result<Option<Secret<String>>, Trouble> {
    let Some(login) = contact.platform.login(&contact.link(None)).map_err(unwritten)? else {
        return Ok(None);
    };
    let state = session_state(app, &login);
    let mut slot = None;
    let mut state = loop {
        // Whoever comes while somebody logs in waits, and finds the session.
        let Ok(state) = tokio::time::timeout_at(until, state.lock()).await else {
            return Err(Trouble::later(PlatformFailure::LoginInProgress));
        };
        match &*state {
            SessionState::Live { token, renew_at, .. } if Instant::now() < *renew_at => {
                return Ok(Some(token.clone()));
            }
            SessionState::Refused { message, until } if Instant::now() < *until => {
                return Err(Trouble::later(message.clone()));
            }
            _ if contact.share.is_none() || slot.is_some() => break state,
            _ => {}
        }
        // Not waited for while the session is locked: a call that somebody waits for may need it meanwhile.
        drop(state);
        slot = contact.slot(until).await?;
    };
    let began = Instant::now();
    let sent = match wait_for_limit(app, contact, &login, until).await {
        Ok(()) => send(app, contact, login, until).await,
        Err(trouble) => Err(trouble),
    };
    let session = match sent {
        Ok(response) => contact.platform.session(&response),
        Err(trouble) => Err(nothing_done(trouble)),
    };
    drop(slot);
    count(app, contact, Topic::Login, &session, began);
    match session {
        Ok(Session { token, lasts, branch }) => {
            let renew_at = Instant::now() + lasts.mul_f64(RENEW_AT);
            *state = SessionState::Live {
                token: token.clone(),
                renew_at,
                branch,
            };
            Ok(Some(token))
        }
        Err(
            trouble @ (Trouble::Refused { .. } | Trouble::RetryableRefusal { .. } | Trouble::SessionOver),
        ) => {
            // Somebody has to mend the credentials; until then the platform is not bothered with every call.
            let cause = Box::new(trouble.explanation());
            let message = Explanation::LoginRefused { cause };
            *state = SessionState::Refused {
                message: message.clone(),
                until: Instant::now() + AFTER_A_REFUSED_LOGIN,
            };
            Err(Trouble::later(message))
        }
        Err(trouble) => Err(nothing_done(trouble)),
    }
}

/// The branch that the present session is for, where the platform has said so.
pub async fn session_branch(app: &App, contact: &Contact) -> Option<String> {
    let login = contact.platform.login(&contact.link(None)).ok()??;
    match &*session_state(app, &login).lock().await {
        SessionState::Live { branch, .. } => branch.clone(),
        SessionState::None | SessionState::Refused { .. } => None,
    }
}

/// Logging in changes nothing on the platform: what is unclear about it can simply be tried again.
fn nothing_done(trouble: Trouble) -> Trouble {
    match trouble {
        Trouble::Unclear { message } => Trouble::later(Explanation::LoginFailed {
            cause: Box::new(message),
        }),
        other => other,
    }
}

fn session_state(app: &App, login: &HttpRequest) -> Arc<tokio::sync::Mutex<SessionState>> {
    let key = Sha256::new()
        .chain_update(&login.url)
        .chain_update([0])
        .chain_update(login.body.as_deref().unwrap_or_default())
        .finalize()
        .into();
    let mut sessions = app.lines.sessions.lock().unwrap_or_else(PoisonError::into_inner);
    if sessions.len() > MAX_REMEMBERED {
        sessions.retain(|_, state| Arc::strong_count(state) > 1);
    }
    Arc::clone(sessions.entry(key).or_default())
}

/// Forgets a session that is over, unless it has been renewed since.
async fn forget(app: &App, contact: &Contact, over: &Option<Secret<String>>) {
    if let Ok(Some(login)) = contact.platform.login(&contact.link(None)) {
        let state = session_state(app, &login);
        let mut state = state.lock().await;
        if matches!(&*state, SessionState::Live { token, .. } if Some(token) == over.as_ref()) {
            *state = SessionState::None;
        }
    }
}

/// Waits until the platform's limits, as we count them, have room for a request.
async fn wait_for_limit(
    app: &App,
    contact: &Contact,
    request: &HttpRequest,
    until: Instant,
) -> Result<(), Trouble> {
    let limits = contact.platform.capability().limits;
    if let Some(limit) = limits.iter().find(|limit| request.limit == Some(limit.name)) {
        let now = Instant::now();
        let longest = until.saturating_duration_since(now);
        match app.lines.wait(token_fingerprint(request), limit, now, longest) {
            Ok(wait) => tokio::time::sleep(wait).await,
            Err(room_in) => {
                return Err(Trouble::HeldBack {
                    message: PlatformFailure::RateLimited {
                        calls: limit.requests,
                        seconds: limit.per_seconds,
                    }
                    .into(),
                    room_in,
                });
            }
        }
    }
    Ok(())
}

/// Sends one request.
async fn send(
    app: &App,
    contact: &Contact,
    request: HttpRequest,
    until: Instant,
) -> Result<HttpResponse, Trouble> {
    if request.climbs() {
        return Err(Trouble::refused(PlatformFailure::DotSegment));
    }
    let left = until.saturating_duration_since(Instant::now());
    let time = contact
        .share
        .as_ref()
        .map_or(left, |share| left.min(share.request_deadline));
    let outgoing = outgoing(request, time, contact.log)
        .ok_or_else(|| Trouble::refused(PlatformFailure::RequestNotWritable))?;
    // Names that an account gives are looked up on its own share of threads, apart from the names of platforms.
    let sent = match (outgoing.trust, contact.account) {
        (Trust::Account, Some(account)) => app.net.on_behalf_of(account).send(outgoing).await,
        _ => app.net.send(outgoing).await,
    };
    match sent {
        Ok(answer) => Ok(HttpResponse {
            status: answer.status,
            body: answer.body,
        }),
        Err(SendError::NotAllowed(refusal)) => {
            Err(Trouble::refused(Explanation::TargetNotAllowed { refusal }))
        }
        Err(SendError::Unreachable { why, .. }) => Err(Trouble::later(why)),
        Err(error @ (SendError::Broken(_) | SendError::TimedOut(_))) => {
            Err(Trouble::unclear(error.explanation()))
        }
    }
}

/// Whose limit a request counts against: that of the token, or key, in its headers.
fn token_fingerprint(request: &HttpRequest) -> Fingerprint {
    let mut hash = Sha256::new();
    for (name, value) in &request.headers {
        hash.update(name);
        hash.update([0]);
        hash.update(value.expose());
        hash.update([0]);
    }
    hash.finalize().into()
}

impl Lines {
    /// How long to wait before a request that counts against this limit, which is then taken; when that is too long, an error
    /// that says after what time there is room.
    fn wait(
        &self,
        token: Fingerprint,
        limit: &Limit,
        now: Instant,
        longest: Duration,
    ) -> Result<Duration, Duration> {
        let period = Duration::from_secs(u64::from(limit.per_seconds));
        let each = period / limit.requests.max(1);
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        if limits.len() > MAX_REMEMBERED {
            limits.retain(|_, full_until| *full_until > now);
        }
        // `full_until` is when the bucket will have run empty; a request adds its share, up to the whole.
        let full_until = limits.entry((token, limit.name)).or_insert(now);
        let next = (*full_until).max(now) + each;
        let wait = next.saturating_duration_since(now + period);
        if wait > longest {
            return Err(wait);
        }
        *full_until = next;
        Ok(wait)
    }
}

/// A request to a platform as it is handed to the network; nothing where it cannot be written.
#[must_use]
pub fn outgoing(request: HttpRequest, deadline: Duration, log: Log) -> Option<Outgoing> {
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        let mut value = HeaderValue::from_str(value.expose()).ok()?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_bytes(name.as_bytes()).ok()?, value);
    }
    let header_case = HeaderCase::new(request.headers.iter().map(|(name, _)| name.as_str()));
    Some(Outgoing {
        method: Method::from_bytes(request.method.as_bytes()).ok()?,
        url: request.url,
        headers,
        header_case,
        body: request.body.map(Bytes::from).unwrap_or_default(),
        trust: request.trust,
        deadline,
        keep_body: MAX_ANSWER,
        log,
        may_repeat: false,
    })
}

#[cfg(test)]
mod tests;
