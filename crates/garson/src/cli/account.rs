//! `garson account`: accounts and their first keys.

use super::account_control::{self, ControlCommand};
use super::command::{AccountArgs, CommandError, Outcome, failed, with_app};
use super::output::Output;
use super::secret_input::read_secret;
use crate::app::App;
use crate::config::Settings;
use crate::flow::admin::account_control::state;
use crate::flow::admin::randomness::random_password;
use crate::flow::admin::{accounts, user_passwords};
use crate::flow::read::operator;
use clap::{Args, Subcommand};
use garson_core::secret::Secret;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Subcommand)]
pub enum AccountCommand {
    /// Create an account; prints its id, its first API key and how to sign in to the panel, only this once
    Create {
        /// Its name
        #[arg(long)]
        name: String,
        /// Its e-mail address, also the login of the control panel
        #[arg(long)]
        email: String,
        #[command(flatten)]
        password: PasswordArgs,
        #[command(flatten)]
        output: Output,
    },
    /// Set a new password for the first user of an account, or its oldest owner if that user was removed; ends that user's sessions
    Password {
        #[command(flatten)]
        account: AccountArgs,
        #[command(flatten)]
        password: PasswordArgs,
        #[command(flatten)]
        output: Output,
    },
    /// List the accounts
    List {
        #[command(flatten)]
        output: Output,
    },
    #[command(flatten)]
    Control(ControlCommand),
}

/// The password of the control panel; generated and printed if none is given.
#[derive(Args)]
pub struct PasswordArgs {
    /// A file whose first line is the password; - reads standard input, where a terminal asks for it
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

/// The last transaction of an import writes everything that workers act on; it must not be given up while it goes on.
const IMPORT_SECONDS: u32 = 3_600;

pub fn run(settings: &Settings, command: AccountCommand) -> Outcome {
    let mut settings = settings.clone();
    if matches!(command, AccountCommand::Control(ControlCommand::Import { .. })) {
        settings.storage.answer_seconds = IMPORT_SECONDS;
    }
    with_app(&settings, |app| async move {
        match command {
            AccountCommand::Create {
                name,
                email,
                password,
                output,
            } => {
                let (password, made) = given_or_made(password.password_file.as_deref())?;
                let (account, key) = accounts::create(&app, name, &email, Some(password))
                    .await
                    .map_err(failed)?;
                let api_key = key.secret.expose();
                let panel = panel_url(&app).await?;
                let text = format!(
                    "Account   {}  {}\nAPI key   {api_key}   (shown this once)\nPanel     {panel}\nE-mail    {}\n{}",
                    account.id,
                    account.name,
                    account.email,
                    password_line(made.as_deref())
                );
                let shown = json!({
                    "accountId": account.id,
                    "name": account.name,
                    "email": account.email,
                    "apiKey": api_key,
                    "panel": { "url": panel, "email": account.email, "password": made },
                });
                output.result(text, &shown);
                Ok(())
            }
            AccountCommand::Password {
                account,
                password,
                output,
            } => {
                let account = account.find(&app).await?;
                let (password, made) = given_or_made(password.password_file.as_deref())?;
                let user = user_passwords::reset_of_account(&app, &account, password)
                    .await
                    .map_err(failed)?;
                show_password(output, &user.email, made.as_deref());
                Ok(())
            }
            AccountCommand::List { output } => {
                let mut list = output.list(["id", "e-mail", "name", "state"]);
                for account in accounts::list(&app).await.map_err(failed)? {
                    let found = state(&app, account.id).await.map_err(failed)?;
                    let state = found.state.as_str();
                    let shown = json!({
                        "accountId": account.id, "name": account.name, "email": account.email,
                        "state": state, "reason": found.reason,
                    });
                    let cells = [
                        account.id.to_string(),
                        account.email,
                        account.name,
                        state.to_owned(),
                    ];
                    list.row(cells, &shown);
                }
                Ok(())
            }
            AccountCommand::Control(command) => account_control::run(&app, command).await,
        }
    })
}

/// The address of the panel: that of a running server, which may have been started with another one than the settings have.
async fn panel_url(app: &App) -> Result<String, CommandError> {
    let running = operator::server_addresses(app).await.map_err(failed)?;
    let listening_on = running
        .first()
        .map_or_else(|| app.settings.listen.clone(), ToString::to_string);
    Ok(format!("{}/", app.settings.base_url(&listening_on)))
}

/// The given password, or a generated one, which is printed.
pub fn given_or_made(file: Option<&Path>) -> Result<(Secret<String>, Option<String>), CommandError> {
    if let Some(file) = file {
        return Ok((read_secret(file)?, None));
    }
    let made = random_password().map_err(failed)?;
    let shown = made.expose().clone();
    Ok((made, Some(shown)))
}

/// Shows a new password, if it was generated.
pub fn show_password(output: Output, email: &str, made: Option<&str>) {
    output.result(
        format!("E-mail    {email}\n{}", password_line(made)),
        &json!({ "email": email, "password": made }),
    );
}

fn password_line(made: Option<&str>) -> String {
    match made {
        Some(made) => format!("Password  {made}   (shown this once)"),
        None => "Password  as given".to_owned(),
    }
}
