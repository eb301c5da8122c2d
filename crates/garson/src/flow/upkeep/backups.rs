//! Backups: made for a command, and by the running service itself.

use crate::app::App;
use crate::app::backup_folder;
use crate::app::key_file::prepare_folder;
use crate::config::BackupSettings;
use garson_core::clock::Clock;
use garson_core::time::Timestamp;
use garson_store::engine::WorkProgress;
use garson_store::{Engine, StoreError};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often it is looked whether a backup is due.
const LOOK: Duration = Duration::from_secs(10);
/// The pause after a backup that failed.
const RETRY: Duration = Duration::from_secs(600);

/// Stops a backup whose maker is gone.
struct StopOnDrop(Arc<WorkProgress>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Makes a backup in a new file. It is stopped when its result is no longer awaited.
pub async fn make(app: &App, to: &Path, progress: Arc<WorkProgress>) -> Result<(), StoreError> {
    let (store, to) = (app.store.clone(), to.to_owned());
    in_background(progress, move |progress| store.backup(&to, progress)).await
}

/// Does work with files on a thread of its own: a network disk may hang.
async fn in_background<T: Send + 'static>(
    progress: Arc<WorkProgress>,
    work: impl FnOnce(&WorkProgress) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let _guard = StopOnDrop(Arc::clone(&progress));
    tokio::task::spawn_blocking(move || work(&progress))
        .await
        .unwrap_or_else(|error| Err(StoreError::internal("the backup panicked").caused_by(error)))
}

/// Makes backups when they are due, until the service stops.
pub async fn run(app: Arc<App>) {
    if app.settings.backup.folder.as_os_str().is_empty() {
        return std::future::pending().await;
    }
    loop {
        let turn = step(&app).await;
        app.workers.note_turn(&turn);
        let pause = match turn {
            Ok(()) => LOOK,
            Err(error) => {
                tracing::error!(%error, "the scheduled backup failed");
                RETRY
            }
        };
        tokio::time::sleep(pause).await;
    }
}

/// How long a backup has been due; none if this process makes none.
#[must_use]
pub fn overdue(app: &App) -> Option<Duration> {
    let settings = &app.settings.backup;
    if settings.folder.as_os_str().is_empty() {
        return None;
    }
    let due_at = app.newest_backup.at().map(|at| at.plus(settings.every()));
    Some(due_at.map_or_else(|| app.uptime(), |due_at| app.now().since(due_at)))
}

async fn step(app: &App) -> Result<(), StoreError> {
    let scheduled = Scheduled {
        settings: app.settings.backup.clone(),
        store: app.store.clone(),
        clock: Arc::clone(&app.clock),
    };
    let (scheduled, newest) = in_background(Arc::default(), move |_| {
        let newest = scheduled.newest()?;
        Ok((scheduled, newest))
    })
    .await?;
    app.newest_backup.set(newest);
    if scheduled.is_due(newest) {
        let newest = in_background(Arc::default(), move |progress| scheduled.make(progress)).await?;
        app.newest_backup.set(newest);
    }
    Ok(())
}

/// What a scheduled backup needs.
struct Scheduled {
    settings: BackupSettings,
    store: Engine,
    clock: Arc<dyn Clock>,
}

impl Scheduled {
    fn newest(&self) -> Result<Option<Timestamp>, StoreError> {
        backup_folder::newest(&self.settings.folder, self.clock.now()).map_err(|error| self.unusable(error))
    }

    fn is_due(&self, newest: Option<Timestamp>) -> bool {
        newest.is_none_or(|newest| self.clock.now().since(newest) >= self.settings.every())
    }

    /// Makes a backup and deletes the oldest ones, unless another node has just done it or is doing it. Returns when the newest was made.
    fn make(&self, progress: &WorkProgress) -> Result<Option<Timestamp>, StoreError> {
        let folder = self.settings.folder.as_path();
        prepare_folder(folder).map_err(|error| StoreError::unavailable(error.0))?;
        let Some(_lock) = backup_folder::try_lock(folder).map_err(|error| self.unusable(error))? else {
            return self.newest();
        };
        let newest = self.newest()?;
        if !self.is_due(newest) {
            return Ok(newest);
        }
        backup_folder::remove_abandoned(folder).map_err(|error| self.unusable(error))?;
        let began = Instant::now();
        let at = self.clock.now();
        let file = backup_folder::new_file(folder, self.store.backup_format(), at);
        self.store.backup(&file, progress)?;
        let bytes = std::fs::metadata(&file).map_or(0, |about| about.len());
        let removed = backup_folder::remove_old(folder, self.settings.keep, at)
            .map_err(|error| self.unusable(error))?;
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(file = %file.display(), bytes, milliseconds, removed, "made a backup");
        self.newest()
    }

    fn unusable(&self, error: std::io::Error) -> StoreError {
        let message = format!("the folder {} cannot be used", self.settings.folder.display());
        StoreError::unavailable(message).caused_by(error)
    }
}
