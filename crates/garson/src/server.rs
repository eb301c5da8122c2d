//! The listening side: connections with limits, plain status routes, an orderly end.

mod patience;

use crate::api::{Api, ApiError};
use crate::app::App;
use crate::flow;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use garson_store::{Lane, integrations};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use patience::Patient;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// A client that does not finish its request's head in this time is cut off.
const HEAD_DEADLINE: Duration = Duration::from_secs(15);
/// A client that takes nothing of what it is sent for this time is cut off.
const STUCK_DEADLINE: Duration = Duration::from_secs(60);
const MAX_HEAD: usize = 64 * 1024;

/// Routes for operators and their programs.
pub fn plain_routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/", get(|| async { Redirect::temporary("/docs/") }))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
}

/// Ready when storage answers.
async fn ready(State(api): State<Arc<Api>>) -> Response {
    let answered = api.app.store.read(garson_store::accounts::exist).await;
    match answered {
        Ok(_) => "ready\n".into_response(),
        Err(error) => ApiError::from(flow::Fault::from(error)).into_response(),
    }
}

async fn metrics(State(api): State<Arc<Api>>) -> Response {
    let kind = [(
        http::header::CONTENT_TYPE,
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
    )];
    (kind, api.app.metrics.render(&api.app.store)).into_response()
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
    flow::call::clear(&app).await;
    let workers = [
        tokio::spawn(flow::call::run(Arc::clone(&app))),
        tokio::spawn(flow::poll::run(Arc::clone(&app))),
        tokio::spawn(flow::sweep::run(Arc::clone(&app))),
        tokio::spawn(flow::tidings::run(Arc::clone(&app))),
    ];
    let service = TowerToHyperService::new(routes);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_DEADLINE)
        .max_buf_size(MAX_HEAD);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(256)
        .max_header_list_size(MAX_HEAD as u32);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(app.settings.server.max_connections));
    tokio::pin!(stop);
    loop {
        // A place first, then a connection: those that find no place wait in the system's queue.
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (listener.accept().await, place)
        };
        let (stream, place) = tokio::select! {
            () = &mut stop => break,
            (Ok((stream, _)), Ok(place)) = accepted => (stream, place),
            else => {
                // Out of file descriptors, most likely: others will finish.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        drop(stream.set_nodelay(true));
        let connection = builder
            .serve_connection(
                TokioIo::new(Patient::new(stream, STUCK_DEADLINE)),
                service.clone(),
            )
            .into_owned();
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            // What goes wrong on a connection is the client's to know; requests have their own log lines.
            drop(watched.await);
            drop(place);
        });
    }
    drop(listener);
    app.stopping.send_replace(true);
    let drain = Duration::from_secs(u64::from(app.settings.server.drain_seconds));
    if tokio::time::timeout(drain, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    for worker in workers {
        worker.abort();
    }
    // Another node need not wait for ours to be missed.
    let node = app.node;
    let released = app
        .store
        .write(Lane::COMMON, move |tx| integrations::release_polling(tx, &node))
        .await;
    if let Err(error) = released {
        tracing::warn!(%error, "polling could not be handed over");
    }
}
