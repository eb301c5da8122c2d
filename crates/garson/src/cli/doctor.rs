//! `garson doctor`: the program looks at its own set-up and says what is wrong.

use super::{CommandError, Outcome, print_line, runtime};
use crate::app::{App, key_file};
use crate::config::Settings;
use garson_core::clock::{Clock, SystemClock};
use garson_core::time::Timestamp;
use garson_store::{Location, accounts, inbox};

struct Findings {
    wrong: usize,
}

impl Findings {
    fn good(&self, what: &str) {
        print_line(&format!("  ok    {what}"));
    }

    fn note(&self, what: &str) {
        print_line(&format!("  note  {what}"));
    }

    fn wrong(&mut self, what: &str) {
        self.wrong += 1;
        print_line(&format!("  WRONG {what}"));
    }
}

pub fn doctor(settings: Result<Settings, CommandError>) -> Outcome {
    let mut findings = Findings { wrong: 0 };
    match settings {
        Err(CommandError(message)) => findings.wrong(&format!("settings: {message}")),
        Ok(settings) => {
            findings.good("settings");
            look(settings, &mut findings)?;
        }
    }
    match findings.wrong {
        0 => {
            print_line("Everything is in order.");
            Ok(())
        }
        count => Err(CommandError(format!("{count} thing(s) need attention"))),
    }
}

fn look(settings: Settings, findings: &mut Findings) -> Outcome {
    let now = SystemClock.now();
    match now < Timestamp::from_millis(1_767_225_600_000) {
        true => findings.wrong(&format!("clock: it says {now}, which is in the past")),
        false => findings.good(&format!("clock: {now}")),
    }
    if settings.allow_private_targets {
        findings.note("allow_private_targets is on: accounts can make the service call your own network");
    }
    if settings.rate_limit == "off" {
        findings.note("rate_limit is off");
    }
    if settings.storage.commit_delay_ms > 0 {
        findings.note("storage.commit_delay_ms slows every write down; it is meant for experiments");
    }
    match settings.location() {
        Location::Sqlite(path) => findings.good(&format!("storage: SQLite in {}", path.display())),
        Location::Postgres(_) => findings.good("storage: PostgreSQL"),
    }
    check_key_file(&settings, findings);
    let app = match App::open(settings) {
        Ok(app) => app,
        Err(error) => {
            findings.wrong(&format!("storage: {error}"));
            return Ok(());
        }
    };
    findings.good("storage opens, and its schema is the newest");
    runtime()?.block_on(async {
        match app
            .store
            .read(|tx| {
                Ok::<_, garson_store::StoreError>((
                    accounts::list(tx)?.len(),
                    inbox::list_open(tx, 1000)?.len(),
                ))
            })
            .await
        {
            Ok((0, _)) => findings.note("there is no account yet: garson account create --help"),
            Ok((count, 0)) => findings.good(&format!("{count} account(s), no message waits in the inbox")),
            Ok((_, open)) => findings.note(&format!(
                "{open} message(s) were kept but not taken: garson inbox list"
            )),
            Err(error) => findings.wrong(&format!("storage: {error}")),
        }
    });
    Ok(())
}

fn check_key_file(settings: &Settings, findings: &mut Findings) {
    if let Some(path) = key_file::exposed(settings) {
        findings.wrong(&format!("{} can be read by others: chmod 600 it", path.display()));
    } else if settings.data.join("master.key").exists() {
        findings.good("the key file is private");
    }
}
