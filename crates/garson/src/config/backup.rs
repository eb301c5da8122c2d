//! Settings of backups by schedule.

use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Debug, Deserialize)]
pub struct BackupSettings {
    pub folder: PathBuf,
    pub every_hours: u32,
    pub keep: usize,
}

impl BackupSettings {
    /// The time between two backups.
    #[must_use]
    pub fn every(&self) -> Duration {
        Duration::from_secs(u64::from(self.every_hours) * 3_600)
    }
}
