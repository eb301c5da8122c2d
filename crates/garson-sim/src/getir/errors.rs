//! Getir's errors: numbered, each in the same envelope.

use http::StatusCode;
use serde_json::{Value, json};

use crate::call::Reply;

pub(super) type Answer = Result<Value, Refusal>;

#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: i32,
    error: &'static str,
    message: String,
}

impl Refusal {
    /// A rule of the order's life is against it. Which HTTP status Getir gives with these is not published.
    pub(super) fn rule(code: i32, error: &'static str, message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code,
            error,
            message: message.into(),
        }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::rule(-2, "ValidationError", message)
    }

    pub(super) fn unauthorized(message: &str) -> Self {
        Self {
            status: StatusCode::UNAUTHORIZED,
            ..Self::rule(-1, "Unauthorized", message)
        }
    }

    pub(super) fn app_not_found() -> Self {
        Self {
            status: StatusCode::UNAUTHORIZED,
            ..Self::rule(73, "RestaurantAppNotFound", "no restaurant has these keys")
        }
    }

    pub(super) fn order_not_found() -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            ..Self::rule(1, "FoodOrderNotFound", "there is no such order")
        }
    }

    pub(super) fn route_not_found() -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            ..Self::rule(22, "RouteNotFound", "there is nothing here")
        }
    }

    pub(super) fn too_many() -> Self {
        Self {
            status: StatusCode::TOO_MANY_REQUESTS,
            ..Self::rule(-1, "TooManyRequests", "too many calls, wait")
        }
    }

    pub(super) fn reply(self) -> Reply {
        let Self {
            status,
            code,
            error,
            message,
        } = self;
        let body = json!({"code": code, "error": error, "message": message, "details": [], "source": "food-external-api-gateway"});
        Reply::json(status, &body).with_note(format!("{code} {error}: {message}"))
    }
}
