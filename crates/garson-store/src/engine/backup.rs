//! Backups of a database in use: made, verified and restored.
//!
//! - **SQLite**: a copy of the database in one file. **PostgreSQL**: an archive of `pg_dump`, which `pg_restore` reads.
//! - A backup gets its name only when it is complete, verified and durable: what an interrupted one leaves must not look like a backup.
//! - The format of a file is recognised by its first bytes, not by its name.

mod draft;
mod pg_tools;

use super::files::{beside, immutable_uri, uri};
use super::progress::WorkProgress;
use crate::error::{StoreError, StoreErrorKind};
pub use draft::UNFINISHED;

use draft::Draft;
use garson_core::secret::Secret;
use pg_tools::PgTools;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// Pages of a SQLite database that are copied at once, and the pause before the next ones: writers need the disk too.
const PAGES: i32 = 1_000;
/// The size of a page, for what is shown of the progress only.
const PAGE_BYTES: u64 = 4096;
const PAUSE: Duration = Duration::from_millis(5);

/// What a backup is a backup of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupFormat {
    Sqlite,
    Postgres,
}

impl BackupFormat {
    /// The format of a file.
    pub fn of(file: &Path) -> Result<Self, StoreError> {
        let mut first = Vec::new();
        File::open(file)
            .and_then(|file| file.take(16).read_to_end(&mut first))
            .map_err(|error| cannot_read(file, error))?;
        if first == b"SQLite format 3\0" {
            Ok(Self::Sqlite)
        } else if first.starts_with(b"PGDMP") {
            Ok(Self::Postgres)
        } else {
            Err(StoreError::refused(format!(
                "{} is not a backup: neither a SQLite database nor an archive of pg_dump",
                file.display()
            )))
        }
    }

    /// How the names of such files end.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Sqlite => "db",
            Self::Postgres => "dump",
        }
    }
}

/// Copies the database of a connection into a new file.
pub(super) fn copy_sqlite(source: &Connection, to: &Path, progress: &WorkProgress) -> Result<(), StoreError> {
    let draft = Draft::of(to)?;
    copy_into(source, &draft, progress)?;
    draft.finish()
}

/// Copies a database, with its log, into a draft and checks the copy.
fn copy_into(source: &Connection, draft: &Draft, progress: &WorkProgress) -> Result<(), StoreError> {
    // One snapshot: without it, each commit of another connection restarts the copy, and on a busy server it would never end.
    source.execute_batch("BEGIN; SELECT COUNT(*) FROM sqlite_schema")?;
    // A path that looks like a URI would be taken for one.
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(uri(draft.path()), flags)?;
    let copy = Backup::new(source, &mut target)?;
    while copy.step(PAGES)? != StepResult::Done {
        let state = copy.progress();
        let pages = |count: i32| u64::try_from(count).unwrap_or_default() * PAGE_BYTES;
        progress.set(
            pages(state.pagecount - state.remaining),
            Some(pages(state.pagecount)),
        );
        if progress.is_stopping() {
            return Err(StoreError::unavailable("the copy was interrupted"));
        }
        std::thread::sleep(PAUSE);
    }
    drop(copy);
    // The log of the source cannot be reset while the snapshot is held.
    source.execute_batch("COMMIT")?;
    target.close().map_err(|(_, error)| error)?;
    check_sqlite(draft.path())
}

/// Writes an archive of a PostgreSQL database into a new file.
pub(super) fn dump_postgres(
    url: &Secret<String>,
    to: &Path,
    progress: &WorkProgress,
) -> Result<(), StoreError> {
    let draft = Draft::of(to)?;
    let tools = PgTools::of(url)?;
    tools.dump(draft.path(), progress)?;
    tools.read_through(draft.path(), progress)?;
    draft.finish()
}

/// Reads a whole backup and fails if it is damaged. For SQLite this includes the structure of the database; for PostgreSQL only that
/// the archive is complete.
pub fn verify_backup(file: &Path, progress: &WorkProgress) -> Result<BackupFormat, StoreError> {
    let format = BackupFormat::of(file)?;
    let read = match format {
        BackupFormat::Sqlite => check_sqlite(file),
        BackupFormat::Postgres => PgTools::without_server().read_through(file, progress),
    };
    match read {
        Ok(()) => Ok(format),
        // The tools are missing, which says nothing about the file.
        Err(error) if error.kind == StoreErrorKind::Refused => Err(error),
        Err(error) => Err(StoreError::corrupt(format!("{} is damaged", file.display())).caused_by(error)),
    }
}

/// A database that is complete and durable, and has not got its name yet. Dropped, it is deleted.
pub struct PreparedRestore(Draft);

impl PreparedRestore {
    /// Puts it in place. There must be no other database, nor the log of one.
    pub fn finish(self) -> Result<(), StoreError> {
        for suffix in ["-wal", "-journal"] {
            let other = beside(self.0.to(), suffix);
            if other.symlink_metadata().is_ok() {
                return Err(StoreError::refused(format!(
                    "{} belongs to another database: move it away",
                    other.display()
                )));
            }
        }
        self.0.finish()
    }
}

/// Makes a SQLite database from a backup, or from another database with its log, beside the path that it is for.
pub fn prepare_restore(
    backup: &Path,
    database: &Path,
    progress: &WorkProgress,
) -> Result<PreparedRestore, StoreError> {
    let draft = Draft::beside(database)?;
    copy_into(&open_to_read(backup)?, &draft, progress)?;
    draft.sync()?;
    Ok(PreparedRestore(draft))
}

/// Restores a backup into an empty PostgreSQL database: completely or not at all.
pub fn restore_postgres(
    backup: &Path,
    url: &Secret<String>,
    progress: &WorkProgress,
) -> Result<(), StoreError> {
    PgTools::of(url)?.restore(backup, progress)
}

/// Restores a backup into a new database on the same server, and removes it after `look`, which gets its URL.
pub fn restore_for_a_look<T>(
    backup: &Path,
    url: &Secret<String>,
    progress: &WorkProgress,
    look: impl FnOnce(&Secret<String>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let name = format!("garson_verify_{}", uuid::Uuid::now_v7().simple());
    let temporary = PgTools::of(url)?.create(&name)?;
    temporary.tools().restore(backup, progress)?;
    let separator = if url.expose().contains('?') { '&' } else { '?' };
    look(&Secret::new(format!("{}{separator}dbname={name}", url.expose())))
}

/// Fails if a SQLite database is damaged.
fn check_sqlite(file: &Path) -> Result<(), StoreError> {
    let connection = open_to_read(file)?;
    let found: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if found != "ok" {
        return Err(StoreError::corrupt(found));
    }
    // An empty file is a valid database.
    let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    if pages == 0 {
        return Err(StoreError::corrupt("it is empty"));
    }
    Ok(())
}

/// Opens a database that is not written to, with its log if it has one. Without a log, SQLite creates no files beside it.
fn open_to_read(file: &Path) -> Result<Connection, StoreError> {
    let has_log = std::fs::metadata(beside(file, "-wal")).is_ok_and(|about| about.len() > 0);
    let uri = if has_log { uri(file) } else { immutable_uri(file) };
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(uri, flags)?)
}

fn cannot_read(path: &Path, error: std::io::Error) -> StoreError {
    StoreError::unavailable(format!("{} cannot be read", path.display())).caused_by(error)
}
