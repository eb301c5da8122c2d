//! `garson branch`: who owns the branches that accounts name, for operators.

use super::{Outcome, failed, print_line, with_app};
use crate::config::Settings;
use crate::flow::admin::{accounts, branches};
use clap::{Args, Subcommand};

#[derive(Args)]
pub struct Which {
    /// The platform key, such as getir
    #[arg(long)]
    provider: String,
    /// What the platform calls the branch: the integration's remoteId
    #[arg(long)]
    branch: String,
}

#[derive(Subcommand)]
pub enum BranchCommand {
    /// List the branches that integrations name: platform, branch, proven, unproven or taken, restaurant, account
    List,
    /// Decide that a branch belongs to an account, whoever had it before
    Assign {
        #[command(flatten)]
        which: Which,
        /// The e-mail address of the account, which must have an integration with this branch
        #[arg(long)]
        email: String,
    },
    /// Take a branch away from its owner; the next account whose own credentials work there owns it
    Release {
        #[command(flatten)]
        which: Which,
    },
}

pub fn run(settings: &Settings, command: BranchCommand) -> Outcome {
    with_app(settings, |app| async move {
        match command {
            BranchCommand::List => {
                let show = |it: &garson_store::tables::branches::NamedBranch| {
                    print_line(&format!(
                        "{}  {}  {}  {}  {}",
                        it.provider,
                        it.branch,
                        it.claim.as_str(),
                        it.restaurant_id,
                        it.email
                    ));
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
