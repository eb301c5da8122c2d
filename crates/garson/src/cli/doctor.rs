//! `garson doctor`: checks the set-up and reports problems. It changes nothing, unless it is asked to.

mod findings;
mod reach;

use super::command::{CommandError, Outcome, runtime};
use crate::app::{backup_folder, exposure, key_file, require_key};
use crate::config::Settings;
use clap::Args;
use findings::Findings;
use garson_core::clock::{Clock, SystemClock};
use garson_core::time::Timestamp;
use garson_store::engine::{MigrationKind, Schema};
use garson_store::tables::{accounts, inbox, key_rotation};
use garson_store::{Engine, Location, StoreError, Vault, vault};
use rustix::fs::{Access, access};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

#[derive(Args)]
pub struct DoctorArgs {
    /// Mend what can be mended without a decision: permissions of the key file, a missing folder for backups
    #[arg(long)]
    fix: bool,
    /// Do not connect to the platforms and receivers of the accounts
    #[arg(long)]
    offline: bool,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

pub fn doctor(settings: Result<Settings, CommandError>, args: &DoctorArgs) -> Outcome {
    let mut findings = Findings::new(args.json);
    match settings {
        Err(CommandError(message)) => findings.wrong(&format!("settings: {message}")),
        Ok(settings) => {
            findings.good("settings");
            if args.fix {
                fix(&settings, &mut findings);
            }
            check(&settings, args, &mut findings)?;
        }
    }
    match findings.end() {
        0 => Ok(()),
        count => Err(CommandError(format!("{count} thing(s) need attention"))),
    }
}

/// Mends what needs no decision, and says what it has done. What fails is found by the checks.
fn fix(settings: &Settings, findings: &mut Findings) {
    if let Some((path, allowed)) = key_file::exposed(settings)
        && let Ok(allowed) = u32::from_str_radix(allowed, 8)
        && let Ok(about) = std::fs::metadata(&path)
        // Rights are taken away, never given.
        && std::fs::set_permissions(&path, Permissions::from_mode(about.permissions().mode() & allowed)).is_ok()
    {
        findings.note(&format!(
            "mended: other users cannot read {} any more",
            path.display()
        ));
    }
    let folder = &settings.backup.folder;
    if !folder.as_os_str().is_empty() && !folder.exists() && key_file::prepare_folder(folder).is_ok() {
        findings.note(&format!("mended: created the folder {}", folder.display()));
    }
}

fn check(settings: &Settings, args: &DoctorArgs, findings: &mut Findings) -> Outcome {
    let now = SystemClock.now();
    if now < Timestamp::from_millis(1_767_225_600_000) {
        findings.wrong(&format!("clock: {now} is in the past"));
    } else {
        findings.good(&format!("clock: {now}"));
    }
    if settings.allow_private_targets {
        findings.note("allow_private_targets is on: accounts can make the service call your own network");
    }
    if settings.rate_limit == "off" {
        findings.note("rate_limit is off");
    }
    if settings.storage.commit_delay_ms > 0 {
        findings.note("storage.commit_delay_ms slows down every write; it is meant for experiments");
    }
    match settings.location() {
        Location::Sqlite(path) => findings.good(&format!("storage: SQLite in {}", path.display())),
        Location::Postgres(_) => findings.good("storage: PostgreSQL"),
    }
    check_key_file(settings, findings);
    check_backups(settings, now, findings);
    for what in exposure::found(settings) {
        findings.note(&what);
    }
    if let Err(error) = require_key(settings).and_then(|()| key_file::refuse_missing_database(settings)) {
        findings.wrong(&format!("storage: {error}"));
        return Ok(());
    }
    let location = settings.location();
    if let Location::Sqlite(path) = &location
        && !path.exists()
    {
        findings.note(NOTHING_YET);
        return Ok(());
    }
    let store = match Engine::inspect(&location, &settings.storage_options()) {
        Err(error) => {
            findings.wrong(&format!("storage: {error}"));
            return Ok(());
        }
        Ok((_, Schema::None)) => {
            findings.note(NOTHING_YET);
            return Ok(());
        }
        Ok((_, Schema::Older(pending))) => {
            let is_offline = pending.iter().any(|it| it.kind == MigrationKind::Offline);
            findings.note(if is_offline {
                "storage opens; its schema is older and will be migrated at the next start, before which all other nodes must be \
                 stopped: garson migrate --check"
            } else {
                "storage opens; its schema is older and will be migrated while nodes run: garson migrate --check"
            });
            return Ok(());
        }
        Ok((store, Schema::Current { later })) => {
            if !later.is_empty() {
                findings
                    .note("storage: the schema is that of a later version, which this program can work with");
            }
            store
        }
    };
    findings.good("storage opens, and its schema is current");
    runtime()?.block_on(async {
        check_content(settings, &store, findings).await;
        if !args.offline {
            reach::check(settings, &store, findings).await;
        }
    });
    Ok(())
}

const NOTHING_YET: &str = "there is no database yet: garson account create --help";

async fn check_content(settings: &Settings, store: &Engine, findings: &mut Findings) {
    if let Err(why) = check_key(settings, store).await {
        findings.wrong(&format!("master key: {why}"));
        return;
    }
    let counted = store
        .read(|tx| Ok::<_, StoreError>((accounts::list(tx)?.len(), inbox::list_open(tx, 1000)?.len())))
        .await;
    match counted {
        Ok((0, _)) => findings.note("there is no account yet: garson account create --help"),
        Ok((count, 0)) => findings.good(&format!("{count} account(s), no message is waiting in the inbox")),
        Ok((_, open)) => findings.note(&format!(
            "{open} message(s) were stored but not processed: garson inbox list"
        )),
        Err(error) => findings.wrong(&format!("storage: {error}")),
    }
}

/// Is the configured key the one that the database is sealed with?
pub async fn check_key(settings: &Settings, store: &Engine) -> Result<(), String> {
    let text = |error: StoreError| error.to_string();
    if !store.read(vault::is_sealed).await.map_err(text)? {
        return Ok(());
    }
    let key = key_file::master_key(settings, true).map_err(|error| error.to_string())?;
    let vault = Vault::new(&key);
    store
        .read(move |tx| {
            if let Some(rotation) = key_rotation::find(tx)? {
                rotation.apply(&vault, &key)?;
            }
            vault::verify_key(tx, &vault)
        })
        .await
        .map_err(text)
}

fn check_backups(settings: &Settings, now: Timestamp, findings: &mut Findings) {
    let backup = &settings.backup;
    if backup.folder.as_os_str().is_empty() {
        findings.note("backup.folder is empty: this server makes no backups by itself");
        return;
    }
    let folder = backup.folder.display();
    if matches!(settings.location(), Location::Postgres(_)) {
        for program in ["pg_dump", "pg_restore"] {
            if Command::new(program).arg("--version").output().is_err() {
                findings.wrong(&format!(
                    "backups: {program} is not installed (Debian: postgresql-client)"
                ));
            }
        }
    }
    if !backup.folder.exists() {
        findings.wrong(&format!(
            "backups: the folder {folder} does not exist. If it is not on a disk that is missing, --fix creates it, and so does the server"
        ));
        return;
    }
    if let Err(error) = access(&backup.folder, Access::WRITE_OK | Access::EXEC_OK) {
        findings.wrong(&format!(
            "backups: {folder} cannot be written by this user: {error}"
        ));
    }
    let files = match backup_folder::list(&backup.folder, now) {
        Ok(files) => files,
        Err(error) => return findings.wrong(&format!("backups: {folder} cannot be read: {error}")),
    };
    if let Some(future) = files.iter().find(|file| file.made_at > now) {
        findings.wrong(&format!(
            "backups: {} has a time in the future",
            future.path.display()
        ));
    }
    match files.first().filter(|file| file.made_at <= now) {
        None => findings.note(&format!("backups: {folder} has none yet")),
        // A backup may be in progress, or wait until the server is back.
        Some(newest) if now.since(newest.made_at) > 2 * backup.every() => {
            findings.wrong(&format!(
                "backups: the newest one in {folder} is from {}",
                newest.made_at
            ));
        }
        Some(newest) => findings.good(&format!(
            "backups: {} in {folder}, the newest from {}",
            files.len(),
            newest.made_at
        )),
    }
}

fn check_key_file(settings: &Settings, findings: &mut Findings) {
    if let Some((path, allowed)) = key_file::exposed(settings) {
        findings.wrong(&format!(
            "{path} is readable by other users: chmod {allowed} {path}",
            path = path.display()
        ));
    } else if settings.data.join("master.key").exists() {
        findings.good("the key file is private");
    }
}
