//! `garson key rotate`: replaces the master key while the service runs.

use super::command::{CommandError, Outcome, failed};
use super::output::Output;
use super::secret_input::read_secret;
use crate::app::App;
use crate::config::parse_key;
use crate::flow::upkeep::key_rotation;
use crate::flow::upkeep::key_rotation::Outcome as Rotated;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
The key file of the data folder is replaced by the command itself. A key that is set elsewhere (GARSON_MASTER_KEY,
master_key_file) is rotated in three steps:

  garson key rotate --new-key-file FILE    seals everything with the new key; both keys open the database
  set the new key on every node, and restart them one after the other
  garson key rotate --finish               forgets the old key

Run it again if it was interrupted.")]
pub struct RotateArgs {
    /// A file with the new key, 64 hexadecimal digits; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "finish")]
    new_key_file: Option<PathBuf>,
    /// Forget the old key, after every node was started with the new one
    #[arg(long)]
    finish: bool,
    #[command(flatten)]
    output: Output,
}

pub async fn run(app: &App, args: RotateArgs) -> Outcome {
    let output = args.output;
    if args.finish {
        key_rotation::finish(app).await.map_err(failed)?;
        output.result(
            "Done. Only the new key opens the database.",
            &json!({ "resealed": 0, "isFinished": true }),
        );
        return Ok(());
    }
    let new = match args.new_key_file {
        None => None,
        Some(file) => {
            let text = read_secret(&file)?;
            let key = parse_key(text.expose().trim());
            Some(key.ok_or_else(|| CommandError("the new key must be 64 hexadecimal digits".to_owned()))?)
        }
    };
    let rotated = key_rotation::rotate(app, new, |step| eprintln!("{step}"))
        .await
        .map_err(failed)?;
    let (Rotated::Done { resealed } | Rotated::Resealed { resealed }) = rotated;
    let is_finished = matches!(rotated, Rotated::Done { .. });
    let shown = json!({ "resealed": resealed, "isFinished": is_finished });
    if is_finished {
        output.result(
            format!("Done: {resealed} secrets were sealed again, and the key file was replaced."),
            &shown,
        );
        output.remark("Keep a copy of the new master.key; backups made before need the old one.");
    } else {
        output.result(
            format!("{resealed} secrets were sealed again. Both keys open the database now."),
            &shown,
        );
        output.remark("Set the new key on every node and restart them, then run: garson key rotate --finish");
    }
    Ok(())
}
