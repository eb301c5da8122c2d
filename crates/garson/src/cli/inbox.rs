//! `garson inbox`: messages of platforms that were stored but could not be processed.

use super::command::{CommandError, Outcome, failed, print_line, with_app};
use crate::app::App;
use crate::config::Settings;
use crate::flow;
use crate::flow::admin::audit::record_command;
use crate::flow::read::operator;
use clap::Subcommand;
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::InboxId;
use garson_core::platform::IntakeOutcome;
use serde_json::json;
use std::sync::Arc;

#[derive(Subcommand)]
pub enum InboxCommand {
    /// List them, newest first
    List {
        /// How many at most
        #[arg(long, default_value_t = 50)]
        limit: u16,
        /// Print JSON, one object per line
        #[arg(long)]
        json: bool,
    },
    /// Process them again: one, or all that are listed
    Retry {
        /// The message's id, from `garson inbox list`
        #[arg(required_unless_present = "all")]
        id: Option<String>,
        /// All of them, up to a thousand
        #[arg(long, conflicts_with = "id")]
        all: bool,
    },
}

/// How many messages one command retries.
const MAX_AT_ONCE: i64 = 1_000;

pub fn run(settings: &Settings, command: InboxCommand) -> Outcome {
    with_app(settings, |app| async move {
        match command {
            InboxCommand::List { limit, json } => list(&app, i64::from(limit), json).await,
            InboxCommand::Retry { id: Some(id), .. } => {
                let id = id
                    .parse()
                    .map_err(|_| CommandError(format!("{id} is not the id of a message")))?;
                if retry(&app, id).await? {
                    Ok(())
                } else {
                    Err(CommandError("the message could not be processed".to_owned()))
                }
            }
            InboxCommand::Retry { id: None, .. } => retry_all(&app).await,
        }
    })
}

async fn list(app: &App, limit: i64, as_json: bool) -> Outcome {
    for message in operator::open_messages(app, limit).await.map_err(failed)? {
        print_line(&if as_json {
            json!({
                "id": message.id, "receivedAt": message.received_at, "provider": message.provider, "kind": message.kind,
                "branch": message.branch, "state": message.state, "times": message.times, "bytes": message.bytes,
                "reason": message.reason,
            })
            .to_string()
        } else {
            format!(
                "{}  {}  {} {}  {}  {} times, {} bytes  {}",
                message.id,
                message.received_at,
                message.provider,
                message.kind,
                message.state,
                message.times,
                message.bytes,
                message.reason.unwrap_or_default(),
            )
        });
    }
    Ok(())
}

/// Oldest first, in the order of their arrival.
async fn retry_all(app: &Arc<App>) -> Outcome {
    let open = operator::open_messages(app, MAX_AT_ONCE).await.map_err(failed)?;
    let mut left = 0;
    let mut taken = 0;
    for message in open.into_iter().rev() {
        if retry(app, message.id).await? {
            taken += 1;
        } else {
            left += 1;
        }
    }
    print_line(&format!("{taken} taken, {left} left"));
    Ok(())
}

async fn retry(app: &Arc<App>, id: InboxId) -> Result<bool, CommandError> {
    let what = (RecordKind::Message, Verb::Retried);
    record_command(app, "inbox retry", what, &id.to_string())
        .await
        .map_err(failed)?;
    let reception = flow::intake::inbox_retry::retry(app, id).await.map_err(failed)?;
    let (line, taken) = match reception {
        IntakeOutcome::Taken { order_id } => (format!("{id}  taken into order {order_id}"), true),
        IntakeOutcome::Noted => (format!("{id}  taken"), true),
        IntakeOutcome::Conflict { order_id } => (format!("{id}  contradicts order {order_id}"), false),
        IntakeOutcome::UnknownBranch { branch } => {
            (format!("{id}  no integration has the branch {branch}"), false)
        }
        IntakeOutcome::UnknownOrder { identity } => (format!("{id}  there is no order {identity}"), false),
        IntakeOutcome::Unreadable(fault) => (format!("{id}  {} {}", fault.path, fault.message), false),
        IntakeOutcome::NotGenuine => (format!("{id}  is not genuine"), false),
    };
    print_line(&line);
    Ok(taken)
}
