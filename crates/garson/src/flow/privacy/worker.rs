//! Does the work of erasures between other writes.

use super::{anonymise, erase};
use crate::app::App;
use crate::flow::Fault;
use garson_store::tables::erasures;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The pause when there is nothing to do.
const IDLE: Duration = Duration::from_secs(60);
const ERROR_PAUSE: Duration = Duration::from_secs(5);
/// Requests of different accounts that are worked on in turn.
const IN_TURN: i64 = 100;

/// Erases until the service stops.
pub async fn run(app: Arc<App>) {
    loop {
        let started = Instant::now();
        let turn = step(&app).await;
        app.workers.note_turn(&turn);
        let pause = match turn {
            // A pause as long as the work: other jobs get at least half of the writer's time.
            Ok(true) => started.elapsed(),
            Ok(false) => IDLE,
            Err(fault) => {
                tracing::error!(?fault, "personal data could not be erased");
                ERROR_PAUSE
            }
        };
        tokio::select! {
            () = app.wake_privacy.notified(), if pause == IDLE => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Does a part of every kind of work; `false` when there was none.
pub async fn step(app: &App) -> Result<bool, Fault> {
    let running = app.store.read(|tx| erasures::running(tx, IN_TURN)).await?;
    let has_running = !running.is_empty();
    let mut failed = None;
    for erasure in running {
        // The others continue.
        if let Err(fault) = erase::advance(app, erasure).await {
            failed = Some(fault);
        }
    }
    let has_ended = anonymise::erase_ended(app).await?;
    let has_old = anonymise::erase_old(app).await?;
    match failed {
        Some(fault) => Err(fault),
        None => Ok(has_running || has_ended || has_old),
    }
}
