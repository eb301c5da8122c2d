//! The engine: runs jobs on SQLite or PostgreSQL and answers after the commit.
//!
//! A job is a synchronous closure over a transaction. Writing jobs that wait at the same time share one commit
//! (group commit), each undone alone if it fails; a caller hears of its job only when that commit is durable.
//! A job may run more than once (after a lost connection or a serialisation failure), so it is an `Fn`.

mod account_watch;
mod backup;
mod batch;
mod changed_accounts;
mod checkpoint;
mod connect;
mod crash_check;
mod file_watch;
mod files;
mod handoff;
pub mod in_list;
mod insert_batch;
mod job;
mod limits;
mod migrate;
mod notify;
mod pipeline;
mod pooler;
mod postgres;
pub mod server_lock;
mod sqlite;
mod stats;
mod tx;
mod value;
mod wal_scan;
mod workers;

pub use crate::engine::account_watch::{Crowd, News, Watch};
pub use crate::engine::changed_accounts::Fresh;
pub use crate::engine::connect::takes_any_certificate;
pub(crate) use crate::engine::file_watch::{KnownFile, TROUBLE};
pub use crate::engine::handoff::{Desk, Handover};
pub(crate) use crate::engine::insert_batch::shifted;
pub use crate::engine::notify::Word;
pub use crash_check::{CrashCheck, Opener};
pub use files::sync_folder_of;
pub use migrate::{Purpose, Schema};
pub(crate) use migrate::{is_unfinished_copy, mark_unfinished_copy};
pub use stats::{Durations, Stats};
pub use tx::Tx;
pub(crate) use value::Owned;
pub use value::{Column, FromColumn, Param, Row};

use crate::engine::file_watch::WatchedFiles;
use crate::engine::notify::{Bell, Ringer};
use crate::engine::server_lock::ServerLock;
use crate::error::StoreError;
use garson_core::id::AccountId;
use job::TypedJob;
use limits::Limits;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use workers::Workers;

/// Where the data is.
#[derive(Clone, Debug)]
pub enum Location {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL database, by its URL.
    Postgres(garson_core::secret::Secret<String>),
}

/// How the engine runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads that read.
    pub readers: usize,
    /// Connections that write; SQLite has one whatever this says.
    pub writers: usize,
    /// Added to every commit, to see how the service behaves on a slower disk.
    pub commit_delay: Duration,
    /// Jobs that may wait before new ones are turned away.
    pub max_waiting: usize,
    /// What is checked before a SQLite database is used.
    pub crash_check: CrashCheck,
    pub purpose: Purpose,
    /// Within this time whoever waits for the database has an answer, if only that there is none. Limits of connections and
    /// statements follow from it.
    pub answer_within: Duration,
    /// For so long a PostgreSQL server that is away is waited for when it is opened.
    pub start_wait: Duration,
}

impl Options {
    fn limits(&self) -> Limits {
        Limits::within(self.answer_within)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            readers: 4,
            writers: 4,
            commit_delay: Duration::ZERO,
            max_waiting: 16_384,
            crash_check: CrashCheck::default(),
            purpose: Purpose::Use,
            answer_within: Duration::from_secs(30),
            start_wait: Duration::ZERO,
        }
    }
}

/// For one who reads everything.
const LONG_DEADLINE: Duration = Duration::from_secs(7 * 24 * 3_600);

/// What those are told who wait for a database that says nothing.
fn silent() -> StoreError {
    StoreError::unavailable("the database does not answer")
}

/// Where it is made known what has been committed.
#[derive(Debug, Default)]
pub struct Bulletin {
    news: Arc<News>,
    desk: Arc<Desk>,
    fresh: Fresh,
    ringer: Ringer,
}

impl Bulletin {
    fn publish(&self, outcome: tx::Outcome) {
        self.news.tell(&outcome.places);
        self.fresh.note(&outcome.places);
        self.desk.hand_over(outcome.handed);
        self.ringer.ring(outcome.words);
    }
}

/// Which writer takes a job: jobs of one account go to one writer, so that they do not wait for each other's locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane {
    number: u64,
    /// The account whose rows the job changes.
    account: Option<AccountId>,
}

impl Lane {
    /// For work that belongs to no account.
    pub const COMMON: Self = Self::numbered(u64::MAX);
    /// For reading whose statements need not see the same moment.
    const GLANCE: Self = Self::numbered(u64::MAX - 1);

    /// One of many that have nothing to do with accounts.
    #[must_use]
    pub const fn numbered(number: u64) -> Self {
        Self {
            number,
            account: None,
        }
    }
}

impl From<AccountId> for Lane {
    fn from(account: AccountId) -> Self {
        let (high, low) = account.0.as_u64_pair();
        Self {
            number: high ^ low,
            account: Some(account),
        }
    }
}

/// Runs jobs. Clones share the same threads; they end when the last clone is dropped.
#[derive(Clone)]
pub struct Engine {
    writers: Arc<Vec<Workers>>,
    readers: Arc<Workers>,
    stats: Arc<Stats>,
    // Before the bell: it ends when nothing can be rung any more.
    bulletin: Arc<Bulletin>,
    _bell: Option<Arc<Bell>>,
    /// Those of a SQLite database.
    files: Option<Arc<WatchedFiles>>,
    location: Location,
    limits: Limits,
}

