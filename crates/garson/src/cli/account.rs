//! `garson account`: accounts and their first keys.

use super::{Outcome, failed, print_line, with_app};
use crate::config::Settings;
use crate::flow::accounts;
use clap::Subcommand;
use garson_core::secret::Secret;
use serde_json::json;

#[derive(Subcommand)]
pub enum AccountCommand {
    /// Create an account; prints its id and its first API key, which is shown this once
    Create {
        /// What it is called
        #[arg(long)]
        name: String,
        /// Its e-mail address, also the login of the control panel
        #[arg(long)]
        email: String,
        /// The password of the control panel
        #[arg(long)]
        password: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the accounts
    List,
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
                let password = password.map(Secret::new);
                let has_password = password.is_some();
                let (account, key) = accounts::create(&app, name, &email, password)
                    .await
                    .map_err(failed)?;
                let api_key = key.secret.expose();
                if json {
                    let shown = json!({
                        "accountId": account.id,
                        "name": account.name,
                        "email": account.email,
                        "apiKey": api_key,
                        "hasPassword": has_password,
                    });
                    print_line(&shown.to_string());
                } else {
                    print_line(&format!("Account   {}  {}", account.id, account.name));
                    print_line(&format!("API key   {api_key}   (shown this once)"));
                    print_line(&format!("E-mail    {}", account.email));
                }
                Ok(())
            }
            AccountCommand::List => {
                for account in accounts::list(&app).await.map_err(failed)? {
                    print_line(&format!("{}  {}  {}", account.id, account.email, account.name));
                }
                Ok(())
            }
        }
    })
}
