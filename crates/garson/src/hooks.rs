//! Inbound webhooks of platforms: every route of every platform in the registry, answered in the platform's own format, and what
//! platforms report of menus that were sent to them.

use crate::flow::intake::identify::may_be_genuine;
use crate::flow::intake::receive::{receive, reject};
use crate::flow::products::catalogs;
use crate::flow::products::catalogs::Reception;
use crate::http::body;
use crate::http::body::Body;
use crate::http::body_budget::BodySource;
use crate::http::connection_registry::Connection;
use crate::http::error::{ApiError, Code};
use crate::http::request_id::RequestId;
use crate::http::state::HttpState;
use crate::net::client_address::ClientAddress;
use crate::telemetry::{Refusal, RequestOutcome, RequestTimer};
use axum::Router;
use axum::extract::{Extension, Path, RawPathParams, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on, post};
use garson_core::platform::{Claim, HookReply, HookRequest, HookRoute, IntakeOutcome, Platform};
use http::{HeaderValue, Method, StatusCode, header};
use std::sync::Arc;

/// Bodies up to this size are read before the sender is authenticated.
const SMALL: usize = 64 * 1024;

/// The routes of all platforms.
pub fn router() -> Router<Arc<HttpState>> {
    let mut router = Router::new();
    for platform in garson_platforms::all() {
        for route in platform.hooks() {
            let path = format!("/hooks/{}{}", platform.provider(), route.path);
            let method = Method::from_bytes(route.method.as_bytes()).ok();
            let filter = method
                .and_then(|method| MethodFilter::try_from(method).ok())
                .unwrap_or(MethodFilter::POST);
            let (platform, route) = (*platform, *route);
            let handler = move |state: State<Arc<HttpState>>,
                                id: Extension<RequestId>,
                                params: RawPathParams,
                                request| {
                receive_message(platform, route, state, id, params, request)
            };
            router = router.route(&path, on(filter, handler));
        }
        if platform.capability().catalog_push.is_some_and(|it| it.reports) {
            let path = format!(
                "/hooks/{}/catalogs/{{catalogPushId}}/{{token}}",
                platform.provider()
            );
            let platform = *platform;
            let handler = move |state: State<Arc<HttpState>>, names: Path<(String, String)>, request| {
                receive_catalog_report(platform, state, names, request)
            };
            router = router.route(&path, post(handler));
        }
    }
    router
}

async fn receive_message(
    platform: &'static dyn Platform,
    route: HookRoute,
    State(state): State<Arc<HttpState>>,
    Extension(id): Extension<RequestId>,
    params: RawPathParams,
    request: Request,
) -> Result<Response, ApiError> {
    let message = head(route, &params, &request);
    let mut timer = state.app.metrics.intake.start_request(platform.provider());
    let outcome = take_message(&state, platform, message, request, &mut timer).await;
    timer.answered(match &outcome {
        Ok(outcome) => RequestOutcome::from(outcome),
        Err(error) if error.code.status().is_server_error() => RequestOutcome::Failed,
        Err(_) => RequestOutcome::Refused,
    });
    outcome.map(|outcome| respond(platform.reply(&outcome, &id.0)))
}

async fn take_message(
    state: &HttpState,
    platform: &'static dyn Platform,
    mut message: HookRequest,
    request: Request,
    timer: &mut RequestTimer<'_>,
) -> Result<IntakeOutcome, ApiError> {
    let client = ClientAddress::of(request.extensions());
    let connection = request.extensions().get::<Arc<Connection>>().cloned();
    // A large body is read only from a sender with a known secret, so that strangers cannot fill our memory.
    let is_small = body::declared_length(&request).is_some_and(|length| length <= SMALL);
    let presents_nothing = matches!(platform.claim(&message), Claim::Nothing);
    if presents_nothing || (!is_small && !may_be_genuine(&state.app, platform, &message).await?) {
        state.app.metrics.refusals.note(Refusal::WrongHookSecret, client);
        return Ok(reject(&state.app, platform));
    }
    let Body { bytes, charge } = body::read(state, request, BodySource::Hook).await?;
    timer.mark_read();
    message.body = bytes;
    let received = receive(&state.app, platform, message).await;
    drop(charge);
    match (&received, connection) {
        (Ok(IntakeOutcome::NotGenuine), _) => {
            state.app.metrics.refusals.note(Refusal::WrongHookSecret, client)
        }
        (Ok(_), Some(connection)) => connection.mark_authenticated(),
        _ => {}
    }
    received.map_err(|fault| retryable(platform, ApiError::from(fault)))
}

/// A platform reports what came of a menu, at an address with a token that only it was given. A wrong one is as unknown as any other
/// path.
async fn receive_catalog_report(
    platform: &'static dyn Platform,
    State(state): State<Arc<HttpState>>,
    Path((id, token)): Path<(String, String)>,
    request: Request,
) -> Result<Response, ApiError> {
    let not_found = || ApiError::from_status(StatusCode::NOT_FOUND);
    let address = catalogs::report_address(&state.app, platform, &id, &token).await?;
    let Some(address) = address else {
        state.app.metrics.refusals.count(Refusal::WrongHookSecret);
        return Err(not_found());
    };
    if let Some(connection) = request.extensions().get::<Arc<Connection>>() {
        connection.mark_authenticated();
    }
    let Body { bytes, charge } = body::read(&state, request, BodySource::Hook).await?;
    let received = catalogs::report(&state.app, &address, &bytes).await;
    drop(charge);
    match received.map_err(|fault| retryable(platform, ApiError::from(fault)))? {
        Reception::Taken => Ok(respond(HookReply {
            status: 200,
            body: serde_json::json!({}),
        })),
        Reception::Gone => Err(not_found()),
        Reception::Unreadable(problem) => Err(ApiError::invalid(
            Code::InvalidField,
            &problem.path,
            &problem.message,
        )),
        Reception::OtherImport => Err(ApiError::invalid(
            Code::InvalidField,
            "catalogImportId",
            "is not the one of this address",
        )),
    }
}

/// Platforms retry after 500; some do not know 503.
fn retryable(platform: &dyn Platform, error: ApiError) -> ApiError {
    if platform.capability().asks && error.code.status().is_server_error() {
        ApiError::new(Code::Internal, error.message)
    } else {
        error
    }
}

/// The message without its body.
fn head(route: HookRoute, params: &RawPathParams, request: &Request) -> HookRequest {
    let headers = request.headers().iter();
    HookRequest {
        kind: route.kind,
        params: params
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        headers: headers
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
            .collect(),
        ..HookRequest::default()
    }
}

fn respond(reply: HookReply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, reply.body.to_string()).into_response();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
