//! The files of a SQLite database in the file system.

use crate::error::StoreError;
use parking_lot::Mutex;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Held while a database file is created, see [`create_private`].
static CREATING: Mutex<()> = Mutex::new(());

/// Creates an empty file, unless it exists; returns whether it did. Only its owner can read and write it, since it will contain
/// personal data. SQLite gives the files beside a database (log and index) the same mode.
///
/// An existing file is never opened here: closing any descriptor of a file drops all POSIX locks that the process has on it,
/// SQLite's included. Another process would then consider itself the last user of the database, and delete the log that this
/// one is still writing to.
pub fn create_private(path: &Path) -> Result<bool, StoreError> {
    // Another thread must not open the database before the descriptor that created it is closed.
    let _one_at_a_time = CREATING.lock();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(file) => {
            drop(file);
            sync_folder_of(path)?;
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => {
            Err(StoreError::unavailable(format!("{} cannot be created", path.display())).caused_by(error))
        }
    }
}

/// Makes the names of the files beside a path durable, its own included.
pub fn sync_folder_of(path: &Path) -> Result<(), StoreError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| {
            StoreError::unavailable(format!("the folder {} cannot be made durable", folder.display()))
                .caused_by(error)
        })
}

/// The name of a file that SQLite keeps beside a database: beside the file itself, not beside a link to it.
pub fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database
        .canonicalize()
        .unwrap_or_else(|_| database.to_owned())
        .into_os_string();
    name.push(suffix);
    name.into()
}

/// A path as a URI that SQLite understands.
pub fn uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(*byte));
            }
            byte => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri
}

/// The URI of a database that no program has open: SQLite then creates no files beside it.
pub fn immutable_uri(path: &Path) -> String {
    format!("{}?immutable=1", uri(path))
}

/// Refuses to create an empty database beside an existing log, which SQLite would delete.
pub fn refuse_orphaned_log(database: &Path) -> Result<(), StoreError> {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |about| about.len());
    let log = beside(database, "-wal");
    if size(database) > 0 || size(&log) == 0 {
        return Ok(());
    }
    Err(StoreError::refused(format!(
        "{} is there, but its database {} is missing or empty: put it back, or move the log away to start with an empty one",
        log.display(),
        database.display()
    )))
}
