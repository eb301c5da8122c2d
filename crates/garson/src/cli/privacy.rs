//! `garson privacy`: personal data of customers, for operators. What identifies a customer is read from a file or standard input, since
//! the process list shows arguments to other users of the machine.

use super::command::{AccountArgs, CommandError, Outcome, failed, with_app};
use super::output::Output;
use super::progress::{ShownProgress, Unit};
use crate::app::App;
use crate::config::Settings;
use crate::flow::By;
use crate::flow::privacy;
use crate::flow::privacy::CustomerExport;
use clap::{Args, Subcommand};
use garson_core::id::{AccountId, ErasureId};
use garson_core::privacy::CustomerQuery;
use garson_store::tables::erasures::Erasure;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
        account: AccountArgs,
        #[command(flatten)]
        customer: Customer,
        #[command(flatten)]
        output: Output,
    },
    /// Write everything that is stored about a customer into a new file
    Export {
        #[command(flatten)]
        account: AccountArgs,
        #[command(flatten)]
        customer: Customer,
        /// The new file
        file: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Erase a customer's personal data from all orders; continues an erasure that was interrupted
    Erase {
        #[command(flatten)]
        account: AccountArgs,
        #[command(flatten)]
        customer: Customer,
        #[command(flatten)]
        output: Output,
    },
    /// List the account's erasures, newest first
    Erasures {
        #[command(flatten)]
        account: AccountArgs,
        #[command(flatten)]
        output: Output,
    },
}

pub fn run(settings: &Settings, command: PrivacyCommand) -> Outcome {
    with_app(settings, |app| async move {
        let (PrivacyCommand::Search { account, .. }
        | PrivacyCommand::Export { account, .. }
        | PrivacyCommand::Erase { account, .. }
        | PrivacyCommand::Erasures { account, .. }) = &command;
        let account = account.find(&app).await?.id;
        match command {
            PrivacyCommand::Search { customer, output, .. } => {
                search(&app, account, &read(&customer.customer)?, output).await
            }
            PrivacyCommand::Export {
                customer,
                file,
                output,
                ..
            } => export(&app, account, read(&customer.customer)?, &file, output).await,
            PrivacyCommand::Erase { customer, output, .. } => {
                erase(&app, account, read(&customer.customer)?, output).await
            }
            PrivacyCommand::Erasures { output, .. } => {
                let mut list = output.list(["id", "created", "erased orders", "waiting", "state"]);
                for it in privacy::list(&app, account).await.map_err(failed)? {
                    let cells = [
                        it.id.to_string(),
                        it.created_at.to_string(),
                        it.erased.to_string(),
                        it.waiting.to_string(),
                        state_of(&it),
                    ];
                    list.row(cells, &value(&it));
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

async fn search(app: &App, account: AccountId, query: &CustomerQuery, output: Output) -> Outcome {
    let mut after = None;
    let mut list = output.list(["order", "created", "platform", "platform's id", "name", "phone"]);
    loop {
        let by = By::operator(account, "privacy search");
        let found = privacy::search(app, by, query.clone(), after, 100)
            .await
            .map_err(failed)?;
        for it in found.orders {
            let (order, customer) = (it.order, it.content.customer);
            let shown = json!({
                "orderId": order.id, "createdAt": order.created_at, "provider": order.provider,
                "providerOrderId": order.provider_order_id, "name": customer.name, "phone": customer.phone,
            });
            let cells = [
                order.id.to_string(),
                order.created_at.to_string(),
                order.provider.to_string(),
                order.provider_order_id,
                customer.name.unwrap_or_default(),
                customer.phone.unwrap_or_default(),
            ];
            list.row(cells, &shown);
        }
        match found.next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}

async fn export(app: &App, account: AccountId, query: CustomerQuery, file: &Path, output: Output) -> Outcome {
    let by = By::operator(account, "privacy export");
    let mut export = CustomerExport::begin(app, by, query).await.map_err(failed)?;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = options.open(file);
    let mut to =
        opened.map_err(|error| CommandError(format!("{} cannot be created: {error}", file.display())))?;
    let mut count = 0_u64;
    let progress = Arc::default();
    let shown = ShownProgress::start("export", Unit::Orders, &progress);
    write!(to, "{{\"exportedAt\":\"{}\",\"orders\":[", app.now())?;
    while let Some(orders) = export.next(app).await.map_err(failed)? {
        for order in orders {
            write!(to, "{}\n{order}", if count == 0 { "" } else { "," })?;
            count += 1;
        }
        progress.set(count, None);
    }
    writeln!(to, "]}}")?;
    to.sync_all()?;
    drop(shown);
    output.result(
        format!("{count} orders"),
        &json!({ "orders": count, "file": file }),
    );
    Ok(())
}

async fn erase(app: &App, account: AccountId, query: CustomerQuery, output: Output) -> Outcome {
    let by = By::operator(account, "privacy erase");
    let started = privacy::start(app, by, ErasureId::at(app.now()), query)
        .await
        .map_err(failed)?;
    let progress = Arc::default();
    let shown = ShownProgress::start("erase", Unit::Orders, &progress);
    // A running server does the same work, and either may do any part of it.
    loop {
        let now = privacy::find(app, account, started.id).await.map_err(failed)?;
        if now.finished_at.is_some() {
            drop(shown);
            show(&now, output);
            return Ok(());
        }
        progress.set(u64::try_from(now.erased).unwrap_or_default(), None);
        privacy::step(app).await.map_err(failed)?;
    }
}

fn state_of(it: &Erasure) -> String {
    match it.finished_at {
        Some(at) => format!("done at {at}"),
        None => "running".to_owned(),
    }
}

fn value(it: &Erasure) -> Value {
    json!({
        "erasureId": it.id, "createdAt": it.created_at, "erased": it.erased, "waiting": it.waiting,
        "finishedAt": it.finished_at,
    })
}

fn show(it: &Erasure, output: Output) {
    let text = format!(
        "{}  {}  {} orders erased, {} wait for their end  {}",
        it.id,
        it.created_at,
        it.erased,
        it.waiting,
        state_of(it)
    );
    output.result(text, &value(it));
}
