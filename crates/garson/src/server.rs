//! The listening side: connections with limits, plain status routes, an orderly end.

mod bare;
mod connections;
mod descriptors;
mod metered;
mod patience;
mod registry;

pub use crate::net::client_address::{ClientAddress, Network, Proxies, ProxyHeader, one_address};
pub use connections::{Limits, serve_connections};
pub use descriptors::raise_limit;
pub use registry::{Connection, Times};

use crate::api::{Api, ApiError, Code};
use crate::app::App;
use crate::flow;
use crate::flow::upkeep::health;
use crate::flow::upkeep::health::NotReady;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use garson_store::log_throttle::Throttle;
use http::{HeaderValue, header};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Descriptors for storage, calls to platforms and whatever else; webhooks are counted apart.
const OTHER_DESCRIPTORS: usize = 256;

/// Routes for operators and their programs.
pub fn plain_routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
}

static AWAY: Throttle = Throttle::for_outages();

/// Ready while storage answers, and this node is among those of its database.
async fn ready(State(api): State<Arc<Api>>) -> Result<&'static str, ApiError> {
    let why = match health::check(&api.app).await {
        Ok(()) => return Ok("ready\n"),
        Err(NotReady::Storage(error)) => {
            if let Some(suppressed) = AWAY.pass() {
                tracing::warn!(%error, suppressed, "not ready: storage is away");
            }
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
    let gauges = health::gauges(&api.app).await;
    (kind, api.app.metrics.render(&api.app.store, &gauges)).into_response()
}

/// Before inbound secrets are hashed anew once more, after a failure.
const REHASH_PAUSE: Duration = Duration::from_secs(60);

/// Serves until `stop` is done, then lets running requests finish.
pub async fn serve(app: Arc<App>, listener: TcpListener, stop: impl Future<Output = ()>) {
    let routes = crate::api::service(Arc::clone(&app));
    serve_routes(app, routes, listener, stop).await;
}

/// Tries until it has succeeded: until then both forms of a hash are found.
async fn rehash_secrets(app: Arc<App>) {
    loop {
        match flow::admin::inbound_secrets::rehash(&app).await {
            Ok(0) => return,
            Ok(count) => {
                tracing::info!(count, "inbound secrets of an earlier version were hashed anew");
                return;
            }
            Err(fault) => tracing::error!(?fault, "inbound secrets could not be hashed anew"),
        }
        tokio::time::sleep(REHASH_PAUSE).await;
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
    if let Err(error) = flow::upkeep::membership::join(&app, address).await {
        // It goes on trying; until then orders are taken, and others deliver.
        tracing::error!(%error, "this node could not join");
    }
    tokio::spawn(rehash_secrets(Arc::clone(&app)));
    let delivering = app.spawn_worker("deliveries", flow::deliver::run);
    let calling = app.spawn_worker("calls", flow::order_actions::calls::run);
    let workers = [
        app.spawn_worker("membership", move |app| {
            flow::upkeep::membership::run(app, address)
        }),
        app.spawn_worker("early messages", flow::intake::early_messages::run),
        app.spawn_worker("branches", flow::admin::branch_proofs::run),
        app.spawn_worker("polling", flow::intake::poll::run),
        app.spawn_worker("resends", flow::deliver::resend_all::run),
        app.spawn_worker("search", flow::read::search::run),
        app.spawn_worker("sweep", flow::upkeep::sweep::run),
        app.spawn_worker("news", flow::read::event_feed::run),
    ];
    let limits = limits(&app);
    let drain = limits.drain;
    let stop = async {
        stop.await;
        // Streams and long polls would never finish by themselves.
        app.stopping.send_replace(true);
    };
    let service = TowerToHyperService::new(routes);
    if !serve_connections(listener, service, limits, stop).await {
        tracing::warn!("some requests did not finish in time");
    }
    // Attempts have been coming to their end since then, as requests have. While storage is away no result can be written,
    // however long that is waited for.
    let time = match health::check(&app).await {
        Err(NotReady::Storage(_)) => Duration::from_secs(1),
        _ => drain.max(Duration::from_secs(1)),
    };
    let called = async {
        let ended = calling.await;
        // Clients may have gone whose questions are still being put.
        app.calls_in_flight.wait_until_none().await;
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
    flow::upkeep::membership::leave(&app).await;
}

fn limits(app: &App) -> Limits {
    let settings = &app.settings.server;
    let others = app.settings.webhook.max_in_flight + OTHER_DESCRIPTORS;
    let descriptors = raise_limit();
    let connections = descriptors::connections_within(descriptors, settings.max_connections, others);
    if connections < settings.max_connections {
        tracing::warn!(
            descriptors,
            connections,
            "the limit of open files allows fewer connections than server.max_connections: raise it (ulimit -n)"
        );
    }
    Limits {
        connections,
        connections_per_address: settings.max_connections_per_address,
        times: Times::default(),
        drain: Duration::from_secs(u64::from(settings.drain_seconds)),
        // They were checked when the settings were loaded.
        proxies: Arc::new(app.settings.proxies().unwrap_or_default()),
        refusals: Arc::clone(&app.metrics.refusals),
    }
}
