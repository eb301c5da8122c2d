//! `garson audit`: the audit log, for operators.

use super::command::{CommandError, Outcome, failed, print_line, with_app};
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

#[derive(Subcommand)]
pub enum AuditCommand {
    /// Verify that no entry was changed, removed or inserted; prints the number and hash of each log's last entry
    Verify {
        /// The e-mail address of one account; all logs without it
        #[arg(long, visible_alias = "account")]
        email: Option<String>,
        /// NUMBER:HASH of an entry, from an earlier run that was kept elsewhere: it must still be the same
        #[arg(long, requires = "email", value_parser = point)]
        known: Option<ChainPoint>,
    },
    /// List the entries of an account, newest first
    List {
        /// The e-mail address of the account; the installation's own log without it
        #[arg(long, visible_alias = "account")]
        email: Option<String>,
        /// How many at most
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Print JSON, one object per line
        #[arg(long)]
        json: bool,
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
            AuditCommand::Verify { email, known } => verify(&app, email, known).await,
            AuditCommand::List { email, limit, json } => {
                let account = account(&app, email).await?;
                list(&app, account.unwrap_or(INSTALLATION), limit, json).await
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

async fn verify(app: &App, email: Option<String>, known: Option<ChainPoint>) -> Outcome {
    let mut is_intact = true;
    if let Some(account) = account(app, email).await? {
        is_intact &= verify_one(app, account, known).await?;
    } else {
        let mut after = None;
        while let Some((account, is_known)) = audit::next_log(app, after).await.map_err(failed)? {
            if !is_known {
                print_line(&format!("{account}  there is no such account"));
            }
            is_intact &= verify_one(app, account, None).await? && is_known;
            after = Some(account);
        }
    }
    if is_intact {
        Ok(())
    } else {
        Err(CommandError("the audit log was tampered with".to_owned()))
    }
}

async fn verify_one(app: &App, account: AccountId, known: Option<ChainPoint>) -> Result<bool, CommandError> {
    let verified = audit::verify(app, account, known).await.map_err(failed)?;
    let name = if account == INSTALLATION {
        "installation".to_owned()
    } else {
        account.to_string()
    };
    for finding in &verified.findings {
        print_line(&format!("{name}  {}", explain(finding)));
    }
    let is_intact = verified.findings.is_empty();
    let result = if is_intact { "intact" } else { "NOT INTACT" };
    let last = verified.last;
    print_line(&format!(
        "{name}  {} entries  {result}  {}:{}",
        verified.rows,
        last.number,
        hex(&last.hash)
    ));
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

async fn list(app: &App, account: AccountId, limit: usize, json: bool) -> Outcome {
    let mut reader = LogReader::new(account, AuditFilter::default());
    let mut left = limit;
    while left > 0
        && let Some(entries) = reader.next(app).await.map_err(failed)?
    {
        for entry in entries.into_iter().take(left) {
            print_line(&line(entry, json));
            left -= 1;
        }
    }
    Ok(())
}

fn line(it: AuditEntry, json: bool) -> String {
    let AuditEntry { number, entry, .. } = it;
    let actor = entry.actor;
    if json {
        let parsed = |text: Option<String>| text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        return json!({
            "number": number, "at": entry.at, "actor": actor.kind.as_str(), "actorId": actor.id,
            "actorName": actor.name, "address": entry.address, "action": entry.action.to_string(),
            "recordId": entry.record_id, "restaurantId": entry.restaurant_id,
            "before": parsed(entry.before), "after": parsed(entry.after),
        })
        .to_string();
    }
    let id = actor.id.map(|id| id.to_string());
    format!(
        "{number}  {}  {} {}  {}  {} {}  {} -> {}",
        entry.at,
        actor.kind.as_str(),
        actor.name.or(id).unwrap_or_default(),
        entry.address.unwrap_or_default(),
        entry.action,
        entry.record_id.unwrap_or_default(),
        entry.before.unwrap_or_default(),
        entry.after.unwrap_or_default(),
    )
}
