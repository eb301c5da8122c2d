//! `garson serve`: the service until it is told to stop.

use super::{CommandError, Outcome, print_line, runtime};
use crate::app::{App, StartError, lock_data};
use crate::config::Settings;
use crate::{server, telemetry};
use clap::Args;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

#[derive(Args)]
pub struct ServeArgs {
    /// Where to listen, such as 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
}

pub fn serve(settings: Settings) -> Outcome {
    telemetry::start_log(&settings.log);
    let _lock = lock_data(&settings).map_err(start)?;
    let app = App::open(settings).map_err(start)?;
    runtime()?.block_on(async {
        let listener = listen(&app).await?;
        if !app.store.read(garson_store::accounts::exist).await? {
            tracing::warn!(
                "there is no account yet: garson account create --name \"My restaurants\" --email me@example.com"
            );
        }
        run(app, listener, || {}).await
    })
}

fn start(StartError(message): StartError) -> CommandError {
    CommandError(message)
}

/// Listens on the configured address.
pub async fn listen(app: &App) -> Result<TcpListener, CommandError> {
    let address = &app.settings.listen;
    TcpListener::bind(address)
        .await
        .map_err(|error| CommandError(format!("cannot listen on {address}: {error}")))
}

/// Serves until a signal comes; `started` is called when requests are taken.
pub async fn run(app: Arc<App>, listener: TcpListener, started: impl FnOnce()) -> Outcome {
    // Before anybody is told that connections are taken.
    server::raise_limit();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let address = listener.local_addr()?;
    print_line(&format!(
        "garson {} listens on http://{address}",
        env!("CARGO_PKG_VERSION")
    ));
    tracing::info!(%address, storage = app.store.name(), "started");
    started();
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
    };
    server::serve(app, listener, stop).await;
    tracing::info!("stopped");
    Ok(())
}
