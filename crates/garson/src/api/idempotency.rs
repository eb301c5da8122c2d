//! `Idempotency-Key`: the same request with the same key gets the first answer again, for a day.

use super::auth::Caller;
use super::error::Code;
use super::request_id::RequestId;
use super::{Api, ApiError, body};
use crate::flow::Fault;
use crate::flow::sweep::KEEP_ANSWERS;
use axum::body::Body;
use axum::extract::{FromRequestParts, OptionalFromRequestParts, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use garson_core::id::uuid_at;
use garson_store::idempotency::{self, KeyedRequest, Reservation};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
const PLACE: &str = "idempotency/body";
/// Longer than any request runs.
const LEASE: Duration = Duration::from_secs(60);

/// The id of what a request creates: reserved under its key, or a fresh one.
#[derive(Clone, Copy, Debug)]
pub struct NewId(pub Uuid);

impl FromRequestParts<Arc<Api>> for NewId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, ApiError> {
        Ok(parts
            .extensions
            .get::<Self>()
            .copied()
            .unwrap_or_else(|| Self(uuid_at(api.app.now()))))
    }
}

/// The key under which a request runs, for steps that must not be taken twice.
#[derive(Clone, Debug)]
pub struct Keyed(pub Arc<KeyedRequest>);

impl<S: Sync> OptionalFromRequestParts<S> for Keyed {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, ApiError> {
        Ok(parts.extensions.get::<Self>().cloned())
    }
}

/// Runs a keyed request once, and answers repeats from what was kept.
pub async fn once(
    api: &Arc<Api>,
    caller: Caller,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    // An empty one counts as none.
    let key = request
        .headers()
        .get(&HEADER)
        .filter(|key| !key.is_empty())
        .cloned();
    let (Some(key), &Method::POST) = (key, request.method()) else {
        return Ok(next.run(request).await);
    };
    if key.len() > 200 {
        return Err(ApiError::invalid(
            Code::InvalidParameter,
            "Idempotency-Key",
            "must be at most 200 characters",
        ));
    }
    let request_id = RequestId::of(request.extensions());
    let (parts, content) = request.into_parts();
    let bytes = body::read(api, Request::from_parts(parts.clone(), content)).await?;
    let target = parts
        .uri
        .path_and_query()
        .map_or("", http::uri::PathAndQuery::as_str);
    let keyed = Arc::new(KeyedRequest {
        account: caller.account,
        key_hash: Sha256::digest(key.as_bytes()).into(),
        request_hash: Sha256::new()
            .chain_update(target)
            .chain_update([0])
            .chain_update(&bytes)
            .chain_update(whose_answer(&parts, &caller))
            .finalize()
            .into(),
    });
    let request = Request::from_parts(parts, Body::from(bytes));
    // On its own from here: a client that goes away must not leave a key behind that nothing runs under, nor a step
    // whose answer is not kept.
    tokio::spawn(run(Arc::clone(api), keyed, request, next, request_id))
        .await
        .unwrap_or_else(|_| Err(ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR)))
}

/// The answer to a request for a key shows that key: it is repeated only to the key that has asked for it. Everything else is
/// the same request whichever key of the account sends it.
fn whose_answer<'a>(parts: &Parts, caller: &'a Caller) -> &'a [u8] {
    match parts.uri.path().trim_end_matches('/').ends_with("/keys") {
        true => caller.key.as_bytes(),
        false => &[],
    }
}

async fn run(
    api: Arc<Api>,
    keyed: Arc<KeyedRequest>,
    mut request: Request,
    next: Next,
    request_id: RequestId,
) -> Result<Response, ApiError> {
    let reserved_id = match reserve(&api, &keyed).await? {
        Reservation::Run { reserved_id } => reserved_id,
        Reservation::Answered { status, body } => return replay(&api, &keyed, status, &body),
        Reservation::Running => {
            let message = "A request with this Idempotency-Key is still running.";
            return Err(ApiError::new(Code::IdempotencyKeyInUse, message));
        }
        Reservation::OtherRequest => {
            let message = "This Idempotency-Key was used for another request.";
            return Err(ApiError::new(Code::IdempotencyKeyReused, message));
        }
    };
    request.extensions_mut().insert(NewId(reserved_id));
    request.extensions_mut().insert(Keyed(Arc::clone(&keyed)));
    let response = next.run(request).await;
    keep(&api, keyed, response, &request_id).await
}

async fn reserve(api: &Api, keyed: &Arc<KeyedRequest>) -> Result<Reservation, ApiError> {
    let now = api.app.now();
    let (fresh, keyed) = (uuid_at(now), Arc::clone(keyed));
    let reserved = api
        .app
        .store
        .write(keyed.account, move |tx| {
            idempotency::reserve(tx, &keyed, fresh, now, now.minus(KEEP_ANSWERS), now.plus(LEASE))
        })
        .await;
    reserved.map_err(|error| Fault::from(error).into())
}

/// Keeps a success or a final refusal; what another try may mend is not kept.
async fn keep(
    api: &Api,
    keyed: Arc<KeyedRequest>,
    response: Response,
    request_id: &RequestId,
) -> Result<Response, ApiError> {
    let status = response.status();
    let is_final = !status.is_server_error()
        && status != StatusCode::TOO_MANY_REQUESTS
        && status != StatusCode::UNAUTHORIZED
        && status != StatusCode::REQUEST_TIMEOUT;
    let account = keyed.account;
    if !is_final {
        let released = api
            .app
            .store
            .write(account, move |tx| idempotency::release(tx, &keyed))
            .await;
        if let Err(error) = released {
            tracing::warn!(%error, "an idempotency key was not given back");
        }
        return Ok(response);
    }
    let (mut parts, content) = response.into_parts();
    let bytes = match parts.extensions.remove::<ApiError>() {
        // The error's body has the request's id in it; a repeat gets the first one's.
        Some(error) => error.body(&request_id.0).into(),
        None => axum::body::to_bytes(content, usize::MAX)
            .await
            .map_err(|_| ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR))?,
    };
    // An answer may hold a fresh API key, so it is sealed like one.
    let kept = api
        .app
        .vault
        .seal(PLACE, &keyed.key_hash, &bytes)
        .map_err(Fault::from)?;
    let code = i64::from(status.as_u16());
    let written = api
        .app
        .store
        .write(account, move |tx| idempotency::answer(tx, &keyed, code, &kept))
        .await;
    if let Err(error) = written {
        tracing::warn!(%error, "an answer was not kept under its idempotency key");
    }
    parts
        .headers
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    parts.headers.remove(header::CONTENT_LENGTH);
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

fn replay(api: &Api, keyed: &KeyedRequest, status: i64, sealed: &[u8]) -> Result<Response, ApiError> {
    let body = api
        .app
        .vault
        .open(PLACE, &keyed.key_hash, sealed)
        .map_err(Fault::from)?;
    let status = u16::try_from(status)
        .ok()
        .and_then(|code| StatusCode::from_u16(code).ok());
    let mut response = (status.unwrap_or(StatusCode::OK), body.expose().clone()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(
        HeaderName::from_static("idempotent-replayed"),
        HeaderValue::from_static("true"),
    );
    Ok(response)
}
