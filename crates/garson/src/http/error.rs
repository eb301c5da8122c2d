//! Errors as clients see them: one body for every non-200, one list of codes.

use crate::flow::Fault;
use axum::response::{IntoResponse, Response};
use garson_core::order::Refusal;
use garson_core::platform::PlatformError;
use garson_store::StoreErrorKind;
use garson_store::log_throttle::Throttle;
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

macro_rules! codes {
    ($($variant:ident $status:literal $code:literal,)*) => {
        /// What went wrong, for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        pub enum Code {
            $(#[serde(rename = $code)] $variant,)*
        }

        impl PartialSchema for Code {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new().schema_type(Type::String).enum_values(Some([$($code,)*])).into()
            }
        }

        impl ToSchema for Code {}

        impl Code {
            #[must_use]
            pub fn status(self) -> StatusCode {
                let code = match self {
                    $(Self::$variant => $status,)*
                };
                StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
            }

            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                }
            }
        }
    };
}

codes! {
    BrokenRequest 400 "broken_request",
    BrokenJson 400 "broken_json",
    RepeatedKey 400 "repeated_key",
    Unauthorized 401 "unauthorized",
    PrimaryKeyRequired 403 "primary_key_required",
    NotFound 404 "not_found",
    OrderNotFound 404 "order_not_found",
    BusinessNotFound 404 "business_not_found",
    RestaurantNotFound 404 "restaurant_not_found",
    IntegrationNotFound 404 "integration_not_found",
    KeyNotFound 404 "key_not_found",
    WebhookRecordNotFound 404 "webhook_record_not_found",
    RetryNotFound 404 "retry_not_found",
    UnknownProvider 404 "unknown_provider",
    UnknownStore 404 "unknown_store",
    MethodNotAllowed 405 "method_not_allowed",
    RequestTimeout 408 "request_timeout",
    AmbiguousOrderId 409 "ambiguous_order_id",
    DuplicateOrderId 409 "duplicate_order_id",
    NoNextStatus 409 "no_next_status",
    NotDue 409 "not_due",
    OrderCancelled 409 "order_cancelled",
    NotPreparing 409 "not_preparing",
    OrderMoved 409 "order_moved",
    RemoteIdTaken 409 "remote_id_taken",
    NotConnected 409 "not_connected",
    NotSupported 409 "not_supported",
    NotCovered 409 "not_covered",
    LastKey 409 "last_key",
    NoWebhook 409 "no_webhook",
    EmailTaken 409 "email_taken",
    ProviderRefused 409 "provider_refused",
    IdempotencyKeyInUse 409 "idempotency_key_in_use",
    IdempotencyKeyReused 409 "idempotency_key_reused",
    BodyTooLarge 413 "body_too_large",
    UnsupportedMediaType 415 "unsupported_media_type",
    InvalidField 422 "invalid_field",
    InvalidParameter 422 "invalid_parameter",
    InvalidCursor 422 "invalid_cursor",
    ReasonNotAccepted 422 "reason_not_accepted",
    TargetNotAllowed 422 "target_not_allowed",
    RateLimited 429 "rate_limited",
    TooManyStreams 429 "too_many_streams",
    TooManyRetries 429 "too_many_retries",
    TooManySends 429 "too_many_sends",
    Internal 500 "internal_error",
    TargetUnreachable 502 "target_unreachable",
    ProviderUnreachable 502 "provider_unreachable",
    StorageUnavailable 503 "storage_unavailable",
    ProviderTimeout 504 "provider_timeout",
}

/// One detail of what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Detail {
    /// The field or parameter, or the id of something that may be chosen.
    pub field: String,
    pub message: String,
}

