//! `garson privacy`: personal data of customers, for operators. What identifies a customer is read from a file or standard input, since
//! the process list shows arguments to other users of the machine.

use super::command::{CommandError, Outcome, failed, print_line, with_app};
use crate::app::App;
use crate::config::Settings;
use crate::flow::By;
use crate::flow::admin::accounts;
use crate::flow::privacy;
use crate::flow::privacy::CustomerExport;
use clap::{Args, Subcommand};
use garson_core::id::{AccountId, ErasureId};
use garson_core::privacy::CustomerQuery;
use garson_store::tables::erasures::Erasure;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Whose {
    /// The e-mail address of the account
    #[arg(long, visible_alias = "email", value_name = "EMAIL")]
    account: String,
}

/// Who is meant: lines such as "phone: +90 532 123 45 67", "email: …", "name: …". All that are given must match.
#[derive(Args)]
pub struct Customer {
    /// A file with a line for each of phone, email, name; - reads standard input
    #[arg(long, value_name = "FILE", default_value = "-")]
    customer: PathBuf,
}

#[derive(Subcommand)]
pub enum PrivacyCommand {
    /// List the orders of a customer, oldest first
    Search {
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        customer: Customer,
    },
    /// Write everything that is stored about a customer into a new file
    Export {
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        customer: Customer,
        /// The new file
        file: PathBuf,
    },
    /// Erase a customer's personal data from all orders; continues an erasure that was interrupted
    Erase {
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        customer: Customer,
    },
    /// List the account's erasures, newest first
    Erasures {
        #[command(flatten)]
        whose: Whose,
    },
}

pub fn run(settings: &Settings, command: PrivacyCommand) -> Outcome {
    with_app(settings, |app| async move {
        let (PrivacyCommand::Search { whose, .. }
        | PrivacyCommand::Export { whose, .. }
        | PrivacyCommand::Erase { whose, .. }
        | PrivacyCommand::Erasures { whose }) = &command;
        let account = accounts::by_email(&app, &whose.account).await.map_err(failed)?.id;
        match command {
            PrivacyCommand::Search { customer, .. } => {
                search(&app, account, &read(&customer.customer)?).await
            }
            PrivacyCommand::Export { customer, file, .. } => {
                export(&app, account, read(&customer.customer)?, &file).await
            }
            PrivacyCommand::Erase { customer, .. } => erase(&app, account, read(&customer.customer)?).await,
            PrivacyCommand::Erasures { .. } => {
                for it in privacy::list(&app, account).await.map_err(failed)? {
                    print_line(&shown(&it));
                }
                Ok(())
            }
        }
    })
}

fn read(file: &Path) -> Result<CustomerQuery, CommandError> {
    let text = if file.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(file)
    };
    let text = text.map_err(|error| CommandError(format!("{} cannot be read: {error}", file.display())))?;
    let (mut phone, mut email, mut name) = (None, None, None);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let wrong = || CommandError("each line must be \"phone: …\", \"email: …\" or \"name: …\"".to_owned());
        let (field, value) = line.split_once(':').ok_or_else(wrong)?;
        match field.trim() {
            "phone" => phone = Some(value.to_owned()),
            "email" => email = Some(value.to_owned()),
            "name" => name = Some(value.to_owned()),
            _ => return Err(wrong()),
        }
    }
    privacy::read_query(phone.as_deref(), email.as_deref(), name.as_deref()).map_err(failed)
}

async fn search(app: &App, account: AccountId, query: &CustomerQuery) -> Outcome {
    let mut after = None;
    loop {
        let by = By::operator(account, "privacy search");
        let found = privacy::search(app, by, query.clone(), after, 100)
            .await
            .map_err(failed)?;
        for it in found.orders {
            let (order, customer) = (it.order, it.content.customer);
            print_line(&format!(
                "{}  {}  {} {}  {}  {}",
                order.id,
                order.created_at,
                order.provider,
                order.provider_order_id,
                customer.name.unwrap_or_default(),
                customer.phone.unwrap_or_default(),
            ));
        }
        match found.next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}

async fn export(app: &App, account: AccountId, query: CustomerQuery, file: &Path) -> Outcome {
    let by = By::operator(account, "privacy export");
    let mut export = CustomerExport::begin(app, by, query).await.map_err(failed)?;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = options.open(file);
    let mut to =
        opened.map_err(|error| CommandError(format!("{} cannot be created: {error}", file.display())))?;
    let mut count = 0;
    write!(to, "{{\"exportedAt\":\"{}\",\"orders\":[", app.now())?;
    while let Some(orders) = export.next(app).await.map_err(failed)? {
        for order in orders {
            write!(to, "{}\n{order}", if count == 0 { "" } else { "," })?;
            count += 1;
        }
    }
    writeln!(to, "]}}")?;
    to.sync_all()?;
    print_line(&format!("{count} orders"));
    Ok(())
}

async fn erase(app: &App, account: AccountId, query: CustomerQuery) -> Outcome {
    let by = By::operator(account, "privacy erase");
    let started = privacy::start(app, by, ErasureId::at(app.now()), query)
        .await
        .map_err(failed)?;
    // A running server does the same work; whoever comes first does a part.
    loop {
        let now = privacy::find(app, account, started.id).await.map_err(failed)?;
        if now.finished_at.is_some() {
            print_line(&shown(&now));
            return Ok(());
        }
        privacy::step(app).await.map_err(failed)?;
    }
}

fn shown(it: &Erasure) -> String {
    let state = match it.finished_at {
        Some(at) => format!("done at {at}"),
        None => "running".to_owned(),
    };
    format!(
        "{}  {}  {} orders erased, {} wait for their end  {state}",
        it.id, it.created_at, it.erased, it.waiting
    )
}
