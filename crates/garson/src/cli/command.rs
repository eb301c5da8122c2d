//! What all commands share: their errors, output, and access to the data.

use crate::app::{App, StartError};
use crate::config::Settings;
use crate::flow::Fault;
use crate::flow::admin::accounts;
use clap::Args;
use garson_core::account::Account;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

/// Why a command failed.
#[derive(Debug)]
pub struct CommandError(pub String);

impl<E: fmt::Display> From<E> for CommandError {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// A refusal of the application layer as a command's error.
pub fn failed(fault: Fault) -> CommandError {
    match fault {
        // The operator may read what storage says.
        Fault::Store(error) => CommandError(error.to_string()),
        other => CommandError(other.to_string()),
    }
}

/// The account that a command is about.
#[derive(Args)]
pub struct AccountArgs {
    /// The account's e-mail address
    #[arg(long, visible_alias = "email", value_name = "EMAIL")]
    pub account: String,
}

impl AccountArgs {
    pub async fn find(&self, app: &App) -> Result<Account, CommandError> {
        accounts::by_email(app, &self.account).await.map_err(failed)
    }
}

pub type Outcome = Result<(), CommandError>;

/// Prints to standard output. A closed pipe is not an error.
pub fn print_line(text: &str) {
    use std::io::Write;
    super::progress::clear();
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Opens the data and runs a command on it; a server may be running at the same time.
pub fn with_app<F, R>(settings: &Settings, work: F) -> Outcome
where
    F: FnOnce(Arc<App>) -> R,
    R: Future<Output = Outcome>,
{
    let mut settings = settings.clone();
    // A command does one thing at a time.
    settings.storage.readers = 1;
    settings.storage.writers = 1;
    // Only the operator waits for it, and large chunks may take long; an unavailable database is reported at once.
    settings.storage.answer_seconds = settings.storage.answer_seconds.max(60);
    settings.storage.start_seconds = 0;
    settings.log.level = "warn".to_owned();
    crate::telemetry::start_log(&settings.log);
    let app = App::open(settings).map_err(|StartError(message)| CommandError(message))?;
    runtime()?.block_on(work(app))
}

pub fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
