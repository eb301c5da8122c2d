//! Where the data is, and how the engine runs.

use super::crash_check::CrashCheck;
use super::limits::Limits;
use super::migrate::{MIGRATIONS, Migration, Purpose};
use std::path::PathBuf;
use std::time::Duration;

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
    /// Connections that write; SQLite always has one.
    pub writers: usize,
    /// Added to every commit, to simulate a slower disk.
    pub commit_delay: Duration,
    /// Queued jobs beyond which new ones are rejected.
    pub max_waiting: usize,
    /// What is checked before a SQLite database is used.
    pub crash_check: CrashCheck,
    pub purpose: Purpose,
    /// The migrations that this program knows.
    pub migrations: &'static [Migration],
    /// Every caller gets a reply within this time, even if it is a timeout. The limits of connections and statements are
    /// derived from it.
    pub answer_within: Duration,
    /// How long opening waits for a PostgreSQL server that is unavailable.
    pub start_wait: Duration,
}

impl Options {
    pub(crate) fn limits(&self) -> Limits {
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
            migrations: MIGRATIONS,
            answer_within: Duration::from_secs(30),
            start_wait: Duration::ZERO,
        }
    }
}
