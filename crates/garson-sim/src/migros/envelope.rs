//! Migros's wrapping: encrypted request bodies, and answers that say whether all went well.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    call::{Call, Reply},
    crypt,
    views::Replies,
};

pub(super) type Answer = Result<Value, Refusal>;

#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
        }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "ValidationError", message)
    }

    pub(super) fn unauthorized() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "Unauthorized",
            "XApiKey is missing or unknown",
        )
    }

    pub(super) fn not_found() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "OrderNotFound",
            "this store has no such order",
        )
    }

    pub(super) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "OrderStatusConflict", message)
    }

    pub(super) fn reply(self) -> Reply {
        let error = json!({"errorCode": self.code, "errorTitle": self.code, "errorDetail": self.message});
        let body = json!({"success": false, "data": null, "errorMessage": error});
        Reply::json(self.status, &body).with_note(format!("{}: {}", self.code, self.message))
    }
}

/// The JSON inside of an encrypted body.
pub(super) fn open(call: &Call, key: &[u8]) -> Result<Value, Refusal> {
    let body = call.json().map_err(Refusal::invalid)?;
    let value = body["value"]
        .as_str()
        .ok_or_else(|| Refusal::invalid("the body must be {\"value\": …}"))?;
    let plain = crypt::decrypt(value, key).and_then(|plain| serde_json::from_slice(&plain).ok());
    plain.ok_or_else(|| Refusal::invalid("value is not AES-256-ECB of JSON with this secret"))
}

pub(super) fn plain(data: &Value) -> Reply {
    Reply::ok(&json!({"success": true, "data": data, "errorMessage": null}))
}

/// An answer in the form that the store's quirk asks for.
pub(super) fn seal(data: &Value, replies: Replies, key: &[u8]) -> Reply {
    let text = || crypt::encrypt(data.to_string().as_bytes(), key).unwrap_or_default();
    match replies {
        Replies::Plain => plain(data),
        Replies::Text => plain(&json!(text())),
        Replies::Value => plain(&json!({"value": text()})),
    }
}
