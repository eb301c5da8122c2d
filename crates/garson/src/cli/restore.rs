//! `garson restore`: puts a backup in place of the database, or only verifies it.

use super::command::{CommandError, Outcome, runtime};
use super::doctor::check_key;
use super::output::Output;
use super::progress::{Unit, with_progress};
use crate::app::key_file::prepare_folder;
use crate::app::lock_data;
use crate::config::Settings;
use clap::Args;
use garson_core::clock::{Clock, SystemClock};
use garson_store::engine::{
    BackupFormat, Schema, UNFINISHED, prepare_restore, restore_for_a_look, restore_postgres, verify_backup,
};
use garson_store::upkeep::contents;
use garson_store::{Engine, Location, StoreError};
use serde_json::{Map, Value, json};
use std::fmt::Display;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct RestoreArgs {
    /// The backup
    file: PathBuf,
    /// Only verify the backup and show what it contains; nothing is restored. A backup of PostgreSQL is restored into a temporary
    /// database on the configured server, if the user may create one
    #[arg(long)]
    verify: bool,
    /// Restore although there is a database in the data folder; it is kept under another name
    #[arg(long, conflicts_with = "verify")]
    replace: bool,
    #[command(flatten)]
    output: Output,
}

/// What the command says: at once to people, together at the end as JSON.
struct Report {
    output: Output,
    shown: Map<String, Value>,
}

impl Report {
    fn say(&self, text: impl Display) {
        self.output.remark(text);
    }

    fn note(&mut self, name: &str, value: impl Into<Value>) {
        self.shown.insert(name.to_owned(), value.into());
    }
}

pub fn run(settings: &Settings, args: &RestoreArgs) -> Outcome {
    let mut report = Report {
        output: args.output,
        shown: Map::new(),
    };
    report.note("file", args.file.display().to_string());
    report.note("isRestored", false);
    // What is known is said also when it fails.
    let done = restore(settings, args, &mut report);
    args.output.json(&Value::Object(report.shown));
    done
}

fn restore(settings: &Settings, args: &RestoreArgs, report: &mut Report) -> Outcome {
    let file = args.file.as_path();
    let format = with_progress("verify", Unit::Bytes, |progress| verify_backup(file, progress))?;
    report.say(format!("{} is readable and undamaged.", file.display()));
    let location = settings.location();
    match (format, &location, args.verify) {
        (BackupFormat::Sqlite, _, true) => show(settings, &Location::Sqlite(file.to_owned()), report)?.require(),
        (BackupFormat::Postgres, Location::Postgres(url), true) => {
            let shown = with_progress("restore into a temporary database", Unit::Bytes, |progress| {
                restore_for_a_look(file, url, progress, |url| {
                    Ok(show(settings, &Location::Postgres(url.clone()), report))
                })
            });
            shown??.require()
        }
        (BackupFormat::Postgres, Location::Sqlite(_), true) => {
            report.say("What it contains can be shown where database_url names a PostgreSQL server.");
            Ok(())
        }
        (BackupFormat::Sqlite, Location::Sqlite(database), false) => {
            // Before anything is replaced.
            let key = show(settings, &Location::Sqlite(file.to_owned()), report)?;
            restore_file(settings, file, database, args.replace, report)?;
            report.note("isRestored", true);
            finish(&key, report);
            Ok(())
        }
        (BackupFormat::Postgres, Location::Postgres(url), false) => {
            match Engine::inspect(&location, &settings.storage_options()) {
                Ok((_, Schema::None)) => {}
                Ok(_) => {
                    return Err(CommandError(
                        "the database in the settings is not empty: create a new one and name it as database_url".to_owned(),
                    ));
                }
                Err(error) => return Err(error.into()),
            }
            with_progress("restore", Unit::Bytes, |progress| restore_postgres(file, url, progress))?;
            report.note("isRestored", true);
            let restored = |CommandError(why)| CommandError(format!("the backup was restored, but {why}"));
            finish(&show(settings, &location, report).map_err(restored)?, report);
            Ok(())
        }
        (BackupFormat::Sqlite, Location::Postgres(_), false) => Err(CommandError(
            "this is a backup of SQLite, and the settings name PostgreSQL: restore it without database_url, then move the data with \
             garson migrate --to-file"
                .to_owned(),
        )),
        (BackupFormat::Postgres, Location::Sqlite(_), false) => Err(CommandError(
            "this is a backup of PostgreSQL: name an empty database as database_url".to_owned(),
        )),
    }
}

