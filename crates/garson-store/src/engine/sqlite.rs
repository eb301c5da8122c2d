//! SQLite: one writer thread with group commit, readers that never wait for it.

use super::backup;
use super::batch::{Connection, read_loop, write_loop};
use super::checkpoint::{Checkpointer, Relief};
use super::files::{beside, create_private, refuse_orphaned_log};
use super::migrate::{self, Migrator, Schema};
use super::tx::Session;
use super::value::{Owned, Row};
use super::workers::Workers;
use super::{Bulletin, Options, Param, Stats, Tx};
use crate::engine::file_watch::WatchedFiles;
use crate::engine::insert_batch::{Stacks, Writer};
use crate::error::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection as Sqlite, OpenFlags};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Older versions have a fault in their write-ahead log that can corrupt a database.
const OLDEST_VERSION: i32 = 3_051_003;
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The pages that a new order is added to lie all over some indexes: 16 MB of them are kept at hand. What is deleted is
/// overwritten with zeros: it was somebody's name and address. Rows are deleted in small chunks, beside everything else.
const WRITERS_MANNERS: &str = "PRAGMA cache_size = -16000; PRAGMA secure_delete = ON";

/// Puts this engine's words into a statement.
pub fn words(sql: &str) -> Cow<'_, str> {
    if !sql.contains('{') {
        return Cow::Borrowed(sql);
    }
    Cow::Owned(
        sql.replace("{blob}", "BLOB")
            .replace("{lock}", "")
            .replace("{skip_locked}", "")
            .replace("{keyed}", "WITHOUT ROWID"),
    )
}

pub fn open(
    path: &Path,
    options: &Options,
    stats: &Arc<Stats>,
    bulletin: &Arc<Bulletin>,
) -> Result<(Vec<Workers>, Workers, Arc<WatchedFiles>), StoreError> {
    assert_version()?;
    refuse_orphaned_log(path)?;
    let is_doubtful = options.crash_check.check_log(path)?;
    let mut writer = SqliteSession::open(path)?;
    if is_doubtful {
        // On a connection of its own, because the pages that it reads stay in the connection's cache.
        let mut checker = SqliteSession::open(path)?;
        options.crash_check.check_database(&mut checker.connection)?;
    }
    migrate::run(&mut writer, options.purpose)?;
    let files = Arc::new(WatchedFiles::of(path)?);
    writer.files = Some(Arc::clone(&files));
    let commit_delay = options.commit_delay;
    let (written, bulletin) = (Arc::clone(stats), Arc::clone(bulletin));
    writer.connection.execute_batch(WRITERS_MANNERS)?;
    let (checkpointer, relief) = Checkpointer::start(
        &mut writer.connection,
        SqliteSession::open(path)?.connection,
        Arc::clone(&files),
    )?;
    writer.relief = Some(relief);
    let body = move |jobs| {
        write_loop(writer, &jobs, commit_delay, &written, &bulletin);
        checkpointer.join();
    };
    let writers = Workers::start("garson-writer", options.max_waiting, vec![body])?;
    let mut bodies = Vec::new();
    for _ in 0..options.readers.max(1) {
        let reader = SqliteSession::open(path)?;
        reader.connection.execute_batch("PRAGMA query_only = ON")?;
        let stats = Arc::clone(stats);
        bodies.push(move |jobs| read_loop(reader, &jobs, &stats));
    }
    let readers = Workers::start("garson-reader", options.max_waiting, bodies)?;
    Ok((vec![writers], readers, files))
}

/// Opens a database that must be there to look at it only.
pub fn inspect(path: &Path, stats: &Arc<Stats>) -> Result<(Workers, Schema), StoreError> {
    assert_version()?;
    let mut session = SqliteSession::open_to_look(path)?;
    let sql = "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'schema_migrations'";
    let schema = migrate::inspect(&mut session.tx(), sql)?;
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

/// Copies a database into a new file while others use it.
pub fn backup(from: &Path, to: &Path) -> Result<(), StoreError> {
    backup::copy_to(&SqliteSession::open(from)?.connection, to)
}

/// A connection with the rows that wait for each other in a bold transaction.
pub struct SqliteSession {
    connection: Sqlite,
    stacks: Stacks<String>,
    /// What is as it always is may be taken for granted.
    is_bold: bool,
    /// It was not.
    is_surprised: bool,
    /// Those of the database, for the session that writes: they are looked at after each commit.
    files: Option<Arc<WatchedFiles>>,
    /// For the same one, against a log that has become too long.
    relief: Option<Relief>,
}

impl SqliteSession {
    fn open(path: &Path) -> Result<Self, StoreError> {
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

    /// A session that changes nothing, and makes no file either. SQLite makes a log and its index even for one who only reads;
    /// where there is no log, nobody uses the database, and it can be read as if nobody could.
    fn open_to_look(path: &Path) -> Result<Self, StoreError> {
        let has_log = std::fs::metadata(beside(path, "-wal")).is_ok_and(|about| about.len() > 0);
        let mut uri = "file:".to_owned();
        for byte in path.as_os_str().as_encoded_bytes() {
            match byte {
                b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                    uri.push(char::from(*byte));
                }
                byte => uri.push_str(&format!("%{byte:02x}")),
            }
        }
        if !has_log {
            uri.push_str("?immutable=1");
        }
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
            stacks: Stacks::default(),
            is_bold: false,
            is_surprised: false,
            files: None,
            relief: None,
        })
    }

    pub fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        self.unstack()?;
        let mut statement = self.connection.prepare_cached(&words(sql))?;
        Ok(statement.execute(rusqlite::params_from_iter(params))? as u64)
    }

    /// Adds a row; says whether it was added, or will have been.
    pub fn insert(&mut self, sql: &str, params: &[Param<'_>]) -> Result<bool, StoreError> {
        if !self.is_bold {
            return Ok(self.execute(sql, params)? == 1);
        }
        let mut rows = RowWriter {
            connection: &self.connection,
            is_surprised: &mut self.is_surprised,
        };
        self.stacks.add(sql, params, &mut rows)?;
        Ok(true)
    }

    pub fn query<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        read: &mut dyn FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.unstack()?;
        let mut statement = self.connection.prepare_cached(&words(sql))?;
        let mut rows = statement.query(rusqlite::params_from_iter(params))?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(read(&Row::Sqlite(row))?);
        }
        Ok(all)
    }

    /// Writes the rows that wait for each other.
    fn unstack(&mut self) -> Result<(), StoreError> {
        let mut rows = RowWriter {
            connection: &self.connection,
            is_surprised: &mut self.is_surprised,
        };
        self.stacks.send(&mut rows)
    }

    pub fn is_bold(&self) -> bool {
        self.is_bold
    }

    /// Something was not as expected: the jobs are to be run again with more care.
    pub fn note_surprise(&mut self) {
        self.is_surprised = true;
    }
}

