//! Running the service: the accept loop with its limits, the background workers, graceful shutdown.

mod connections;
mod descriptors;
mod linger;
mod metered;
mod protocol_errors;
mod tls;
mod write_timeout;

pub use connections::{Limits, serve_connections};
pub use descriptors::raise_limit;
pub use tls::Tls;

use crate::api;
use crate::app::App;
use crate::flow;
use crate::flow::upkeep::health;
use crate::flow::upkeep::health::NotReady;
use crate::http::connection_registry::Timeouts;
use crate::router;
use axum::Router;
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Descriptors for storage, platform calls and everything else but webhooks, which are counted separately.
const OTHER_DESCRIPTORS: usize = 256;

/// The pause before rehashing of inbound secrets is retried.
const REHASH_PAUSE: Duration = Duration::from_secs(60);

/// Connections to the second address: monitoring, and a person now and then.
const OPERATIONS_CONNECTIONS: usize = 64;

/// Serves until `stop` resolves, then lets active requests finish.
pub async fn serve(app: Arc<App>, listener: TcpListener, stop: impl Future<Output = ()>) {
    serve_on(app, listener.into(), stop).await;
}

/// Where the service listens.
pub struct Listeners {
    pub main: TcpListener,
    /// For the metrics, the probes and the API reference.
    pub operations: Option<TcpListener>,
    pub tls: Option<Arc<Tls>>,
}

impl From<TcpListener> for Listeners {
    fn from(main: TcpListener) -> Self {
        Self {
            main,
            operations: None,
            tls: None,
        }
    }
}

/// Serves on all addresses in the same way.
pub async fn serve_on(app: Arc<App>, listeners: Listeners, stop: impl Future<Output = ()>) {
    let Listeners {
        main,
        operations,
        tls,
    } = listeners;
    let acceptor = match tls.as_ref().map(Tls::acceptor).transpose() {
        Ok(acceptor) => acceptor,
        Err(error) => {
            tracing::error!(%error, "TLS cannot be used");
            return;
        }
    };
    let following = tls.map(|tls| tokio::spawn(tls.follow()));
    let operating = operations.map(|listener| tokio::spawn(serve_operations(Arc::clone(&app), listener)));
    let routes = router::service(Arc::clone(&app));
    serve_encrypted(app, routes, main, acceptor, stop).await;
    for task in [following, operating].into_iter().flatten() {
        task.abort();
    }
}

/// Serves the second address until the service has stopped: a stopping service is still observed.
async fn serve_operations(app: Arc<App>, listener: TcpListener) {
    let limits = Limits {
        connections: OPERATIONS_CONNECTIONS,
        connections_per_address: OPERATIONS_CONNECTIONS,
        ..limits(&app)
    };
    let service = TowerToHyperService::new(router::operations(app));
    serve_connections(listener, service, limits, std::future::pending()).await;
}

/// Retries until it has succeeded: until then lookups find both forms of a hash.
async fn rehash_secrets(app: Arc<App>) {
    loop {
        match flow::admin::inbound_secrets::rehash(&app).await {
            Ok(0) => return,
            Ok(count) => {
                tracing::info!(count, "inbound secrets of an earlier version were rehashed");
                return;
            }
            Err(fault) => tracing::error!(?fault, "inbound secrets could not be rehashed"),
        }
        tokio::time::sleep(REHASH_PAUSE).await;
    }
}

/// Serves the given routes in the same way.
pub async fn serve_routes(
    app: Arc<App>,
    routes: Router,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) {
    serve_encrypted(app, routes, listener, None, stop).await;
}

