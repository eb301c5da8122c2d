//! `garson audit`: the audit log, for operators.

use super::command::{CommandError, Outcome, failed, with_app};
use super::output::Output;
use super::progress::{ShownProgress, Unit};
use crate::app::App;
use crate::config::Settings;
use crate::flow::admin::audit::LogReader;
use crate::flow::admin::{accounts, audit};
use clap::Subcommand;
use garson_core::audit::AuditEntry;
use garson_core::id::AccountId;
use garson_store::lists::audit::AuditFilter;
use garson_store::tables::audit::{ChainPoint, Finding, INSTALLATION};
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Subcommand)]
pub enum AuditCommand {
    /// Verify that no entry was changed, removed or inserted; prints the number and hash of each log's last entry
    Verify {
        /// The e-mail address of one account; all logs without it
        #[arg(long, visible_alias = "email", value_name = "EMAIL")]
        account: Option<String>,
        /// NUMBER:HASH of an entry, from an earlier run that was kept elsewhere: it must still be the same
        #[arg(long, requires = "account", value_parser = point)]
        known: Option<ChainPoint>,
        #[command(flatten)]
        output: Output,
    },
    /// List the entries of an account, newest first
    List {
        /// The e-mail address of the account; the installation's own log without it
        #[arg(long, visible_alias = "email", value_name = "EMAIL")]
        account: Option<String>,
        /// How many at most
        #[arg(long, default_value_t = 50)]
        limit: usize,
        #[command(flatten)]
        output: Output,
    },
}

fn point(text: &str) -> Result<ChainPoint, String> {
    let wrong = || "must be NUMBER:HASH, as `garson audit verify` prints it".to_owned();
    let (number, digits) = text.split_once(':').ok_or_else(wrong)?;
    let number = number.parse().map_err(|_| wrong())?;
    if digits.len() != 64 || !digits.is_ascii() {
        return Err(wrong());
    }
    let mut hash = [0; 32];
    for (at, byte) in hash.iter_mut().enumerate() {
        let pair = digits.get(2 * at..2 * at + 2).ok_or_else(wrong)?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
    }
    Ok(ChainPoint { number, hash })
}

fn hex(hash: &[u8; 32]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn run(settings: &Settings, command: AuditCommand) -> Outcome {
    with_app(settings, |app| async move {
        match command {
            AuditCommand::Verify {
                account: email,
                known,
                output,
            } => {
                let account = account(&app, email).await?;
                let shown = ShownProgress::start("verify", Unit::Rows, &Arc::default());
                let verified = verify(&app, account, known, output).await;
                drop(shown);
                verified
            }
            AuditCommand::List {
                account: email,
                limit,
                output,
            } => {
                let account = account(&app, email).await?;
                list(&app, account.unwrap_or(INSTALLATION), limit, output).await
            }
        }
    })
}

async fn account(app: &App, email: Option<String>) -> Result<Option<AccountId>, CommandError> {
    match email {
        Some(email) => Ok(Some(accounts::by_email(app, &email).await.map_err(failed)?.id)),
        None => Ok(None),
    }
}

async fn verify(app: &App, account: Option<AccountId>, known: Option<ChainPoint>, output: Output) -> Outcome {
    let mut is_intact = true;
    if let Some(account) = account {
        is_intact &= verify_one(app, account, known, None, output).await?;
    } else {
        let mut after = None;
        while let Some((account, is_known)) = audit::next_log(app, after).await.map_err(failed)? {
            let problem = (!is_known).then(|| "there is no such account".to_owned());
            is_intact &= verify_one(app, account, None, problem, output).await?;
            after = Some(account);
        }
    }
    if is_intact {
        Ok(())
    } else {
        Err(CommandError("the audit log was tampered with".to_owned()))
    }
}

/// Verifies a log. `problem` is one that it has anyway.
async fn verify_one(
    app: &App,
    account: AccountId,
    known: Option<ChainPoint>,
    problem: Option<String>,
    output: Output,
) -> Result<bool, CommandError> {
    let verified = audit::verify(app, account, known).await.map_err(failed)?;
    let is_chained = verified.findings.is_empty();
    let is_intact = is_chained && problem.is_none();
    let findings: Vec<String> = problem
        .into_iter()
        .chain(verified.findings.iter().map(explain))
        .collect();
    let name = if account == INSTALLATION {
        "installation".to_owned()
    } else {
        account.to_string()
    };
    let last = format!("{}:{}", verified.last.number, hex(&verified.last.hash));
    let result = if is_chained { "intact" } else { "NOT INTACT" };
    let mut lines: Vec<String> = findings
        .iter()
        .map(|finding| format!("{name}  {finding}"))
        .collect();
    lines.push(format!("{name}  {} entries  {result}  {last}", verified.rows));
    let shown = json!({
        "log": name, "entries": verified.rows, "isIntact": is_intact, "findings": findings, "last": last,
    });
    output.result(lines.join("\n"), &shown);
    Ok(is_intact)
}

fn explain(finding: &Finding) -> String {
    match finding {
        Finding::Missing { from, to } if from == to => format!("entry {from} is missing"),
        Finding::Missing { from, to } => format!("entries {from} to {to} are missing"),
        Finding::Changed { number, at } => format!("entry {number} of {at} was changed"),
        Finding::Inserted { number, at } => format!("entry {number} of {at} was inserted"),
        Finding::NoEnds => "the record of the log's ends is missing".to_owned(),
        Finding::Removed { number } => {
            format!("entry {number} was removed, as retention does: compare a later one")
        }
        Finding::OtherEnd { number } => format!("entry {number} is not the one that was recorded"),
    }
}

async fn list(app: &App, account: AccountId, limit: usize, output: Output) -> Outcome {
    let mut reader = LogReader::new(account, AuditFilter::default());
    let mut left = limit;
    let columns = [
        "number", "at", "actor", "address", "action", "record", "before", "after",
    ];
    let mut list = output.list(columns);
    while left > 0
        && let Some(entries) = reader.next(app).await.map_err(failed)?
    {
        for it in entries.into_iter().take(left) {
            let shown = value(&it);
            list.row(cells(it), &shown);
            left -= 1;
        }
    }
    Ok(())
}

fn value(it: &AuditEntry) -> Value {
    let AuditEntry { number, entry, .. } = it;
    let parsed = |text: &Option<String>| {
        let text = text.as_deref()?;
        serde_json::from_str::<Value>(text).ok()
    };
    json!({
        "number": number, "at": entry.at, "actor": entry.actor.kind.as_str(), "actorId": entry.actor.id,
        "actorName": entry.actor.name, "address": entry.address, "action": entry.action.to_string(),
        "recordId": entry.record_id, "restaurantId": entry.restaurant_id,
        "before": parsed(&entry.before), "after": parsed(&entry.after),
    })
}

fn cells(it: AuditEntry) -> [String; 8] {
    let AuditEntry { number, entry, .. } = it;
    let actor = entry.actor;
    let name = actor
        .name
        .or(actor.id.map(|id| id.to_string()))
        .unwrap_or_default();
    [
        number.to_string(),
        entry.at.to_string(),
        format!("{} {name}", actor.kind.as_str()).trim_end().to_owned(),
        entry.address.unwrap_or_default(),
        entry.action.to_string(),
        entry.record_id.unwrap_or_default(),
        entry.before.unwrap_or_default(),
        entry.after.unwrap_or_default(),
    ]
}
