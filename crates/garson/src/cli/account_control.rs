//! `garson account disable`, `enable`, `delete`, `quota`, `export` and `import`.

use super::command::{CommandError, Outcome, failed, print_line};
use super::secret_input::{ask_plainly, read_or_ask, read_or_choose};
use crate::app::App;
use crate::flow::Fault;
use crate::flow::admin::{account_control, account_move, accounts};
use crate::flow::upkeep;
use clap::{Args, Subcommand};
use garson_core::account::Account;
use garson_core::account_state::{QuotaKind, Quotas, UNLIMITED};
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
pub struct Whose {
    /// The e-mail address of the account
    #[arg(long, visible_alias = "account")]
    email: String,
}

#[derive(Subcommand)]
pub enum ControlCommand {
    /// Disable an account: keys and sessions are refused and events wait; orders of platforms are still recorded
    Disable {
        #[command(flatten)]
        whose: Whose,
        /// Why, for `garson account list`
        #[arg(long)]
        reason: Option<String>,
    },
    /// Enable an account again; the events that have waited are sent
    Enable {
        #[command(flatten)]
        whose: Whose,
    },
    /// Delete an account with everything that it has; asks for its name. Run it again if it was interrupted
    Delete {
        #[command(flatten)]
        whose: Whose,
        /// The account's name, instead of the question
        #[arg(long, value_name = "NAME")]
        confirm: Option<String>,
    },
    /// Show or set what an account may have: a number, "unlimited", or "default" for that of the settings
    Quota {
        #[command(flatten)]
        whose: Whose,
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
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a disabled account into an encrypted file, for another installation
    Export {
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        passphrase: PassphraseArgs,
        /// The new file
        file: PathBuf,
    },
    /// Read an account from such a file; it is disabled until `garson account enable`
    Import {
        #[command(flatten)]
        passphrase: PassphraseArgs,
        /// The file
        file: PathBuf,
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
        ControlCommand::Disable { whose, reason } => {
            let account = find(app, &whose).await?;
            account_control::disable(app, account.id, reason)
                .await
                .map_err(failed)?;
            print_line("disabled");
        }
        ControlCommand::Enable { whose } => {
            let account = find(app, &whose).await?;
            account_control::enable(app, account.id).await.map_err(failed)?;
            print_line("enabled");
        }
        ControlCommand::Delete { whose, confirm } => return delete(app, &whose, confirm).await,
        ControlCommand::Quota {
            whose,
            restaurants,
            keys,
            endpoints,
            orders_per_day,
            json,
        } => {
            let account = find(app, &whose).await?;
            let given = [
                (QuotaKind::Restaurants, restaurants),
                (QuotaKind::Keys, keys),
                (QuotaKind::Endpoints, endpoints),
                (QuotaKind::OrdersPerDay, orders_per_day),
            ];
            let quotas = change_quotas(app, &account, given).await?;
            show_quotas(app, &quotas, json);
        }
        ControlCommand::Export {
            whose,
            passphrase,
            file,
        } => {
            let account = find(app, &whose).await?;
            let given = passphrase.passphrase_file.as_deref();
            let passphrase = read_or_choose(given, "Passphrase", "--passphrase-file")?;
            let rows = account_move::export(app, &account, &file, &passphrase)
                .await
                .map_err(failed)?;
            print_line(&format!(
                "{rows} rows of {} are in {}.",
                account.email,
                file.display()
            ));
        }
        ControlCommand::Import { passphrase, file } => {
            let given = passphrase.passphrase_file.as_deref();
            let passphrase = read_or_ask(given, "Passphrase", "--passphrase-file")?;
            let (description, rows) = account_move::import(app, &file, &passphrase)
                .await
                .map_err(failed)?;
            let email = description.email;
            print_line(&format!(
                "{rows} rows of {email} were imported. The account is disabled: garson account enable --email {email}"
            ));
        }
    }
    Ok(())
}

async fn find(app: &App, whose: &Whose) -> Result<Account, CommandError> {
    accounts::by_email(app, &whose.email).await.map_err(failed)
}

async fn delete(app: &App, whose: &Whose, confirm: Option<String>) -> Outcome {
    let account = match accounts::by_email(app, &whose.email).await {
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
    let mut shown = 0;
    let rows = account_control::delete(app, account.id, |count| {
        if count >= shown + 10_000 {
            shown = count;
            eprintln!("{count} rows");
        }
    })
    .await
    .map_err(failed)?;
    print_line(&format!("deleted, {rows} rows"));
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

fn show_quotas(app: &App, quotas: &Quotas, json: bool) {
    let limit = |kind| quotas.limit(kind, app.settings.quotas.get(kind));
    if json {
        let shown = json!({
            "restaurants": limit(QuotaKind::Restaurants),
            "keys": limit(QuotaKind::Keys),
            "endpoints": limit(QuotaKind::Endpoints),
            "ordersPerDay": limit(QuotaKind::OrdersPerDay),
        });
        return print_line(&shown.to_string());
    }
    for kind in QuotaKind::ALL {
        let origin = if quotas.get(kind).is_none() {
            "  (default)"
        } else {
            ""
        };
        let shown = limit(kind).map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string());
        print_line(&format!("{:18} {shown}{origin}", kind.as_str()));
    }
}
