//! `garson key`: API keys and the master key, for operators.

use super::command::{AccountArgs, CommandError, Outcome, failed, with_app};
use super::output::Output;
use super::rotate::{self, RotateArgs};
use crate::config::Settings;
use crate::flow::By;
use crate::flow::admin::keys;
use crate::flow::admin::keys::NewKey;
use clap::Subcommand;
use garson_core::id::{KeyId, RestaurantId};
use garson_core::key_access::{KeyAccess, Scope};
use garson_core::network::Network;
use garson_core::permission::RestaurantScope;
use garson_core::time::Timestamp;
use serde_json::json;
use std::time::Duration;

#[derive(Subcommand)]
pub enum KeyCommand {
    /// Issue a key; it is printed only this once
    Issue {
        #[command(flatten)]
        account: AccountArgs,
        /// What people call it
        #[arg(long)]
        label: Option<String>,
        /// What it is for, such as orders:read; may be repeated. Without it: everything
        #[arg(long = "scope", value_parser = parse_scope)]
        scopes: Vec<Scope>,
        /// The id of a restaurant that it is for; may be repeated. Without it: all
        #[arg(long = "restaurant")]
        restaurants: Vec<RestaurantId>,
        /// A network that it may be used from; may be repeated. Without it: all
        #[arg(long = "network")]
        networks: Vec<Network>,
        /// After how many days it ends
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=3650))]
        expires_days: Option<u32>,
        #[command(flatten)]
        output: Output,
    },
    /// List the keys of an account
    List {
        #[command(flatten)]
        account: AccountArgs,
        #[command(flatten)]
        output: Output,
    },
    /// Replace the master key, which seals all secrets in the database, while the service runs
    Rotate(RotateArgs),
    /// Revoke a key; a running server notices within a second
    Revoke {
        #[command(flatten)]
        account: AccountArgs,
        /// The key's id
        id: String,
        #[command(flatten)]
        output: Output,
    },
}

fn parse_scope(name: &str) -> Result<Scope, String> {
    Scope::named(name).ok_or_else(|| format!("one of {}", Scope::ALL.map(Scope::as_str).join(", ")))
}

/// What a key may do, in a few words.
fn limits(access: &KeyAccess, expires_at: Option<Timestamp>) -> String {
    let mut words = match &access.scopes {
        None => vec!["everything".to_owned()],
        Some(scopes) => scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
    };
    if let RestaurantScope::Only(ids) = &access.restaurants {
        words.push(format!("{} restaurants", ids.len()));
    }
    words.extend(access.networks.iter().map(|network| format!("from {network}")));
    words.extend(expires_at.map(|at| format!("until {at}")));
    words.join(", ")
}

pub fn run(settings: &Settings, command: KeyCommand) -> Outcome {
    with_app(settings, |app| async move {
        let command = match command {
            KeyCommand::Rotate(args) => return rotate::run(&app, args).await,
            command => command,
        };
        let (KeyCommand::Issue { account, .. }
        | KeyCommand::List { account, .. }
        | KeyCommand::Revoke { account, .. }) = &command
        else {
            return Ok(());
        };
        let account = account.find(&app).await?.id;
        match command {
            KeyCommand::Issue {
                label,
                scopes,
                restaurants,
                networks,
                expires_days,
                output,
                ..
            } => {
                let lifetime = expires_days.map(|days| Duration::from_secs(u64::from(days) * 24 * 3600));
                let new = NewKey {
                    label,
                    access: KeyAccess {
                        scopes: (!scopes.is_empty()).then(|| scopes.into_iter().collect()),
                        restaurants: if restaurants.is_empty() {
                            RestaurantScope::All
                        } else {
                            RestaurantScope::Only(restaurants.into_iter().collect())
                        },
                        networks: networks.into_iter().collect(),
                    },
                    expires_at: lifetime.map(|lifetime| app.now().plus(lifetime)),
                };
                let by = By::operator(account, "key issue");
                let key = keys::issue(&app, by, KeyId::at(app.now()), new)
                    .await
                    .map_err(failed)?;
                let (id, secret) = (key.record.id, key.secret.expose());
                output.result(
                    format!("{id}  {secret}   (shown this once)"),
                    &json!({ "id": id, "key": secret }),
                );
            }
            KeyCommand::List { output, .. } => {
                let mut list = output.list(["id", "ends with", "primary", "last used", "limits", "label"]);
                for key in keys::list(&app, account).await.map_err(failed)? {
                    let limits = limits(&key.access, key.expires_at);
                    let shown = json!({
                        "id": key.id, "hint": key.hint, "isPrimary": key.is_primary, "label": key.label,
                        "limits": limits, "expiresAt": key.expires_at, "lastUsedAt": key.last_used_at,
                    });
                    let cells = [
                        key.id.to_string(),
                        key.hint,
                        if key.is_primary { "primary" } else { "" }.to_owned(),
                        key.last_used_at
                            .map_or_else(|| "never".to_owned(), |at| at.to_string()),
                        limits,
                        key.label.unwrap_or_default(),
                    ];
                    list.row(cells, &shown);
                }
            }
            KeyCommand::Rotate(_) => {}
            KeyCommand::Revoke { id, output, .. } => {
                let id: KeyId = id
                    .parse()
                    .map_err(|_| CommandError(format!("{id} is not the id of a key")))?;
                keys::revoke(&app, By::operator(account, "key revoke"), id)
                    .await
                    .map_err(failed)?;
                output.result("revoked", &json!({ "id": id, "isRevoked": true }));
            }
        }
        Ok(())
    })
}
