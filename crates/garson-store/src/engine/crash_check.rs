//! Checks a SQLite database before it is opened, since the last server may have crashed.

use super::files::beside;
use super::wal_scan::{self, LogContent};
use crate::error::StoreError;
use rusqlite::{Connection, ErrorCode};
use std::path::Path;
use std::time::{Duration, Instant};

/// Orders wait meanwhile: what cannot be checked within this time is not checked.
const CHECK_TIME: Duration = Duration::from_secs(2);
/// How often a log that is changing is read again, and the pause between.
const MAX_READS: usize = 20;
const PAUSE: Duration = Duration::from_millis(200);
/// The time limit is checked every so many steps of SQLite's virtual machine.
const STEPS: i32 = 10_000;

/// What kind of process opens a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Opener {
    /// A command, perhaps while a server runs.
    #[default]
    Command,
    /// A server. The one before it, if any, closed the database.
    Server,
    /// A server. The one before it did not close the database.
    ServerAfterCrash,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct CrashCheck {
    pub opener: Opener,
    /// Continue with what is left of a damaged database.
    pub accept_damage: bool,
}

impl CrashCheck {
    /// Checks the log; returns whether the database has to be checked too. Must be called before this process opens the
    /// database, in commands as well: SQLite copies the usable part of the log into the database and deletes the rest, so
    /// that a server that starts later would find no damage.
    pub fn check_log(self, database: &Path) -> Result<bool, StoreError> {
        let is_after_crash = self.opener == Opener::ServerAfterCrash;
        let Some((content, missing)) = examine(database)? else {
            if is_after_crash {
                self.check_size(database)?;
                tracing::warn!(
                    "the last server did not close the database, and there is no log: another program has copied it into \
                     the database, or it was removed"
                );
            }
            return Ok(is_after_crash);
        };
        if content.is_damaged_at_start {
            self.damage("the start of its log is damaged, so that none of its transactions can be read")?;
        } else if content.lost_commits > 0 {
            self.damage(&format!(
                "its log is damaged after {} transactions, and at least {} that followed are lost",
                content.commits, content.lost_commits
            ))?;
        } else if missing > 0 {
            self.damage(&format!(
                "{missing} of its {} pages are neither in the file nor in its log",
                content.database_pages
            ))?;
        } else if is_after_crash {
            tracing::warn!(
                transactions = content.commits,
                pages = content.frames,
                "the last server did not close the database: its log is intact"
            );
        } else {
            tracing::info!(
                transactions = content.commits,
                pages = content.frames,
                "the database has a log, which is intact: another program uses it, or has not closed it"
            );
        }
        Ok(self.opener != Opener::Command)
    }

    /// A server records that it is running after it has created its database. So after a crash there must be one.
    fn check_size(self, database: &Path) -> Result<(), StoreError> {
        match std::fs::metadata(database) {
            Ok(about) if about.len() > 0 => Ok(()),
            _ => self.damage(&format!("{} is missing or empty", database.display())),
        }
    }

    /// Checks the database itself, for a limited time.
    pub fn check_database(self, connection: &mut Connection) -> Result<(), StoreError> {
        let began = Instant::now();
        connection.progress_handler(STEPS, Some(move || began.elapsed() > CHECK_TIME))?;
        let found = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
        connection.progress_handler(STEPS, None::<fn() -> bool>)?;
        let took = format!("{:.1} s", began.elapsed().as_secs_f32());
        match found {
            Ok(found) if found == "ok" => {
                tracing::info!(took, "the database was checked and is intact");
                Ok(())
            }
            Ok(found) => self.damage(&found),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                tracing::info!(
                    took,
                    "the part of the database that could be checked in this time is intact"
                );
                Ok(())
            }
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
                self.damage(&error.to_string())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn damage(self, what: &str) -> Result<(), StoreError> {
        if self.accept_damage {
            tracing::error!(
                "the database is damaged: {what}; storage.accept_damage is on, so it is used anyway"
            );
            return Ok(());
        }
        Err(StoreError::refused(format!(
            "the database is damaged: {what}. Put a backup in its place; or set storage.accept_damage = true for one start, to \
             go on with what is left"
        )))
    }
}

/// The content of the log, and how many pages are missing. A command that is using the database can look like damage; only what
/// stays the same is damage.
fn examine(database: &Path) -> Result<Option<(LogContent, u64)>, StoreError> {
    let log = beside(database, "-wal");
    let read = || -> Result<_, StoreError> {
        let content = wal_scan::scan(&log).map_err(|error| {
            StoreError::unavailable(format!("{} cannot be read", log.display())).caused_by(error)
        })?;
        let size = std::fs::metadata(database).map_or(0, |about| about.len());
        Ok(content.map(|content| {
            let missing = content.missing_pages(size);
            (content, missing)
        }))
    };
    let mut before = read()?;
    for _ in 0..MAX_READS {
        match &before {
            Some((content, missing)) if content.is_damaged() || *missing > 0 => {}
            _ => return Ok(before),
        }
        std::thread::sleep(PAUSE);
        let now = read()?;
        if now == before {
            break;
        }
        before = now;
    }
    Ok(before)
}
