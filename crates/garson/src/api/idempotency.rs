//! `Idempotency-Key`: the same request with the same key gets the first answer again, for a day.

use crate::flow::admin::api_auth::Caller;
use crate::flow::idempotency;
use crate::flow::idempotency::{KeyedRequest, Start};
use crate::http::body;
use crate::http::body_budget::BodySource;
use crate::http::error::{ApiError, Code};
use crate::http::request_id::RequestId;
use crate::http::state::HttpState;
use axum::body::Body;
use axum::extract::{FromRequestParts, OptionalFromRequestParts, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use garson_core::id::uuid_at;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use uuid::Uuid;

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// The id of what a request creates: reserved under its key, or a new one.
#[derive(Clone, Copy, Debug)]
pub struct NewId(pub Uuid);

impl FromRequestParts<Arc<HttpState>> for NewId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<HttpState>) -> Result<Self, ApiError> {
        let reserved = parts.extensions.get::<Self>().copied();
        Ok(reserved.unwrap_or_else(|| Self(uuid_at(state.app.now()))))
    }
}

/// The key under which a request runs, for steps that must not run twice.
#[derive(Clone, Debug)]
pub struct Keyed(pub Arc<KeyedRequest>);

impl<S: Sync> OptionalFromRequestParts<S> for Keyed {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, ApiError> {
        Ok(parts.extensions.get::<Self>().cloned())
    }
}

/// Runs a keyed request once, and answers repeats from storage.
pub async fn run_once(
    state: &Arc<HttpState>,
    caller: Caller,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    // An empty key counts as none.
    let key = request
        .headers()
        .get(&HEADER)
        .filter(|key| !key.is_empty())
        .cloned();
    let (Some(key), &Method::POST) = (key, request.method()) else {
        return Ok(next.run(request).await);
    };
    if has_personal_answer(request.uri().path()) {
        return Ok(next.run(request).await);
    }
    if key.len() > 200 {
        return Err(ApiError::invalid(
            Code::InvalidParameter,
            "Idempotency-Key",
            "must be at most 200 characters",
        ));
    }
    let request_id = RequestId::of(request.extensions());
    let (parts, content) = request.into_parts();
    let whole = Request::from_parts(parts.clone(), content);
    let body::Body { bytes, charge } = body::read(state, whole, BodySource::Account(caller.account)).await?;
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
            .chain_update(answer_owner(&parts, &caller))
            .finalize()
            .into(),
    });
    let mut request = Request::from_parts(parts, Body::from(bytes));
    request.extensions_mut().insert(body::InMemory::new(charge));
    // In a task of its own: when the client disconnects, the run must still end and its answer be stored.
    tokio::spawn(run(Arc::clone(state), keyed, request, next, request_id))
        .await
        .unwrap_or_else(|_| Err(ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR)))
}

/// The answer is personal data of customers, which is not stored again. The request changes nothing, so that it can be repeated.
fn has_personal_answer(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    path.ends_with("/privacy/search") || path.ends_with("/privacy/export")
}

/// The answer to a request for a new key or another secret contains it, so it is repeated only to the key that requested it, and
/// so is what a key with limits has requested. Any other request is the same whichever key of the account sends it.
fn answer_owner<'a>(parts: &Parts, caller: &'a Caller) -> &'a [u8] {
    let path = parts.uri.path().trim_end_matches('/');
    let has_secret = path.contains("/keys") || path.contains("/webhook-endpoints") || path.contains("/users");
    if has_secret || !caller.access.is_unlimited() {
        caller.key.as_bytes()
    } else {
        &[]
    }
}

async fn run(
    state: Arc<HttpState>,
    keyed: Arc<KeyedRequest>,
    mut request: Request,
    next: Next,
    request_id: RequestId,
) -> Result<Response, ApiError> {
    let start = idempotency::begin(&state.app, &state.idempotent_runs, Arc::clone(&keyed)).await?;
    let (run, reserved_id) = match start {
        Start::Run { run, reserved_id } => (run, reserved_id),
        Start::Answered { status, body } => return Ok(replay(status, body)),
        Start::Running => {
            let message = "A request with this Idempotency-Key is still running.";
            return Err(ApiError::new(Code::IdempotencyKeyInUse, message));
        }
        Start::OtherRequest => {
            let message = "This Idempotency-Key was used for another request.";
            return Err(ApiError::new(Code::IdempotencyKeyReused, message));
        }
    };
    request.extensions_mut().insert(NewId(reserved_id));
    request.extensions_mut().insert(Keyed(keyed));
    let response = next.run(request).await;
    if is_final(response.status()) {
        store_answer(run, response, &request_id).await
    } else {
        run.release().await;
        Ok(response)
    }
}

/// Successes and final refusals are stored; what a repeat may fix is not. A 404 may be fixed too: a client often asks for an order
/// before its platform has delivered it.
fn is_final(status: StatusCode) -> bool {
    !status.is_server_error()
        && status != StatusCode::TOO_MANY_REQUESTS
        && status != StatusCode::NOT_FOUND
        && status != StatusCode::UNAUTHORIZED
        && status != StatusCode::REQUEST_TIMEOUT
}

async fn store_answer(
    run: idempotency::Run,
    response: Response,
    request_id: &RequestId,
) -> Result<Response, ApiError> {
    let (mut parts, content) = response.into_parts();
    let bytes = match parts.extensions.remove::<ApiError>() {
        // The body of an error contains the request id; a repeat gets the id of the first request.
        Some(error) => {
            // For the request log.
            parts.extensions.insert(error.code);
            error.body(&request_id.0).into()
        }
        None => axum::body::to_bytes(content, usize::MAX)
            .await
            .map_err(|_| ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR))?,
    };
    run.store_answer(parts.status.as_u16(), &bytes).await?;
    parts
        .headers
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    parts.headers.remove(header::CONTENT_LENGTH);
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

fn replay(status: i64, body: Vec<u8>) -> Response {
    let status = u16::try_from(status)
        .ok()
        .and_then(|code| StatusCode::from_u16(code).ok());
    let mut response = (status.unwrap_or(StatusCode::OK), body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(
        HeaderName::from_static("idempotent-replayed"),
        HeaderValue::from_static("true"),
    );
    response
}
