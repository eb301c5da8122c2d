//! Routes for operators and their tools: liveness, readiness, metrics.

use super::error::{ApiError, Code};
use super::state::HttpState;
use crate::flow::upkeep::health;
use crate::flow::upkeep::health::NotReady;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use garson_store::log_throttle::Throttle;
use http::{HeaderValue, header};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
}

pub fn metrics_route() -> Router<Arc<HttpState>> {
    Router::new().route("/metrics", get(metrics))
}

static STORAGE_WARNINGS: Throttle = Throttle::for_outages();

/// Ready while storage responds and this node is a member of its cluster.
async fn ready(State(state): State<Arc<HttpState>>) -> Result<&'static str, ApiError> {
    let why = match health::check(&state.app).await {
        Ok(()) => return Ok("ready\n"),
        Err(NotReady::Storage(error)) => {
            if let Some(suppressed) = STORAGE_WARNINGS.pass() {
                tracing::warn!(%error, suppressed, "not ready: storage is unavailable");
            }
            "Storage is not available right now."
        }
        Err(NotReady::WorkerFails(worker)) => {
            tracing::warn!(worker, "not ready: a worker keeps failing");
            "A part of the service keeps failing; its log says which and why."
        }
        Err(NotReady::NotJoined) => {
            tracing::warn!("not ready: this node has not joined the nodes of its database");
            "This node has not joined those of its database yet."
        }
    };
    let error = ApiError::new(Code::StorageUnavailable, why);
    Err(error.header(header::RETRY_AFTER, HeaderValue::from_static("1")))
}

async fn metrics(State(state): State<Arc<HttpState>>) -> Response {
    let content_type = [(
        header::CONTENT_TYPE,
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
    )];
    let gauges = health::gauges(&state.app).await;
    (content_type, state.app.metrics.render(&state.app.store, &gauges)).into_response()
}
