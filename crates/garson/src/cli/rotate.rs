//! `garson key rotate`: replaces the master key while the service runs.

use super::command::{CommandError, Outcome, failed, print_line};
use super::secret_input::read_secret;
use crate::app::App;
use crate::config::parse_key;
use crate::flow::upkeep::key_rotation;
use crate::flow::upkeep::key_rotation::Outcome as Rotated;
use clap::Args;
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
}

pub async fn run(app: &App, args: RotateArgs) -> Outcome {
    if args.finish {
        key_rotation::finish(app).await.map_err(failed)?;
        print_line("Done. Only the new key opens the database.");
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
    match rotated {
        Rotated::Done { resealed } => {
            print_line(&format!(
                "Done: {resealed} secrets were sealed again, and the key file was replaced."
            ));
            print_line("Keep a copy of the new master.key; backups made before need the old one.");
        }
        Rotated::Resealed { resealed } => {
            print_line(&format!(
                "{resealed} secrets were sealed again. Both keys open the database now."
            ));
            print_line(
                "Set the new key on every node and restart them, then run: garson key rotate --finish",
            );
        }
    }
    Ok(())
}
