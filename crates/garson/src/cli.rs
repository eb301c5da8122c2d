//! The command line: one program, its roles as subcommands.

mod account;
mod branch;
mod check_receiver;
mod demo;
mod doctor;
mod event_key;
mod inbox;
mod keep;
mod key;
mod receive;
mod serve;
mod sim;
mod webhook;

use crate::app::{App, StartError};
use crate::config::Settings;
use crate::flow::Fault;
use clap::{Args, Parser, Subcommand};
use garson_core::secret::Secret;
use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Orders of delivery platforms, in one place.
///
/// Garson takes the orders that people place on delivery platforms, lets the restaurant's own programs verify,
/// advance, cancel and account for them through one HTTP API, and tells those programs of everything.
///
/// Start with `garson demo` to see it at work, or `garson serve` and `garson account create` for real.
#[derive(Parser)]
#[command(name = "garson", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Command,
}

/// Settings that every command understands. Variables (GARSON_LISTEN …) and garson.toml set the same; flags win.
#[derive(Args)]
struct Options {
    /// Read settings from this file instead of ./garson.toml
    #[arg(long, global = true, env = "GARSON_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// The data folder, where the SQLite database and the key file live
    #[arg(long, global = true, value_name = "FOLDER")]
    data: Option<String>,
    /// Use PostgreSQL instead: postgres://user:password@host/database. Others on this machine can see it in the list of
    /// processes: with a password in it, better are the variable GARSON_DATABASE_URL or garson.toml
    #[arg(long, global = true, value_name = "URL", hide_env_values = true)]
    database_url: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// Run the service: API, hooks, background work
    Serve(serve::ServeArgs),
    /// Run the service with simulated platforms and a sample account: orders flow at once
    Demo(serve::ServeArgs),
    /// The simulated platforms alone, and what happens on them
    Sim(sim::SimArgs),
    /// Accounts: create, list
    #[command(subcommand)]
    Account(account::AccountCommand),
    /// API keys of an account: issue, list, revoke
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Branches of platforms: who owns them, and decisions about that
    #[command(subcommand)]
    Branch(branch::BranchCommand),
    /// Platforms' messages that were kept but could not be taken
    #[command(subcommand)]
    Inbox(inbox::InboxCommand),
    /// Deliveries of an account's events: list them, send again what has failed
    #[command(subcommand)]
    Webhook(webhook::WebhookCommand),
    /// A receiver of events for developers: shows what comes, can answer slowly or with errors
    Receive(receive::ReceiveArgs),
    /// Try your own receiver of events with a dozen checks and more, and print a report
    CheckReceiver(check_receiver::CheckArgs),
    /// Copy the SQLite database into a file while the service runs
    Backup {
        /// The new file
        file: PathBuf,
    },
    /// Copy all data into another, empty database
    Migrate {
        /// Where to: postgres://user:password@host/database, or a folder for SQLite. Others on this machine can see it in
        /// the list of processes: with a password in it, better is --to-file
        #[arg(long, value_name = "URL", required_unless_present = "to_file")]
        to: Option<String>,
        /// A file whose first line is that; - reads standard input
        #[arg(long, value_name = "FILE", conflicts_with = "to")]
        to_file: Option<PathBuf>,
    },
    /// Check settings, folder, database and clock, and say what is wrong
    Doctor,
    /// Print the settings that are in force, secrets left out, or the commented defaults
    Config {
        /// Print the default configuration file
        #[arg(long)]
        defaults: bool,
    },
    /// Print the OpenAPI document
    Openapi,
}

/// Why a command failed.
#[derive(Debug)]
pub struct CommandError(String);

