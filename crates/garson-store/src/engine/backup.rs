//! Backups of a database in use: made, verified and restored.
//!
//! - **SQLite**: a copy of the database in one file. **PostgreSQL**: an archive of `pg_dump`, which `pg_restore` reads.
//! - A backup gets its name only when it is complete, verified and durable: what an interrupted one leaves must not look like a backup.
//! - The format of a file is recognised by its first bytes, not by its name.

mod draft;
mod pg_tools;

use super::files::{beside, immutable_uri};
use crate::error::{StoreError, StoreErrorKind};
pub use draft::UNFINISHED;

use draft::{Draft, cannot_write};
use garson_core::secret::Secret;
use pg_tools::PgTools;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Pages of a SQLite database that are copied at once, and the pause before the next ones: writers need the disk too.
const PAGES: i32 = 1_000;
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
pub(super) fn copy_sqlite(source: &Connection, to: &Path, stopping: &AtomicBool) -> Result<(), StoreError> {
    let draft = Draft::of(to)?;
    // One snapshot: without it, each commit of another connection restarts the copy, and on a busy server it would never end.
    source.execute_batch("BEGIN; SELECT COUNT(*) FROM sqlite_schema")?;
    let mut target = Connection::open(draft.path())?;
    let copy = Backup::new(source, &mut target)?;
    while copy.step(PAGES)? != StepResult::Done {
        if stopping.load(Ordering::Relaxed) {
            return Err(StoreError::unavailable("the backup was interrupted"));
        }
        std::thread::sleep(PAUSE);
    }
    drop(copy);
    target.close().map_err(|(_, error)| error)?;
    check_sqlite(draft.path())?;
    draft.finish()
}

/// Writes an archive of a PostgreSQL database into a new file.
pub(super) fn dump_postgres(
    url: &Secret<String>,
    to: &Path,
    stopping: &AtomicBool,
) -> Result<(), StoreError> {
    let draft = Draft::of(to)?;
    let tools = PgTools::of(url)?;
    tools.dump(draft.path(), stopping)?;
    tools.read_through(draft.path(), stopping)?;
    draft.finish()
}

/// Reads a whole backup and fails if it is damaged. For SQLite this includes the structure of the database; for PostgreSQL only that
/// the archive is complete.
pub fn verify_backup(file: &Path) -> Result<BackupFormat, StoreError> {
    let format = BackupFormat::of(file)?;
    let read = match format {
        BackupFormat::Sqlite => check_sqlite(file),
        BackupFormat::Postgres => PgTools::without_server().read_through(file, &AtomicBool::new(false)),
    };
    match read {
        Ok(()) => Ok(format),
        // The tools are missing, which says nothing about the file.
        Err(error) if error.kind == StoreErrorKind::Refused => Err(error),
        Err(error) => Err(StoreError::corrupt(format!("{} is damaged", file.display())).caused_by(error)),
    }
}

/// Makes a SQLite database from a backup. There must be none at this path.
pub fn restore_sqlite(backup: &Path, database: &Path) -> Result<(), StoreError> {
    for suffix in ["-wal", "-journal"] {
        let other = beside(database, suffix);
        if other.symlink_metadata().is_ok() {
            return Err(StoreError::refused(format!(
                "{} belongs to another database: move it away",
                other.display()
            )));
        }
    }
    let draft = Draft::of(database)?;
    let copied = File::open(backup).and_then(|mut from| {
        let mut to = File::options().write(true).open(draft.path())?;
        std::io::copy(&mut from, &mut to)
    });
    copied.map_err(|error| cannot_write(draft.path(), error))?;
    check_sqlite(draft.path())?;
    draft.finish()
}

/// Restores a backup into an empty PostgreSQL database: completely or not at all.
pub fn restore_postgres(backup: &Path, url: &Secret<String>) -> Result<(), StoreError> {
    PgTools::of(url)?.restore(backup)
}

/// Restores a backup into a new database on the same server, and removes it after `look`, which gets its URL.
pub fn restore_for_a_look<T>(
    backup: &Path,
    url: &Secret<String>,
    look: impl FnOnce(&Secret<String>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let name = format!("garson_verify_{}", uuid::Uuid::now_v7().simple());
    let temporary = PgTools::of(url)?.create(&name)?;
    temporary.tools().restore(backup)?;
    let separator = if url.expose().contains('?') { '&' } else { '?' };
    look(&Secret::new(format!("{}{separator}dbname={name}", url.expose())))
}

/// Fails if a SQLite database is damaged. Nobody may be writing to it.
fn check_sqlite(file: &Path) -> Result<(), StoreError> {
    let connection = Connection::open_with_flags(
        immutable_uri(file),
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    let found: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if found != "ok" {
        return Err(StoreError::corrupt(found));
    }
    Ok(())
}

fn cannot_read(path: &Path, error: std::io::Error) -> StoreError {
    StoreError::unavailable(format!("{} cannot be read", path.display())).caused_by(error)
}
