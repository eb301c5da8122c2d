//! The outermost layer: every request gets an id, every refusal its body, every panic an answer.

use crate::api::{Api, ApiError, Code};
use crate::telemetry::RequestKind;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use garson_core::id::uuid_at;
use http::{Extensions, HeaderName, HeaderValue, StatusCode, header};
use std::sync::Arc;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The id under which a request is found in the log.
#[derive(Clone, Debug)]
pub struct RequestId(pub String);

impl RequestId {
    #[must_use]
    pub fn of(extensions: &Extensions) -> Self {
        extensions
            .get::<Self>()
            .cloned()
            .unwrap_or_else(|| Self("unknown".to_owned()))
    }
}

/// The client's own id if it is a sane one, a fresh one otherwise.
fn choose(api: &Api, request: &Request) -> RequestId {
    let given = request
        .headers()
        .get(&HEADER)
        .and_then(|value| value.to_str().ok());
    let sane = |id: &&str| {
        (1..=64).contains(&id.len())
            && id
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    RequestId(
        given
            .filter(sane)
            .map_or_else(|| uuid_at(api.app.now()).to_string(), str::to_owned),
    )
}

/// Gives a request its id and finishes its answer.
pub async fn finish(State(api): State<Arc<Api>>, mut request: Request, next: Next) -> Response {
    let id = choose(&api, &request);
    request.extensions_mut().insert(id.clone());
    let kind = RequestKind::of(request.uri().path());
    let mut response = match crate::api::is_broken(request.uri().path()) {
        false => next.run(request).await,
        true => ApiError::from_status(StatusCode::NOT_FOUND).into_response(),
    };
    // What has a body of ours already, for programs or for people.
    let is_finished = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind == "application/json" || kind.as_bytes().starts_with(b"text/html"));
    let error = match response.extensions_mut().remove::<ApiError>() {
        Some(error) => Some(error),
        None if response.status().as_u16() >= 400 && !is_finished => {
            Some(ApiError::from_status(response.status()))
        }
        None => None,
    };
    if let Some(error) = error {
        // That storage is away is said by whoever has found out.
        if error.code.status().is_server_error() && error.code != Code::StorageUnavailable {
            tracing::error!(request = %id.0, code = error.code.as_str(), "a request failed");
        }
        let body = error.body(&id.0);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.remove(header::CONTENT_LENGTH);
        *response.body_mut() = Body::from(body);
        *response.status_mut() = error.code.status();
    }
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        response.headers_mut().insert(HEADER, value);
    }
    if matches!(kind, RequestKind::Api | RequestKind::Hook) {
        let headers = response.headers_mut();
        // Orders are nobody else's to keep, and JSON is not to be taken for anything else.
        let kept = headers.entry(header::CACHE_CONTROL);
        kept.or_insert(HeaderValue::from_static("no-store"));
        let sniffed = headers.entry(header::X_CONTENT_TYPE_OPTIONS);
        sniffed.or_insert(HeaderValue::from_static("nosniff"));
    }
    api.app.metrics.requests.count(kind, response.status().as_u16());
    response
}

/// The answer to a request whose handling panicked.
#[allow(clippy::needless_pass_by_value)]
pub fn on_panic(_: Box<dyn std::any::Any + Send + 'static>) -> Response {
    // What the panic said may hold a client's data; the log has it from the panic hook, the client does not.
    ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR).into_response()
}
