//! Platforms' way in: every route of every platform in the registry, answered in the platform's own terms.

use crate::api::{Api, ApiError, RequestId};
use crate::flow::receive::receive;
use axum::Router;
use axum::extract::{Extension, RawPathParams, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use garson_core::platform::{HookReply, HookRequest, HookRoute, Platform};
use http::{HeaderValue, Method, StatusCode, header};
use std::sync::Arc;

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
    let params = params
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let headers = request
        .headers()
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect();
    let body = crate::api::read_body(request).await?.to_vec();
    let message = HookRequest {
        kind: route.kind,
        params,
        headers,
        body,
    };
    let reception = receive(&api.app, platform, message).await?;
    Ok(answer(platform.reply(&reception, &id.0)))
}

fn answer(reply: HookReply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, reply.body.to_string()).into_response();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
