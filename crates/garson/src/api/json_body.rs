//! The extractor for JSON bodies of authenticated requests.

use crate::flow::admin::api_auth::Caller;
use crate::http::body;
use crate::http::body_budget::BodySource;
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use axum::extract::{FromRequest, Request};
use http::header;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// A parsed body. An empty one, or null, counts as `{}`.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<HttpState>> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &Arc<HttpState>) -> Result<Self, ApiError> {
        let is_json = is_json(&request);
        let caller = request.extensions().get::<Caller>();
        let source = BodySource::Account(caller.ok_or_else(ApiError::unauthorized)?.account);
        // Charged until it is parsed: after that the limits of its fields bound what the request holds, and a request may wait
        // long for a platform.
        let body::Body {
            bytes,
            charge: _charge,
        } = body::read(state, request, source).await?;
        if bytes.is_empty() || (is_json && bytes.trim_ascii() == b"null") {
            return body::parse(b"{}").map(Self);
        }
        if !is_json {
            let message = "The body must be JSON, with the header Content-Type: application/json.";
            return Err(ApiError::new(Code::UnsupportedMediaType, message));
        }
        body::parse(&bytes).map(Self)
    }
}

fn is_json(request: &Request) -> bool {
    let given = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    let kind = given.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

#[cfg(test)]
#[path = "json_body_tests.rs"]
mod tests;
