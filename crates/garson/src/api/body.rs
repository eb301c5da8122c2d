//! Request bodies: JSON within limits, each fault with its place.

use super::error::Code;
use super::{Api, ApiError, MAX_BODY};
use axum::body::HttpBody;
use axum::extract::{FromRequest, Request};
use garson_core::json::{self, FaultKind};
use http::header;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;

/// How long a client may take to send its body.
const READ_DEADLINE: Duration = Duration::from_secs(20);

/// A body that has been read and understood. An empty one, or null, counts as `{}`.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<Api>> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, ApiError> {
        let is_json = says_json(&request);
        let bytes = read(api, request).await?;
        // Nothing to say may also be said as null.
        if bytes.is_empty() || (is_json && bytes.trim_ascii() == b"null") {
            return parse(b"{}").map(Self);
        }
        if !is_json {
            let message = "The body must be JSON, with the header Content-Type: application/json.";
            return Err(ApiError::new(Code::UnsupportedMediaType, message));
        }
        parse(&bytes).map(Self)
    }
}

fn says_json(request: &Request) -> bool {
    let given = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    let kind = given.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// What the client says its body's length is.
pub fn declared_length(request: &Request) -> Option<usize> {
    match request.headers().get(header::CONTENT_LENGTH) {
        Some(value) => value.to_str().ok()?.parse().ok(),
        None => HttpBody::size_hint(request.body())
            .exact()
            .and_then(|length| usize::try_from(length).ok()),
    }
}

/// Reads a body within the limits of size and time. All that are being read share one budget of memory.
pub async fn read(api: &Api, request: Request) -> Result<bytes::Bytes, ApiError> {
    let too_large = || ApiError::from_status(http::StatusCode::PAYLOAD_TOO_LARGE);
    let declared = declared_length(&request);
    if declared.is_some_and(|length| length > MAX_BODY) {
        return Err(too_large());
    }
    let share = u32::try_from(declared.unwrap_or(MAX_BODY).div_ceil(1024)).unwrap_or(1024);
    let reading = async {
        let _share = api.body_budget.acquire_many(share).await;
        axum::body::to_bytes(request.into_body(), MAX_BODY).await
    };
    match tokio::time::timeout(READ_DEADLINE, reading).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_too_large(&error) => Err(too_large()),
        Ok(Err(_)) => Err(ApiError::new(Code::BrokenRequest, "The body broke off.")),
        Err(_) => Err(ApiError::from_status(http::StatusCode::REQUEST_TIMEOUT)),
    }
}

fn is_too_large(error: &axum::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if inner.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        source = inner.source();
    }
    false
}

/// Understands a body, within the rules of its fields.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    json::check(bytes).map_err(|fault| match fault.kind {
        FaultKind::Broken => ApiError::new(
            Code::BrokenJson,
            format!("The body is not JSON: {}.", fault.message),
        ),
        FaultKind::TooDeep => ApiError::new(Code::BrokenJson, format!("The body {}.", fault.message)),
        FaultKind::RepeatedKey => ApiError::invalid(Code::RepeatedKey, &fault.path, &fault.message),
        FaultKind::Nul => ApiError::invalid(Code::InvalidField, &fault.path, &fault.message),
    })?;
    let parser = &mut serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(parser).map_err(|error| {
        let (path, message) = json::explain(&error.path().to_string(), &error.inner().to_string());
        let path = if path == "$" { "body" } else { &path };
        ApiError::invalid(Code::InvalidField, path, &message)
    })
}
