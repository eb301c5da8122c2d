//! Warnings about a data folder or database connection that others could read or change. They do not prevent a start: an
//! operator may want it so.

use crate::config::Settings;
use garson_store::Location;
use garson_store::engine::accepts_any_certificate;
use std::os::unix::fs::PermissionsExt;

/// The warnings, in plain words.
pub fn found(settings: &Settings) -> Vec<String> {
    folder(settings).into_iter().chain(database(settings)).collect()
}

/// A folder that this program creates is private; one that existed before may not be.
fn folder(settings: &Settings) -> Option<String> {
    let metadata = std::fs::metadata(&settings.data).ok()?;
    let is_open = metadata.permissions().mode() & 0o077 != 0;
    is_open.then(|| {
        format!(
            "the data folder {} is open to other users of this machine: chmod 700 it",
            settings.data.display()
        )
    })
}

fn database(settings: &Settings) -> Option<String> {
    match settings.location() {
        Location::Postgres(url) if accepts_any_certificate(&url) => Some(
            "database_url names another machine without sslmode=require: the certificate of the database is not checked, \
             and another server could impersonate it"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Logs the warnings when a server starts.
pub fn warn(settings: &Settings) {
    for warning in found(settings) {
        tracing::warn!("{warning}");
    }
}
