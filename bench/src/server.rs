//! The servers: the real one as its command line starts it, and one with a route more for the constant body.

use crate::error::Fallible;
use axum::Router;
use axum::routing::get;
use bytes::Bytes;
use garson::app::App;
use garson::config::Settings;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::net::TcpListener;

pub const ROLE: &str = "serve";
pub const REAL_ROLE: &str = "real-serve";
/// A constant body through the same layers as a list: request id, key, rate limit, counters.
pub const CONSTANT_PATH: &str = "/constant";
/// A constant body past all of them.
pub const BARE_PATH: &str = "/bare";
/// How long the constant body is.
pub const CONSTANT_VARIABLE: &str = "BENCH_CONSTANT_BYTES";

/// `garson serve`, with settings from variables.
pub fn run_real() -> ExitCode {
    garson::cli::run_with(["garson", "serve"].map(OsString::from))
}

/// The same connections, service and settings, with two routes more.
pub fn run() -> Fallible<()> {
    let size: usize = std::env::var(CONSTANT_VARIABLE).unwrap_or_default().parse()?;
    let settings = Settings::load(None, std::env::vars(), Vec::new()).map_err(|error| error.to_string())?;
    garson::telemetry::start_log(&settings.log);
    let app = App::open(settings)?;
    let body = Bytes::from(vec![b'x'; size]);
    let answer = async move || ([("content-type", "application/json")], body.clone());
    let constant = Router::new().route(CONSTANT_PATH, get(answer.clone()));
    let routes = garson::router::service_with(Arc::clone(&app), constant)
        .merge(Router::new().route(BARE_PATH, get(answer)));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(&app.settings.listen).await?;
        println!("listens on http://{}", listener.local_addr()?);
        garson::server::serve_routes(app, routes, listener, std::future::pending()).await;
        Ok(())
    })
}
