//! `garson account`: accounts and their first keys.

use super::{CommandError, Outcome, failed, print_line, read_secret, with_app};
use crate::config::Settings;
use crate::flow::admin::{accounts, sessions};
use clap::{Args, Subcommand};
use garson_core::secret::Secret;
use serde_json::json;
use std::path::PathBuf;

#[derive(Subcommand)]
pub enum AccountCommand {
    /// Create an account; prints its id, its first API key and how to sign in to the panel, which is shown this once
    Create {
        /// What it is called
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
    /// Set another password for the control panel; everybody who is signed in to the account is signed out
    Password {
        /// The account's e-mail address
        #[arg(long)]
        email: String,
        #[command(flatten)]
        password: PasswordArgs,
    },
    /// List the accounts
    List {
        /// Print JSON, one to a line
        #[arg(long)]
        json: bool,
    },
}

/// The password of the control panel; without one of these it is made and shown.
#[derive(Args)]
pub struct PasswordArgs {
    /// The password; others on this machine can see it in the list of processes: better is --password-file
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
                let panel = format!("http://{}/", app.settings.listen);
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
                    match json {
                        true => print_line(
                            &json!({ "accountId": account.id, "name": account.name, "email": account.email })
                                .to_string(),
                        ),
                        false => print_line(&format!("{}  {}  {}", account.id, account.email, account.name)),
                    }
                }
                Ok(())
            }
        }
    })
}

/// The password that was given, or one that is made, and is to be shown.
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
