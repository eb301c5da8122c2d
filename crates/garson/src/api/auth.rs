//! Who is calling: the account behind an API key, and whether it calls too often.

use super::error::Code;
use super::{Api, ApiError, idempotency};
use crate::flow::accounts::Actor;
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use garson_core::id::{AccountId, KeyId};
use garson_store::keys;
use garson_store::vault::lookup_hash;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use std::collections::HashMap;
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

/// The keys that were seen lately, and how often each may call.
pub struct Keyring {
    remembered: Mutex<HashMap<[u8; 32], Remembered>>,
    limiter: Option<DefaultKeyedRateLimiter<KeyId>>,
    policy: HeaderValue,
}

impl Keyring {
    #[must_use]
    pub fn new(limit: Option<crate::config::RateLimit>) -> Self {
        let quota = limit.map(|limit| Quota::per_second(limit.per_second).allow_burst(limit.burst));
        let policy = limit.map_or_else(String::new, |limit| {
            let window = limit.burst.get().div_ceil(limit.per_second.get());
            format!("\"default\";q={};w={window}", limit.burst)
        });
        Self {
            remembered: Mutex::default(),
            limiter: quota.map(DefaultKeyedRateLimiter::keyed),
            policy: HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("")),
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
        if let (None, Some(limiter)) = (noted, &self.limiter) {
            // Now and then: the rate records of keys that have not called lately.
            limiter.retain_recent();
        }
        noted.is_none()
    }

    fn check_rate(&self, key: KeyId) -> Result<(), ApiError> {
        let Some(limiter) = &self.limiter else {
            return Ok(());
        };
        limiter.check_key(&key).map_err(|until| {
            let wait = until.wait_time_from(DefaultClock::default().now());
            let seconds = wait.as_secs() + 1;
            let number = |text: String| HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("1"));
            ApiError::new(
                Code::RateLimited,
                "This key has made too many requests; wait before the next one.",
            )
            .header(header::RETRY_AFTER, number(seconds.to_string()))
            .header(
                HeaderName::from_static("ratelimit"),
                number(format!("\"default\";r=0;t={seconds}")),
            )
            .header(HeaderName::from_static("ratelimit-policy"), self.policy.clone())
        })
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
    let key = presented(request.headers()).ok_or_else(unauthorized)?;
    let hash = lookup_hash(key.as_bytes());
    let caller = match api.keyring.recall(&hash) {
        Some(remembered) => remembered.caller,
        None => look_up(&api, hash).await?,
    };
    api.keyring.check_rate(caller.key)?;
    request.extensions_mut().insert(caller);
    idempotency::once(&api, caller, request, next).await
}

async fn look_up(api: &Arc<Api>, hash: [u8; 32]) -> Result<Caller, ApiError> {
    let found = api.app.store.read(move |tx| keys::find(tx, &hash)).await;
    let found = found.map_err(|error| ApiError::from(crate::flow::Fault::from(error)))?;
    let (account, key, is_primary) = found.ok_or_else(unauthorized)?;
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
                .write(account, move |tx| keys::note_use(tx, key, now))
                .await;
            if let Err(error) = noted {
                tracing::warn!(%error, "the use of a key was not noted");
            }
        });
    }
    Ok(caller)
}