async fn serve_encrypted(
    app: Arc<App>,
    routes: Router,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
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
        // The membership worker retries; until then this node receives orders, and other nodes deliver.
        tracing::error!(%error, "this node could not join the nodes of its database");
    }
    tokio::spawn(rehash_secrets(Arc::clone(&app)));
    // It is set once.
    let _ = app.order_document.set(api::order_document);
    let delivering = app.spawn_worker("deliveries", flow::deliver::run);
    let calling = app.spawn_worker("calls", flow::order_actions::calls::run);
    let sending = app.spawn_worker("messages", flow::messages::run);
    let workers = [
        app.spawn_worker("membership", move |app| {
            flow::upkeep::membership::run(app, address)
        }),
        app.spawn_worker("early messages", flow::intake::early_messages::run),
        app.spawn_worker("branches", flow::admin::branch_proofs::run),
        app.spawn_worker("polling", flow::intake::poll::run),
        app.spawn_worker("resends", flow::deliver::resend_all::run),
        app.spawn_worker("endpoint statistics", flow::deliver::stats::run),
        app.spawn_worker("request log", flow::upkeep::request_log::run),
        app.spawn_worker("search", flow::read::search::run),
        app.spawn_worker("sweep", flow::upkeep::sweep::run),
        app.spawn_worker("traces", flow::upkeep::trace_export::run),
        app.spawn_worker("backups", flow::upkeep::backups::run),
        app.spawn_worker("account removal", flow::upkeep::account_removal::run),
        app.spawn_worker("master key", flow::upkeep::master_key::run),
        app.spawn_worker("schema", flow::upkeep::schema_changes::run),
        app.spawn_worker("privacy", flow::privacy::run),
        app.spawn_worker("news", flow::read::event_feed::run),
        app.spawn_worker("presence", flow::presence::run),
        app.spawn_worker("escalation", flow::escalation::run),
        app.spawn_worker("menus", flow::products::menus::run),
        app.spawn_worker("availability", flow::products::availability::run),
        app.spawn_worker("prices", flow::products::prices::run),
        app.spawn_worker("catalogs", flow::products::catalogs::run),
        app.spawn_worker("notices", flow::notices::run),
        app.spawn_worker("stores", flow::stores::run),
        app.spawn_worker("store hours", flow::stores::run_schedules),
        app.spawn_worker("throttle", flow::stores::run_throttles),
    ];
    let limits = Limits { tls, ..limits(&app) };
    let drain = limits.drain;
    let stop = async {
        stop.await;
        // Streams and long polls do not finish by themselves.
        app.stopping.send_replace(true);
    };
    let service = TowerToHyperService::new(routes);
    if !serve_connections(listener, service, limits, stop).await {
        tracing::warn!("some requests did not finish in time");
    }
    // Deliveries and calls have been draining since the stop, like requests. While storage is unavailable their results cannot be
    // written, so there is no point in waiting.
    let time = match health::check(&app).await {
        Err(NotReady::Storage(_)) => Duration::from_secs(1),
        _ => drain.max(Duration::from_secs(1)),
    };
    let called = async {
        let ended = calling.await;
        // Platform calls may still run for clients that have disconnected.
        app.calls_in_flight.wait_until_none().await;
        ended
    };
    let (delivered, called, sent) = tokio::join!(
        tokio::time::timeout(time, delivering),
        tokio::time::timeout(time, called),
        tokio::time::timeout(time, sending)
    );
    if delivered.is_err() {
        tracing::warn!("some deliveries did not end in time; they will be repeated");
    }
    if called.is_err() {
        tracing::warn!("some platform calls did not end in time; their outcome will be checked later");
    }
    if sent.is_err() {
        tracing::warn!("some messages did not end in time; it is not known whether they were sent");
    }
    for worker in workers {
        worker.abort();
    }
    let logged = flow::upkeep::request_log::store_last(&app);
    if tokio::time::timeout(time, logged).await.is_err() {
        tracing::warn!("the last API calls were not logged in time");
    }
    // A collector that does not answer must not delay the end.
    let traced = flow::upkeep::trace_export::send_last(&app);
    let _ = tokio::time::timeout(Duration::from_secs(1), traced).await;
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
            "the limit on open files allows fewer connections than server.max_connections: raise it (ulimit -n)"
        );
    }
    Limits {
        connections,
        connections_per_address: settings.max_connections_per_address,
        timeouts: Timeouts::default(),
        drain: Duration::from_secs(u64::from(settings.drain_seconds)),
        // Validated when the settings were loaded.
        proxies: Arc::new(app.settings.proxies().unwrap_or_default()),
        refusals: Arc::clone(&app.metrics.refusals),
        tls: None,
    }
}
