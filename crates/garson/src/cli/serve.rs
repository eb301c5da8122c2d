//! `garson serve`: runs the service until a signal stops it.

use super::command::{CommandError, Outcome, failed, print_line, runtime};
use crate::app::{App, StartError, lock_data};
use crate::config::Settings;
use crate::flow::read::operator;
use crate::server::{Listeners, Tls};
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
    let runtime = runtime()?;
    let early = runtime.spawn(end_on_signal());
    let mut lock = lock_data(&settings).map_err(start)?;
    let app = App::open_server(settings, lock.as_mut()).map_err(start)?;
    let kept = Arc::clone(&app);
    let done = runtime.block_on(async {
        let listener = listen(&app).await?;
        if !operator::has_accounts(&app).await.map_err(failed)? {
            tracing::warn!(
                "there is no account yet: garson account create --name \"My restaurants\" --email me@example.com"
            );
        }
        run(app, listener, || early.abort()).await
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    // If files were removed or damaged while it ran, the lock is not released cleanly, so that the next start checks them.
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

/// Ends the program at a signal until it handles signals itself: opening the storage may take minutes. As the first process of a
/// container it would otherwise ignore them.
async fn end_on_signal() {
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopped before it had started");
    std::process::exit(0);
}

/// Waits for storage to finish; `false` when it did not in time. PostgreSQL gets less time: it rolls back what was not committed.
fn close(app: Arc<App>) -> bool {
    let limit = match app.settings.location() {
        Location::Postgres(_) => Duration::from_secs(3),
        Location::Sqlite(_) => Duration::from_secs(30),
    };
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || {
        drop(app);
        // The receiver may have timed out.
        let _ = ended.send(());
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

/// Listens on the configured addresses.
pub async fn listen(app: &App) -> Result<Listeners, CommandError> {
    let settings = &app.settings;
    let tls = Tls::load(&settings.tls).map_err(|error| CommandError(format!("TLS: {error}")))?;
    let second = &settings.server.operations_listen;
    Ok(Listeners {
        main: bind(&settings.listen).await?,
        operations: match second.as_str() {
            "" => None,
            address => Some(bind(address).await?),
        },
        tls,
    })
}

async fn bind(address: &str) -> Result<TcpListener, CommandError> {
    TcpListener::bind(address)
        .await
        .map_err(|error| CommandError(format!("cannot listen on {address}: {error}")))
}

/// Serves until a signal arrives; `started` is called when it accepts requests.
pub async fn run(app: Arc<App>, listeners: Listeners, started: impl FnOnce()) -> Outcome {
    // Before the address is announced.
    server::raise_limit();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let address = listeners.main.local_addr()?;
    let scheme = if listeners.tls.is_some() { "https" } else { "http" };
    print_line(&format!(
        "garson {} listens on {scheme}://{address}",
        env!("CARGO_PKG_VERSION")
    ));
    if let Some(operations) = &listeners.operations {
        let address = operations.local_addr()?;
        print_line(&format!(
            "metrics, health and API reference are at http://{address}"
        ));
    }
    tracing::info!(%address, storage = app.store.name(), "started");
    started();
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
    };
    server::serve_on(app, listeners, stop).await;
    tracing::info!("stopped");
    Ok(())
}