/// Puts a file in place of the database. No server runs meanwhile.
fn restore_file(
    settings: &Settings,
    backup: &Path,
    database: &Path,
    replaces: bool,
    report: &mut Report,
) -> Outcome {
    prepare_folder(&settings.data)?;
    if let (Ok(backup), Ok(database)) = (backup.canonicalize(), database.canonicalize())
        && backup == database
    {
        return Err(CommandError(format!(
            "{} is the database itself",
            backup.display()
        )));
    }
    let lock = lock_data(settings)?;
    let present: Vec<&str> = ["", "-wal", "-shm"]
        .into_iter()
        .filter(|suffix| with_suffix(database, suffix).symlink_metadata().is_ok())
        .collect();
    if let Some(suffix) = present.first()
        && !replaces
    {
        return Err(CommandError(format!(
            "{} exists. Use --replace to keep it under another name and restore",
            with_suffix(database, suffix).display()
        )));
    }
    remove_abandoned(database)?;
    let prepared = with_progress("restore", Unit::Bytes, |progress| {
        prepare_restore(backup, database, progress)
    })?;
    let time = SystemClock.now().to_string().replace(':', "-");
    let kept = with_suffix(database, &format!(".replaced-{time}"));
    let (from, to) = (
        |suffix: &&str| with_suffix(database, suffix),
        |suffix: &&str| with_suffix(&kept, suffix),
    );
    // The database first: a log without its database is refused at the next start, should this be interrupted, but a database without
    // its log is an older one.
    for suffix in &present {
        std::fs::rename(from(suffix), to(suffix))?;
    }
    if let Err(error) = prepared.finish() {
        for suffix in present.iter().rev() {
            std::fs::rename(to(suffix), from(suffix))?;
        }
        return Err(error.into());
    }
    if !present.is_empty() {
        report.note("replaced", kept.display().to_string());
        report.say(format!(
            "The old database is kept as {}, with all files whose names begin like that.",
            kept.display()
        ));
    }
    // What the last server has noted about the other database does not concern this one.
    if let Some(lock) = lock {
        lock.end()?;
    }
    Ok(())
}

/// Deletes what interrupted restores have left beside a database. The caller holds the lock.
fn remove_abandoned(database: &Path) -> Outcome {
    let (Some(folder), Some(name)) = (
        database.parent(),
        database.file_name().and_then(|name| name.to_str()),
    ) else {
        return Ok(());
    };
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let found = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if found.starts_with(&format!("{name}.")) && found.contains(UNFINISHED) {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn finish(key: &KeyCheck, report: &Report) {
    if let Err(why) = &key.0 {
        report.say(format!(
            "Before you start the service: the master key could not be checked: {why}"
        ));
    }
    report.say(
        "The backup is restored. Start the service; it may send events again that it had delivered after the backup.",
    );
}

/// Whether the configured master key is the one of a database, or why that is not so.
struct KeyCheck(Result<(), String>);

impl KeyCheck {
    fn require(self) -> Outcome {
        self.0
            .map_err(|why| CommandError(format!("the master key could not be checked: {why}")))
    }
}

/// Shows what a database contains. Fails if something is missing in it.
fn show(settings: &Settings, location: &Location, report: &mut Report) -> Result<KeyCheck, CommandError> {
    let (store, schema) = Engine::inspect(location, &settings.storage_options())?;
    runtime()?.block_on(async {
        match schema {
            Schema::None => return Err(CommandError("it contains no data of Garson".to_owned())),
            Schema::Older(_) => report.say(
                "It is from an earlier version and will be migrated at the next start. Its contents are not counted.",
            ),
            Schema::Current { .. } => count(&store, report).await?,
        }
        let key = check_key(settings, &store).await;
        report.note("keyFits", key.is_ok());
        if key.is_ok() {
            report.say("The configured master key is the one it was encrypted with.");
        }
        Ok(KeyCheck(key))
    })
}

async fn count(store: &Engine, report: &mut Report) -> Outcome {
    let found = contents::read(store).await?;
    report.say(format!("{:>10}  accounts", found.accounts));
    report.say(format!("{:>10}  restaurants", found.restaurants));
    report.say(format!("{:>10}  orders", found.orders));
    report.say(format!("{:>10}  events", found.events));
    if let Some(at) = found.newest_order_at {
        report.say(format!("The newest order is from {at}."));
    }
    let contents = json!({
        "accounts": found.accounts, "restaurants": found.restaurants, "orders": found.orders,
        "events": found.events, "newestOrderAt": found.newest_order_at,
    });
    report.note("contents", contents);
    if found.incomplete_orders > 0 {
        let message = format!("{} orders have no contents", found.incomplete_orders);
        return Err(CommandError(StoreError::corrupt(message).to_string()));
    }
    Ok(())
}
