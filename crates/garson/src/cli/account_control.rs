//! `garson account disable`, `enable`, `delete`, `quota`, `export` and `import`.

use super::command::{AccountArgs, CommandError, Outcome, failed};
use super::output::Output;
use super::progress::{ShownProgress, Unit};
use super::secret_input::{ask_plainly, read_or_ask, read_or_choose};
use crate::app::App;
use crate::flow::Fault;
use crate::flow::admin::{account_control, account_move, accounts};
use crate::flow::upkeep;
use clap::{Args, Subcommand};
use garson_core::account::Account;
use garson_core::account_state::{AccountState, QuotaKind, Quotas, UNLIMITED};
use garson_core::id::AccountId;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Subcommand)]
pub enum ControlCommand {
    /// Disable an account: keys and sessions are refused and events wait; orders of platforms are still recorded
    Disable {
        #[command(flatten)]
        account: AccountArgs,
        /// Why, for `garson account list`
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Enable an account again; the events that have waited are sent
    Enable {
        #[command(flatten)]
        account: AccountArgs,
        #[command(flatten)]
        output: Output,
    },
    /// Delete an account with everything that it has; asks for its name. Run it again if it was interrupted
    Delete {
        #[command(flatten)]
        account: AccountArgs,
        /// The account's name, instead of the question
        #[arg(long, value_name = "NAME")]
        confirm: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Show or set what an account may have: a number, "unlimited", or "default" for that of the settings
    Quota {
        #[command(flatten)]
        account: AccountArgs,
        /// Restaurants
        #[arg(long, value_name = "N", value_parser = quota)]
        restaurants: Option<Quota>,
        /// API keys
        #[arg(long, value_name = "N", value_parser = quota)]
        keys: Option<Quota>,
        /// Webhook endpoints
        #[arg(long, value_name = "N", value_parser = quota)]
        endpoints: Option<Quota>,
        /// Orders of own shops and test orders in a day; orders of platforms are always accepted
        #[arg(long, value_name = "N", value_parser = quota)]
        orders_per_day: Option<Quota>,
        #[command(flatten)]
        output: Output,
    },
    /// Write a disabled account into an encrypted file, for another installation
    Export {
        #[command(flatten)]
        account: AccountArgs,
        #[command(flatten)]
        passphrase: PassphraseArgs,
        /// The new file
        file: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Read an account from such a file; it is disabled until `garson account enable`
    Import {
        #[command(flatten)]
        passphrase: PassphraseArgs,
        /// The file
        file: PathBuf,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Args)]
pub struct PassphraseArgs {
    /// A file whose first line is the passphrase; - reads standard input. Without it, the terminal asks
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

/// The value of a quota; `None` is the default.
type Quota = Option<i64>;

/// The flag may be missing.
type GivenQuota = Option<Quota>;

fn quota(text: &str) -> Result<Quota, String> {
    match text {
        "default" => Ok(None),
        "unlimited" => Ok(Some(UNLIMITED)),
        number => match number.parse::<u32>() {
            Ok(number) => Ok(Some(i64::from(number))),
            Err(_) => Err("must be a number, \"unlimited\" or \"default\"".to_owned()),
        },
    }
}

pub async fn run(app: &App, command: ControlCommand) -> Outcome {
    match command {
        ControlCommand::Disable {
            account,
            reason,
            output,
        } => {
            let id = account.find(app).await?.id;
            account_control::disable(app, id, reason).await.map_err(failed)?;
            show_state(output, id, AccountState::Disabled);
        }
        ControlCommand::Enable { account, output } => {
            let id = account.find(app).await?.id;
            account_control::enable(app, id).await.map_err(failed)?;
            show_state(output, id, AccountState::Active);
        }
        ControlCommand::Delete {
            account,
            confirm,
            output,
        } => return delete(app, &account, confirm, output).await,
        ControlCommand::Quota {
            account,
            restaurants,
            keys,
            endpoints,
            orders_per_day,
            output,
        } => {
            let account = account.find(app).await?;
            let given = [
                (QuotaKind::Restaurants, restaurants),
                (QuotaKind::Keys, keys),
                (QuotaKind::Endpoints, endpoints),
                (QuotaKind::OrdersPerDay, orders_per_day),
            ];
            let quotas = change_quotas(app, &account, given).await?;
            show_quotas(app, &quotas, output);
        }
        ControlCommand::Export {
            account,
            passphrase,
            file,
            output,
        } => {
            let account = account.find(app).await?;
            let given = passphrase.passphrase_file.as_deref();
            let passphrase = read_or_choose(given, "Passphrase", "--passphrase-file")?;
            let shown = ShownProgress::start("export", Unit::Rows, &Arc::default());
            let exported = account_move::export(app, &account, &file, &passphrase).await;
            drop(shown);
            let rows = exported.map_err(failed)?;
            output.result(
                format!("{rows} rows of {} are in {}.", account.email, file.display()),
                &json!({ "accountId": account.id, "rows": rows, "file": file }),
            );
        }
        ControlCommand::Import {
            passphrase,
            file,
            output,
        } => {
            let given = passphrase.passphrase_file.as_deref();
            let passphrase = read_or_ask(given, "Passphrase", "--passphrase-file")?;
            let shown = ShownProgress::start("import", Unit::Rows, &Arc::default());
            let imported = account_move::import(app, &file, &passphrase).await;
            drop(shown);
            let (description, rows) = imported.map_err(failed)?;
            let email = description.email;
            output.result(
                format!(
                    "{rows} rows of {email} were imported. The account is disabled: garson account enable --account {email}"
                ),
                &json!({ "email": email, "rows": rows, "state": AccountState::Disabled.as_str() }),
            );
        }
    }
    Ok(())
}

fn show_state(output: Output, account: AccountId, state: AccountState) {
    let state = state.as_str();
    let word = if state == AccountState::Active.as_str() {
        "enabled"
    } else {
        state
    };
    output.result(word, &json!({ "accountId": account, "state": state }));
}

async fn delete(app: &App, given: &AccountArgs, confirm: Option<String>, output: Output) -> Outcome {
    let account = match accounts::by_email(app, &given.account).await {
        Ok(account) => account,
        Err(fault @ Fault::NotFound(_)) => {
            // The last step of a deletion may have been interrupted.
            upkeep::account_removal::step(app).await?;
            return Err(failed(fault));
        }
        Err(fault) => return Err(failed(fault)),
    };
    let given = match confirm {
        Some(given) => given,
        None => ask_plainly(&format!(
            "This deletes {} with all orders, restaurants and keys. Type its name ({}) to go on:",
            account.email, account.name
        ))?,
    };
    if given != account.name {
        return Err(CommandError(
            "that is not its name; nothing was deleted".to_owned(),
        ));
    }
    let progress = Arc::default();
    let shown = ShownProgress::start("delete", Unit::Rows, &progress);
    let deleted = account_control::delete(app, account.id, |count| progress.set(count, None)).await;
    drop(shown);
    let rows = deleted.map_err(failed)?;
    output.result(
        format!("deleted, {rows} rows"),
        &json!({ "accountId": account.id, "deletedRows": rows }),
    );
    Ok(())
}

async fn change_quotas(
    app: &App,
    account: &Account,
    given: [(QuotaKind, GivenQuota); 4],
) -> Result<Quotas, CommandError> {
    if given.iter().all(|(_, quota)| quota.is_none()) {
        let found = account_control::state(app, account.id).await.map_err(failed)?;
        return Ok(found.quotas);
    }
    let change = move |quotas: &mut Quotas| {
        for (kind, quota) in given {
            if let Some(quota) = quota {
                quotas.set(kind, quota);
            }
        }
    };
    account_control::change_quotas(app, account.id, change)
        .await
        .map_err(failed)
}

fn show_quotas(app: &App, quotas: &Quotas, output: Output) {
    let limit = |kind| quotas.limit(kind, app.settings.quotas.get(kind));
    let lines = QuotaKind::ALL.map(|kind| {
        let origin = if quotas.get(kind).is_none() {
            "  (default)"
        } else {
            ""
        };
        let shown = limit(kind).map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string());
        format!("{:18} {shown}{origin}", kind.as_str())
    });
    let shown = json!({
        "restaurants": limit(QuotaKind::Restaurants),
        "keys": limit(QuotaKind::Keys),
        "endpoints": limit(QuotaKind::Endpoints),
        "ordersPerDay": limit(QuotaKind::OrdersPerDay),
    });
    output.result(lines.join("\n"), &shown);
}
