//! `garson check-receiver`: tests a developer's own endpoint with what Garson and others may send.

mod checks;
pub(super) mod endpoint;
pub(super) mod events;
pub(super) mod keys;
mod report;
mod rough;

use super::command::{CommandError, Outcome, print_line, runtime};
use super::event_key::KeyArgs;
use crate::net::guard::{Policy, Target};
use crate::net::{Certificates, Client};
use clap::Args;
use endpoint::Endpoint;
use events::Events;
use garson_core::clock::{Clock, SystemClock};
use garson_core::id::RestaurantId;
use report::Report;
use std::path::PathBuf;
use std::time::Duration;
use uuid::Uuid;

#[derive(Args)]
#[command(after_help = "\
Examples:
  garson check-receiver http://127.0.0.1:3000/garson --key-file key
  garson check-receiver https://shop.example.com/garson --key-file key --json

The events that it sends look like real ones, of orders that do not exist: providerOrderId begins
with GARSON-CHECK-, and restaurantId is all zeros. Your endpoint should take them as it takes events
of an order it has not heard of. `garson receive --key-file FILE` passes every check; docs/receiving.md
explains each of them.

Ends with 0 if no check fails (warnings are no failures), with 1 otherwise.")]
pub struct CheckArgs {
    /// The address of your own endpoint, which may be on this machine
    url: String,
    #[command(flatten)]
    key: KeyArgs,
    /// How long a response may take; Garson waits 10 s
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=120))]
    timeout_seconds: u64,
    /// The restaurantId of the events, for an endpoint that accepts only those it knows
    #[arg(long, value_name = "ID")]
    restaurant_id: Option<RestaurantId>,
    /// A PEM file with additional trusted authorities; or the variable GARSON_TRUSTED_CERTIFICATES
    #[arg(long, value_name = "FILE")]
    trusted_certificates: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// The file of the flag, or of the variable that the service uses too.
fn certificates(args: &CheckArgs) -> Result<Certificates, CommandError> {
    let variable = std::env::var_os("GARSON_TRUSTED_CERTIFICATES").filter(|file| !file.is_empty());
    let variable = variable.map(PathBuf::from);
    match args.trusted_certificates.as_ref().or(variable.as_ref()) {
        Some(file) => Certificates::read(file).map_err(CommandError),
        None => Ok(Certificates::default()),
    }
}

pub fn run(args: &CheckArgs) -> Outcome {
    let target =
        Target::parse(&args.url).map_err(|refusal| CommandError(format!("{}: {refusal}", args.url)))?;
    let key = args.key.key()?.ok_or_else(|| {
        CommandError(
            "which key do events carry? --key-file FILE, or the variable GARSON_RECEIVE_KEY".to_owned(),
        )
    })?;
    // Private targets are allowed whatever the settings say: the developer chose this address, which is most often on the same
    // machine.
    let policy = Policy {
        allow_private: true,
        ..Policy::default()
    };
    let endpoint = Endpoint::new(
        Client::new(policy)?.trusting(&certificates(args)?)?,
        target,
        key,
        args.key.authorization,
        Duration::from_secs(args.timeout_seconds),
    );
    let restaurant = args.restaurant_id.unwrap_or(RestaurantId(Uuid::nil()));
    let events = Events::new(restaurant, SystemClock.now());
    let shown = endpoint.shown();
    let report = runtime()?.block_on(async { Report::new(shown, checks::run(endpoint, events).await) });
    print_line(&if args.json {
        report.json().to_string()
    } else {
        report.table()
    });
    match report.failed() {
        0 => Ok(()),
        count => Err(CommandError(format!("{count} check(s) failed"))),
    }
}
