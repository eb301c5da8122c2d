//! A connection to a SQLite database.

use super::inspector::Inspector;
use crate::engine::checkpoint::{LogLimiter, claimed_size};
use crate::engine::connection::Connection;
use crate::engine::file_watch::WatchedFiles;
use crate::engine::files::{beside, create_private, immutable_uri, uri};
use crate::engine::insert::Insert;
use crate::engine::insert_buffer::{InsertBuffer, RowSink};
use crate::engine::migrate::Migrator;
use crate::engine::session::{Session, StatementUse};
use crate::engine::value::{Owned, Param, Row};
use crate::error::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection as Sqlite, OpenFlags};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// A new order is added to pages all over some indexes: 16 MB of them are cached. Deleted rows are overwritten with zeros: they
/// hold personal data. Rows are deleted in small chunks, between other jobs.
const WRITER_PRAGMAS: &str = "PRAGMA cache_size = -16000; PRAGMA secure_delete = ON";

/// Replaces the placeholders for what the two engines write differently.
fn translate(sql: &str) -> Cow<'_, str> {
    if !sql.contains('{') {
        return Cow::Borrowed(sql);
    }
    Cow::Owned(
        sql.replace("{blob}", "BLOB")
            .replace("{lock}", "")
            .replace("{skip_locked}", "")
            .replace("{keyed}", "WITHOUT ROWID")
            .replace("{json}", "TEXT"),
    )
}

/// A connection, with the buffered rows of an optimistic transaction.
pub struct SqliteSession {
    connection: Sqlite,
    buffer: InsertBuffer<String>,
    is_optimistic: bool,
    /// An assumption was wrong.
    has_mismatch: bool,
    /// The database's files, for the session that writes: they are checked after each commit.
    files: Option<Arc<WatchedFiles>>,
    /// For the same session, to limit the length of the log.
    log_limiter: Option<LogLimiter>,
    /// In debug builds, for the same session.
    inspector: Option<Inspector>,
}

impl SqliteSession {
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        create_private(path)?;
        let session = Self::over(Sqlite::open(path)?)?;
        use_write_ahead_log(&session.connection)?;
        session.connection.execute_batch(
            "PRAGMA synchronous = FULL;
             PRAGMA temp_store = MEMORY;
             PRAGMA cache_size = -8000;
             PRAGMA journal_size_limit = 67108864;",
        )?;
        Ok(session)
    }

    /// A session that can only read.
    pub fn open_reader(path: &Path) -> Result<Self, StoreError> {
        let session = Self::open(path)?;
        session.connection.execute_batch("PRAGMA query_only = ON")?;
        Ok(session)
    }

    /// A session that changes nothing and creates no file. SQLite creates a log and its index even for a reader; where there
    /// is no log, the database is not in use, and can be opened as immutable.
    pub fn open_to_inspect(path: &Path) -> Result<Self, StoreError> {
        let has_log = std::fs::metadata(beside(path, "-wal")).is_ok_and(|about| about.len() > 0);
        let uri = if has_log { uri(path) } else { immutable_uri(path) };
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Self::over(Sqlite::open_with_flags(uri, flags)?)
    }

    fn over(connection: Sqlite) -> Result<Self, StoreError> {
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(200);
        // Otherwise a statement is planned anew whenever it gets other parameters.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(Self {
            connection,
            buffer: InsertBuffer::default(),
            is_optimistic: false,
            has_mismatch: false,
            files: None,
            log_limiter: None,
            inspector: None,
        })
    }

    /// Makes it the session that writes.
    pub fn make_writer(&mut self, files: Arc<WatchedFiles>) -> Result<(), StoreError> {
        self.connection.execute_batch(WRITER_PRAGMAS)?;
        self.files = Some(files);
        if cfg!(debug_assertions) {
            self.inspector = Some(Inspector::attach(&mut self.connection)?);
        }
        Ok(())
    }

    pub fn limit_log(&mut self, limiter: LogLimiter) {
        self.log_limiter = Some(limiter);
    }

    pub fn connection_mut(&mut self) -> &mut Sqlite {
        &mut self.connection
    }

    pub fn into_connection(self) -> Sqlite {
        self.connection
    }

    /// Writes the buffered rows.
    fn flush_inserts(&mut self) -> Result<(), StoreError> {
        let mut sink = BatchInsert {
            connection: &self.connection,
            has_mismatch: &mut self.has_mismatch,
        };
        self.buffer.flush(&mut sink)
    }
}

