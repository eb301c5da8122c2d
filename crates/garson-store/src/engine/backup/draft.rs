//! A file that is being written and gets its name when it is complete.

use crate::engine::files::{beside, create_private, sync_folder_of};
use crate::error::StoreError;
use std::fs::File;
use std::path::{Path, PathBuf};

/// How the names of unfinished files end.
pub const UNFINISHED: &str = ".unfinished";

/// A file in progress; deleted if it is not finished.
pub struct Draft {
    path: PathBuf,
    to: PathBuf,
}

impl Draft {
    /// An empty file beside the one that it is to become, which must not exist.
    pub fn of(to: &Path) -> Result<Self, StoreError> {
        refuse_existing(to)?;
        Self::beside(to)
    }

    /// The same; the other file must be gone when this one is finished.
    pub fn beside(to: &Path) -> Result<Self, StoreError> {
        let mut name = to.as_os_str().to_owned();
        name.push(format!(".{}{UNFINISHED}", uuid::Uuid::now_v7().simple()));
        let path = PathBuf::from(name);
        create_private(&path)?;
        Ok(Self {
            path,
            to: to.to_owned(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it is to become.
    pub fn to(&self) -> &Path {
        &self.to
    }

    /// Makes its contents durable.
    pub fn sync(&self) -> Result<(), StoreError> {
        File::open(&self.path)
            .and_then(|file| file.sync_all())
            .map_err(|error| cannot_write(&self.path, error))
    }

    /// Makes it durable and gives it its name.
    pub fn finish(self) -> Result<(), StoreError> {
        self.sync()?;
        refuse_existing(&self.to)?;
        std::fs::rename(&self.path, &self.to).map_err(|error| cannot_write(&self.to, error))?;
        sync_folder_of(&self.to)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            // Most of them do not exist.
            let _ = std::fs::remove_file(beside(&self.path, suffix));
        }
    }
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
