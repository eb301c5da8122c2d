//! Who is calling: the account behind an API key, and whether it calls too often.

use super::{Api, ApiError, idempotency};
use crate::config::RateLimit;
use crate::flow::admin::accounts::Actor;
use crate::http::error::Code;
use crate::server::{ClientAddress, Connection};
use crate::telemetry::Refusal;
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use garson_core::id::{AccountId, KeyId};
use garson_store::tables::keys;
use garson_store::vault::lookup_hash;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The account that a request acts for.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    pub account: AccountId,
    pub key: KeyId,
    /// Is it the account's primary key? Another may have taken its place a second ago.
    pub is_primary: bool,
}

impl Caller {
    #[must_use]
    pub fn actor(self) -> Actor {
        Actor::Key(self.key)
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().copied().ok_or_else(unauthorized)
    }
}

pub fn unauthorized() -> ApiError {
    ApiError::new(
        Code::Unauthorized,
        "Send the header Authorization: Bearer <API key>, with a key of the account.",
    )
    .header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}

/// How long a looked-up key is believed; a revoked one works that much longer on other nodes.
const BELIEVED: Duration = Duration::from_secs(1);
/// How often the use of a key is noted.
const NOTED: Duration = Duration::from_secs(60);
const MAX_REMEMBERED: usize = 10_000;

#[derive(Clone, Copy)]
struct Remembered {
    caller: Caller,
    checked: Instant,
    noted: Instant,
}

/// The keys that were seen lately, and how often each and each account may call.
pub struct Keyring {
    remembered: Mutex<HashMap<[u8; 32], Remembered>>,
    keys: Option<Limiter<KeyId>>,
    accounts: Option<Limiter<AccountId>>,
}

/// How often each of them may call.
struct Limiter<K: Clone + Eq + Hash> {
    limiter: DefaultKeyedRateLimiter<K>,
    policy: HeaderValue,
    message: &'static str,
}

impl<K: Clone + Eq + Hash> Limiter<K> {
    fn new(limit: RateLimit, message: &'static str) -> Self {
        let quota = Quota::per_second(limit.per_second).allow_burst(limit.burst);
        let window = limit.burst.get().div_ceil(limit.per_second.get());
        let policy = format!("\"default\";q={};w={window}", limit.burst);
        Self {
            limiter: DefaultKeyedRateLimiter::keyed(quota),
            policy: HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("")),
            message,
        }
    }

    fn check(&self, caller: &K) -> Result<(), ApiError> {
        self.limiter.check_key(caller).map_err(|until| {
            let wait = until.wait_time_from(DefaultClock::default().now());
            let seconds = wait.as_secs() + 1;
            let number = |text: String| HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("1"));
            ApiError::new(Code::RateLimited, self.message)
                .header(header::RETRY_AFTER, number(seconds.to_string()))
                .header(
                    HeaderName::from_static("ratelimit"),
                    number(format!("\"default\";r=0;t={seconds}")),
                )
                .header(HeaderName::from_static("ratelimit-policy"), self.policy.clone())
        })
    }
}

impl Keyring {
    #[must_use]
    pub fn new(of_key: Option<RateLimit>, of_account: Option<RateLimit>) -> Self {
        let (key, account) = (
            "This key has made too many requests; wait before the next one.",
            "This account's keys have made too many requests; wait before the next one.",
        );
        Self {
            remembered: Mutex::default(),
            keys: of_key.map(|limit| Limiter::new(limit, key)),
            accounts: of_account.map(|limit| Limiter::new(limit, account)),
        }
    }

    /// Forgets all keys, so that a revoked one stops working at once.
    pub fn forget(&self) {
        self.remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    fn recall(&self, hash: &[u8; 32]) -> Option<Remembered> {
        let remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        remembered
            .get(hash)
            .copied()
            .filter(|r| r.checked.elapsed() < BELIEVED)
    }

    /// Remembers a key that was found; `true` when it is time to note its use.
    fn remember(&self, hash: [u8; 32], caller: Caller) -> bool {
        let now = Instant::now();
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= MAX_REMEMBERED {
            remembered.clear();
        }
        let noted = remembered
            .get(&hash)
            .map(|r| r.noted)
            .filter(|noted| noted.elapsed() < NOTED);
        remembered.insert(
            hash,
            Remembered {
                caller,
                checked: now,
                noted: noted.unwrap_or(now),
            },
        );
        drop(remembered);
        if noted.is_none() {
            // Now and then: the rate records of those that have not called lately.
            if let Some(keys) = &self.keys {
                keys.limiter.retain_recent();
            }
            if let Some(accounts) = &self.accounts {
                accounts.limiter.retain_recent();
            }
        }
        noted.is_none()
    }

    fn check_rate(&self, caller: Caller) -> Result<(), ApiError> {
        self.keys
            .as_ref()
            .map_or(Ok(()), |keys| keys.check(&caller.key))?;
        self.accounts
            .as_ref()
            .map_or(Ok(()), |accounts| accounts.check(&caller.account))
    }
}

fn presented(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, key) = value.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty() && key.len() <= 200).then_some(key)
}

/// Lets only callers with a key of some account through, and each keyed request once.
pub async fn authenticate(
    State(api): State<Arc<Api>>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let client = ClientAddress::of(request.extensions());
    let refuse = |kind: Refusal, error: ApiError| {
        api.app.metrics.refusals.note(kind, client);
        error
    };
    let hash = presented(request.headers()).map(|key| lookup_hash(key.as_bytes()));
    let found = match hash.map(|hash| (hash, api.keyring.recall(&hash))) {
        None => None,
        Some((_, Some(remembered))) => Some(remembered.caller),
        Some((hash, None)) => look_up(&api, hash).await?,
    };
    let caller = found.ok_or_else(|| refuse(Refusal::WrongKey, unauthorized()))?;
    let within = api.keyring.check_rate(caller);
    within.map_err(|error| refuse(Refusal::RateLimited, error))?;
    if let Some(connection) = request.extensions().get::<Arc<Connection>>() {
        connection.note_known();
    }
    request.extensions_mut().insert(caller);
    idempotency::once(&api, caller, request, next).await
}

async fn look_up(api: &Arc<Api>, hash: [u8; 32]) -> Result<Option<Caller>, ApiError> {
    let found = api.app.store.read(move |tx| keys::find(tx, &hash)).await;
    let found = found.map_err(|error| ApiError::from(crate::flow::Fault::from(error)))?;
    let Some((account, key, is_primary)) = found else {
        return Ok(None);
    };
    let caller = Caller {
        account,
        key,
        is_primary,
    };
    if api.keyring.remember(hash, caller) {
        let (api, now) = (Arc::clone(api), api.app.now());
        tokio::spawn(async move {
            let noted = api
                .app
                .store
                .write(account, move |tx| keys::record_use(tx, key, now))
                .await;
            if let Err(error) = noted {
                tracing::warn!(%error, "the use of a key was not noted");
            }
        });
    }
    Ok(Some(caller))
}
