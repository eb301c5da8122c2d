//! `garson account`: accounts and their first keys.

use super::account_control::{self, ControlCommand};
use super::command::{CommandError, Outcome, failed, print_line, with_app};
use super::secret_input::read_secret;
use crate::app::App;
use crate::config::Settings;
use crate::flow::admin::account_control::state;
use crate::flow::admin::randomness::random_password;
use crate::flow::admin::{accounts, user_passwords};
use crate::flow::read::operator;
use clap::{Args, Subcommand};
use garson_core::account_state::AccountState;
use garson_core::secret::Secret;
use serde_json::json;
use std::path::PathBuf;

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
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set a new password for the first user of an account, or its oldest owner if that user was removed; ends that user's sessions
    Password {
        /// The account's e-mail address
        #[arg(long, visible_alias = "account")]
        email: String,
        #[command(flatten)]
        password: PasswordArgs,
    },
    /// List the accounts
    List {
        /// Print JSON, one object per line
        #[arg(long)]
        json: bool,
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
                json,
            } => {
                let (password, made) = given_or_made(password)?;
                let (account, key) = accounts::create(&app, name, &email, Some(password))
                    .await
                    .map_err(failed)?;
                let api_key = key.secret.expose();
                let panel = panel_url(&app).await?;
                if json {
                    let shown = json!({
                        "accountId": account.id,
                        "name": account.name,
                        "email": account.email,
                        "apiKey": api_key,
                        "panel": { "url": panel, "email": account.email, "password": made },
                    });
                    print_line(&shown.to_string());
                } else {
                    print_line(&format!("Account   {}  {}", account.id, account.name));
                    print_line(&format!("API key   {api_key}   (shown this once)"));
                    print_line(&format!("Panel     {panel}"));
                    print_line(&format!("E-mail    {}", account.email));
                    print_line(&password_line(made));
                }
                Ok(())
            }
            AccountCommand::Password { email, password } => {
                let account = accounts::by_email(&app, &email).await.map_err(failed)?;
                let (password, made) = given_or_made(password)?;
                let user = user_passwords::reset_of_account(&app, &account, password)
                    .await
                    .map_err(failed)?;
                print_line(&format!("E-mail    {}", user.email));
                print_line(&password_line(made));
                Ok(())
            }
            AccountCommand::List { json } => {
                for account in accounts::list(&app).await.map_err(failed)? {
                    let found = state(&app, account.id).await.map_err(failed)?;
                    let state = found.state.as_str();
                    print_line(&if json {
                        json!({
                            "accountId": account.id, "name": account.name, "email": account.email,
                            "state": state, "reason": found.reason,
                        })
                        .to_string()
                    } else {
                        let shown = match found.state {
                            AccountState::Active => String::new(),
                            _ => format!("  {state}"),
                        };
                        format!("{}  {}  {}{shown}", account.id, account.email, account.name)
                    });
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
fn given_or_made(given: PasswordArgs) -> Result<(Secret<String>, Option<String>), CommandError> {
    if let Some(file) = given.password_file {
        return Ok((read_secret(&file)?, None));
    }
    let made = random_password().map_err(failed)?;
    let shown = made.expose().clone();
    Ok((made, Some(shown)))
}

fn password_line(made: Option<String>) -> String {
    match made {
        Some(made) => format!("Password  {made}   (shown this once)"),
        None => "Password  as given".to_owned(),
    }
}
