//! SQLite: one writer thread with group commit, and readers that never wait for it.

mod inspector;
mod session;

use super::backup;
use super::checkpoint::Checkpointer;
use super::file_watch::WatchedFiles;
use super::files::refuse_orphaned_log;
use super::migrate::{self, Schema};
use super::options::Options;
use super::read::read_loop;
use super::stats::Stats;
use super::tx::{Hooks, Tx};
use super::workers::Workers;
use super::write::Writer;
use crate::engine::progress::WorkProgress;
use crate::error::StoreError;
use session::SqliteSession;
use std::path::Path;
use std::sync::Arc;

/// Older versions have a bug in their write-ahead log that can corrupt a database.
const OLDEST_VERSION: i32 = 3_051_003;

type Opened<H> = (Vec<Workers<H>>, Workers<H>, Arc<WatchedFiles>);

pub fn open<H: Hooks>(
    path: &Path,
    options: &Options,
    stats: &Arc<Stats>,
    shared: &Arc<H::Shared>,
) -> Result<Opened<H>, StoreError> {
    assert_version()?;
    refuse_orphaned_log(path)?;
    let is_doubtful = options.crash_check.check_log(path)?;
    let mut writer = SqliteSession::open(path)?;
    if is_doubtful {
        // On a connection of its own, because the pages that it reads stay in the connection's cache.
        let mut checker = SqliteSession::open(path)?;
        options.crash_check.check_database(checker.connection_mut())?;
    }
    migrate::run(&mut writer, options.migrations, options.purpose)?;
    let files = Arc::new(WatchedFiles::of(path)?);
    writer.make_writer(Arc::clone(&files))?;
    let (checkpointer, limiter) = Checkpointer::start(
        writer.connection_mut(),
        SqliteSession::open(path)?.into_connection(),
        Arc::clone(&files),
    )?;
    writer.limit_log(limiter);
    let writer = Writer::<_, H>::new(
        writer,
        Arc::clone(shared),
        Arc::clone(stats),
        options.commit_delay,
    );
    let body = move |jobs| {
        writer.run(&jobs);
        checkpointer.join();
    };
    let writers = Workers::start("garson-writer", options.max_waiting, vec![body])?;
    let mut bodies = Vec::new();
    for _ in 0..options.readers.max(1) {
        let reader = SqliteSession::open_reader(path)?;
        let stats = Arc::clone(stats);
        bodies.push(move |jobs| read_loop(reader, &jobs, &stats));
    }
    let readers = Workers::start("garson-reader", options.max_waiting, bodies)?;
    Ok((vec![writers], readers, files))
}

/// Opens an existing database to inspect it only.
pub fn inspect<H: Hooks>(
    path: &Path,
    options: &Options,
    stats: &Arc<Stats>,
) -> Result<(Workers<H>, Schema), StoreError> {
    assert_version()?;
    let mut session = SqliteSession::open_to_inspect(path)?;
    let sql = "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'schema_migrations'";
    let schema = migrate::inspect(&mut Tx::new(&mut session, ()), options.migrations, sql)?;
    let stats = Arc::clone(stats);
    let body = move |jobs| read_loop(session, &jobs, &stats);
    Ok((Workers::start("garson-reader", 1_000, vec![body])?, schema))
}

fn assert_version() -> Result<(), StoreError> {
    if rusqlite::version_number() < OLDEST_VERSION {
        return Err(StoreError::refused(format!(
            "SQLite {} is too old: 3.51.3 or newer is needed",
            rusqlite::version()
        )));
    }
    Ok(())
}

/// Copies a database into a new file while it is in use.
pub fn backup(from: &Path, to: &Path, progress: &WorkProgress) -> Result<(), StoreError> {
    backup::copy_sqlite(&SqliteSession::open(from)?.into_connection(), to, progress)
}
