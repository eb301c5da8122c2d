//! `garson key`: API keys and the master key, for operators.

use super::command::{CommandError, Outcome, failed, print_line, with_app};
use super::rotate::{self, RotateArgs};
use crate::config::Settings;
use crate::flow::admin::accounts;
use crate::flow::admin::accounts::Actor;
use clap::{Args, Subcommand};
use garson_core::id::KeyId;

#[derive(Args)]
pub struct Whose {
    /// The e-mail address of the account
    #[arg(long, visible_alias = "account")]
    email: String,
}

#[derive(Subcommand)]
pub enum KeyCommand {
    /// Issue a key; it is printed only this once
    Issue {
        #[command(flatten)]
        whose: Whose,
        /// What it is for
        #[arg(long)]
        label: Option<String>,
    },
    /// List the keys of an account
    List {
        #[command(flatten)]
        whose: Whose,
    },
    /// Replace the master key, which seals all secrets in the database, while the service runs
    Rotate(RotateArgs),
    /// Revoke a key; a running server notices within a second
    Revoke {
        #[command(flatten)]
        whose: Whose,
        /// The key's id
        id: String,
    },
}

pub fn run(settings: &Settings, command: KeyCommand) -> Outcome {
    with_app(settings, |app| async move {
        let command = match command {
            KeyCommand::Rotate(args) => return rotate::run(&app, args).await,
            command => command,
        };
        let (KeyCommand::Issue { whose, .. } | KeyCommand::List { whose } | KeyCommand::Revoke { whose, .. }) =
            &command
        else {
            return Ok(());
        };
        let account = accounts::by_email(&app, &whose.email).await.map_err(failed)?.id;
        match command {
            KeyCommand::Issue { label, .. } => {
                let key = accounts::issue_key(&app, account, KeyId::at(app.now()), label)
                    .await
                    .map_err(failed)?;
                print_line(&format!(
                    "{}  {}   (shown this once)",
                    key.record.id,
                    key.secret.expose()
                ));
            }
            KeyCommand::List { .. } => {
                for key in accounts::list_keys(&app, account).await.map_err(failed)? {
                    let primary = if key.is_primary { "primary" } else { "-" };
                    let used = key
                        .last_used_at
                        .map_or_else(|| "never used".to_owned(), |at| at.to_string());
                    let label = key.label.unwrap_or_default();
                    print_line(&format!("{}  …{}  {primary}  {used}  {label}", key.id, key.hint));
                }
            }
            KeyCommand::Rotate(_) => {}
            KeyCommand::Revoke { id, .. } => {
                let id = id
                    .parse()
                    .map_err(|_| CommandError(format!("{id} is not the id of a key")))?;
                accounts::revoke_key(&app, account, Actor::Owner, id)
                    .await
                    .map_err(failed)?;
                print_line("revoked");
            }
        }
        Ok(())
    })
}
