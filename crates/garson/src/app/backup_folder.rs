//! The folder of backups: their names, their ages, and which of them are no longer kept.

use garson_core::time::Timestamp;
use garson_store::engine::{BackupFormat, UNFINISHED};
use parking_lot::Mutex;
use std::cmp::Reverse;
use std::fs::{File, TryLockError};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;

const PREFIX: &str = "garson-";
/// Held while a backup is made in the folder: several nodes may have it.
const LOCK: &str = "garson-backup.lock";
/// What has not been written to for so long is what an interrupted backup has left.
const ABANDONED: Duration = Duration::from_secs(24 * 3_600);

/// A backup in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupFile {
    pub path: PathBuf,
    pub made_at: Timestamp,
}

/// When the newest scheduled backup was made, as far as this process knows.
#[derive(Debug, Default)]
pub struct NewestBackup(Mutex<Option<Timestamp>>);

impl NewestBackup {
    pub fn set(&self, at: Option<Timestamp>) {
        *self.0.lock() = at;
    }

    #[must_use]
    pub fn at(&self) -> Option<Timestamp> {
        *self.0.lock()
    }
}

/// The file of a backup that begins now.
pub fn new_file(folder: &Path, format: BackupFormat, now: Timestamp) -> PathBuf {
    folder.join(format!("{}.{}", stem(now), format.extension()))
}

/// Colons are not allowed in names everywhere.
fn stem(at: Timestamp) -> String {
    format!("{PREFIX}{}", at.to_string().replace(':', "-"))
}

/// The backups in a folder, the newest first; none if there is no folder. Other files are left alone. Those with a time in the future
/// come last: the clock was set back since, and a new backup is newer.
pub fn list(folder: &Path, now: Timestamp) -> Result<Vec<BackupFile>> {
    let mut found = Vec::new();
    for path in files(folder)? {
        if let Some(made_at) = time_in_name(&path) {
            found.push(BackupFile { path, made_at });
        }
    }
    found.sort_unstable_by_key(|file| (file.made_at > now, Reverse(file.made_at)));
    Ok(found)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read?.map(|entry| entry.map(|entry| entry.path())).collect(),
    }
}

/// When a backup was made, by its name; none for a name that this program does not give.
fn time_in_name(path: &Path) -> Option<Timestamp> {
    let found = path.file_stem()?.to_str()?;
    let (day, time) = found.strip_prefix(PREFIX)?.split_once('T')?;
    let at: Timestamp = format!("{day}T{}", time.replace('-', ":")).parse().ok()?;
    let formats = [BackupFormat::Sqlite, BackupFormat::Postgres];
    let is_known = formats
        .iter()
        .any(|format| path.extension() == Some(format.extension().as_ref()));
    (is_known && stem(at) == found).then_some(at)
}

/// When the newest backup was made, leaving out those with a time in the future.
pub fn newest(folder: &Path, now: Timestamp) -> Result<Option<Timestamp>> {
    let newest = list(folder, now)?.into_iter().next();
    Ok(newest.map(|file| file.made_at).filter(|at| *at <= now))
}

/// Takes the lock of a folder, so that one process at a time makes a backup there; none if another one has it.
pub fn try_lock(folder: &Path) -> Result<Option<File>> {
    let file = File::create(folder.join(LOCK))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Deletes all but the newest backups. Returns how many.
pub fn remove_old(folder: &Path, keep: usize, now: Timestamp) -> Result<usize> {
    let mut removed = 0;
    for old in list(folder, now)?.into_iter().skip(keep.max(1)) {
        removed += usize::from(remove(&old.path)?);
    }
    Ok(removed)
}

/// Deletes what interrupted backups have left.
pub fn remove_abandoned(folder: &Path) -> Result<()> {
    for path in files(folder)? {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if !name.starts_with(PREFIX) || !name.contains(UNFINISHED) {
            continue;
        }
        // Another process may be writing or renaming it.
        let written = std::fs::metadata(&path).and_then(|about| about.modified());
        if written.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > ABANDONED)) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Deletes a file; `false` if it is gone already.
fn remove(path: &Path) -> Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::new(error.kind(), format!("{}: {error}", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn only_own_names_are_backups() {
        let folder = tempfile::tempdir().unwrap();
        let newest = new_file(
            folder.path(),
            BackupFormat::Sqlite,
            at("2026-03-01T10:00:00.123Z"),
        );
        assert!(
            newest.ends_with("garson-2026-03-01T10-00-00.123Z.db"),
            "{newest:?}"
        );
        for name in [
            "garson-2026-03-01T10-00-00.123Z.db",
            "garson-2026-02-27T10-00-00.000Z.dump",
            "garson-2026-02-28T10-00-00.000Z.db",
            "garson-2026-02-26T10-00-00.000Z.db.0199.unfinished",
            "garson-2026-02-26T10-00-00.000Z.txt",
            "garson-2026-02-26T10-00-00Z.db",
            "garson-before-the-upgrade.db",
            "garson.db",
            "notes-2026-02-26T10-00-00.000Z.db",
        ] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let times = |folder: &Path| {
            let files = list(folder, at("2026-03-02T00:00:00.000Z")).unwrap();
            files
                .iter()
                .map(|file| file.made_at.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            times(folder.path()),
            [
                "2026-03-01T10:00:00.123Z",
                "2026-02-28T10:00:00.000Z",
                "2026-02-27T10:00:00.000Z"
            ]
        );
        assert_eq!(
            remove_old(folder.path(), 2, at("2026-03-02T00:00:00.000Z")).unwrap(),
            1
        );
        assert_eq!(times(folder.path()).len(), 2);
        // A backup may be in progress, and the rest is not ours.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 8);
        let none = folder.path().join("none");
        assert_eq!(list(&none, at("2026-03-02T00:00:00.000Z")).unwrap(), []);
    }

    #[test]
    fn backups_of_the_future_are_the_oldest() {
        let folder = tempfile::tempdir().unwrap();
        let now = at("2026-03-01T10:00:00.000Z");
        assert_eq!(newest(folder.path(), now).unwrap(), None);
        let times = [
            "2026-02-27T10:00:00.000Z",
            "2026-03-01T10:00:00.001Z",
            "2027-03-01T10:00:00.000Z",
        ];
        for time in times {
            std::fs::write(new_file(folder.path(), BackupFormat::Sqlite, at(time)), "").unwrap();
        }
        assert_eq!(newest(folder.path(), now).unwrap(), Some(at(times[0])));
        // The one that was just made stays, whatever the others say.
        assert_eq!(remove_old(folder.path(), 1, now).unwrap(), 2);
        let left = list(folder.path(), now).unwrap();
        assert_eq!((left.len(), left[0].made_at), (1, at(times[0])));
    }
}
