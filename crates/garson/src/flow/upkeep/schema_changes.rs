//! Continues migrations while the service runs; see `garson_store::upkeep::schema_change`.

use crate::app::App;
use garson_store::engine::Progress;
use garson_store::upkeep::schema_change::{SchemaChange, Turn};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The pause when there is nothing to do. Another node may begin a migration.
const IDLE: Duration = Duration::from_secs(60);
/// The pause when another node works on it, or nodes of an earlier version run.
const WAITING: Duration = Duration::from_secs(5);
/// How often progress is logged.
const REPORTS: Duration = Duration::from_secs(10);

/// Does what is left of migrations, until the service stops.
pub async fn run(app: Arc<App>) {
    let mut change = SchemaChange::default();
    let mut reported = Instant::now();
    loop {
        let turn = change.turn(&app.store).await;
        app.workers.note_turn(&turn);
        let pause = match turn {
            Ok(Turn::Nothing) => IDLE,
            Ok(Turn::Waiting) => WAITING,
            Ok(Turn::Contracted(number)) => {
                tracing::info!(number, "applied a migration that no earlier version needs");
                Duration::ZERO
            }
            Ok(Turn::Part { step, progress }) => {
                let is_due = reported.elapsed() >= REPORTS;
                if is_due || !matches!(progress, Progress::Visited(_)) {
                    reported = Instant::now();
                    let (name, visited) = (step.step.name(), step.visited);
                    tracing::info!(
                        number = step.number,
                        step = name,
                        visited,
                        ?progress,
                        "the schema is changed"
                    );
                }
                // Half of the time belongs to others.
                change.took
            }
            Err(error) => {
                tracing::warn!(%error, "a migration could not be continued");
                WAITING
            }
        };
        tokio::time::sleep(pause).await;
    }
}
