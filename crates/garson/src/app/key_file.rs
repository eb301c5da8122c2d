//! The data folder and the key file in it: private, durable before anything is sealed with it, and never left with an empty
//! database beside it.

use super::{StartError, start_error};
use crate::config::{Settings, parse_key};
use garson_core::secret::Secret;
use garson_store::{Location, engine::sync_folder_of};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Makes the data folder, for its owner only, unless it is there.
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
            "the data folder {} cannot be made: {error}",
            data.display()
        ))),
        // After a power failure the folder must be there as well as what was acknowledged in it.
        _ => missing
            .into_iter()
            .try_for_each(|folder| sync_folder_of(folder).map_err(start_error)),
    }
}

/// The key file, if it is the one that the settings lead to.
fn path_of(settings: &Settings) -> Option<PathBuf> {
    let is_given = !settings.master_key.expose().is_empty();
    (!is_given).then(|| settings.data.join("master.key"))
}

/// The key file, if others than its owner can read or change it.
pub fn exposed(settings: &Settings) -> Option<PathBuf> {
    let path = path_of(settings)?;
    let about = std::fs::metadata(&path).ok()?;
    (about.permissions().mode() & 0o077 != 0).then_some(path)
}

pub fn warn_if_exposed(settings: &Settings) {
    if let Some(path) = exposed(settings) {
        tracing::warn!(
            "the key file {} can be read by others, and with it every secret in the database: chmod 600 it",
            path.display()
        );
    }
}

/// A key file is made after the schema of its database. So where it is alone, the database was removed, or the folder that it
/// should be on is not mounted; an empty one in its place would look as if all orders were gone.
pub fn refuse_missing_database(settings: &Settings) -> Result<(), StartError> {
    let (Location::Sqlite(database), Some(key)) = (settings.location(), path_of(settings)) else {
        return Ok(());
    };
    // In this order: whoever makes both at this moment has the database before the key.
    let has_key = key.exists();
    let has_database = std::fs::metadata(&database).is_ok_and(|about| about.len() > 0);
    if !has_key || has_database {
        return Ok(());
    }
    Err(StartError(format!(
        "the key file {} is there, but the database {} that it belongs to is missing or empty: put the database back, or move \
         the key file away to begin anew (to begin anew with this key, give it as GARSON_MASTER_KEY)",
        key.display(),
        database.display()
    )))
}

/// The operator's master key, or the key file of the data folder, made when there is none and nothing is sealed yet.
pub fn master_key(settings: &Settings, is_sealed: bool) -> Result<Secret<[u8; 32]>, StartError> {
    let Some(path) = path_of(settings) else {
        return parse_key(settings.master_key.expose())
            .ok_or_else(|| StartError("master_key must be 64 hexadecimal digits".to_owned()));
    };
    if !is_sealed {
        make_unless_there(&path)?;
        // Also where another program has just made it: whoever seals with it must know that it stays.
        sync_folder_of(&path).map_err(start_error)?;
    }
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(StartError(format!(
                "the database is sealed, but its key file {} is missing: put it back, or set GARSON_MASTER_KEY",
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

/// Writes a fresh key, complete or not at all: two programs may start at the same time on an empty folder.
fn make_unless_there(path: &Path) -> Result<(), StartError> {
    if path.exists() {
        return Ok(());
    }
    let cannot = |error: std::io::Error| {
        StartError(format!("the key file {} cannot be made: {error}", path.display()))
    };
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).map_err(start_error)?;
    let key = Secret::new(bytes);
    let hex = Secret::new(
        key.expose()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>(),
    );
    let draft = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    // What a crash has left of an earlier process of the same number is of no use.
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(&draft).map_err(cannot)?;
    file.write_all(format!("{}\n", hex.expose()).as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(cannot)?;
    // A hard link fails if the key is there already: whoever was first wins.
    let linked = std::fs::hard_link(&draft, path);
    std::fs::remove_file(&draft).map_err(cannot)?;
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(cannot(error)),
        _ => Ok(()),
    }
}
