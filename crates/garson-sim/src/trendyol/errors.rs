//! Trendyol's errors: an exception by name, and messages in a list.

use http::StatusCode;
use serde_json::{Value, json};

use crate::call::Reply;

/// Nothing in the body means an empty one.
pub(super) type Answer = Result<Option<Value>, Refusal>;

#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    exception: &'static str,
    message: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, exception: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            exception,
            message: message.into(),
        }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    pub(super) fn unauthorized() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "Unauthorized",
            "the key is wrong, or the store another supplier's",
        )
    }

    pub(super) fn not_found() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "DomainNotFound",
            "there is no such package",
        )
    }

    pub(super) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "Conflict", message)
    }

    pub(super) fn too_many() -> Self {
        Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "TooManyRequests",
            "50 calls in 10 seconds are enough",
        )
    }

    pub(super) fn reply(self) -> Reply {
        let body = json!({"exception": self.exception, "errors": [{"key": self.exception, "message": self.message}]});
        Reply::json(self.status, &body).with_note(format!("{}: {}", self.exception, self.message))
    }
}
