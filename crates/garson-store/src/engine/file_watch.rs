//! Checks that the files of a SQLite database are still those that were opened. SQLite does not notice when they are removed,
//! replaced or truncated: it continues with its open files, and what it acknowledges then is lost with the process.

use super::files::beside;
use crate::error::StoreError;
use parking_lot::Mutex;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The prefix of a line in a server's lock file that describes damage to the files of its database.
pub const TROUBLE: &str = "trouble: ";

/// A file name, and the identity of the file that had it when it was opened.
#[derive(Clone, Debug)]
pub struct KnownFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl KnownFile {
    /// The file that has this name now.
    pub fn named(path: &Path) -> Result<Self, StoreError> {
        Self::described(path, std::fs::metadata(path))
    }

    /// A file that is open under this name.
    pub fn opened(path: &Path, file: &File) -> Result<Self, StoreError> {
        Self::described(path, file.metadata())
    }

    fn described(path: &Path, about: std::io::Result<Metadata>) -> Result<Self, StoreError> {
        let about =
            about.map_err(|error| StoreError::unavailable(path.display().to_string()).caused_by(error))?;
        Ok(Self {
            path: path.to_owned(),
            device: about.dev(),
            inode: about.ino(),
        })
    }

    /// Its size, or what has happened to it; nothing when the file system returns an error.
    fn look(&self) -> Result<Option<u64>, String> {
        match std::fs::metadata(&self.path) {
            Ok(about) if (about.dev(), about.ino()) == (self.device, self.inode) => Ok(Some(about.len())),
            Ok(_) => Err(format!("{} was replaced by another file", self.path.display())),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Err(format!("{} was removed", self.path.display()))
            }
            Err(_) => Ok(None),
        }
    }

    /// Appends a line durably, unless another file has the name now.
    fn append(&self, line: &str) -> std::io::Result<()> {
        let mut file = OpenOptions::new().append(true).open(&self.path)?;
        let about = file.metadata()?;
        if (about.dev(), about.ino()) == (self.device, self.inode) {
            writeln!(file, "{line}")?;
            file.sync_all()?;
        }
        Ok(())
    }
}

/// The files of an open database. Once one of them was found changed, nothing is read or written any more: only a new process
/// can find out what is left.
#[derive(Debug)]
pub struct WatchedFiles {
    database: KnownFile,
    /// The log and its index.
    beside: [KnownFile; 2],
    /// The lock file of the server that uses them.
    lock: OnceLock<KnownFile>,
    /// The database's size at the last check.
    size: Mutex<u64>,
    trouble: OnceLock<StoreError>,
}

impl WatchedFiles {
    /// The files of a database that is open.
    pub fn of(database: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            database: KnownFile::named(database)?,
            beside: [
                KnownFile::named(&beside(database, "-wal"))?,
                KnownFile::named(&beside(database, "-shm"))?,
            ],
            lock: OnceLock::new(),
            size: Mutex::new(0),
            trouble: OnceLock::new(),
        })
    }

    /// Watches the file of a server's lock too.
    pub fn watch_lock(&self, lock: KnownFile) {
        // Only the first one counts.
        let _ = self.lock.set(lock);
    }

    /// The error of an earlier check.
    pub fn trouble(&self) -> Option<&StoreError> {
        self.trouble.get()
    }

    /// Checks all of them; an error is permanent. `claimed` returns the database's size by its own page count.
    pub fn check(&self, claimed: impl FnOnce() -> Option<u64>) -> Result<(), StoreError> {
        self.remember(|| self.look(claimed))
    }

    /// Checks that the log has at least the expected size; an error is permanent. Another process may have restarted it by a
    /// checkpoint: `claimed` returns its size by SQLite's own count.
    pub fn check_log(
        &self,
        expected: u64,
        claimed: impl FnOnce() -> Result<u64, StoreError>,
    ) -> Result<(), StoreError> {
        let size = || Ok::<_, String>(self.log().look()?.unwrap_or(u64::MAX));
        let claimed = match size() {
            Ok(size) if size < expected => claimed()?,
            _ => return Ok(()),
        };
        self.remember(|| match size()? {
            size if size < claimed => {
                let path = self.log().path.display();
                Err(format!("{path} was truncated from {claimed} to {size} bytes"))
            }
            _ => Ok(()),
        })
    }

    fn log(&self) -> &KnownFile {
        let [log, _index] = &self.beside;
        log
    }

    fn remember(&self, look: impl FnOnce() -> Result<(), String>) -> Result<(), StoreError> {
        if let Some(error) = self.trouble() {
            return Err(error.clone());
        }
        look().map_err(|what| {
            let error = self.trouble.get_or_init(|| {
                tracing::error!(
                    "{what} while it was in use: nothing is read or written until the server is restarted"
                );
                self.note(&what);
                StoreError::unavailable(format!("{what} while it was in use"))
            });
            error.clone()
        })
    }

    /// Tells the next server, which may not notice the damage.
    fn note(&self, what: &str) {
        let noted = self
            .lock
            .get()
            .map_or(Ok(()), |lock| lock.append(&format!("{TROUBLE}{what}")));
        if let Err(error) = noted {
            tracing::warn!(%error, "the damage cannot be recorded for the next server");
        }
    }

    fn look(&self, claimed: impl FnOnce() -> Option<u64>) -> Result<(), String> {
        for file in self.beside.iter().chain(self.lock.get()) {
            file.look()?;
        }
        // Locked during the check, so that sizes are compared in the order in which they were read.
        let mut known = self.size.lock();
        let Some(size) = self.database.look()? else {
            return Ok(());
        };
        let before = std::mem::replace(&mut *known, size);
        // VACUUM makes it smaller too, but then its own page count is smaller as well.
        if size < before && claimed().is_some_and(|claimed| claimed >= before) {
            return Err(format!(
                "{} was truncated from {before} to {size} bytes",
                self.database.path.display()
            ));
        }
        Ok(())
    }
}
