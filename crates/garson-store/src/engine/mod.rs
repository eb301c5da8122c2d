//! The engine: runs jobs on SQLite or PostgreSQL and answers after the commit.
//!
//! A job is a synchronous closure over a transaction. Writing jobs that wait at the same time share one commit
//! (group commit), each undone alone if it fails; a caller hears of its job only when that commit is durable.
//! A job may run more than once (after a lost connection or a serialisation failure), so it is an `Fn`.

mod batch;
mod bell;
mod checkpoint;
mod desk;
mod fresh;
mod job;
mod migrate;
mod news;
mod pipe;
mod postgres;
mod sqlite;
mod stack;
mod stats;
mod tx;
mod value;
mod workers;

pub use bell::Word;
pub use desk::{Desk, Handover};
pub use fresh::Fresh;
pub use news::{Crowd, News, Watch};
pub use stats::{Durations, Stats};
pub use tx::Tx;
pub(crate) use value::Owned;
pub use value::{Column, FromColumn, Param, Row};

use crate::error::StoreError;
use bell::{Bell, Ringer};
use garson_core::id::AccountId;
use job::TypedJob;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
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
}

impl Default for Options {
    fn default() -> Self {
        Self {
            readers: 4,
            writers: 4,
            commit_delay: Duration::ZERO,
            max_waiting: 16_384,
        }
    }
}

/// How long a caller waits before it hears that the database does not answer. What a writing job was about to do may
/// still happen after that, as with any answer that is lost on its way.
const READ_DEADLINE: Duration = Duration::from_secs(15);
const WRITE_DEADLINE: Duration = Duration::from_secs(30);

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
    location: Location,
}

impl Engine {
    /// Opens the database and brings it to the newest schema.
    pub fn open(location: &Location, options: &Options) -> Result<Self, StoreError> {
        let stats = Arc::new(Stats::default());
        let (bulletin, writers, readers, bell) = match location {
            Location::Sqlite(path) => {
                let bulletin = Arc::new(Bulletin::default());
                let (writers, readers) = sqlite::open(path, options, &stats, &bulletin)?;
                (bulletin, writers, readers, None)
            }
            Location::Postgres(url) => {
                let (ringer, belfry) = bell::hang();
                let bulletin = Arc::new(Bulletin {
                    ringer,
                    ..Bulletin::default()
                });
                let (writers, readers) = postgres::open(url, options, &stats, &bulletin)?;
                let bell = postgres::start_bell(url, belfry, &bulletin)?;
                (bulletin, writers, readers, Some(Arc::new(bell)))
            }
        };
        Ok(Self {
            _bell: bell,
            writers: Arc::new(writers),
            readers: Arc::new(readers),
            stats,
            bulletin,
            location: location.clone(),
        })
    }

    /// Runs a job in a read-only transaction that sees one moment.
    pub async fn read<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        run(&self.readers, Lane::COMMON, READ_DEADLINE, job).await
    }

    /// Runs a job that only reads, and whose statements need not see the same moment: without a transaction around them,
    /// which costs as much as a statement.
    pub async fn glance<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        run(&self.readers, Lane::GLANCE, READ_DEADLINE, job).await
    }

    /// Runs a job in a transaction and answers when it is durable. It commits even if its caller has gone.
    pub async fn write<T, E, F>(&self, lane: impl Into<Lane>, job: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let count = self.writers.len().max(1) as u64;
        let lane = lane.into();
        let index = usize::try_from(lane.number % count).unwrap_or(0);
        let Some(writer) = self.writers.get(index) else {
            return Err(StoreError::unavailable("no writer is running").into());
        };
        run(writer, lane, WRITE_DEADLINE, job).await
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

async fn run<T, E, F>(workers: &Workers, lane: Lane, deadline: Duration, job: F) -> Result<T, E>
where
    F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    let (answer, answered) = tokio::sync::oneshot::channel();
    workers.submit(Box::new(TypedJob::new(lane, job, answer)))?;
    match tokio::time::timeout(deadline, answered).await {
        Ok(Ok(said)) => said,
        Ok(Err(_)) => Err(StoreError::unavailable("the database worker has stopped").into()),
        Err(_) => Err(StoreError::unavailable("the database does not answer").into()),
    }
}
