//! One server for a data folder: a lock on a file beside the database, held as long as the process lives.
//!
//! The file says whether a server is at work: what is written in it at the beginning is removed at an orderly end. A server
//! that finds it there knows that the last one was killed, or its machine.

use crate::engine::{KnownFile, TROUBLE};
use crate::{Result, StoreError};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Holds the folder until dropped; the system releases it when the process dies, however that happens.
#[derive(Debug)]
pub struct ServerLock {
    file: File,
    path: PathBuf,
    is_after_crash: bool,
    trouble: Option<String>,
}

impl ServerLock {
    /// Takes the lock beside a database file, or says that another server has it.
    pub fn take(database: &Path) -> Result<Self> {
        // The lock lies beside the file itself, not beside a link to it.
        let real = database.canonicalize();
        let path = real.as_deref().unwrap_or(database).with_extension("lock");
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(|error| StoreError::unavailable(format!("cannot open {}: {error}", path.display())))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::refused(format!(
                    "another garson server is using {}; stop it first, or choose another data folder",
                    database.display()
                )));
            }
            Err(TryLockError::Error(error)) => {
                return Err(StoreError::unavailable(format!(
                    "cannot lock {}: {error}",
                    path.display()
                )));
            }
        }
        let mut notes = Vec::new();
        if let Err(error) = file.read_to_end(&mut notes) {
            return Err(StoreError::unavailable(format!(
                "cannot read {}: {error}",
                path.display()
            )));
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

    /// What the last server found wrong with the files of its database, if it did.
    #[must_use]
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Notes that a server is at work, durably.
    pub fn begin(&mut self) -> Result<()> {
        let written = self.file.set_len(0).and_then(|()| {
            self.file.rewind()?;
            writeln!(self.file, "a server is at work: process {}", std::process::id())?;
            self.file.sync_all()
        });
        written.map_err(|error| self.cannot_write(&error))
    }

    /// Notes that the database has been closed in an orderly way.
    pub fn end(self) -> Result<()> {
        let written = self.file.set_len(0).and_then(|()| self.file.sync_all());
        written.map_err(|error| self.cannot_write(&error))
    }

    /// Which file it is.
    pub(crate) fn known_file(&self) -> Result<KnownFile> {
        KnownFile::opened(&self.path, &self.file)
    }

    fn cannot_write(&self, error: &std::io::Error) -> StoreError {
        StoreError::unavailable(format!("cannot write {}: {error}", self.path.display()))
    }
}
