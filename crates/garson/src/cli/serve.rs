//! `garson serve`: the service until it is told to stop.

use super::{CommandError, Outcome, print_line, runtime};
use crate::app::{App, StartError, lock_data};
use crate::config::Settings;
use crate::{server, telemetry};
use clap::Args;
use garson_store::Location;
use std::sync::{Arc, mpsc};
use std::time::Duration;
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
    let mut lock = lock_data(&settings).map_err(start)?;
    let app = App::open_server(settings, lock.as_mut()).map_err(start)?;
    let (runtime, kept) = (runtime()?, Arc::clone(&app));
    let done = runtime.block_on(async {
        let listener = listen(&app).await?;
        if !app.store.read(garson_store::tables::accounts::any_exists).await? {
            tracing::warn!(
                "there is no account yet: garson account create --name \"My restaurants\" --email me@example.com"
            );
        }
        run(app, listener, || {}).await
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    // Files that were removed or damaged under the server are no orderly end: the next one has to check what is left.
    let are_files_sound = kept.store.check_files().is_ok();
    let is_closed = close(kept);
    if is_closed
        && are_files_sound
        && let Some(lock) = lock
    {
        lock.end()?;
    }
    done
}

/// Lets storage end what it is doing, and says whether it has. A PostgreSQL that does not answer is not waited for: what was not
/// committed is undone.
fn close(app: Arc<App>) -> bool {
    let limit = match app.settings.location() {
        Location::Postgres(_) => Duration::from_secs(3),
        Location::Sqlite(_) => Duration::from_secs(30),
    };
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || {
        drop(app);
        let _nobody_waits = ended.send(());
    });
    let is_closed = end.recv_timeout(limit).is_ok();
    if !is_closed {
        tracing::warn!("storage did not end in time");
    }
    is_closed
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
