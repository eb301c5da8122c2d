//! The whole HTTP service: the API, the hooks, the panel, the probes and the documentation, with the layers around them.

use crate::app::App;
use crate::http::state::HttpState;
use crate::http::{probes, request_id};
use crate::{api, hooks, panel};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;

pub fn service(app: Arc<App>) -> Router {
    service_with(app, Router::new())
}

/// What the second address serves: metrics, probes, the book and the API reference.
pub fn operations(app: Arc<App>) -> Router {
    let state = HttpState::new(app);
    probes::routes()
        .merge(probes::metrics_route())
        .merge(panel::docs_routes())
        .merge(api::documents::router().route_layer(from_fn(panel::protect_docs)))
        .fallback(panel::not_found)
        .layer(CatchPanicLayer::custom(request_id::on_panic))
        .layer(from_fn_with_state(Arc::clone(&state), request_id::finish))
        .with_state(state)
}

/// The service with extra routes beside those of the API, which need a key like them.
pub fn service_with(app: Arc<App>, extra: Router<Arc<HttpState>>) -> Router {
    let state = HttpState::new(app);
    let authenticated = api::router()
        .merge(extra)
        .route_layer(from_fn_with_state(Arc::clone(&state), api::authenticate));
    let has_second = !state.app.settings.server.operations_listen.is_empty();
    // With a second address, metrics are not for the public.
    let metrics = if has_second {
        Router::new()
    } else {
        probes::metrics_route()
    };
    authenticated
        .merge(hooks::router())
        .merge(probes::routes())
        .merge(metrics)
        .merge(panel::router())
        .merge(api::documents::router().route_layer(from_fn(panel::protect_docs)))
        .fallback(panel::not_found)
        .layer(CatchPanicLayer::custom(request_id::on_panic))
        .layer(from_fn_with_state(Arc::clone(&state), request_id::finish))
        .with_state(state)
}
