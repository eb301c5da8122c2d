//! The outermost layer: every request gets an id, every error its body, every panic a response.

use super::error::{ApiError, Code};
use super::path;
use super::request_log::StartedCall;
use super::state::HttpState;
use crate::flow::admin::api_auth::Caller;
use crate::net::client_address::{ClientAddress, one_address};
use crate::telemetry::RequestKind;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use garson_core::id::uuid_at;
use http::{Extensions, HeaderName, HeaderValue, StatusCode, header};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The id that a request has in the log.
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

/// The client's own id if it is well-formed, otherwise a new one.
fn choose(state: &HttpState, request: &Request) -> RequestId {
    let given = request
        .headers()
        .get(&HEADER)
        .and_then(|value| value.to_str().ok());
    let is_valid = |id: &&str| {
        (1..=64).contains(&id.len())
            && id
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    RequestId(
        given
            .filter(is_valid)
            .map_or_else(|| uuid_at(state.app.now()).to_string(), str::to_owned),
    )
}

/// Assigns the request id and completes the response.
pub async fn finish(State(state): State<Arc<HttpState>>, mut request: Request, next: Next) -> Response {
    let id = choose(&state, &request);
    request.extensions_mut().insert(id.clone());
    let kind = RequestKind::of(request.uri().path());
    let call = (kind == RequestKind::Api).then(|| StartedCall::of(&state.app, &request));
    let mut response = if path::is_malformed(request.uri().path()) {
        ApiError::from_status(StatusCode::NOT_FOUND).into_response()
    } else if is_never_refused(request.uri().path()) {
        next.run(request).await
    } else {
        let client = ClientAddress::of(request.extensions());
        let client = one_address(client.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)));
        let waited = || state.app.store.standing_wait();
        if let Some(_admitted) = state.overload.admit(client, waited).await {
            next.run(request).await
        } else {
            let error = ApiError::new(
                Code::Overloaded,
                "Too much to do right now. Repeat the request later.",
            );
            error
                .header(header::RETRY_AFTER, HeaderValue::from_static("1"))
                .into_response()
        }
    };
    // Set by the layer that knows the key.
    let caller = response.extensions_mut().remove::<Caller>();
    // The response has one of our bodies already, JSON or a page.
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
    let code = match &error {
        Some(error) => Some(error.code),
        None => response.extensions_mut().remove::<Code>(),
    };
    if let Some(error) = error {
        // These are logged where they are noticed.
        let is_logged = matches!(error.code, Code::StorageUnavailable | Code::Overloaded);
        if error.code.status().is_server_error() && !is_logged {
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
        // Orders must not be cached, and JSON must not be sniffed as another type.
        let caching = headers.entry(header::CACHE_CONTROL);
        caching.or_insert(HeaderValue::from_static("no-store"));
        let sniffing = headers.entry(header::X_CONTENT_TYPE_OPTIONS);
        sniffing.or_insert(HeaderValue::from_static("nosniff"));
        // Clients compare it with the times of orders and events, so it is of the same clock.
        let date = state.app.now().http_date();
        if let Some(Ok(date)) = date.map(HeaderValue::try_from) {
            headers.insert(header::DATE, date);
        }
    }
    state.app.metrics.requests.count(kind, response.status().as_u16());
    if let (Some(call), Some(caller)) = (call, caller) {
        call.answered(&state.app, &caller, &id.0, &response, code.map(Code::as_str));
    }
    response
}

/// What an overloaded node still answers: its operators, and long polls, which wait most of the time.
fn is_never_refused(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz" | "/metrics" | "/web-api/v1/events")
}

/// The response to a request whose handler panicked.
#[allow(clippy::needless_pass_by_value)]
pub fn on_panic(_: Box<dyn std::any::Any + Send + 'static>) -> Response {
    // The panic message may contain data of a client: the panic hook logs it, and the response does not repeat it.
    ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR).into_response()
}
