//! Errors as clients see them: one body for every response that is no success, one list of codes.

use crate::flow::Fault;
use crate::flow::fault::{FORGOTTEN_PLACE, Thing, UNKNOWN_PLACE};
use axum::response::{IntoResponse, Response};
use garson_core::field_problem::FieldProblem;
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
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

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
    AccountDisabled 403 "account_disabled",
    QuotaReached 403 "quota_reached",
    NotAllowed 403 "not_allowed",
    InsufficientScope 403 "insufficient_scope",
    AddressNotAllowed 403 "address_not_allowed",
    NotFound 404 "not_found",
    OrderNotFound 404 "order_not_found",
    BusinessNotFound 404 "business_not_found",
    RestaurantNotFound 404 "restaurant_not_found",
    IntegrationNotFound 404 "integration_not_found",
    KeyNotFound 404 "key_not_found",
    PrinterNotFound 404 "printer_not_found",
    ProductNotFound 404 "product_not_found",
    PriceChangeNotFound 404 "price_change_not_found",
    CatalogPushNotFound 404 "catalog_push_not_found",
    ChannelNotFound 404 "channel_not_found",
    EndpointNotFound 404 "endpoint_not_found",
    WebhookRecordNotFound 404 "webhook_record_not_found",
    RetryNotFound 404 "retry_not_found",
    UserNotFound 404 "user_not_found",
    ErasureNotFound 404 "erasure_not_found",
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
    KeyReplaced 409 "key_replaced",
    PrimaryKeyLimited 409 "primary_key_limited",
    ChannelInUse 409 "channel_in_use",
    TooManyChannels 409 "too_many_channels",
    NoWebhook 409 "no_webhook",
    EmailTaken 409 "email_taken",
    LastOwner 409 "last_owner",
    AlreadyAccepted 409 "already_accepted",
    TooManyUsers 409 "too_many_users",
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
    TooManyErasures 429 "too_many_erasures",
    TooManyPrints 429 "too_many_prints",
    TooManySends 429 "too_many_sends",
    OrderQuotaReached 429 "order_quota_reached",
    Internal 500 "internal_error",
    TargetUnreachable 502 "target_unreachable",
    ProviderUnreachable 502 "provider_unreachable",
    Overloaded 503 "overloaded",
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

impl From<&FieldDetail> for Detail {
    fn from(detail: &FieldDetail) -> Self {
        Self {
            field: detail.field.clone(),
            message: detail.problem.to_string(),
        }
    }
}

/// What is wrong with a field or parameter, or something that may be chosen by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDetail {
    pub field: String,
    pub problem: FieldProblem,
}

/// An error that is answered to a client.
#[derive(Clone, Debug)]
pub struct ApiError {
    pub code: Code,
    pub message: String,
    pub details: Vec<FieldDetail>,
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// The body of every answer that is not a success.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
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
    pub fn detail(mut self, field: impl Into<String>, problem: FieldProblem) -> Self {
        self.details.push(FieldDetail {
            field: field.into(),
            problem,
        });
        self
    }

    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// A field or parameter that only the API has, and whose problem is said in English only.
    pub fn invalid(code: Code, field: &str, message: &str) -> Self {
        Self::problem(code, field, FieldProblem::text(message))
    }

    #[must_use]
    pub fn unauthorized() -> Self {
        Self::new(
            Code::Unauthorized,
            "Send the header Authorization: Bearer <API key>, with a key of the account.",
        )
        .header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
    }

    pub fn problem(code: Code, field: &str, problem: FieldProblem) -> Self {
        Self::new(code, format!("{field} {problem}.")).detail(field, problem)
    }

    /// The error for a response of the framework.
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
                details: self.details.iter().map(Detail::from).collect(),
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
        let error = Self::new(code_of(&fault), fault.to_string());
        match fault {
            Fault::Store(cause) => from_store(error, &cause),
            Fault::AmbiguousOrder { candidates, .. } => candidates.iter().fold(error, |error, order| {
                error.detail("orderId", FieldProblem::text(order.to_string()))
            }),
            Fault::Refused(Refusal::NotDue {
                scheduled_for: Some(at),
            }) => error.detail("scheduledFor", FieldProblem::text(at.to_string())),
            Fault::ReasonNotAccepted { accepted } => accepted.into_iter().fold(error, |error, reason| {
                error.detail(reason.id, FieldProblem::text(reason.name))
            }),
            Fault::Invalid { field, problem } => error.detail(field, problem),
            Fault::TargetNotAllowed { field, refusal } => {
                error.detail(field, FieldProblem::TargetNotAllowed { refusal })
            }
            Fault::UnknownPlace { given } => error.detail(given, FieldProblem::text(UNKNOWN_PLACE)),
            Fault::ForgottenPlace { given } => error.detail(given, FieldProblem::text(FORGOTTEN_PLACE)),
            Fault::TooManyStreams
            | Fault::TooManyRetries
            | Fault::TooManyErasures
            | Fault::TooManySends
            | Fault::TooManyPrints => error.header(header::RETRY_AFTER, HeaderValue::from_static("10")),
            // The day may end earlier; whoever asks once an hour does no harm.
            Fault::OrderQuotaReached { .. } => {
                error.header(header::RETRY_AFTER, HeaderValue::from_static("3600"))
            }
            Fault::KeyRevoked | Fault::SignInRefused | Fault::SignInLocked | Fault::SignInFlood => {
                Self::unauthorized()
            }
            Fault::KeyExpired => error.header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
            _ => error,
        }
    }
}