impl Session for SqliteSession {
    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        self.flush_inserts()?;
        let mut statement = self.connection.prepare_cached(&translate(sql))?;
        Ok(statement.execute(rusqlite::params_from_iter(params))? as u64)
    }

    fn execute_expecting(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        _: Option<u64>,
    ) -> Result<u64, StoreError> {
        self.execute(sql, params)
    }

    fn insert(&mut self, insert: &Insert<'_>, params: &[Param<'_>]) -> Result<bool, StoreError> {
        if !self.is_optimistic {
            return self.insert_now(insert, params);
        }
        let mut sink = BatchInsert {
            connection: &self.connection,
            has_mismatch: &mut self.has_mismatch,
        };
        self.buffer.add(insert, params, &mut sink)?;
        Ok(true)
    }

    fn insert_now(&mut self, insert: &Insert<'_>, params: &[Param<'_>]) -> Result<bool, StoreError> {
        let sql = self.buffer.for_one_row(insert, params.len());
        Ok(self.execute(&sql, params)? == 1)
    }

    fn query(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        read: &mut dyn FnMut(&Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.flush_inserts()?;
        let mut statement = self.connection.prepare_cached(&translate(sql))?;
        let mut rows = statement.query(rusqlite::params_from_iter(params))?;
        while let Some(row) = rows.next()? {
            read(&Row::Sqlite(row))?;
        }
        Ok(())
    }

    fn expect_none(&mut self, sql: &str, params: &[Param<'_>]) -> Result<(), StoreError> {
        let mut has_row = false;
        self.query(sql, params, &mut |_| {
            has_row = true;
            Ok(())
        })?;
        self.has_mismatch |= has_row;
        Ok(())
    }

    fn is_optimistic(&self) -> bool {
        self.is_optimistic
    }

    fn inspect(&mut self, sql: &str) -> Option<&StatementUse> {
        self.inspector
            .as_mut()?
            .inspect(&self.connection, &translate(sql))
    }

    fn inspect_insert(&mut self, insert: &Insert<'_>, width: usize) -> Option<&StatementUse> {
        let sql = self.buffer.for_one_row(insert, width);
        self.inspector.as_mut()?.inspect(&self.connection, &sql)
    }
}

/// Where buffered rows are written.
struct BatchInsert<'a> {
    connection: &'a Sqlite,
    has_mismatch: &'a mut bool,
}

impl RowSink for BatchInsert<'_> {
    type Statement = String;

    /// The rows of a statement that fails need not be rolled back alone, because the whole transaction is. Otherwise SQLite
    /// would keep a copy of every page that they change.
    fn prepare(&mut self, insert: &Insert<'_>, width: usize, rows: usize) -> Result<String, StoreError> {
        Ok(insert.sql("INSERT OR FAIL", width, rows))
    }

    fn write(&mut self, statement: &String, params: Vec<Owned>, rows: u64) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(statement)?;
        let inserted = statement.execute(rusqlite::params_from_iter(params));
        // The job that gets the error may not be the one whose row is missing.
        *self.has_mismatch |= !matches!(inserted, Ok(inserted) if inserted as u64 == rows);
        inserted?;
        Ok(())
    }
}

/// Switching a new file to this mode does not wait for others who do the same, so it is retried here.
fn use_write_ahead_log(connection: &Sqlite) -> Result<(), StoreError> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        match connection.execute_batch("PRAGMA journal_mode = WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            done => return Ok(done?),
        }
    }
}

impl Connection for SqliteSession {
    const RETRIES_BEGIN: bool = false;
    const IS_SHARED: bool = false;
    // Reading a result costs little here, and running a batch twice costs much.
    const CAUTIOUS_BATCHES: u32 = 200;

    fn begin_write(&mut self, is_optimistic: bool) -> Result<(), StoreError> {
        self.is_optimistic = is_optimistic;
        self.has_mismatch = false;
        self.buffer.clear();
        if let (Some(files), Some(limiter)) = (&self.files, &self.log_limiter) {
            // A commit writes behind the end that the log should have, so that afterwards its size proves nothing.
            files.check_log(limiter.log_bytes(), || limiter.count_log_bytes(&self.connection))?;
        }
        self.command("BEGIN IMMEDIATE")
    }

    fn begin_read(&mut self) -> Result<(), StoreError> {
        self.command("BEGIN")
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.command("COMMIT")?;
        match &self.files {
            // What was written to a file that has been removed must not be acknowledged.
            Some(files) => files.check(|| claimed_size(&self.connection)),
            None => Ok(()),
        }
    }

    fn roll_back(&mut self) -> Result<(), StoreError> {
        self.buffer.clear();
        self.command("ROLLBACK")
    }

    fn command(&mut self, sql: &'static str) -> Result<(), StoreError> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    fn assumptions_held(&mut self) -> bool {
        self.flush_inserts().is_ok() && !self.has_mismatch
    }

    fn in_transaction(&mut self) -> bool {
        !self.connection.is_autocommit()
    }

    fn after_replies(&mut self) {
        if let Some(limiter) = &mut self.log_limiter
            && limiter.restart_long_log(&self.connection)
            && let Err(error) = self.connection.busy_timeout(BUSY_TIMEOUT)
        {
            tracing::warn!(%error, "the writer's busy timeout cannot be set again");
        }
    }

    fn ensure_usable(&mut self) -> Result<(), StoreError> {
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK")?;
        }
        Ok(())
    }
}

impl Migrator for SqliteSession {
    const IS_ALONE: bool = true;

    fn exclusively(
        &mut self,
        _lock_timeout: Option<Duration>,
        work: &mut dyn FnMut(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = work(self);
        self.connection
            .execute_batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        done
    }

    fn reserve(&mut self, _tables: &[&str], _lock_timeout: Duration) -> Result<(), StoreError> {
        Ok(())
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch(&translate(sql))?)
    }
}
