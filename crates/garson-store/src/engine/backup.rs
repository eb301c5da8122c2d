//! Copies of a SQLite database that is in use.

use super::files::{beside, create_private, sync_folder_of};
use crate::error::StoreError;
use rusqlite::Connection;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Copies the database of a connection into a new file, which gets its name only when it is complete and durable: what an
/// interrupted copy leaves must not look like a backup.
pub fn copy_to(source: &Connection, to: &Path) -> Result<(), StoreError> {
    refuse_existing(to)?;
    let draft = Draft::beside(to)?;
    draft.fill(source)?;
    File::open(&draft.0)
        .and_then(|file| file.sync_all())
        .map_err(|error| cannot_write(&draft.0, error))?;
    refuse_existing(to)?;
    std::fs::rename(&draft.0, to).map_err(|error| cannot_write(to, error))?;
    sync_folder_of(to)
}

fn refuse_existing(to: &Path) -> Result<(), StoreError> {
    if to.symlink_metadata().is_ok() {
        return Err(StoreError::refused(format!("{} exists already", to.display())));
    }
    Ok(())
}

fn cannot_write(path: &Path, error: std::io::Error) -> StoreError {
    StoreError::unavailable(format!("{} cannot be written", path.display())).caused_by(error)
}

/// A copy in progress; deleted when it does not become a backup.
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
        // One snapshot: without it, each commit of another connection restarts the copy, and on a busy server it would never
        // end.
        source.execute_batch("BEGIN; SELECT COUNT(*) FROM sqlite_schema")?;
        let mut target = Connection::open(&self.0)?;
        let copy = rusqlite::backup::Backup::new(source, &mut target)?;
        copy.run_to_completion(1_000, Duration::from_millis(5), None)?;
        drop(copy);
        let found: String = target.query_row("PRAGMA quick_check", [], |row| row.get(0))?;
        if found != "ok" {
            return Err(StoreError::corrupt(format!("the copy is damaged: {found}")));
        }
        target.close().map_err(|(_, error)| error)?;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            // Most of them do not exist.
            let _ = std::fs::remove_file(beside(&self.0, suffix));
        }
    }
}