/// An error on its way to the client.
#[derive(Clone, Debug)]
pub struct ApiError {
    pub code: Code,
    pub message: String,
    pub details: Vec<Detail>,
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// The body of every answer that is not a success.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Error)]
pub struct ErrorBody {
    /// Always false.
    success: bool,
    error: ErrorContent,
    request_id: String,
}

#[derive(Serialize, ToSchema)]
pub struct ErrorContent {
    code: Code,
    /// What went wrong, for people.
    message: String,
    details: Vec<Detail>,
}

impl ApiError {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: Vec::new(),
            headers: Vec::new(),
        }
    }

    #[must_use]
    pub fn detail(mut self, field: impl Into<String>, message: impl Into<String>) -> Self {
        self.details.push(Detail {
            field: field.into(),
            message: message.into(),
        });
        self
    }

    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    pub fn invalid(code: Code, field: &str, message: &str) -> Self {
        Self::new(code, format!("{field} {message}.")).detail(field, message)
    }

    #[must_use]
    pub fn unauthorized() -> Self {
        Self::new(
            Code::Unauthorized,
            "Send the header Authorization: Bearer <API key>, with a key of the account.",
        )
        .header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
    }

    /// The error for a response of a layer that knows nothing of our codes.
    #[must_use]
    pub fn from_status(status: StatusCode) -> Self {
        let (code, message) = match status.as_u16() {
            404 => (Code::NotFound, "There is nothing at this path."),
            405 => (Code::MethodNotAllowed, "This path does not take this method."),
            408 => (Code::RequestTimeout, "The request took too long."),
            413 => (Code::BodyTooLarge, "The body is larger than 1 MiB."),
            415 => (Code::UnsupportedMediaType, "The body must be application/json."),
            400..=499 => (Code::BrokenRequest, "The request cannot be understood."),
            _ => (
                Code::Internal,
                "Something went wrong here. The request id helps to find it.",
            ),
        };
        Self::new(code, message)
    }

    /// The whole body, as it is sent.
    #[must_use]
    pub fn body(&self, request_id: &str) -> Vec<u8> {
        let body = ErrorBody {
            success: false,
            error: ErrorContent {
                code: self.code,
                message: self.message.clone(),
                details: self.details.clone(),
            },
            request_id: request_id.to_owned(),
        };
        serde_json::to_vec(&body).unwrap_or_default()
    }
}

/// The body is written by the outermost layer, which knows the request's id.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        for (name, value) in &self.headers {
            response.headers_mut().insert(name, value.clone());
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Fault> for ApiError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Store(error) => from_store(&error),
            Fault::NotFound { what, id } => not_found(what, &id),
            Fault::AmbiguousOrder { id, candidates } => {
                let error = Self::new(
                    Code::AmbiguousOrderId,
                    format!("{id} names several orders; use a record id."),
                );
                candidates
                    .iter()
                    .fold(error, |error, order| error.detail("orderId", order.to_string()))
            }
            Fault::Refused(refusal) => from_refusal(&refusal),
            Fault::ReasonNotAccepted { accepted } => {
                let error = Self::new(
                    Code::ReasonNotAccepted,
                    "The platform does not accept this reason.",
                );
                accepted
                    .into_iter()
                    .fold(error, |error, reason| error.detail(reason.id, reason.name))
            }
            Fault::Invalid { field, message } => Self::invalid(Code::InvalidField, &field, &message),
            Fault::TargetNotAllowed { field, reason } => Self::new(
                Code::TargetNotAllowed,
                format!("The target is not allowed: {reason}."),
            )
            .detail(field, reason),
            Fault::TargetUnreachable { explanation } => Self::new(
                Code::TargetUnreachable,
                format!("The target did not answer: {explanation}."),
            ),
            Fault::PrimaryKeyRequired => Self::new(
                Code::PrimaryKeyRequired,
                "Only the account's primary key may do this, or somebody who is signed in to the panel: it decides \
                 where the primary key, or another secret of the account, is sent.",
            ),
            Fault::RemoteIdTaken { remote_id } => Self::new(
                Code::RemoteIdTaken,
                format!("The branch {remote_id} belongs to another integration of this platform."),
            ),
            Fault::UnknownProvider { provider } => Self::new(
                Code::UnknownProvider,
                format!("There is no platform {provider}; GET /providers lists them."),
            ),
            Fault::NotConnected { provider } => Self::new(
                Code::NotConnected,
                format!("The restaurant is not connected to {provider}."),
            ),
            Fault::Platform(error @ PlatformError::Unsupported { .. }) => {
                Self::new(Code::NotSupported, capitalised(&error.to_string()))
            }
            Fault::Platform(error) => Self::new(Code::NotConnected, capitalised(&error.to_string())),
            Fault::NotCovered { provider } => Self::new(
                Code::NotCovered,
                format!("No package of the restaurant covers {provider} now, so it cannot be switched on."),
            ),
            Fault::UnknownPlace { given } => Self::invalid(
                Code::InvalidCursor,
                given,
                "is not one that was given out here, or it is not kept any more",
            ),
            Fault::ForgottenPlace { given } => Self::invalid(
                Code::InvalidCursor,
                given,
                "lies before events that are no longer kept, so that some would be missing; begin anew without it",
            ),
            Fault::TooManyStreams => Self::new(
                Code::TooManyStreams,
                "As many streams and waiting requests are open as may be; end some, or try again later.",
            )
            .header(header::RETRY_AFTER, HeaderValue::from_static("10")),
            Fault::TooManyRetries => Self::new(
                Code::TooManyRetries,
                "As many of these run as may; GET /webhook/deliveries/retries lists them.",
            )
            .header(header::RETRY_AFTER, HeaderValue::from_static("10")),
            Fault::TooManySends => Self::new(
                Code::TooManySends,
                "As many of the account's addresses are being called by hand as may be at the same time; wait until one of them \
                 has answered.",
            )
            .header(header::RETRY_AFTER, HeaderValue::from_static("10")),
            Fault::KeyRevoked => Self::unauthorized(),
            Fault::SignInRefused | Fault::SignInLocked | Fault::SignInFlood => Self::unauthorized(),
            Fault::LastKey => Self::new(
                Code::LastKey,
                "The last key of an account cannot be revoked here.",
            ),
            Fault::NoWebhook => Self::new(
                Code::NoWebhook,
                "No webhook URL is registered; PUT /webhook sets one.",
            ),
            Fault::EmailTaken => Self::new(Code::EmailTaken, "The e-mail address has an account already."),
            Fault::ProviderRefused { message } => {
                Self::new(Code::ProviderRefused, format!("The platform {message}."))
            }
            Fault::ProviderUnreachable { message } => Self::new(
                Code::ProviderUnreachable,
                format!("The platform could not be asked, and nothing has changed: {message}."),
            ),
            Fault::MovedOn => Self::new(Code::OrderMoved, "The order has moved on since it was seen."),
            Fault::ProviderTimeout => Self::new(
                Code::ProviderTimeout,
                "The platform did not answer in time. The order is read from it again; if it was done there, it moves.",
            ),
        }
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        format!("{}{}.", first.to_uppercase(), letters.as_str())
    })
}

