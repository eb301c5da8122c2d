//! `garson webhook`: how an account's deliveries stand, and sending again what has failed, for operators.

use super::{Outcome, failed, print_line, with_app};
use crate::api::retry_json;
use crate::app::App;
use crate::config::Settings;
use crate::flow::admin::accounts;
use crate::flow::deliver::resend_all;
use clap::{Args, Subcommand};
use garson_core::delivery::DeliveryState;
use garson_core::id::{AccountId, ResendId};
use garson_core::time::Timestamp;
use garson_store::lists::feed::{Direction, PageRequest};
use garson_store::tables::nodes;
use garson_store::tables::resends::Resend;
use std::time::Duration;

/// How often progress is looked at.
const LOOK: Duration = Duration::from_millis(200);

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
    /// Send all failed deliveries since a moment again; the server does it, in the background
    Retry {
        #[command(flatten)]
        whose: Whose,
        /// Those of events since this moment, such as 2026-11-01T00:00:00Z
        #[arg(long, value_parser = moment)]
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
    /// List what has been sent again in this way, newest first, and how far it has come
    Retries {
        #[command(flatten)]
        whose: Whose,
        /// Print JSON, one to a line
        #[arg(long)]
        json: bool,
    },
}

fn state(text: &str) -> Result<DeliveryState, String> {
    DeliveryState::named(text).ok_or_else(|| "must be pending, delivered, failed or skipped".to_owned())
}

fn moment(text: &str) -> Result<Timestamp, String> {
    text.parse()
        .map_err(|_| "must be a moment such as 2026-11-01T00:00:00Z".to_owned())
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
                let started = resend_all::start(&app, account, id, since, include_skipped)
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
    let page = accounts::list_deliveries(app, account, state, None, request)
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

/// Shows how far it has come; if wanted until it is done.
async fn follow(app: &App, mut resend: Resend, wait: bool, json: bool) -> Outcome {
    show(&resend, json);
    let has_server = !app.store.read(nodes::list).await?.is_empty();
    if !has_server {
        // Standard output may be read by a program.
        eprintln!("No server is running: it goes on, and events are sent, when one does.");
    }
    while wait && resend.finished_at.is_none() {
        tokio::time::sleep(LOOK).await;
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
