//! The data folder and its key file: private, durable before anything is sealed with the key, and never accepted beside a
//! missing database.

use super::start_error::StartError;
use crate::config::{Settings, parse_key};
use garson_core::secret::Secret;
use garson_store::{Location, engine::sync_folder_of};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Creates the data folder for its owner only, unless it exists.
pub fn prepare_folder(data: &Path) -> Result<(), StartError> {
    let missing: Vec<&Path> = data
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .collect();
    let made = match data.parent() {
        _ if data.is_dir() => return Ok(()),
        Some(parent) if !parent.as_os_str().is_empty() => std::fs::create_dir_all(parent),
        _ => Ok(()),
    };
    let made = made.and_then(|()| std::fs::DirBuilder::new().mode(0o700).create(data));
    match made {
        // Another program may have started at the same time.
        Err(error) if error.kind() != ErrorKind::AlreadyExists || !data.is_dir() => Err(StartError(format!(
            "the data folder {} cannot be created: {error}",
            data.display()
        ))),
        // The folder itself must survive a power failure, like the orders acknowledged in it.
        _ => missing
            .into_iter()
            .try_for_each(|folder| sync_folder_of(folder).map_err(StartError::new)),
    }
}

/// The path of the key file; none when the settings give the key itself.
fn path_of(settings: &Settings) -> Option<PathBuf> {
    if !settings.master_key.expose().is_empty() {
        return None;
    }
    if settings.master_key_file.as_os_str().is_empty() {
        return Some(own_path(settings));
    }
    Some(settings.master_key_file.clone())
}

/// The key file in the data folder.
fn own_path(settings: &Settings) -> PathBuf {
    settings.data.join("master.key")
}

/// Is the key in the data folder, where this program creates it, rather than given by the operator?
pub fn is_own(settings: &Settings) -> bool {
    path_of(settings).is_some_and(|path| path == own_path(settings))
}

/// The key file, if others can read or change it, with the permissions that it may have. A secret that is mounted into a container
/// often belongs to root and is read by its group.
pub fn exposed(settings: &Settings) -> Option<(PathBuf, &'static str)> {
    let path = path_of(settings)?;
    let (refused, allowed) = if is_own(settings) {
        (0o077, "600")
    } else {
        (0o037, "440")
    };
    let metadata = std::fs::metadata(&path).ok()?;
    (metadata.permissions().mode() & refused != 0).then_some((path, allowed))
}

/// Refuses a key file that others can read: with it they can open every secret in the database and in its backups.
pub fn refuse_exposed(settings: &Settings) -> Result<(), StartError> {
    match exposed(settings) {
        None => Ok(()),
        Some((path, allowed)) => Err(StartError(format!(
            "the key file {path} can be read or changed by other users, and with it every secret in the database. Run: \
             chmod {allowed} {path}",
            path = path.display()
        ))),
    }
}

/// Refuses a key file without its database. The key file is created after the database, so a missing database was removed or
/// its volume is not mounted; starting with an empty one would look as if all orders were lost.
pub fn refuse_missing_database(settings: &Settings) -> Result<(), StartError> {
    let (Location::Sqlite(database), true) = (settings.location(), is_own(settings)) else {
        return Ok(());
    };
    let key = own_path(settings);
    // In this order: a process that is creating both creates the database first.
    let has_key = key.exists();
    let has_database = std::fs::metadata(&database).is_ok_and(|file| file.len() > 0);
    if !has_key || has_database {
        return Ok(());
    }
    Err(StartError(format!(
        "the key file {} exists, but its database {} is missing or empty: restore the database, or move the key file away to \
         start with an empty one (to keep this key, set it as GARSON_MASTER_KEY)",
        key.display(),
        database.display()
    )))
}

/// The operator's master key, or the one in the key file, which is created when nothing is sealed yet.
pub fn master_key(settings: &Settings, is_sealed: bool) -> Result<Secret<[u8; 32]>, StartError> {
    let Some(path) = path_of(settings) else {
        return parse_key(settings.master_key.expose())
            .ok_or_else(|| StartError("master_key must be 64 hexadecimal digits".to_owned()));
    };
    if !is_sealed && is_own(settings) {
        create_unless_present(&path)?;
        // Also when another process has just created it: the key must be durable before this one seals with it.
        sync_folder_of(&path).map_err(StartError::new)?;
    }
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(StartError(format!(
                "the key file {} is missing: put it back, or set GARSON_MASTER_KEY",
                path.display()
            )));
        }
        read => read.map_err(|error| {
            StartError(format!("the key file {} cannot be read: {error}", path.display()))
        })?,
    };
    parse_key(text.trim()).ok_or_else(|| {
        StartError(format!(
            "the key file {} does not hold 64 hexadecimal digits",
            path.display()
        ))
    })
}

/// A new key.
#[expect(clippy::disallowed_methods, reason = "needs real randomness")]
pub fn random_key() -> Result<Secret<[u8; 32]>, StartError> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).map_err(StartError::new)?;
    Ok(Secret::new(bytes))
}

/// Writes a key durably beside the file that it is for.
fn write_draft(path: &Path, key: &Secret<[u8; 32]>) -> std::io::Result<PathBuf> {
    let hex = Secret::new(
        key.expose()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>(),
    );
    let draft = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    // A crashed process with the same id may have left a draft.
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(&draft)?;
    let line = Secret::new(format!("{}\n", hex.expose()));
    file.write_all(line.expose().as_bytes())?;
    file.sync_all()?;
    Ok(draft)
}

/// Replaces the key in the data folder. At any time there is either the old or the new one.
pub fn replace(settings: &Settings, key: &Secret<[u8; 32]>) -> Result<(), StartError> {
    let path = own_path(settings);
    let replaced = write_draft(&path, key).and_then(|draft| std::fs::rename(&draft, &path));
    replaced.map_err(|error| {
        StartError(format!(
            "the key file {} cannot be replaced: {error}",
            path.display()
        ))
    })?;
    sync_folder_of(&path).map_err(StartError::new)
}

/// Writes a new key atomically: two processes may start at the same time on an empty folder.
fn create_unless_present(path: &Path) -> Result<(), StartError> {
    if path.exists() {
        return Ok(());
    }
    let cannot = |error: std::io::Error| {
        StartError(format!(
            "the key file {} cannot be created: {error}",
            path.display()
        ))
    };
    let draft = write_draft(path, &random_key()?).map_err(cannot)?;
    // A hard link fails if the key exists: the first process wins.
    let linked = std::fs::hard_link(&draft, path);
    std::fs::remove_file(&draft).map_err(cannot)?;
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(cannot(error)),
        _ => Ok(()),
    }
}
