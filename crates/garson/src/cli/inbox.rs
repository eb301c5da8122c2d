//! `garson inbox`: messages of platforms that were stored but could not be processed.

use super::command::{CommandError, Outcome, failed, with_app};
use super::output::Output;
use super::progress::{ShownProgress, Unit};
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
        #[command(flatten)]
        output: Output,
    },
    /// Process them again: one, or all that are listed
    Retry {
        /// The message's id, from `garson inbox list`
        #[arg(required_unless_present = "all")]
        id: Option<String>,
        /// All of them, up to a thousand
        #[arg(long, conflicts_with = "id")]
        all: bool,
        #[command(flatten)]
        output: Output,
    },
}

/// How many messages one command retries.
const MAX_AT_ONCE: i64 = 1_000;

pub fn run(settings: &Settings, command: InboxCommand) -> Outcome {
    with_app(settings, |app| async move {
        match command {
            InboxCommand::List { limit, output } => list(&app, i64::from(limit), output).await,
            InboxCommand::Retry {
                id: Some(id), output, ..
            } => {
                let id = id
                    .parse()
                    .map_err(|_| CommandError(format!("{id} is not the id of a message")))?;
                if retry(&app, id, output).await? {
                    Ok(())
                } else {
                    Err(CommandError("the message could not be processed".to_owned()))
                }
            }
            InboxCommand::Retry { id: None, output, .. } => retry_all(&app, output).await,
        }
    })
}

async fn list(app: &App, limit: i64, output: Output) -> Outcome {
    let columns = [
        "id", "received", "platform", "kind", "state", "times", "bytes", "reason",
    ];
    let mut list = output.list(columns);
    for message in operator::open_messages(app, limit).await.map_err(failed)? {
        let shown = json!({
            "id": message.id, "receivedAt": message.received_at, "provider": message.provider, "kind": message.kind,
            "branch": message.branch, "state": message.state, "times": message.times, "bytes": message.bytes,
            "reason": message.reason,
        });
        let cells = [
            message.id.to_string(),
            message.received_at.to_string(),
            message.provider.to_string(),
            message.kind,
            message.state,
            message.times.to_string(),
            message.bytes.to_string(),
            message.reason.unwrap_or_default(),
        ];
        list.row(cells, &shown);
    }
    Ok(())
}

/// Oldest first, in the order of their arrival.
async fn retry_all(app: &Arc<App>, output: Output) -> Outcome {
    let open = operator::open_messages(app, MAX_AT_ONCE).await.map_err(failed)?;
    let (mut taken, mut left, count) = (0_u64, 0_u64, open.len() as u64);
    let progress = Arc::default();
    let shown = ShownProgress::start("retry", Unit::Messages, &progress);
    for message in open.into_iter().rev() {
        if retry(app, message.id, output).await? {
            taken += 1;
        } else {
            left += 1;
        }
        progress.set(taken + left, Some(count));
    }
    drop(shown);
    output.result(
        format!("{taken} taken, {left} left"),
        &json!({ "taken": taken, "left": left }),
    );
    Ok(())
}

async fn retry(app: &Arc<App>, id: InboxId, output: Output) -> Result<bool, CommandError> {
    let what = (RecordKind::Message, Verb::Retried);
    record_command(app, "inbox retry", what, &id.to_string())
        .await
        .map_err(failed)?;
    let reception = flow::intake::inbox_retry::retry(app, id).await.map_err(failed)?;
    let (outcome, taken) = match reception {
        IntakeOutcome::Taken { order_id } => (format!("taken into order {order_id}"), true),
        IntakeOutcome::Noted => ("taken".to_owned(), true),
        IntakeOutcome::Conflict { order_id } => (format!("contradicts order {order_id}"), false),
        IntakeOutcome::UnknownBranch { branch } => (format!("no integration has the branch {branch}"), false),
        IntakeOutcome::UnknownOrder { identity } => (format!("there is no order {identity}"), false),
        IntakeOutcome::Unreadable(fault) => (format!("{} {}", fault.path, fault.message), false),
        IntakeOutcome::NotGenuine => ("is not genuine".to_owned(), false),
    };
    output.result(
        format!("{id}  {outcome}"),
        &json!({ "id": id, "isTaken": taken, "outcome": outcome }),
    );
    Ok(taken)
}