struct RowWriter<'a> {
    connection: &'a Sqlite,
    is_surprised: &'a mut bool,
}

impl Writer for RowWriter<'_> {
    type Statement = String;

    /// The rows of a statement that fails need not be undone alone, because the whole transaction is. Otherwise SQLite would
    /// keep a copy of every page that they touch.
    fn prepare(&mut self, sql: &str) -> Result<String, StoreError> {
        Ok(words(sql).replacen("INSERT INTO", "INSERT OR FAIL INTO", 1))
    }

    fn add(&mut self, statement: &String, params: Vec<Owned>, rows: u64) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(statement)?;
        let added = statement.execute(rusqlite::params_from_iter(params));
        // Whoever hears of an error may be another than the one whose row is missing.
        *self.is_surprised |= !matches!(added, Ok(added) if added as u64 == rows);
        added?;
        Ok(())
    }
}

/// How large the database is by its own account.
pub fn claimed_size(connection: &Sqlite) -> Option<u64> {
    let number = |pragma| connection.query_row(pragma, [], |row| row.get::<_, i64>(0)).ok();
    let bytes = number("PRAGMA page_count")?.checked_mul(number("PRAGMA page_size")?)?;
    u64::try_from(bytes).ok()
}

/// The step from a fresh file to this mode does not wait for others who take it too, so it is tried again here.
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
    const BEGINS_AGAIN: bool = false;
    // To look first costs little here, and to run a batch twice much.
    const CAUTION: u32 = 200;
    const IS_SHARED: bool = false;

    fn begin_write(&mut self, is_bold: bool) -> Result<(), StoreError> {
        self.is_bold = is_bold;
        self.is_surprised = false;
        self.stacks.clear();
        if let (Some(files), Some(relief)) = (&self.files, &self.relief) {
            // A commit writes behind the end that the log should have, so that afterwards its size tells nothing.
            files.check_log(relief.log_bytes(), || relief.count_log_bytes(&self.connection))?;
        }
        self.command("BEGIN IMMEDIATE")
    }

    fn begin_read(&mut self) -> Result<(), StoreError> {
        self.command("BEGIN")
    }

    fn command(&mut self, sql: &'static str) -> Result<(), StoreError> {
        if sql == "ROLLBACK" {
            // What still waited to be written belonged to it.
            self.stacks.clear();
        }
        self.connection.prepare_cached(sql)?.execute([])?;
        match &self.files {
            // What went into a file that nobody will find again must not be acknowledged.
            Some(files) if sql == "COMMIT" => files.check(|| claimed_size(&self.connection)),
            _ => Ok(()),
        }
    }

    fn is_as_expected(&mut self) -> bool {
        self.unstack().is_ok() && !self.is_surprised
    }

    fn tx(&mut self) -> Tx<'_> {
        Tx::new(Session::Sqlite(self))
    }

    fn in_transaction(&mut self) -> bool {
        !self.connection.is_autocommit()
    }

    fn after_answers(&mut self) {
        if let Some(relief) = &mut self.relief
            && relief.relieve(&self.connection)
            && let Err(error) = self.connection.busy_timeout(BUSY_TIMEOUT)
        {
            tracing::warn!(%error, "the writer does not wait for others");
        }
    }

    fn revive(&mut self) -> Result<(), StoreError> {
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK")?;
        }
        Ok(())
    }
}

impl Migrator for SqliteSession {
    fn exclusively(
        &mut self,
        work: &mut dyn FnMut(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = work(self);
        self.connection
            .execute_batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        done
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch(&words(sql))?)
    }

    fn transaction(&mut self) -> Tx<'_> {
        self.tx()
    }
}