impl Engine {
    /// Opens the database and brings it to the newest schema.
    pub fn open(location: &Location, options: &Options) -> Result<Self, StoreError> {
        let stats = Arc::new(Stats::default());
        let (bulletin, writers, readers, bell, files) = match location {
            Location::Sqlite(path) => {
                let bulletin = Arc::new(Bulletin::default());
                let (writers, readers, files) = sqlite::open(path, options, &stats, &bulletin)?;
                (bulletin, writers, readers, None, Some(files))
            }
            Location::Postgres(url) => {
                let (ringer, belfry) = notify::hang();
                let bulletin = Arc::new(Bulletin {
                    ringer,
                    ..Bulletin::default()
                });
                let (writers, readers) = postgres::open(url, options, &stats, &bulletin)?;
                let bell = postgres::start_bell(url, options, belfry, &bulletin)?;
                (bulletin, writers, readers, Some(Arc::new(bell)), None)
            }
        };
        Ok(Self {
            _bell: bell,
            writers: Arc::new(writers),
            readers: Arc::new(readers),
            stats,
            bulletin,
            files,
            location: location.clone(),
            limits: options.limits(),
        })
    }

    /// Opens a database to look at it only, and says how far its schema is. Nothing is created or brought up to date, and
    /// nothing can be written.
    pub fn inspect(location: &Location) -> Result<(Self, Schema), StoreError> {
        let (stats, options) = (Arc::new(Stats::default()), Options::default());
        let (readers, schema) = match location {
            Location::Sqlite(path) => sqlite::inspect(path, &stats)?,
            Location::Postgres(url) => postgres::inspect(url, &options, &stats)?,
        };
        let engine = Self {
            _bell: None,
            writers: Arc::default(),
            readers: Arc::new(readers),
            stats,
            bulletin: Arc::default(),
            files: None,
            location: location.clone(),
            limits: options.limits(),
        };
        Ok((engine, schema))
    }

    /// Stops to read and write as well when the file of this lock is removed or replaced: then another server may be at work.
    pub fn watch_lock(&self, lock: &ServerLock) -> Result<(), StoreError> {
        if let Some(files) = &self.files {
            files.watch_lock(lock.known_file()?);
        }
        Ok(())
    }

    /// Refuses everything when the files of the database are no longer those that were opened.
    pub fn check_files(&self) -> Result<(), StoreError> {
        match self.files.as_deref().and_then(WatchedFiles::trouble) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Runs a job in a read-only transaction that sees one moment.
    pub async fn read<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.check_files()?;
        run(&self.readers, Lane::COMMON, self.limits.job(), job).await
    }

    /// The same for a job that reads so much that nobody can say how long it takes.
    pub(crate) async fn read_at_length<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.check_files()?;
        run(&self.readers, Lane::COMMON, LONG_DEADLINE, job).await
    }

    /// Runs a job that only reads, and whose statements need not see the same moment: without a transaction around them,
    /// which costs as much as a statement.
    pub async fn glance<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.check_files()?;
        run(&self.readers, Lane::GLANCE, self.limits.job(), job).await
    }

    /// Runs a job in a transaction and answers when it is durable. It commits even if its caller has gone. A caller who has
    /// waited for too long hears that the database does not answer; a job that has not been begun by then is not run, but one
    /// that has may still commit, as with any answer that is lost on its way.
    pub async fn write<T, E, F>(&self, lane: impl Into<Lane>, job: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.check_files()?;
        let count = self.writers.len().max(1) as u64;
        let lane = lane.into();
        let index = usize::try_from(lane.number % count).unwrap_or(0);
        let Some(writer) = self.writers.get(index) else {
            return Err(StoreError::unavailable("no writer is running").into());
        };
        run(writer, lane, self.limits.job(), job).await
    }

    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Who is woken by commits.
    #[must_use]
    pub fn news(&self) -> &Arc<News> {
        &self.bulletin.news
    }

    /// What commits hand over to those who deliver events.
    #[must_use]
    pub fn desk(&self) -> &Arc<Desk> {
        &self.bulletin.desk
    }

    /// The accounts in which something has been committed by this process.
    #[must_use]
    pub fn fresh(&self) -> &Fresh {
        &self.bulletin.fresh
    }

    /// Notifies the other nodes, outside of any transaction.
    pub fn notify_nodes(&self, words: Vec<Word>) {
        self.bulletin.ringer.ring(words);
    }

    /// Says whether this is the only process that works on the database, as far as anybody knows: then it need not tell
    /// others what it commits.
    pub fn set_alone(&self, is_alone: bool) {
        self.bulletin.ringer.set_alone(is_alone);
    }

    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The engine's name, for people.
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

    /// Jobs that wait for a reader.
    #[must_use]
    pub fn waiting_reads(&self) -> usize {
        self.readers.waiting()
    }

    /// Copies a SQLite database into a new file while the service runs; PostgreSQL has its own tools for that.
    pub fn backup(&self, to: &Path) -> Result<(), StoreError> {
        match &self.location {
            Location::Sqlite(path) => sqlite::backup(path, to),
            Location::Postgres(_) => Err(StoreError::refused(
                "the data is in PostgreSQL: back it up with pg_dump",
            )),
        }
    }
}

async fn run<T, E, F>(workers: &Workers, lane: Lane, limit: Duration, job: F) -> Result<T, E>
where
    F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    let (answer, answered) = tokio::sync::oneshot::channel();
    let deadline = Instant::now() + limit;
    workers.submit(Box::new(TypedJob::new(lane, deadline, job, answer)))?;
    match tokio::time::timeout_at(deadline.into(), answered).await {
        Ok(Ok(said)) => said,
        Ok(Err(_)) => Err(StoreError::unavailable("the database worker has stopped").into()),
        Err(_) => Err(silent().into()),
    }
}
