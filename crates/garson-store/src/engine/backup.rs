//! Copies of a SQLite database that is in use.

use super::files::{beside, create_private, sync_folder_of};
use crate::error::StoreError;
use rusqlite::Connection;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Copies the database of a connection into a new file, which has its name only when it is whole and durable: a file that an
/// interrupted copy leaves must not be taken for a backup.
pub fn copy_to(source: &Connection, to: &Path) -> Result<(), StoreError> {
    refuse_existing(to)?;
    let draft = Draft::beside(to)?;
    draft.fill(source)?;
    File::open(&draft.0)
        .and_then(|file| file.sync_all())
        .map_err(|error| cannot(&draft.0, &error))?;
    refuse_existing(to)?;
    std::fs::rename(&draft.0, to).map_err(|error| cannot(to, &error))?;
    sync_folder_of(to)
}

fn refuse_existing(to: &Path) -> Result<(), StoreError> {
    match to.symlink_metadata() {
        Ok(_) => Err(StoreError::refused(format!("{} exists already", to.display()))),
        Err(_) => Ok(()),
    }
}

fn cannot(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::unavailable(format!("{} cannot be written: {error}", path.display()))
}

/// A copy under way. What has not become a backup is removed.
struct Draft(PathBuf);

impl Draft {
    fn beside(to: &Path) -> Result<Self, StoreError> {
        let mut name = to.as_os_str().to_owned();
        name.push(format!(".{}.unfinished", uuid::Uuid::now_v7().simple()));
        let path = PathBuf::from(name);
        create_private(&path)?;
        Ok(Self(path))
    }

    fn fill(&self, source: &Connection) -> Result<(), StoreError> {
        // One moment of the database: without this, each commit of others makes the copy start again, and on a busy
        // server it would never end.
        source.execute_batch("BEGIN; SELECT COUNT(*) FROM sqlite_schema")?;
        let mut target = Connection::open(&self.0)?;
        let copy = rusqlite::backup::Backup::new(source, &mut target)?;
        copy.run_to_completion(1_000, Duration::from_millis(5), None)?;
        drop(copy);
        let found: String = target.query_row("PRAGMA quick_check", [], |row| row.get(0))?;
        if found != "ok" {
            return Err(StoreError::corrupt(format!("the copy is not sound: {found}")));
        }
        target.close().map_err(|(_, error)| error)?;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            // Most of them are not there.
            let _gone = std::fs::remove_file(beside(&self.0, suffix));
        }
    }
}
