//! `garson webhook`: an account's deliveries, and retries of failed ones, for operators.

use super::command::{AccountArgs, Outcome, failed, with_app};
use super::output::Output;
use super::progress::{ShownProgress, Unit};
use crate::api::retry_json;
use crate::app::App;
use crate::config::Settings;
use crate::flow::By;
use crate::flow::admin::accounts;
use crate::flow::deliver::resend_all;
use crate::flow::read::{Direction, PageRequest, Resend, operator};
use clap::Subcommand;
use garson_core::delivery::DeliveryState;
use garson_core::id::{AccountId, ResendId};
use garson_core::time::Timestamp;
use garson_store::lists::events::EventFilter;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// How often progress is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Subcommand)]
pub enum WebhookCommand {
    /// List an account's deliveries, newest first
    Deliveries {
        #[command(flatten)]
        account: AccountArgs,
        /// Only those that are pending, delivered, failed or skipped
        #[arg(long, value_parser = state)]
        state: Option<DeliveryState>,
        /// How many at most
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        #[command(flatten)]
        output: Output,
    },
    /// Send all failed deliveries since a timestamp again; the server does it in the background
    Retry {
        #[command(flatten)]
        account: AccountArgs,
        /// Those of events since this timestamp, such as 2026-11-01T00:00:00Z
        #[arg(long, value_parser = timestamp)]
        since: Timestamp,
        /// Also those that were skipped because no address was registered
        #[arg(long)]
        include_skipped: bool,
        /// Follow it until it is done
        #[arg(long)]
        wait: bool,
        #[command(flatten)]
        output: Output,
    },
    /// List these retries and their progress, newest first
    Retries {
        #[command(flatten)]
        account: AccountArgs,
        #[command(flatten)]
        output: Output,
    },
}

fn state(text: &str) -> Result<DeliveryState, String> {
    DeliveryState::named(text).ok_or_else(|| "must be pending, delivered, failed or skipped".to_owned())
}

fn timestamp(text: &str) -> Result<Timestamp, String> {
    text.parse()
        .map_err(|_| "must be a timestamp such as 2026-11-01T00:00:00Z".to_owned())
}

pub fn run(settings: &Settings, command: WebhookCommand) -> Outcome {
    with_app(settings, |app| async move {
        let (WebhookCommand::Deliveries { account, .. }
        | WebhookCommand::Retry { account, .. }
        | WebhookCommand::Retries { account, .. }) = &command;
        let account = account.find(&app).await?.id;
        match command {
            WebhookCommand::Deliveries {
                state, limit, output, ..
            } => deliveries(&app, account, state, limit, output).await,
            WebhookCommand::Retry {
                since,
                include_skipped,
                wait,
                output,
                ..
            } => {
                let id = ResendId::at(app.now());
                let started = resend_all::start(
                    &app,
                    By::operator(account, "webhook retry"),
                    None,
                    id,
                    since,
                    include_skipped,
                )
                .await
                .map_err(failed)?;
                follow(&app, started, wait, output).await
            }
            WebhookCommand::Retries { output, .. } => {
                let mut list = output.list(["id", "since", "deliveries", "due again", "found", "state"]);
                for resend in resend_all::list(&app, account).await.map_err(failed)? {
                    let cells = [
                        resend.id.to_string(),
                        resend.since.to_string(),
                        deliveries_of(&resend).to_owned(),
                        resend.requeued.to_string(),
                        resend.found.to_string(),
                        state_of(&resend),
                    ];
                    list.row(cells, &retry_json(resend));
                }
                Ok(())
            }
        }
    })
}

async fn deliveries(
    app: &App,
    account: AccountId,
    state: Option<DeliveryState>,
    limit: u16,
    output: Output,
) -> Outcome {
    let request = PageRequest {
        limit: usize::from(limit),
        cursor: None,
        direction: Direction::Older,
    };
    let page = accounts::list_deliveries(app, account, EventFilter::with_state(state), None, request)
        .await
        .map_err(failed)?;
    let columns = [
        "event",
        "created",
        "name",
        "state",
        "reason",
        "attempts",
        "last attempt",
    ];
    let mut list = output.list(columns);
    for delivery in page.items {
        let event = delivery.event;
        let last = delivery
            .attempts
            .last()
            .map(|attempt| attempt.explanation.to_string());
        let shown = json!({
            "eventId": event.id, "createdAt": event.created_at, "name": event.name, "state": event.state.as_str(),
            "reason": event.reason, "attempts": event.attempts, "lastAttempt": last,
        });
        let cells = [
            event.id.to_string(),
            event.created_at.to_string(),
            event.name,
            event.state.as_str().to_owned(),
            event.reason.unwrap_or_default(),
            event.attempts.to_string(),
            last.unwrap_or_default(),
        ];
        list.row(cells, &shown);
    }
    Ok(())
}

fn state_of(resend: &Resend) -> String {
    match resend.finished_at {
        Some(at) => format!("done at {at}"),
        None => "running".to_owned(),
    }
}

fn deliveries_of(resend: &Resend) -> &'static str {
    if resend.with_skipped {
        "failed and skipped"
    } else {
        "failed"
    }
}

fn show(resend: &Resend, output: Output) {
    let text = format!(
        "{}  {} since {}  {} of {} due again  {}",
        resend.id,
        deliveries_of(resend),
        resend.since,
        resend.requeued,
        resend.found,
        state_of(resend)
    );
    output.result(text, &retry_json(resend.clone()));
}

/// Shows the retry; with `wait` again when it is done.
async fn follow(app: &App, mut resend: Resend, wait: bool, output: Output) -> Outcome {
    show(&resend, output);
    if !operator::has_server(app).await.map_err(failed)? {
        // Standard output may be parsed by a program.
        eprintln!("No server is running: it goes on, and events are sent, when one does.");
    }
    if !wait || resend.finished_at.is_some() {
        return Ok(());
    }
    let progress = Arc::default();
    let shown = ShownProgress::start("retry", Unit::Events, &progress);
    while resend.finished_at.is_none() {
        tokio::time::sleep(POLL_INTERVAL).await;
        resend = resend_all::find(app, resend.account, resend.id)
            .await
            .map_err(failed)?;
        let count = |number: i64| u64::try_from(number).unwrap_or_default();
        progress.set(count(resend.requeued), Some(count(resend.found)));
    }
    drop(shown);
    show(&resend, output);
    Ok(())
}
