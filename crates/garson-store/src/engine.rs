//! The storage engine: runs jobs on SQLite or PostgreSQL and answers after the commit. It knows no table but its own, and
//! the nodes that use the database.
//!
//! - A **job** is a synchronous closure over a transaction. It may run more than once (lost connection, serialization failure), so it
//!   is an `Fn`.
//! - **Group commit.** A writer takes all waiting jobs, runs each so that it can be undone alone, commits once and answers all. SQLite has
//!   one writer thread. PostgreSQL has several; an account's jobs always go to the same one.
//! - **Optimistic first run.** The first run of a batch assumes that new rows are new and that updates touch one row. On PostgreSQL its
//!   statements are pipelined and checked before the commit; rows of the same insert are batched. If an assumption fails, nothing is
//!   committed and the batch runs again step by step, with savepoints, so that only the failing job fails.
//! - **Deferred writes.** Values that nearly every job touches are collected and written once, before the commit or before a statement
//!   that reads them. If such a write fails, the job that caused it fails.
//! - **Deadlines.** `storage.answer_seconds` bounds how long a caller waits, how long a PostgreSQL statement runs and how long a host may
//!   stay silent. A job whose caller was already answered with 503 is dropped from the queue.
//! - **SQLite's files** are opened by SQLite only, since closing any other descriptor drops its locks. They are watched with `stat`, and
//!   the write-ahead log is verified after a crash before SQLite opens it. A separate thread checkpoints the log.
//! - **SQL is written once** with `?1` parameters and a few placeholders that the engine fills in (`{blob}`, `{lock}`, `{skip_locked}`,
//!   `{keyed}`, `{json}`). Ids are 16 bytes, timestamps BIGINT milliseconds, JSON is TEXT kept byte for byte.

mod backup;
mod checkpoint;
pub(crate) mod connect;
mod connection;
mod crash_check;
mod file_watch;
mod files;
pub mod in_list;
mod insert;
mod insert_buffer;
mod job;
mod limits;
mod migrate;
mod options;
mod partition;
mod pipeline;
mod pooler;
mod postgres;
mod progress;
mod read;
pub mod server_lock;
mod session;
mod sqlite;
mod stats;
mod table_set;
mod tx;
mod value;
mod wal_scan;
mod workers;
mod write;

pub use backup::{
    BackupFormat, PreparedRestore, UNFINISHED, prepare_restore, restore_for_a_look, restore_postgres,
    verify_backup,
};
pub use connect::accepts_any_certificate;
pub use crash_check::{CrashCheck, Opener};
pub use files::sync_folder_of;
pub use insert::Insert;
pub use migrate::{
    MIGRATIONS, Migration, MigrationKind, Pending, Progress, Purpose, Schema, Step, StepState, newest,
};
pub(crate) use migrate::{
    check_join, fill_chunk, finish_index, is_unfinished_copy, list_steps, mark_unfinished_copy, oldest_node,
};
pub use options::{Location, Options};
pub use partition::Partition;
pub use progress::WorkProgress;
pub use stats::{Durations, Stats};
pub use table_set::TableSet;
pub use tx::{Hooks, Tx};
pub(crate) use value::Owned;
pub use value::{Column, FromColumn, Param, Row};

use crate::error::StoreError;
use file_watch::WatchedFiles;
use job::{JobKind, TypedJob};
use limits::Limits;
use server_lock::ServerLock;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use workers::Workers;

/// Does what blocks for long on a thread of its own.
async fn off_runtime<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(StoreError::internal("a migration panicked")))
}

/// For a job that reads the whole database.
const LONG_DEADLINE: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Runs jobs. Clones share the same threads; they end when the last clone is dropped.
pub struct Engine<H: Hooks> {
    // Before the writers: SQLite copies its log when its last connection is closed, but not if two are closed at the same time.
    readers: Arc<Workers<H>>,
    writers: Arc<Vec<Workers<H>>>,
    stats: Arc<Stats>,
    // After the writers, which use it until they end.
    shared: Arc<H::Shared>,
    /// The files of a SQLite database.
    files: Option<Arc<WatchedFiles>>,
    location: Location,
    /// How it was opened, for connections that are made later.
    options: Options,
    limits: Limits,
}

impl<H: Hooks> Clone for Engine<H> {
    fn clone(&self) -> Self {
        Self {
            writers: Arc::clone(&self.writers),
            readers: Arc::clone(&self.readers),
            stats: Arc::clone(&self.stats),
            shared: Arc::clone(&self.shared),
            files: self.files.clone(),
            location: self.location.clone(),
            options: self.options.clone(),
            limits: self.limits,
        }
    }
}

impl<H: Hooks> Engine<H> {
    /// Opens the database and migrates it to the newest schema.
    pub(crate) fn start(
        location: &Location,
        options: &Options,
        shared: Arc<H::Shared>,
    ) -> Result<Self, StoreError> {
        let stats = Arc::new(Stats::default());
        let (writers, readers, files) = match location {
            Location::Sqlite(path) => {
                let (writers, readers, files) = sqlite::open(path, options, &stats, &shared)?;
                (writers, readers, Some(files))
            }
            Location::Postgres(url) => {
                let (writers, readers) = postgres::open(url, options, &stats, &shared)?;
                (writers, readers, None)
            }
        };
        Ok(Self {
            writers: Arc::new(writers),
            readers: Arc::new(readers),
            stats,
            shared,
            files,
            location: location.clone(),
            options: options.clone(),
            limits: options.limits(),
        })
    }

