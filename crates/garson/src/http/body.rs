//! Request bodies: reading within limits of size, time and memory, and parsing as JSON.

use super::body_budget::{BodySource, Charge, MAX_BODY};
use super::error::{ApiError, Code};
use super::state::HttpState;
use crate::net::client_address::ClientAddress;
use crate::telemetry::Refusal;
use axum::body::HttpBody;
use axum::extract::Request;
use garson_core::json::{self, FaultKind};
use http::header;
use http_body_util::BodyExt;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;

/// How long a client may take to send its body.
const READ_DEADLINE: Duration = Duration::from_secs(20);

/// The length that the client declares for its body.
pub fn declared_length(request: &Request) -> Option<usize> {
    match request.headers().get(header::CONTENT_LENGTH) {
        Some(value) => value.to_str().ok()?.parse().ok(),
        None => HttpBody::size_hint(request.body())
            .exact()
            .and_then(|length| usize::try_from(length).ok()),
    }
}

/// A complete body with its charge against the memory budget; both are released together.
pub struct Body {
    pub bytes: Vec<u8>,
    pub charge: Charge,
}

/// Request extension: the body is in memory already and charged to its budget.
#[derive(Clone)]
pub struct InMemory(Arc<Mutex<Option<Charge>>>);

impl InMemory {
    pub fn new(charge: Charge) -> Self {
        Self(Arc::new(Mutex::new(Some(charge))))
    }

    fn take(&self) -> Option<Charge> {
        self.0.lock().take()
    }
}

/// Reads a body within the limits of size and time, charged to the budget of its source.
pub async fn read(state: &HttpState, request: Request, source: BodySource) -> Result<Body, ApiError> {
    let declared = declared_length(&request);
    if declared.is_some_and(|length| length > source.max_length()) {
        return Err(too_large(source.max_length()));
    }
    if is_encoded(&request) {
        let message = "The body must be sent as it is, without a Content-Encoding.";
        return Err(ApiError::new(Code::UnsupportedMediaType, message));
    }
    let client = ClientAddress::of(request.extensions());
    let charged = request.extensions().get::<InMemory>().and_then(InMemory::take);
    let is_charged = charged.is_some();
    let charge = charged.unwrap_or_else(|| state.body_budgets.begin(source));
    let aborted = charge.aborted();
    let reading = collect(request, source.max_length(), charge, is_charged);
    let refused = tokio::select! {
        read = tokio::time::timeout(READ_DEADLINE, reading) => match read {
            Ok(read) => return read,
            Err(_) => Refusal::BodyTimeout,
        },
        () = aborted => Refusal::BodyBudget,
    };
    state.app.metrics.refusals.note(refused, client);
    Err(ApiError::from_status(http::StatusCode::REQUEST_TIMEOUT))
}

/// Collects the frames of a body, each charged before the next is requested.
async fn collect(
    request: Request,
    max_length: usize,
    mut charge: Charge,
    is_charged: bool,
) -> Result<Body, ApiError> {
    let mut body = request.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let broken = |_| ApiError::new(Code::BrokenRequest, "The body broke off.");
        let Ok(data) = frame.map_err(broken)?.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > max_length {
            return Err(too_large(max_length));
        }
        if !is_charged {
            charge.grow(data.len()).await;
        }
        bytes.extend_from_slice(&data);
    }
    charge.complete();
    Ok(Body { bytes, charge })
}

fn too_large(max_length: usize) -> ApiError {
    let error = ApiError::from_status(http::StatusCode::PAYLOAD_TOO_LARGE);
    match max_length {
        MAX_BODY => error,
        _ => ApiError::new(
            error.code,
            format!("The body is larger than {} KiB.", max_length / 1024),
        ),
    }
}

fn is_encoded(request: &Request) -> bool {
    let encodings = request.headers().get_all(header::CONTENT_ENCODING).iter();
    encodings
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
}

/// Parses a JSON body; an error names the field that is wrong.
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
        let (path, problem) = json::problem(&error.path().to_string(), &error.inner().to_string());
        let path = if path == "$" { "body" } else { &path };
        ApiError::problem(Code::InvalidField, path, problem)
    })
}
