//! `garson restore`: puts a backup in place of the database, or only verifies it.

use super::command::{CommandError, Outcome, print_line, runtime};
use super::doctor::check_key;
use crate::app::key_file::prepare_folder;
use crate::app::lock_data;
use crate::config::Settings;
use clap::Args;
use garson_core::clock::{Clock, SystemClock};
use garson_store::engine::{
    BackupFormat, Schema, restore_for_a_look, restore_postgres, restore_sqlite, sync_folder_of, verify_backup,
};
use garson_store::upkeep::contents;
use garson_store::{Engine, Location, StoreError};
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
}

pub fn run(settings: &Settings, args: &RestoreArgs) -> Outcome {
    let file = args.file.as_path();
    let format = verify_backup(file)?;
    print_line(&format!("{} is readable and undamaged.", file.display()));
    let location = settings.location();
    match (format, &location, args.verify) {
        (BackupFormat::Sqlite, _, true) => show(settings, &Location::Sqlite(file.to_owned())),
        (BackupFormat::Postgres, Location::Postgres(url), true) => {
            let shown = restore_for_a_look(file, url, |url| Ok(show(settings, &Location::Postgres(url.clone()))));
            shown.map_err(CommandError::from).and_then(|shown| shown)
        }
        (BackupFormat::Postgres, Location::Sqlite(_), true) => {
            print_line("What it contains can be shown where database_url names a PostgreSQL server.");
            Ok(())
        }
        (BackupFormat::Sqlite, Location::Sqlite(database), false) => {
            restore_file(settings, file, database, args.replace)?;
            finish(settings, &location)
        }
        (BackupFormat::Postgres, Location::Postgres(url), false) => {
            match Engine::inspect(&location, &settings.storage_options()) {
                Ok((_, Schema::None)) => {}
                _ => {
                    return Err(CommandError(
                        "the database in the settings is not empty: create a new one and name it as database_url".to_owned(),
                    ));
                }
            }
            restore_postgres(file, url)?;
            finish(settings, &location)
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
fn restore_file(settings: &Settings, backup: &Path, database: &Path, replaces: bool) -> Outcome {
    prepare_folder(&settings.data)?;
    let lock = lock_data(settings)?;
    let present: Vec<PathBuf> = ["", "-wal", "-shm"]
        .into_iter()
        .map(|suffix| with_suffix(database, suffix))
        .filter(|path| path.symlink_metadata().is_ok())
        .collect();
    if !present.is_empty() && !replaces {
        return Err(CommandError(format!(
            "{} exists: with --replace it is kept under another name",
            database.display()
        )));
    }
    let time = SystemClock.now().to_string().replace(':', "-");
    let aside = |path: &Path| with_suffix(path, &format!(".replaced-{time}"));
    // The log first: a database without its log is older, but a log without its database is refused, not used.
    for path in present.iter().rev() {
        std::fs::rename(path, aside(path))?;
    }
    if !present.is_empty() {
        sync_folder_of(database)?;
    }
    if let Err(error) = restore_sqlite(backup, database) {
        for path in &present {
            std::fs::rename(aside(path), path)?;
        }
        return Err(error.into());
    }
    for path in &present {
        print_line(&format!(
            "{} is kept as {}.",
            path.display(),
            aside(path).display()
        ));
    }
    // What the last server has noted about the other database does not concern this one.
    if let Some(lock) = lock {
        lock.end()?;
    }
    Ok(())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn finish(settings: &Settings, location: &Location) -> Outcome {
    show(settings, location)?;
    print_line(
        "The backup is restored. Start the service; it may send events again that it had delivered after the backup.",
    );
    Ok(())
}

/// Shows what a database contains. Fails if something is missing in it, or if it needs another master key.
fn show(settings: &Settings, location: &Location) -> Outcome {
    let (store, schema) = Engine::inspect(location, &settings.storage_options())?;
    match schema {
        Schema::None => return Err(CommandError("it contains no data of Garson".to_owned())),
        Schema::Older(_) => {
            print_line("It is of an earlier version and will be migrated at the next start.");
            return Ok(());
        }
        Schema::Current { .. } => {}
    }
    runtime()?.block_on(async {
        let found = contents::read(&store).await?;
        print_line(&format!("{:>10}  accounts", found.accounts));
        print_line(&format!("{:>10}  restaurants", found.restaurants));
        print_line(&format!("{:>10}  orders", found.orders));
        print_line(&format!("{:>10}  events", found.events));
        if let Some(at) = found.newest_order_at {
            print_line(&format!("The newest order is of {at}."));
        }
        if found.incomplete_orders > 0 {
            let message = format!("{} orders have no contents", found.incomplete_orders);
            return Err(CommandError(StoreError::corrupt(message).to_string()));
        }
        match check_key(settings, &store).await {
            Ok(()) => {
                print_line("The configured master key is the one it was encrypted with.");
                Ok(())
            }
            Err(why) => Err(CommandError(format!(
                "it is readable, but needs another master key: {why}"
            ))),
        }
    })
}
