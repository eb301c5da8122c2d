//! `garson branch`: owners of branches, for operators.

use super::command::{Outcome, failed, print_line, with_app};
use crate::config::Settings;
use crate::flow::admin::{accounts, branches};
use clap::{Args, Subcommand};
use garson_store::tables::branches::NamedBranch;
use serde_json::json;

#[derive(Args)]
pub struct Which {
    /// The platform key, such as getir
    #[arg(long)]
    provider: String,
    /// The platform's id of the branch: the integration's remoteId
    #[arg(long)]
    branch: String,
}

#[derive(Subcommand)]
pub enum BranchCommand {
    /// List the branches that integrations name: platform, branch, proven, unproven or taken, restaurant, account
    List {
        /// Print JSON, one object per line
        #[arg(long)]
        json: bool,
    },
    /// Assign a branch to an account, whichever account owned it before
    Assign {
        #[command(flatten)]
        which: Which,
        /// The e-mail address of the account, which must have an integration with this branch
        #[arg(long, visible_alias = "account")]
        email: String,
    },
    /// Release a branch from its owner; the next account whose credentials work there becomes the owner
    Release {
        #[command(flatten)]
        which: Which,
    },
}

pub fn run(settings: &Settings, command: BranchCommand) -> Outcome {
    with_app(settings, |app| async move {
        match command {
            BranchCommand::List { json: as_json } => {
                let show = |it: &NamedBranch| {
                    let claim = it.claim.as_str();
                    print_line(&if as_json {
                        json!({
                            "provider": it.provider, "branch": it.branch, "claim": claim,
                            "restaurantId": it.restaurant_id, "account": it.email,
                        })
                        .to_string()
                    } else {
                        format!(
                            "{}  {}  {claim}  {}  {}",
                            it.provider, it.branch, it.restaurant_id, it.email
                        )
                    });
                };
                branches::list(&app, show).await.map_err(failed)?;
            }
            BranchCommand::Assign { which, email } => {
                let account = accounts::by_email(&app, &email).await.map_err(failed)?.id;
                branches::assign(&app, account, &which.provider, &which.branch)
                    .await
                    .map_err(failed)?;
                print_line("assigned");
            }
            BranchCommand::Release { which } => {
                branches::release(&app, &which.provider, &which.branch)
                    .await
                    .map_err(failed)?;
                print_line("released");
            }
        }
        Ok(())
    })
}
