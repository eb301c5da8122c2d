//! Delivery Hero's errors: a code and a message, and for conflicts the order's current state.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{call::Reply, order::Order};

pub(super) type Answer = Result<Value, Refusal>;

#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: String,
    current_state: Option<String>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            current_state: None,
        }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST", message)
    }

    pub(super) fn unauthorized(message: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "POS_ERROR", message)
    }

    pub(super) fn forbidden() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "FORBIDDEN",
            "this user has nothing to do with that chain",
        )
    }

    /// The order's state does not allow it.
    pub(super) fn conflict(order: &Order, message: &str) -> Self {
        let refusal = Self::new(StatusCode::CONFLICT, "INVALID_REQUEST", message);
        Self {
            current_state: Some(order.state.clone()),
            ..refusal
        }
    }

    pub(super) fn reply(self) -> Reply {
        let mut body = json!({"code": self.code, "message": self.message});
        if let Some(state) = &self.current_state {
            body["currentState"] = json!(state);
        }
        Reply::json(self.status, &body).with_note(format!("{}: {}", self.code, self.message))
    }
}
