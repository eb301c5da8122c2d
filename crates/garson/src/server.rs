//! The listening side: connections with limits, plain status routes, an orderly end.

mod connections;
mod patience;
mod supervise;

pub use connections::{Limits, serve_connections};
pub use supervise::Workers;

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
use supervise::keep;
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
        Err(NotReady::WorkerFails(worker)) => {
            tracing::warn!(worker, "not ready: a worker keeps failing");
            "A part of the service keeps failing; its log says which and why."
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
    let delivering = keep(&app, "deliveries", flow::deliver::run);
    let calling = keep(&app, "calls", flow::call::run);
    let workers = [
        keep(&app, "membership", move |app| flow::membership::run(app, address)),
        keep(&app, "polling", flow::poll::run),
        keep(&app, "resends", flow::resend_all::run),
        keep(&app, "search", flow::search::run),
        keep(&app, "sweep", flow::sweep::run),
        keep(&app, "news", flow::tidings::run),
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
    let called = async {
        let ended = calling.await;
        // Clients may have gone whose questions are still being put.
        app.in_flight.wait_until_none().await;
        ended
    };
    let (delivered, called) = tokio::join!(
        tokio::time::timeout(time, delivering),
        tokio::time::timeout(time, called)
    );
    if delivered.is_err() {
        tracing::warn!("some deliveries did not end in time; they are made again");
    }
    if called.is_err() {
        tracing::warn!("some platform calls did not end in time; what became of them is found out later");
    }
    for worker in workers {
        worker.abort();
    }
    flow::membership::leave(&app).await;
}
