//! One server for a data folder: a lock on a file beside the database, held as long as the process lives.

use crate::{Result, StoreError};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

/// Holds the folder until dropped; the system releases it when the process dies, however that happens.
#[derive(Debug)]
pub struct ServerLock {
    _file: File,
}

impl ServerLock {
    /// Takes the lock beside a database file, or says that another server has it.
    pub fn take(database: &Path) -> Result<Self> {
        // The lock lies beside the file itself, not beside a link to it.
        let real = database.canonicalize();
        let path = real.as_deref().unwrap_or(database).with_extension("lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| StoreError::unavailable(format!("cannot open {}: {error}", path.display())))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::refused(format!(
                "another garson server is using {}; stop it first, or choose another data folder",
                database.display()
            ))),
            Err(TryLockError::Error(error)) => Err(StoreError::unavailable(format!(
                "cannot lock {}: {error}",
                path.display()
            ))),
        }
    }
}
