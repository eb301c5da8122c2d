//! One server per data folder: a lock on a file beside the database, held as long as the process lives.
//!
//! The file also tells whether a server is running: its content is written at start and removed at an orderly shutdown. A server
//! that finds content there knows that the last one crashed, or its machine.

use super::file_watch::{KnownFile, TROUBLE};
use crate::error::StoreError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Locks the folder until dropped; the operating system releases the lock when the process dies.
#[derive(Debug)]
pub struct ServerLock {
    file: File,
    path: PathBuf,
    is_after_crash: bool,
    trouble: Option<String>,
}

impl ServerLock {
    /// Takes the lock beside a database file, or fails if another server has it.
    pub fn take(database: &Path) -> Result<Self, StoreError> {
        // The lock is beside the file itself, not beside a link to it.
        let real = database.canonicalize();
        let path = real.as_deref().unwrap_or(database).with_extension("lock");
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(|error| {
                StoreError::unavailable(format!("cannot open {}", path.display())).caused_by(error)
            })?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::refused(format!(
                    "another garson server is using {}; stop it first, or choose another data folder",
                    database.display()
                )));
            }
            Err(TryLockError::Error(error)) => {
                return Err(
                    StoreError::unavailable(format!("cannot lock {}", path.display())).caused_by(error)
                );
            }
        }
        let mut notes = Vec::new();
        if let Err(error) = file.read_to_end(&mut notes) {
            return Err(StoreError::unavailable(format!("cannot read {}", path.display())).caused_by(error));
        }
        let is_after_crash = !notes.is_empty();
        let notes = String::from_utf8_lossy(&notes);
        let trouble = notes.lines().find_map(|line| line.strip_prefix(TROUBLE));
        Ok(Self {
            file,
            path,
            is_after_crash,
            trouble: trouble.map(ToOwned::to_owned),
        })
    }

    /// Did the last server end without closing the database?
    #[must_use]
    pub fn is_after_crash(&self) -> bool {
        self.is_after_crash
    }

    /// The damage that the last server found in the files of its database, if any.
    #[must_use]
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Records durably that a server is running.
    pub fn begin(&mut self) -> Result<(), StoreError> {
        let written = self.file.set_len(0).and_then(|()| {
            self.file.rewind()?;
            writeln!(self.file, "a server is at work: process {}", std::process::id())?;
            self.file.sync_all()
        });
        written.map_err(|error| self.cannot_write(error))
    }

    /// Records that the database was closed in an orderly way.
    pub fn end(self) -> Result<(), StoreError> {
        let written = self.file.set_len(0).and_then(|()| self.file.sync_all());
        written.map_err(|error| self.cannot_write(error))
    }

    /// The identity of the lock file.
    pub(super) fn known_file(&self) -> Result<KnownFile, StoreError> {
        KnownFile::opened(&self.path, &self.file)
    }

    fn cannot_write(&self, error: std::io::Error) -> StoreError {
        StoreError::unavailable(format!("cannot write {}", self.path.display())).caused_by(error)
    }
}
