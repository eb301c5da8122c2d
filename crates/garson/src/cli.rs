//! The command line: one program with subcommands.

mod account;
mod account_control;
mod audit;
mod backup;
mod branch;
mod certify;
mod check_receiver;
mod command;
mod copy_data;
mod demo;
mod doctor;
mod event_key;
mod import;
mod inbox;
mod key;
mod manual;
mod options;
mod output;
mod print;
mod privacy;
mod progress;
mod receive;
mod restore;
mod rotate;
mod schema_check;
mod secret_input;
mod serve;
mod sim;
mod user;
mod webhook;

use crate::config::Settings;
use clap::{CommandFactory, Parser, Subcommand};
use command::{CommandError, Outcome, print_line};
use garson_core::secret::Secret;
use garson_store::engine::{MIGRATIONS, Migration};
use options::Options;
use output::Output;
use secret_input::{read_secret, refuse_password};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Orders of delivery platforms in one place.
///
/// Garson receives the orders of delivery platforms. The restaurant's own programs verify, advance, cancel and report
/// them through one HTTP API, and receive every change as an event.
///
/// Start with `garson demo` to see it work, or with `garson serve` and `garson account create` in production.
#[derive(Parser)]
#[command(name = "garson", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the service: API, control panel, webhooks of platforms, background work
    Serve(serve::ServeArgs),
    /// Run the service with simulated platforms and a sample account; orders arrive at once
    Demo(serve::ServeArgs),
    /// Run the simulated platforms alone, or control them
    Sim(sim::SimArgs),
    /// Accounts: create, set a new password, list, disable, delete, limit, move to another installation
    #[command(subcommand)]
    Account(account::AccountCommand),
    /// Users of an account: list, invite, set a new password, remove a lost second factor
    #[command(subcommand)]
    User(user::UserCommand),
    /// API keys of an account: issue, list, revoke; rotation of the master key
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// The audit log: verify it, list it
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Personal data of customers: search, export, erase
    #[command(subcommand)]
    Privacy(privacy::PrivacyCommand),
    /// Branches on platforms: list their owners, assign, release
    #[command(subcommand)]
    Branch(branch::BranchCommand),
    /// Messages of platforms that were stored but could not be processed
    #[command(subcommand)]
    Inbox(inbox::InboxCommand),
    /// Deliveries of an account's events: list them, retry failed ones
    #[command(subcommand)]
    Webhook(webhook::WebhookCommand),
    /// Run a receiver of events for developers: shows what arrives, can respond slowly or with errors
    Receive(receive::ReceiveArgs),
    /// Test your own receiver of events and print a report
    CheckReceiver(check_receiver::CheckArgs),
    /// Play scenarios of simulated platforms against your own POS, and write a report
    Certify(Box<certify::CertifyArgs>),
    /// The temporary service of `garson certify`
    #[command(hide = true)]
    CertifyService(serve::ServeArgs),
    /// Print each order on a receipt printer: an agent that needs no public address
    Print(print::PrintArgs),
    /// Make a backup of the database while the service runs
    Backup {
        /// The new file. Without it, the backup is made in backup.folder, where the oldest ones are deleted
        file: Option<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
    /// Restore a backup, or verify it
    Restore(restore::RestoreArgs),
    /// Copy all data into another, empty database; with --check, tell what an upgrade to this version does to the schema
    Migrate {
        /// Tell which migrations are pending, and whether nodes of an earlier version must be stopped for them; changes nothing.
        /// Fails if they must, or if this version cannot use the database
        #[arg(long, conflicts_with_all = ["to", "to_file"])]
        check: bool,
        /// The target: postgres://user@host/database, or a folder for SQLite. One with a password needs --to-file, since the
        /// process list shows arguments to other users of this machine
        #[arg(long, value_name = "URL", required_unless_present_any = ["to_file", "check"])]
        to: Option<String>,
        /// A file whose first line is the target; - reads standard input
        #[arg(long, value_name = "FILE", conflicts_with = "to")]
        to_file: Option<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
    /// Take over businesses, restaurants and orders of another service that implements the same API; run it again to continue
    Import(import::ImportArgs),
    /// Check settings, data folder, database, backups, clock, and whether platforms and receivers can be reached
    Doctor(doctor::DoctorArgs),
    /// Print the effective settings without secrets, or the documented defaults
    Config {
        /// Print the default configuration file
        #[arg(long)]
        defaults: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Print the OpenAPI document
    Openapi,
    /// Print the AsyncAPI document: webhooks and event stream
    Asyncapi,
    /// Print the completions of a shell
    Completions { shell: clap_complete::Shell },
    /// Write the manual pages into a folder
    Manual { folder: PathBuf },
}

/// Runs the command line.
#[must_use]
pub fn run() -> ExitCode {
    run_with(std::env::args_os())
}

/// Runs the command line with these arguments, the program's name first.
#[must_use]
pub fn run_with(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    run_knowing(arguments, MIGRATIONS)
}

/// The same for a program that knows other migrations, for tests of upgrades.
#[must_use]
pub fn run_knowing(
    arguments: impl IntoIterator<Item = OsString>,
    migrations: &'static [Migration],
) -> ExitCode {
    let mut cli = Cli::parse_from(arguments);
    cli.options.migrations = migrations;
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
        Command::Serve(args) => serve::serve(options.listening_on(args.listen)?),
        Command::Demo(args) => demo::demo(options, args),
        Command::Sim(args) => sim::run(args),
        Command::Account(command) => account::run(&options.settings()?, command),
        Command::User(command) => user::run(&options.settings()?, command),
        Command::Key(command) => key::run(&options.settings()?, command),
        Command::Audit(command) => audit::run(&options.settings()?, command),
        Command::Privacy(command) => privacy::run(&options.settings()?, command),
        Command::Branch(command) => branch::run(&options.settings()?, command),
        Command::Inbox(command) => inbox::run(&options.settings()?, command),
        Command::Webhook(command) => webhook::run(&options.settings()?, command),
        Command::Receive(args) => receive::run(&args),
        Command::CheckReceiver(args) => check_receiver::run(&args),
        Command::Certify(args) => certify::run(&args),
        Command::CertifyService(args) => certify::serve_for_parent(options.listening_on(args.listen)?),
        Command::Print(args) => print::run(&args),
        Command::Backup { file, output } => backup::run(&options.settings()?, file, output),
        Command::Restore(args) => restore::run(&options.settings()?, &args),
        Command::Migrate {
            check: true, output, ..
        } => schema_check::run(&options.settings()?, output),
        Command::Migrate {
            to, to_file, output, ..
        } => {
            let to = match to_file {
                Some(file) => read_secret(&file)?,
                None => {
                    let to = to.unwrap_or_default();
                    refuse_password(&to, "--to", "--to-file")?;
                    Secret::new(to)
                }
            };
            copy_data::migrate(&options.settings()?, to.expose(), output)
        }
        Command::Import(args) => import::run(&options.settings()?, args),
        Command::Doctor(args) => doctor::doctor(options.settings(), &args),
        Command::Config { defaults, output } => show_config(&options, defaults, output),
        Command::Openapi => {
            print_line(&crate::api::openapi::document().to_pretty_json()?);
            Ok(())
        }
        Command::Asyncapi => {
            print_line(&serde_json::to_string_pretty(&crate::api::asyncapi::document())?);
            Ok(())
        }
        Command::Completions { shell } => manual::completions(Cli::command(), shell),
        Command::Manual { folder } => manual::manual(Cli::command(), &folder),
    }
}

fn show_config(options: &Options, defaults: bool, output: Output) -> Outcome {
    let shown = if defaults {
        crate::config::defaults()
    } else {
        Settings::effective(options.config.as_deref(), std::env::vars(), options.flags())?
    };
    output.result(shown.trim_end(), &toml::from_str(&shown)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Command as ClapCommand;

    /// Commands that print no result: services, agents, and files in a format of their own.
    const WITHOUT_JSON: [&str; 8] = [
        "serve",
        "demo",
        "print",
        "openapi",
        "asyncapi",
        "completions",
        "manual",
        "sim",
    ];

    fn for_each(command: &ClapCommand, path: &str, visit: &mut impl FnMut(&ClapCommand, &str)) {
        for command in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            let path = format!("{path} {}", command.get_name());
            visit(command, path.trim());
            for_each(command, &path, visit);
        }
    }

    #[test]
    fn command_line_is_consistent() {
        let mut whole = Cli::command();
        whole.build();
        whole.clone().debug_assert();
        let mut count = 0;
        for_each(&whole, "", &mut |command, path| {
            if path.contains("help") {
                return;
            }
            count += 1;
            assert!(command.get_about().is_some(), "{path} has no help");
            for argument in command.get_arguments() {
                let is_flag = argument.get_long().is_some();
                assert!(
                    !is_flag || argument.get_help().is_some() || path.starts_with("sim "),
                    "{path}: {} has no help",
                    argument.get_id()
                );
            }
            let has_json = command.get_arguments().any(|it| it.get_id() == "json");
            let is_group = command.get_subcommands().next().is_some();
            let is_without = WITHOUT_JSON.contains(&path);
            assert!(has_json || is_group || is_without, "{path} has no --json");
        });
        assert!(count > 60, "{count}");
    }
}