    /// Opens a database to inspect it only, and returns the state of its schema. Nothing is created or migrated, and nothing
    /// can be written.
    pub(crate) fn start_to_inspect(
        location: &Location,
        options: &Options,
        shared: Arc<H::Shared>,
    ) -> Result<(Self, Schema), StoreError> {
        let stats = Arc::new(Stats::default());
        let (readers, schema) = match location {
            Location::Sqlite(path) => sqlite::inspect(path, options, &stats)?,
            Location::Postgres(url) => postgres::inspect(url, options, &stats)?,
        };
        let engine = Self {
            writers: Arc::default(),
            readers: Arc::new(readers),
            stats,
            shared,
            files: None,
            location: location.clone(),
            options: options.clone(),
            limits: options.limits(),
        };
        Ok((engine, schema))
    }

    /// Stops reading and writing too when the file of this lock is removed or replaced: then another server may be running.
    pub fn watch_lock(&self, lock: &ServerLock) -> Result<(), StoreError> {
        if let Some(files) = &self.files {
            files.watch_lock(lock.known_file()?);
        }
        Ok(())
    }

    /// Fails when the files of the database are no longer those that were opened.
    pub fn check_files(&self) -> Result<(), StoreError> {
        match self.files.as_deref().and_then(WatchedFiles::trouble) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Runs a job in a read-only transaction that sees one snapshot.
    pub async fn read<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_, H>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.run(&self.readers, JobKind::Read, self.limits.job(), job)
            .await
    }

    /// The same for a job that may take very long, because it reads the whole database.
    pub(crate) async fn read_long<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_, H>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.run(&self.readers, JobKind::Read, LONG_DEADLINE, job).await
    }

    /// Runs a job that only reads, and whose statements need not see the same snapshot: without a transaction around them,
    /// which costs as much as a statement.
    pub async fn read_without_snapshot<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_, H>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let kind = JobKind::ReadWithoutSnapshot;
        self.run(&self.readers, kind, self.limits.job(), job).await
    }

    /// Runs a job in a transaction and returns when it is durable. It commits even if its caller is dropped. A caller that has
    /// waited too long gets a timeout; a job that has not begun by then is not run, but one that has may still commit, as with
    /// any reply that is lost.
    pub async fn write<T, E, F>(&self, partition: impl Into<Partition>, job: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_, H>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let partition = partition.into();
        let Some(writer) = self.writers.get(partition.writer(self.writers.len())) else {
            return Err(StoreError::unavailable("no writer is running").into());
        };
        self.run(writer, JobKind::Write(partition), self.limits.job(), job)
            .await
    }

    async fn run<T, E, F>(&self, workers: &Workers<H>, kind: JobKind, limit: Duration, job: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_, H>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.check_files()?;
        let (reply, replied) = tokio::sync::oneshot::channel();
        let job = TypedJob::new(kind, limit, job, reply);
        let deadline = job.deadline();
        workers.submit(Box::new(job))?;
        match tokio::time::timeout_at(deadline.into(), replied).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(StoreError::unavailable("the database worker has stopped").into()),
            Err(_) => Err(StoreError::timed_out().into()),
        }
    }

    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// What the store shares with its transactions.
    pub(crate) fn shared(&self) -> &Arc<H::Shared> {
        &self.shared
    }

    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The name of the database product.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.location {
            Location::Sqlite(_) => "SQLite",
            Location::Postgres(_) => "PostgreSQL",
        }
    }

    /// Jobs that wait for a writer.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.writers.iter().map(Workers::waiting).sum()
    }

    /// How long jobs wait for the readers, or for the busiest of the writers.
    #[must_use]
    pub fn standing_wait(&self) -> Duration {
        let writers = self.writers.iter().map(Workers::standing_wait);
        writers
            .max()
            .unwrap_or_default()
            .max(self.readers.standing_wait())
    }

    /// Jobs that wait for a reader.
    #[must_use]
    pub fn waiting_reads(&self) -> usize {
        self.readers.waiting()
    }

    /// The migrations that this program knows.
    #[must_use]
    pub fn migrations(&self) -> &'static [Migration] {
        self.options.migrations
    }

    /// Makes the index of a step while the database is used, and returns whether it is there. On SQLite it was made at the start.
    pub(crate) async fn make_index(&self, state: StepState) -> Result<bool, StoreError> {
        let (location, options) = (self.location.clone(), self.options.clone());
        off_runtime(move || match &location {
            Location::Sqlite(_) => Ok(true),
            Location::Postgres(url) => postgres::make_index(url, &options, &state),
        })
        .await
    }

    /// Applies a contract migration if it can be applied now, and returns whether it was. On SQLite this happens at the start.
    pub(crate) async fn contract(&self, number: i64) -> Result<bool, StoreError> {
        let (location, options) = (self.location.clone(), self.options.clone());
        off_runtime(move || match &location {
            Location::Sqlite(_) => Ok(false),
            Location::Postgres(url) => postgres::contract(url, &options, number),
        })
        .await
    }

    /// Writes a backup into a new file while the database is in use. If it is stopped, it fails and leaves no file.
    pub fn backup(&self, to: &Path, progress: &WorkProgress) -> Result<(), StoreError> {
        match &self.location {
            Location::Sqlite(path) => sqlite::backup(path, to, progress),
            Location::Postgres(url) => backup::dump_postgres(url, to, progress),
        }
    }

    /// What a backup of this database is.
    #[must_use]
    pub fn backup_format(&self) -> BackupFormat {
        match self.location {
            Location::Sqlite(_) => BackupFormat::Sqlite,
            Location::Postgres(_) => BackupFormat::Postgres,
        }
    }
}
