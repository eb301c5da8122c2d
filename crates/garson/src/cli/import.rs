//! `garson import`: takes over businesses, restaurants and orders of another service that implements the same API.

mod answer;
mod order;
mod orders;
mod pages;
mod shops;
mod source;
mod summary;

use super::command::{AccountArgs, CommandError, Outcome, with_app};
use super::output::Output;
use super::progress::{ShownProgress, Unit};
use super::secret_input::{ask, is_terminal, read_secret};
use crate::config::Settings;
use clap::Args;
use garson_core::secret::Secret;
use serde_json::json;
use source::Source;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use summary::Summary;

/// Other users of the machine can see a key on the command line; a variable they cannot.
const KEY_VARIABLE: &str = "GARSON_IMPORT_KEY";

#[derive(Args)]
#[command(after_help = "\
Examples:
  garson account create --name \"Lezzet\" --email owner@example.com
  garson import --from-api https://orders.example.com --key key-file --account owner@example.com --dry-run
  garson import --from-api https://orders.example.com --key key-file --account owner@example.com

It only reads from the other service. It can be interrupted and run again: what is here already is not imported twice, and what is new since
comes along. Credentials of platforms cannot be read and are entered again; until then nothing is sent to a platform.
docs/importing.md says more.")]
pub struct ImportArgs {
    /// The address of the other service, without /web-api/v1
    #[arg(long, value_name = "URL")]
    from_api: String,
    /// A file whose first line is an API key of the other service; - reads standard input. Or the variable GARSON_IMPORT_KEY
    #[arg(long, visible_alias = "key-file", value_name = "FILE")]
    key: Option<PathBuf>,
    // The one in this installation that gets everything.
    #[command(flatten)]
    account: AccountArgs,
    /// Count what would be imported, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Leave out orders that cannot be read, instead of stopping at the first one
    #[arg(long)]
    skip_unreadable: bool,
    /// Allow an address with http:// on another machine: the key and the orders cross the network unencrypted
    #[arg(long)]
    allow_http: bool,
    #[command(flatten)]
    output: Output,
}

pub fn run(settings: &Settings, args: ImportArgs) -> Outcome {
    source::check_url(&args.from_api, args.allow_http)?;
    let key = key(args.key.as_deref())?;
    with_app(settings, |app| async move {
        let account = args.account.find(&app).await?.id;
        let source = Source::new(app.net.clone(), &args.from_api, key)?;
        let mut summary = Summary::new(args.dry_run);
        let shops = shops::import(&app, account, &source, &mut summary).await?;
        let rules = orders::Rules {
            dry_run: args.dry_run,
            skip_unreadable: args.skip_unreadable,
        };
        let progress = Arc::default();
        let shown = ShownProgress::start("orders", Unit::Orders, &progress);
        let imported = orders::import(&app, account, &source, shops, rules, &mut summary, &progress).await;
        drop(shown);
        imported?;
        args.output.result(summary.to_text().trim_end(), &json!(summary));
        Ok(())
    })
}

fn key(file: Option<&Path>) -> Result<Secret<String>, CommandError> {
    match file {
        // The text may be the key itself, so it is not repeated.
        Some(file) if file.as_os_str() != "-" && !file.exists() => Err(CommandError(format!(
            "--key names a file with the key, and there is no such file. The key itself does not belong in an argument: other \
             users of this machine can read those. Use a file, - for standard input, or the variable {KEY_VARIABLE}"
        ))),
        Some(file) => read_secret(file),
        None => match std::env::var(KEY_VARIABLE) {
            Ok(key) if !key.is_empty() => Ok(Secret::new(key)),
            _ if is_terminal() => ask("API key of the other service"),
            _ => Err(CommandError(format!(
                "which API key of the other service? --key FILE, - for standard input, or the variable {KEY_VARIABLE}"
            ))),
        },
    }
}
