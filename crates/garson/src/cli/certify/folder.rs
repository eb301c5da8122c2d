//! The temporary folder, and files that only their owner can read.

use super::super::command::{CommandError, Outcome};
use garson_core::clock::{Clock, SystemClock};
use garson_core::id::uuid_at;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A folder that is removed with the value.
pub struct Folder(PathBuf);

impl Folder {
    pub fn create() -> Result<Self, CommandError> {
        // The name is random, and the folder must not exist: nobody else has prepared it.
        let name = format!("garson-certify-{}", uuid_at(SystemClock.now()).simple());
        let path = std::env::temp_dir().join(name);
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| CommandError(format!("{} cannot be created: {error}", path.display())))?;
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("garson: {} cannot be removed: {error}", self.0.display());
        }
    }
}

/// Writes a file that only its owner can read.
pub fn write_private(path: &Path, text: &str) -> Outcome {
    let cannot = |error| CommandError(format!("{} cannot be written: {error}", path.display()));
    // An existing file may be readable by others, so it is replaced.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(cannot(error)),
        _ => {}
    }
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(cannot)?;
    file.write_all(text.as_bytes()).map_err(cannot)
}
