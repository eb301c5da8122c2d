//! The authentication layer: only requests with a key of some account get through, within its rate limit.

use super::{access, idempotency};
use crate::flow::Fault;
use crate::flow::admin::api_auth::{Caller, RateExceeded, RateScope};
use crate::http::connection_registry::Connection;
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use crate::net::client_address::ClientAddress;
use crate::telemetry::Refusal;
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use std::sync::Arc;

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(ApiError::unauthorized)
    }
}

/// Authenticates a request and passes it on; a request with an `Idempotency-Key` runs once.
pub async fn authenticate(
    State(state): State<Arc<HttpState>>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let client = ClientAddress::of(request.extensions());
    let refuse = |kind: Refusal, error: ApiError| {
        state.app.metrics.refusals.note(kind, client);
        error
    };
    let caller = match bearer_token(request.headers()) {
        Some(key) => state.auth.authenticate(&state.app, key, client).await,
        None => Ok(None),
    };
    let caller = caller.map_err(|fault| match fault {
        Fault::KeyExpired => refuse(Refusal::WrongKey, fault.into()),
        Fault::AddressNotAllowed => refuse(Refusal::WrongAddress, fault.into()),
        fault => fault.into(),
    })?;
    let caller = caller.ok_or_else(|| refuse(Refusal::WrongKey, ApiError::unauthorized()))?;
    let mut response = call(&state, caller.clone(), request, next).await.into_response();
    // The request log is written where the final answer is known.
    response.extensions_mut().insert(caller);
    Ok(response)
}

/// What happens with the request of a known caller, within its limits.
async fn call(
    state: &Arc<HttpState>,
    caller: Caller,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    if let Err(exceeded) = state.auth.check_rate(&caller) {
        let refusals = &state.app.metrics.refusals;
        refusals.note(Refusal::RateLimited, caller.address);
        return Err(rate_limited(exceeded));
    }
    if let Some(connection) = request.extensions().get::<Arc<Connection>>() {
        connection.mark_authenticated();
    }
    access::check(&state.app, &caller, &mut request).await?;
    request.extensions_mut().insert(caller.clone());
    idempotency::run_once(state, caller, request, next).await
}

/// The key in the `Authorization` header; `None` when there is not exactly one, or it is not a Bearer token.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, key) = value.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty() && key.len() <= 200).then_some(key)
}

fn rate_limited(exceeded: RateExceeded) -> ApiError {
    let RateExceeded {
        scope,
        retry_after_seconds: seconds,
        burst,
        window_seconds: window,
    } = exceeded;
    let message = match scope {
        RateScope::Key => "This key has made too many requests; wait before the next one.",
        RateScope::Account => "This account's keys have made too many requests; wait before the next one.",
    };
    let value = |text: String| HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""));
    ApiError::new(Code::RateLimited, message)
        .header(header::RETRY_AFTER, value(seconds.to_string()))
        .header(
            HeaderName::from_static("ratelimit"),
            value(format!("\"default\";r=0;t={seconds}")),
        )
        .header(
            HeaderName::from_static("ratelimit-policy"),
            value(format!("\"default\";q={burst};w={window}")),
        )
}
