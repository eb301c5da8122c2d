//! Request bodies: JSON within limits, each fault with its place.

use super::budget::{Charge, Sender};
use super::error::Code;
use super::{Api, ApiError};
use crate::server::ClientAddress;
use crate::telemetry::Refusal;
use axum::body::HttpBody;
use axum::extract::{FromRequest, Request};
use garson_core::json::{self, FaultKind};
use http::header;
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a client may take to send its body.
const READ_DEADLINE: Duration = Duration::from_secs(20);

/// A body that has been read and understood. An empty one, or null, counts as `{}`.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<Api>> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, ApiError> {
        let is_json = says_json(&request);
        let charges = request.extensions().get::<Charges>().cloned().unwrap_or_default();
        let Body { bytes, charge } = read(api, request, Sender::Known).await?;
        charges.keep(charge);
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

/// A body that has arrived, with what it has taken of its budget; both are given back together.
pub struct Body {
    pub bytes: Vec<u8>,
    pub charge: Charge,
}

/// Keeps the memory of a request's body charged until the request is done, though its bytes are read by then.
#[derive(Clone, Default)]
pub struct Charges(Arc<Mutex<Vec<Charge>>>);

impl Charges {
    fn keep(&self, charge: Charge) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(charge);
    }
}

/// Marks a request whose body is in memory, and charged, already.
#[derive(Clone, Copy)]
pub struct InMemory;

/// Reads a body within the limits of size and time, charged to the budget of its sender.
pub async fn read(api: &Api, request: Request, sender: Sender) -> Result<Body, ApiError> {
    let declared = declared_length(&request);
    if declared.is_some_and(|length| length > sender.largest()) {
        return Err(too_large(sender.largest()));
    }
    if is_encoded(&request) {
        let message = "The body must be sent as it is, without a Content-Encoding.";
        return Err(ApiError::new(Code::UnsupportedMediaType, message));
    }
    let client = ClientAddress::of(request.extensions());
    let charge = api.budgets.of(sender).begin();
    let given_up = charge.given_up();
    let reading = arrive(request, sender.largest(), charge);
    let refused = tokio::select! {
        read = tokio::time::timeout(READ_DEADLINE, reading) => match read {
            Ok(read) => return read,
            Err(_) => Refusal::BodyTimeout,
        },
        () = given_up => Refusal::BodyBudget,
    };
    api.app.metrics.refusals.note(refused, client);
    Err(ApiError::from_status(http::StatusCode::REQUEST_TIMEOUT))
}

/// Collects what comes, each part charged before the next is asked for.
async fn arrive(request: Request, largest: usize, mut charge: Charge) -> Result<Body, ApiError> {
    let is_charged = request.extensions().get::<InMemory>().is_some();
    let mut body = request.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let broken = |_| ApiError::new(Code::BrokenRequest, "The body broke off.");
        let Ok(data) = frame.map_err(broken)?.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > largest {
            return Err(too_large(largest));
        }
        if !is_charged {
            charge.grow(data.len()).await;
        }
        bytes.extend_from_slice(&data);
    }
    charge.arrived();
    Ok(Body { bytes, charge })
}

fn too_large(largest: usize) -> ApiError {
    let error = ApiError::from_status(http::StatusCode::PAYLOAD_TOO_LARGE);
    match largest {
        super::MAX_BODY => error,
        _ => ApiError::new(
            error.code,
            format!("The body is larger than {} KiB.", largest / 1024),
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