impl<E: fmt::Display> From<E> for CommandError {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

fn failed(fault: Fault) -> CommandError {
    match fault {
        // The operator may read what storage says.
        Fault::Store(error) => CommandError(error.to_string()),
        other => CommandError(other.to_string()),
    }
}

type Outcome = Result<(), CommandError>;

/// Runs the command line.
#[must_use]
pub fn run() -> ExitCode {
    run_with(std::env::args_os())
}

/// Runs the command line that these arguments make, the program's name first.
#[must_use]
pub fn run_with(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = Cli::parse_from(arguments);
    match dispatch(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(CommandError(message)) => {
            eprintln!("garson: {message}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(cli: Cli) -> Outcome {
    let Cli { options, command } = cli;
    match command {
        Command::Serve(args) => serve::serve(options.load(&args)?),
        Command::Demo(args) => demo::demo(options, args),
        Command::Sim(args) => sim::run(args),
        Command::Account(command) => account::run(&options.settings()?, command),
        Command::Key(command) => key::run(&options.settings()?, command),
        Command::Branch(command) => branch::run(&options.settings()?, command),
        Command::Inbox(command) => inbox::run(&options.settings()?, command),
        Command::Webhook(command) => webhook::run(&options.settings()?, command),
        Command::Receive(args) => receive::run(&args),
        Command::CheckReceiver(args) => check_receiver::run(&args),
        Command::Backup { file } => keep::backup(&options.settings()?, &file),
        Command::Migrate { to, to_file } => {
            let to = match to_file {
                Some(file) => read_secret(&file)?,
                None => Secret::new(to.unwrap_or_default()),
            };
            keep::migrate(&options.settings()?, to.expose())
        }
        Command::Doctor => doctor::doctor(options.settings()),
        Command::Config { defaults } => show_config(&options, defaults),
        Command::Openapi => {
            print_line(&crate::api::openapi::document().to_pretty_json()?);
            Ok(())
        }
    }
}

fn show_config(options: &Options, defaults: bool) -> Outcome {
    match defaults {
        true => print_line(crate::config::defaults().trim_end()),
        false => {
            let shown = Settings::in_force(options.config.as_deref(), std::env::vars(), options.flags())?;
            print_line(shown.trim_end());
        }
    }
    Ok(())
}

/// Reads a secret that must not stand in the list of processes: the first line of a file, or of standard input for `-`.
fn read_secret(file: &Path) -> Result<Secret<String>, CommandError> {
    let text = match file.as_os_str() == "-" {
        true => std::io::read_to_string(std::io::stdin()),
        false => std::fs::read_to_string(file),
    };
    let text = text.map_err(|error| CommandError(format!("{} cannot be read: {error}", file.display())))?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(Secret::new(line.to_owned())),
        _ => Err(CommandError(format!("{} is empty", file.display()))),
    }
}

/// Prints to standard output; whoever reads it may have gone, which is no failure of ours.
fn print_line(text: &str) {
    use std::io::Write;
    let _gone = writeln!(std::io::stdout(), "{text}");
}

impl Options {
    fn settings(&self) -> Result<Settings, CommandError> {
        self.with_flags(Vec::new())
    }

    fn load(&self, args: &serve::ServeArgs) -> Result<Settings, CommandError> {
        let listen = args.listen.clone().map(|listen| ("listen", listen));
        self.with_flags(listen.into_iter().collect())
    }

    /// What the flags set that every command understands.
    fn flags(&self) -> Vec<(&'static str, String)> {
        let data = self.data.clone().map(|data| ("data", data));
        let url = self.database_url.clone().map(|url| ("database_url", url));
        data.into_iter().chain(url).collect()
    }

    fn with_flags(&self, mut flags: Vec<(&'static str, String)>) -> Result<Settings, CommandError> {
        flags.extend(self.flags());
        Ok(Settings::load(self.config.as_deref(), std::env::vars(), flags)?)
    }
}

/// Opens the data and runs something on it, beside a server that may be running.
fn with_app<F, R>(settings: &Settings, work: F) -> Outcome
where
    F: FnOnce(Arc<App>) -> R,
    R: Future<Output = Outcome>,
{
    let mut settings = settings.clone();
    // One command does one thing at a time.
    settings.storage.readers = 1;
    settings.storage.writers = 1;
    // Nobody waits for it but who has started it, and large chunks may take their time; a database that is away is said so
    // at once.
    settings.storage.answer_seconds = settings.storage.answer_seconds.max(60);
    settings.storage.start_seconds = 0;
    settings.log.level = "warn".to_owned();
    crate::telemetry::start_log(&settings.log);
    let app = App::open(settings).map_err(|StartError(message)| CommandError(message))?;
    runtime()?.block_on(work(app))
}

fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
