//! `garson account`: accounts and their first keys.

use super::command::{CommandError, Outcome, failed, print_line, read_secret, with_app};
use crate::app::App;
use crate::config::Settings;
use crate::flow::admin::{accounts, sessions};
use crate::flow::read::operator;
use clap::{Args, Subcommand};
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
    /// Set a new password for the control panel; ends all sessions of the account
    Password {
        /// The account's e-mail address
        #[arg(long)]
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
}

/// The password of the control panel; generated and printed if neither is given.
#[derive(Args)]
pub struct PasswordArgs {
    /// The password; the process list shows it to other users of this machine: prefer --password-file
    #[arg(long)]
    password: Option<String>,
    /// A file whose first line is the password; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "password")]
    password_file: Option<PathBuf>,
}

pub fn run(settings: &Settings, command: AccountCommand) -> Outcome {
    with_app(settings, |app| async move {
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
                sessions::reset_password(&app, &account, password)
                    .await
                    .map_err(failed)?;
                print_line(&format!("E-mail    {}", account.email));
                print_line(&password_line(made));
                Ok(())
            }
            AccountCommand::List { json } => {
                for account in accounts::list(&app).await.map_err(failed)? {
                    print_line(&if json {
                        json!({ "accountId": account.id, "name": account.name, "email": account.email })
                            .to_string()
                    } else {
                        format!("{}  {}  {}", account.id, account.email, account.name)
                    });
                }
                Ok(())
            }
        }
    })
}

/// The address of the panel: that of a running server, which may have been started with another one than the settings have.
async fn panel_url(app: &App) -> Result<String, CommandError> {
    let running = operator::server_addresses(app).await.map_err(failed)?;
    let address = running.first().copied();
    Ok(address.map_or_else(
        || format!("http://{}/", app.settings.listen),
        |address| format!("http://{address}/"),
    ))
}

/// The given password, or a generated one, which is printed.
fn given_or_made(given: PasswordArgs) -> Result<(Secret<String>, Option<String>), CommandError> {
    if let Some(password) = given.password {
        return Ok((Secret::new(password), None));
    }
    if let Some(file) = given.password_file {
        return Ok((read_secret(&file)?, None));
    }
    let made = sessions::random_password().map_err(failed)?;
    let shown = made.expose().clone();
    Ok((made, Some(shown)))
}

fn password_line(made: Option<String>) -> String {
    match made {
        Some(made) => format!("Password  {made}   (shown this once)"),
        None => "Password  as given".to_owned(),
    }
}
