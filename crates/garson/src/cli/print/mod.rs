//! `garson print`: an agent that follows an account's events and prints each order once. It needs no public address.

mod agent;
mod api;
mod args;
mod backoff;
mod clock;
mod follow;
mod printer;
mod report;
mod reporter;
mod state;

pub use args::PrintArgs;

use super::command::{CommandError, Outcome, runtime};
use super::secret_input::read_secret;
use crate::config::LogSettings;
use crate::net::guard::{Policy, Target};
use crate::net::{Certificates, Client};
use agent::Agent;
use api::Api;
use garson_core::secret::Secret;
use garson_ticket::Copy;
use printer::Printer;
use state::StateStore;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Other users of the machine can see a key on the command line; a variable they cannot.
const KEY_VARIABLE: &str = "GARSON_PRINT_KEY";

pub fn run(args: &PrintArgs) -> Outcome {
    crate::telemetry::start_log(&LogSettings {
        level: "info".to_owned(),
        format: "text".to_owned(),
    });
    let api = api(args)?;
    runtime()?.block_on(async {
        if let Some(order) = &args.order {
            let printer = Printer::new(args.printer.clone(), false);
            return print_one(args, &api, &printer, order).await;
        }
        let state = StateStore::open(&args.state, api.server())?;
        let address = args.printer.to_string();
        let answers = state.read(|state| state.answering.as_ref() == Some(&address));
        let printer = Printer::new(args.printer.clone(), answers);
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let agent = Agent::new(args, Arc::new(api), printer, Arc::new(state));
        tokio::select! {
            ended = agent.run() => ended,
            _ = terminate.recv() => Ok(()),
            _ = interrupt.recv() => Ok(()),
        }
    })
}

fn api(args: &PrintArgs) -> Result<Api, CommandError> {
    let target =
        Target::parse(&args.url).map_err(|refusal| CommandError(format!("{}: {refusal}", args.url)))?;
    let key = match &args.key_file {
        Some(file) => read_secret(file)?,
        None => Secret::new(std::env::var(KEY_VARIABLE).map_err(|_| {
            CommandError(format!(
                "which API key? --key-file FILE, or the variable {KEY_VARIABLE}"
            ))
        })?),
    };
    let certificates = match &args.trusted_certificates {
        Some(file) => Certificates::read(file).map_err(CommandError)?,
        None => Certificates::default(),
    };
    // The operator of the agent chose this address; a service in the same building has a private one.
    let policy = Policy {
        allow_private: true,
        ..Policy::default()
    };
    let client = Client::new(policy)?.trusting(&certificates)?;
    Ok(Api::new(client, &target, key))
}

/// How long a single ticket may take.
const ONE_TICKET: Duration = Duration::from_secs(60);

async fn print_one(args: &PrintArgs, api: &Api, printer: &Printer, order: &str) -> Outcome {
    let options = args.options(Some(Copy::Requested));
    let ticket = api
        .ticket(order, options, args.codepage)
        .await
        .map_err(|error| CommandError(format!("no ticket of the order: {error}")))?;
    let show = |_: &printer::Condition| {};
    let printed = tokio::time::timeout(ONE_TICKET, printer.print(ticket, &show)).await;
    match printed {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(CommandError(format!("{}: {}", args.printer, error.condition()))),
        Err(_) => Err(CommandError(format!(
            "{}: did not take the ticket in time",
            args.printer
        ))),
    }
}
