//! The listening side: connections with limits, plain status routes, an orderly end.

mod connections;
mod patience;

pub use connections::{Limits, serve_connections};

use crate::api::{Api, ApiError, Code};
use crate::app::App;
use crate::flow;
use crate::flow::vitals::{self, NotReady};
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderValue, header};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Routes for operators and their programs.
pub fn plain_routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
}

/// Ready while storage answers, and this node is among those of its database.
async fn ready(State(api): State<Arc<Api>>) -> Result<&'static str, ApiError> {
    let why = match vitals::check(&api.app).await {
        Ok(()) => return Ok("ready\n"),
        Err(NotReady::Storage(error)) => {
            tracing::warn!(%error, "not ready: storage is away");
            "Storage is not available right now."
        }
        Err(NotReady::NotJoined) => {
            tracing::warn!("not ready: this node has not joined those of its database");
            "This node has not joined those of its database yet."
        }
    };
    let error = ApiError::new(Code::StorageUnavailable, why);
    Err(error.header(header::RETRY_AFTER, HeaderValue::from_static("1")))
}

async fn metrics(State(api): State<Arc<Api>>) -> Response {
    let kind = [(
        header::CONTENT_TYPE,
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
    )];
    let standing = vitals::standing(&api.app).await;
    (kind, api.app.metrics.render(&api.app.store, &standing)).into_response()
}

/// Serves until `stop` is done, then lets running requests finish.
pub async fn serve(app: Arc<App>, listener: TcpListener, stop: impl Future<Output = ()>) {
    let routes = crate::api::service(Arc::clone(&app));
    serve_routes(app, routes, listener, stop).await;
}

async fn rehash_secrets(app: Arc<App>) {
    match flow::integrations::rehash_secrets(&app).await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "inbound secrets of an earlier version were hashed anew"),
        Err(fault) => tracing::error!(?fault, "inbound secrets could not be hashed anew"),
    }
}

/// Serves these routes in the same way.
pub async fn serve_routes(
    app: Arc<App>,
    routes: Router,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) {
    let address = match listener.local_addr() {
        Ok(address) => address,
        Err(error) => {
            tracing::error!(%error, "the listener has no address");
            return;
        }
    };
    if let Err(error) = flow::membership::join(&app, address).await {
        // It goes on trying; until then orders are taken, and others deliver.
        tracing::error!(%error, "this node could not join");
    }
    tokio::spawn(rehash_secrets(Arc::clone(&app)));
    let delivering = tokio::spawn(flow::deliver::run(Arc::clone(&app)));
    let workers = [
        tokio::spawn(flow::membership::run(Arc::clone(&app), address)),
        tokio::spawn(flow::call::run(Arc::clone(&app))),
        tokio::spawn(flow::branches::run(Arc::clone(&app))),
        tokio::spawn(flow::poll::run(Arc::clone(&app))),
        tokio::spawn(flow::resend_all::run(Arc::clone(&app))),
        tokio::spawn(flow::search::run(Arc::clone(&app))),
        tokio::spawn(flow::sweep::run(Arc::clone(&app))),
        tokio::spawn(flow::tidings::run(Arc::clone(&app))),
    ];
    let limits = Limits {
        connections: app.settings.server.max_connections,
        drain: Duration::from_secs(u64::from(app.settings.server.drain_seconds)),
    };
    let stop = async {
        stop.await;
        // Streams and long polls would never finish by themselves.
        app.stopping.send_replace(true);
    };
    let service = TowerToHyperService::new(routes);
    if !serve_connections(listener, service, limits, stop).await {
        tracing::warn!("some requests did not finish in time");
    }
    // Attempts have been coming to their end since then, as requests have.
    let time = limits.drain.max(Duration::from_secs(1));
    if tokio::time::timeout(time, delivering).await.is_err() {
        tracing::warn!("some deliveries did not end in time; they are made again");
    }
    for worker in workers {
        worker.abort();
    }
    flow::membership::leave(&app).await;
}
