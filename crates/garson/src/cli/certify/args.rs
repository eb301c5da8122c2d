//! The flags of `garson certify`.

use crate::cli::command::CommandError;
use crate::cli::event_key::KeyArgs;
use crate::cli::output::Output;
use crate::net::Certificates;
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Examples:
  garson certify http://127.0.0.1:3000/garson --key-file key --report certificate
  garson certify http://127.0.0.1:3000/garson --key-file key --profile act --listen 127.0.0.1:8088
  garson certify http://127.0.0.1:3000/garson --key-file key --only restart --only burst
  garson certify --list

All orders are generated. Do not run it against a POS that passes orders on to a kitchen. The command
starts a temporary service with a data folder of its own, which is removed at the end; it reads neither
garson.toml nor the variables of the service. docs/receiving.md describes the scenarios.

Ends with 0 if no scenario failed, with 1 otherwise.")]
pub struct CertifyArgs {
    /// The webhook address of your own POS, which may be on this machine
    #[arg(required_unless_present = "list")]
    pub url: Option<String>,
    #[command(flatten)]
    pub key: KeyArgs,
    /// A file whose first line is a signing secret (whsec_…): events are signed, and the POS must verify them
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    /// Whether the POS only receives events, or also accepts orders by itself through the API
    #[arg(long, value_enum, default_value_t = Profile::Receive)]
    pub profile: Profile,
    /// What events contain: the order as veri.order, or only the event
    #[arg(long, value_enum, default_value_t = BodyForm::WithOrder)]
    pub body: BodyForm,
    /// Play only this scenario; can be repeated
    #[arg(long, value_name = "ID")]
    pub only: Vec<String>,
    /// List the scenarios
    #[arg(long)]
    pub list: bool,
    /// Write the report as FILE.md and FILE.json
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Where the API of the temporary service listens, for the POS; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Write the address of this API and its key into a file that only you can read, for a POS that starts with it
    #[arg(long, value_name = "FILE")]
    pub api_file: Option<PathBuf>,
    /// How long a response to an event may take; Garson waits 10 s
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=20))]
    pub timeout_seconds: u64,
    /// With --profile act: how long the POS may take to accept an order after its event
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=300))]
    pub accept_seconds: u64,
    /// A PEM file with additional trusted authorities; or the variable GARSON_TRUSTED_CERTIFICATES
    #[arg(long, value_name = "FILE")]
    pub trusted_certificates: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}

/// What the POS is expected to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// Answer events
    Receive,
    /// Answer events and accept orders
    Act,
}

/// What an event's body contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BodyForm {
    /// veri.order has the order
    WithOrder,
    /// The event alone; a POS reads the order by the API
    Event,
}

impl Profile {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Receive => "receive",
            Self::Act => "act",
        }
    }
}

impl BodyForm {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WithOrder => "with-order",
            Self::Event => "event",
        }
    }
}

impl CertifyArgs {
    /// The file of the flag, or of the variable that the service uses too.
    pub fn certificates(&self) -> Result<Certificates, CommandError> {
        let variable = std::env::var_os("GARSON_TRUSTED_CERTIFICATES").filter(|file| !file.is_empty());
        let variable = variable.map(PathBuf::from);
        match self.trusted_certificates.as_ref().or(variable.as_ref()) {
            Some(file) => Certificates::read(file).map_err(CommandError),
            None => Ok(Certificates::default()),
        }
    }
}