fn code_of(fault: &Fault) -> Code {
    match fault {
        Fault::Store(error) if error.is_temporary() || error.kind == StoreErrorKind::Refused => {
            Code::StorageUnavailable
        }
        Fault::Store(_) => Code::Internal,
        Fault::NotFound(missing) => not_found(missing.thing),
        Fault::AmbiguousOrder { .. } => Code::AmbiguousOrderId,
        Fault::Refused(Refusal::NoNextStatus(_)) => Code::NoNextStatus,
        Fault::Refused(Refusal::NotDue { .. }) => Code::NotDue,
        Fault::Refused(Refusal::IsCancelled(_)) => Code::OrderCancelled,
        Fault::Refused(Refusal::NotPreparing(_)) => Code::NotPreparing,
        Fault::MovedOn => Code::OrderMoved,
        Fault::ReasonNotAccepted { .. } => Code::ReasonNotAccepted,
        Fault::Invalid { .. } => Code::InvalidField,
        Fault::TargetNotAllowed { .. } => Code::TargetNotAllowed,
        Fault::TargetUnreachable { .. } => Code::TargetUnreachable,
        Fault::PrimaryKeyRequired => Code::PrimaryKeyRequired,
        Fault::AccountDisabled | Fault::AccountDeleting | Fault::NotDisabled => Code::AccountDisabled,
        Fault::QuotaReached { .. } => Code::QuotaReached,
        Fault::OrderQuotaReached { .. } => Code::OrderQuotaReached,
        Fault::RemoteIdTaken { .. } => Code::RemoteIdTaken,
        Fault::UnknownProvider { .. } => Code::UnknownProvider,
        Fault::Platform(PlatformError::Unsupported { .. }) => Code::NotSupported,
        Fault::NotConnected { .. } | Fault::Platform(_) => Code::NotConnected,
        Fault::NotCovered { .. } => Code::NotCovered,
        Fault::UnknownPlace { .. } | Fault::ForgottenPlace { .. } => Code::InvalidCursor,
        Fault::TooManyStreams => Code::TooManyStreams,
        Fault::TooManySends => Code::TooManySends,
        Fault::TooManyRetries => Code::TooManyRetries,
        Fault::TooManyErasures => Code::TooManyErasures,
        Fault::TooManyPrints => Code::TooManyPrints,
        Fault::KeyRevoked | Fault::SignInRefused | Fault::SignInLocked | Fault::SignInFlood => {
            Code::Unauthorized
        }
        Fault::KeyExpired => Code::Unauthorized,
        Fault::KeyNotAllowed { .. } => Code::InsufficientScope,
        Fault::AddressNotAllowed => Code::AddressNotAllowed,
        Fault::KeyTooPowerful => Code::NotAllowed,
        Fault::LastKey => Code::LastKey,
        Fault::KeyReplaced => Code::KeyReplaced,
        Fault::PrimaryKeyLimited => Code::PrimaryKeyLimited,
        Fault::ChannelInUse { .. } => Code::ChannelInUse,
        Fault::TooManyChannels => Code::TooManyChannels,
        Fault::NoWebhook => Code::NoWebhook,
        Fault::EmailTaken => Code::EmailTaken,
        Fault::NotAllowed | Fault::NoRestaurantLeft | Fault::TwoFactorRequired => Code::NotAllowed,
        Fault::LinkInvalid | Fault::NoSuchUser { .. } => Code::NotFound,
        Fault::LastOwner => Code::LastOwner,
        Fault::AlreadyAccepted => Code::AlreadyAccepted,
        Fault::TooManyUsers => Code::TooManyUsers,
        Fault::ProviderRefused { .. } => Code::ProviderRefused,
        Fault::ProviderUnreachable { .. } => Code::ProviderUnreachable,
        Fault::ProviderTimeout | Fault::ProviderUnclear { .. } => Code::ProviderTimeout,
    }
}

fn not_found(thing: Thing) -> Code {
    match thing {
        Thing::Order => Code::OrderNotFound,
        Thing::Business => Code::BusinessNotFound,
        Thing::Restaurant => Code::RestaurantNotFound,
        Thing::Integration => Code::IntegrationNotFound,
        Thing::Key => Code::KeyNotFound,
        Thing::Printer => Code::PrinterNotFound,
        Thing::Product => Code::ProductNotFound,
        Thing::PriceChange => Code::PriceChangeNotFound,
        Thing::CatalogPush => Code::CatalogPushNotFound,
        Thing::Channel => Code::ChannelNotFound,
        Thing::Endpoint => Code::EndpointNotFound,
        Thing::WebhookRecord => Code::WebhookRecordNotFound,
        Thing::Retry => Code::RetryNotFound,
        Thing::User => Code::UserNotFound,
        Thing::Erasure => Code::ErasureNotFound,
        Thing::Account | Thing::InboxMessage | Thing::HookRoute | Thing::BranchOwner => Code::NotFound,
    }
}

/// Limits the log line while storage is not available.
static UNAVAILABLE: Throttle = Throttle::for_outages();

/// Logs a storage error, whose text may contain data and is for the operator only.
fn from_store(fault: ApiError, error: &garson_store::StoreError) -> ApiError {
    if error.is_temporary() {
        if let Some(suppressed) = UNAVAILABLE.pass() {
            tracing::warn!(%error, suppressed, "storage is not available");
        }
        return fault.header(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    tracing::error!(%error, kind = ?error.kind, "storage failed");
    fault
}
