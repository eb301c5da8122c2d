//! What others on this machine or on the way to the database could see or change; an operator may want it so.

use crate::config::Settings;
use garson_store::Location;
use garson_store::engine::accepts_any_certificate;
use std::os::unix::fs::PermissionsExt;

/// What is open to others, in plain words.
pub fn found(settings: &Settings) -> Vec<String> {
    folder(settings).into_iter().chain(database(settings)).collect()
}

/// The folder that this program makes is for its owner only; one that was there before may not be.
fn folder(settings: &Settings) -> Option<String> {
    let about = std::fs::metadata(&settings.data).ok()?;
    let is_open = about.permissions().mode() & 0o077 != 0;
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
            "database_url leads to another machine without sslmode=require: the certificate of the database is not checked, \
             and another server could take its place"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Says it in the log of a server that starts.
pub fn warn(settings: &Settings) {
    for what in found(settings) {
        tracing::warn!("{what}");
    }
}
