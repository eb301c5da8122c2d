//! `garson branch`: owners of branches, for operators.

use super::command::{AccountArgs, Outcome, failed, with_app};
use super::output::Output;
use crate::config::Settings;
use crate::flow::admin::branches;
use clap::{Args, Subcommand};
use garson_store::tables::branches::NamedBranch;
use serde_json::{Value, json};

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
        #[command(flatten)]
        output: Output,
    },
    /// Assign a branch to an account, whichever account owned it before; the account must have an integration with this branch
    Assign {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        account: AccountArgs,
        #[command(flatten)]
        output: Output,
    },
    /// Release a branch from its owner; the next account whose credentials work there becomes the owner
    Release {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        output: Output,
    },
}

pub fn run(settings: &Settings, command: BranchCommand) -> Outcome {
    with_app(settings, |app| async move {
        match command {
            BranchCommand::List { output } => {
                let columns = ["platform", "branch", "claim", "restaurant", "account"];
                let mut list = output.list(columns);
                let show = |it: &NamedBranch| {
                    let claim = it.claim.as_str();
                    let shown = json!({
                        "provider": it.provider, "branch": it.branch, "claim": claim,
                        "restaurantId": it.restaurant_id, "account": it.email,
                    });
                    let cells = [
                        it.provider.to_string(),
                        it.branch.clone(),
                        claim.to_owned(),
                        it.restaurant_id.to_string(),
                        it.email.clone(),
                    ];
                    list.row(cells, &shown);
                };
                branches::list(&app, show).await.map_err(failed)?;
            }
            BranchCommand::Assign {
                which,
                account,
                output,
            } => {
                let account = account.find(&app).await?;
                branches::assign(&app, account.id, &which.provider, &which.branch)
                    .await
                    .map_err(failed)?;
                output.result("assigned", &owned(&which, Some(&account.email)));
            }
            BranchCommand::Release { which, output } => {
                branches::release(&app, &which.provider, &which.branch)
                    .await
                    .map_err(failed)?;
                output.result("released", &owned(&which, None));
            }
        }
        Ok(())
    })
}

fn owned(which: &Which, owner: Option<&str>) -> Value {
    json!({ "provider": which.provider, "branch": which.branch, "account": owner })
}
