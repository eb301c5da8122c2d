//! `garson webhook`: an account's deliveries, and retries of failed ones, for operators.

use super::command::{Outcome, failed, print_line, with_app};
use crate::api::retry_json;
use crate::app::App;
use crate::config::Settings;
use crate::flow::By;
use crate::flow::admin::accounts;
use crate::flow::deliver::resend_all;
use crate::flow::read::{Direction, PageRequest, Resend, operator};
use clap::{Args, Subcommand};
use garson_core::delivery::DeliveryState;
use garson_core::id::{AccountId, ResendId};
use garson_core::time::Timestamp;
use garson_store::lists::events::EventFilter;
use std::time::Duration;

/// How often progress is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Args)]
pub struct Whose {
    /// The e-mail address of the account
    #[arg(long, visible_alias = "email", value_name = "EMAIL")]
    account: String,
}

#[derive(Subcommand)]
pub enum WebhookCommand {
    /// List an account's deliveries, newest first
    Deliveries {
        #[command(flatten)]
        whose: Whose,
        /// Only those that are pending, delivered, failed or skipped
        #[arg(long, value_parser = state)]
        state: Option<DeliveryState>,
        /// How many at most
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
    },
    /// Send all failed deliveries since a timestamp again; the server does it in the background
    Retry {
        #[command(flatten)]
        whose: Whose,
        /// Those of events since this timestamp, such as 2026-11-01T00:00:00Z
        #[arg(long, value_parser = timestamp)]
        since: Timestamp,
        /// Also those that were skipped because no address was registered
        #[arg(long)]
        include_skipped: bool,
        /// Follow it until it is done
        #[arg(long)]
        wait: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List these retries and their progress, newest first
    Retries {
        #[command(flatten)]
        whose: Whose,
        /// Print JSON, one object per line
        #[arg(long)]
        json: bool,
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
        let (WebhookCommand::Deliveries { whose, .. }
        | WebhookCommand::Retry { whose, .. }
        | WebhookCommand::Retries { whose, .. }) = &command;
        let account = accounts::by_email(&app, &whose.account).await.map_err(failed)?.id;
        match command {
            WebhookCommand::Deliveries { state, limit, .. } => deliveries(&app, account, state, limit).await,
            WebhookCommand::Retry {
                since,
                include_skipped,
                wait,
                json,
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
                follow(&app, started, wait, json).await
            }
            WebhookCommand::Retries { json, .. } => {
                for resend in resend_all::list(&app, account).await.map_err(failed)? {
                    show(&resend, json);
                }
                Ok(())
            }
        }
    })
}

async fn deliveries(app: &App, account: AccountId, state: Option<DeliveryState>, limit: u16) -> Outcome {
    let request = PageRequest {
        limit: usize::from(limit),
        cursor: None,
        direction: Direction::Older,
    };
    let page = accounts::list_deliveries(app, account, EventFilter::with_state(state), None, request)
        .await
        .map_err(failed)?;
    for delivery in page.items {
        let event = delivery.event;
        let last = delivery.attempts.last();
        print_line(&format!(
            "{}  {}  {}  {} {}  {} attempts  {}",
            event.id,
            event.created_at,
            event.name,
            event.state.as_str(),
            event.reason.unwrap_or_default(),
            event.attempts,
            last.map_or_else(String::new, |attempt| attempt.explanation.to_string()),
        ));
    }
    Ok(())
}

fn show(resend: &Resend, json: bool) {
    if json {
        return print_line(&retry_json(resend.clone()));
    }
    let state = match resend.finished_at {
        Some(at) => format!("done at {at}"),
        None => "running".to_owned(),
    };
    let skipped = if resend.with_skipped { " and skipped" } else { "" };
    print_line(&format!(
        "{}  failed{skipped} since {}  {} of {} due again  {state}",
        resend.id, resend.since, resend.requeued, resend.found
    ));
}

/// Shows the progress; with `wait` until it is done.
async fn follow(app: &App, mut resend: Resend, wait: bool, json: bool) -> Outcome {
    show(&resend, json);
    if !operator::has_server(app).await.map_err(failed)? {
        // Standard output may be parsed by a program.
        eprintln!("No server is running: it goes on, and events are sent, when one does.");
    }
    while wait && resend.finished_at.is_none() {
        tokio::time::sleep(POLL_INTERVAL).await;
        let now = resend_all::find(app, resend.account, resend.id)
            .await
            .map_err(failed)?;
        if now != resend {
            show(&now, json);
        }
        resend = now;
    }
    Ok(())
}
