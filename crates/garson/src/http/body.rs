//! Request bodies: JSON within limits, each fault with its place.

use super::error::Code;
use crate::api::auth::{Caller, unauthorized};
use crate::api::{Api, ApiError};
use crate::http::body_budget::{Charge, Sender};
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
        let caller = request.extensions().get::<Caller>().ok_or_else(unauthorized)?;
        let sender = Sender::Known(caller.account);
        // Charged until it is parsed: what a request holds after that is within the limits of its fields, and a request may wait
        // long for a platform.
        let Body {
            bytes,
            charge: _charge,
        } = read(api, request, sender).await?;
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

/// Marks a request whose body is in memory already, with what the body has taken of its budget.
#[derive(Clone)]
pub struct InMemory(Arc<Mutex<Option<Charge>>>);

impl InMemory {
    pub fn new(charge: Charge) -> Self {
        Self(Arc::new(Mutex::new(Some(charge))))
    }

    fn take(&self) -> Option<Charge> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

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
    let charged = request.extensions().get::<InMemory>().and_then(InMemory::take);
    let is_charged = charged.is_some();
    let charge = charged.unwrap_or_else(|| api.budgets.begin(sender));
    let given_up = charge.given_up();
    let reading = arrive(request, sender.largest(), charge, is_charged);
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
async fn arrive(
    request: Request,
    largest: usize,
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
        crate::api::MAX_BODY => error,
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
        let (path, problem) = json::problem(&error.path().to_string(), &error.inner().to_string());
        let path = if path == "$" { "body" } else { &path };
        ApiError::problem(Code::InvalidField, path, problem)
    })
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