fn not_found(what: &'static str, id: &str) -> ApiError {
    let code = match what {
        "order" => Code::OrderNotFound,
        "business" => Code::BusinessNotFound,
        "restaurant" => Code::RestaurantNotFound,
        "integration" => Code::IntegrationNotFound,
        "key" => Code::KeyNotFound,
        "webhook record" => Code::WebhookRecordNotFound,
        "retry" => Code::RetryNotFound,
        _ => Code::NotFound,
    };
    let shown: String = id.chars().take(100).collect();
    let message = match what {
        "account" => format!("There is no account {shown}."),
        _ => format!("No {what} {shown} in this account."),
    };
    ApiError::new(code, message)
}

fn from_refusal(refusal: &Refusal) -> ApiError {
    let code = match refusal {
        Refusal::NoNextStatus(_) => Code::NoNextStatus,
        Refusal::NotDue { .. } => Code::NotDue,
        Refusal::IsCancelled(_) => Code::OrderCancelled,
        Refusal::NotPreparing(_) => Code::NotPreparing,
    };
    let error = ApiError::new(code, refusal.to_string());
    match refusal {
        Refusal::NotDue {
            scheduled_for: Some(at),
        } => error.detail("scheduledFor", at.to_string()),
        _ => error,
    }
}

/// Requests that storage was not available for: one line stands for many.
static AWAY: Throttle = Throttle::for_outages();

fn from_store(error: &garson_store::StoreError) -> ApiError {
    if error.is_temporary() {
        if let Some(suppressed) = AWAY.pass() {
            tracing::warn!(%error, suppressed, "storage is not available");
        }
        return ApiError::new(
            Code::StorageUnavailable,
            "Storage is not available right now; try again.",
        )
        .header(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    // The text may say something of the data; it goes to the operator, not to the client.
    tracing::error!(%error, kind = ?error.kind, "storage failed");
    let code = match error.kind {
        StoreErrorKind::Refused => Code::StorageUnavailable,
        _ => Code::Internal,
    };
    ApiError::new(
        code,
        "Something went wrong here. The request id helps to find it.",
    )
}
