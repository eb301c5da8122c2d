//! The arguments of `garson print`.

use super::printer::PrinterAddress;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use garson_core::id::RestaurantId;
use garson_ticket::code_page::CodePage;
use garson_ticket::{Copy, Kind, Lang, Options, Width};
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Examples:
  garson print --url https://garson.example.com --key-file key --printer tcp://192.168.1.50:9100
  garson print --url https://garson.example.com --printer /dev/usb/lp0 --on verified --width 58
  garson print --url https://garson.example.com --printer cups:Mutfak --order 0190…

The agent remembers in its state file how far it has printed, and continues there after a restart.
docs/printing.md says more.")]
pub struct PrintArgs {
    /// The address of the service
    #[arg(long, value_name = "URL")]
    pub url: String,
    /// A file whose first line is an API key of the account; `-` for standard input. Or the variable GARSON_PRINT_KEY
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// tcp://HOST:PORT, a device such as /dev/usb/lp0, or cups:NAME
    #[arg(long, value_name = "PRINTER", value_parser = PrinterAddress::parse)]
    pub printer: PrinterAddress,
    /// When to print an order
    #[arg(long, value_enum, default_value_t = When::New)]
    pub on: When,
    /// Only orders of this restaurant
    #[arg(long, value_name = "ID")]
    pub restaurant: Option<RestaurantId>,
    /// Which ticket to print
    #[arg(long, default_value = "kitchen", value_parser = choice(Kind::ALL, Kind::as_str, Kind::named))]
    pub kind: Kind,
    /// The width of the paper in millimetres
    #[arg(long, default_value = "80", value_parser = choice(&[Width::Mm58, Width::Mm80], Width::as_str, Width::named))]
    pub width: Width,
    /// The printer's character set: pc857, wpc1254 or ascii; with the printer's own number of it behind a colon
    #[arg(long, default_value = "pc857", value_parser = code_page)]
    pub codepage: CodePage,
    /// The language of the tickets
    #[arg(long, default_value = "tr", value_parser = choice(Lang::ALL, Lang::as_str, Lang::named))]
    pub lang: Lang,
    /// What the panel calls the printer
    #[arg(long)]
    pub name: Option<String>,
    /// Where the agent remembers what it has printed
    #[arg(long, value_name = "FILE", default_value = "garson-print.json")]
    pub state: PathBuf,
    /// Orders that came longer ago are not printed, for example after the agent was off overnight
    #[arg(long, value_name = "N", default_value_t = 180, value_parser = clap::value_parser!(u32).range(1..=10_080))]
    pub max_age_minutes: u32,
    /// Print the ticket of this order now and end
    #[arg(long, value_name = "ID")]
    pub order: Option<String>,
    /// A PEM file with additional trusted authorities
    #[arg(long, value_name = "FILE")]
    pub trusted_certificates: Option<PathBuf>,
}

/// At which step an order is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// As soon as it arrives
    New,
    /// When it is accepted
    Verified,
}

fn choice<T: std::marker::Copy + Send + Sync + 'static>(
    all: &'static [T],
    word: fn(T) -> &'static str,
    named: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|it| word(*it)))
        .try_map(move |text| named(&text).ok_or("is not one of them"))
}

fn code_page(text: &str) -> Result<CodePage, String> {
    CodePage::parse(text).ok_or_else(|| "must be pc857, wpc1254 or ascii".to_owned())
}

impl PrintArgs {
    pub fn options(&self, copy: Option<Copy>) -> Options {
        Options {
            kind: self.kind,
            width: self.width,
            lang: self.lang,
            copy,
        }
    }
}
