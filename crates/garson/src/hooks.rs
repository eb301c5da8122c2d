//! Platforms' way in: every route of every platform in the registry, answered in the platform's own terms.

use crate::api::{Api, ApiError, Body, Code, RequestId, Sender, declared_length, read_body};
use crate::flow::intake::identify::may_be_genuine;
use crate::flow::intake::receive::{receive, reject};
use crate::server::{ClientAddress, Connection};
use crate::telemetry::Refusal;
use axum::Router;
use axum::extract::{Extension, RawPathParams, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use garson_core::platform::{Claim, HookReply, HookRequest, HookRoute, Platform, Reception};
use http::{HeaderValue, Method, StatusCode, header};
use std::sync::Arc;

/// Bodies up to this size are read before the sender is known.
const SMALL: usize = 64 * 1024;

/// The routes of all platforms.
pub fn router() -> Router<Arc<Api>> {
    let mut router = Router::new();
    for platform in garson_platforms::all() {
        for route in platform.hooks() {
            let path = format!("/hooks/{}{}", platform.provider(), route.path);
            let method = Method::from_bytes(route.method.as_bytes()).ok();
            let filter = method
                .and_then(|method| MethodFilter::try_from(method).ok())
                .unwrap_or(MethodFilter::POST);
            let (platform, route) = (*platform, *route);
            let handler =
                move |state: State<Arc<Api>>, id: Extension<RequestId>, params: RawPathParams, request| {
                    take(platform, route, state, id, params, request)
                };
            router = router.route(&path, on(filter, handler));
        }
    }
    router
}

async fn take(
    platform: &'static dyn Platform,
    route: HookRoute,
    State(api): State<Arc<Api>>,
    Extension(id): Extension<RequestId>,
    params: RawPathParams,
    request: Request,
) -> Result<Response, ApiError> {
    let mut message = head(route, &params, &request);
    let client = ClientAddress::of(request.extensions());
    let connection = request.extensions().get::<Arc<Connection>>().cloned();
    // Nobody may fill our memory who does not even have a key: a large body is read only from somebody who has.
    let is_small = declared_length(&request).is_some_and(|length| length <= SMALL);
    let presents_nothing = matches!(platform.claim(&message), Claim::Nothing);
    if presents_nothing || (!is_small && !may_be_genuine(&api.app, platform, &message).await?) {
        let outcome = reject(&api.app, platform);
        api.app.metrics.refusals.note(Refusal::WrongHookSecret, client);
        return Ok(answer(platform.reply(&outcome, &id.0)));
    }
    let Body { bytes, charge } = read_body(&api, request, Sender::Hook).await?;
    message.body = bytes;
    let received = receive(&api.app, platform, message).await;
    drop(charge);
    match (&received, connection) {
        (Ok(Reception::NotGenuine), _) => api.app.metrics.refusals.note(Refusal::WrongHookSecret, client),
        (Ok(_), Some(connection)) => connection.note_known(),
        _ => {}
    }
    match received {
        Ok(reception) => Ok(answer(platform.reply(&reception, &id.0))),
        Err(fault) => Err(in_their_terms(platform, ApiError::from(fault))),
    }
}

/// Platforms try again after 500; some do not know what 503 means.
fn in_their_terms(platform: &dyn Platform, error: ApiError) -> ApiError {
    match platform.capability().asks && error.code.status().is_server_error() {
        true => ApiError::new(Code::Internal, error.message),
        false => error,
    }
}

/// The message as far as it is known before its body has been read.
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

fn answer(reply: HookReply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, reply.body.to_string()).into_response();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
