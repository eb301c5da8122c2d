//! Reads the requests of the control API.

use http::Method;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{call::Call, platform::Platform, refusal::Refusal};

pub(super) type Answer = Result<Value, Refusal>;

/// Parses the body; a `Content-Type` is not required.
pub(super) fn read<T: DeserializeOwned>(call: &Call) -> Result<T, Refusal> {
    let body = if call.body.is_empty() && call.method == Method::POST {
        b"{}"
    } else {
        call.body.as_ref()
    };
    serde_json::from_slice(body).map_err(|error| Refusal::Invalid(error.to_string()))
}

pub(super) fn platform_of(call: &Call) -> Result<Option<Platform>, Refusal> {
    call.query("platform")
        .map(str::parse)
        .transpose()
        .map_err(Refusal::Invalid)
}
