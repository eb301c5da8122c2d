//! `garson inbox`: messages that were kept but could not be taken.

use super::{Outcome, print_line, with_app};
use crate::config::Settings;
use clap::Subcommand;
use garson_store::inbox;

#[derive(Subcommand)]
pub enum InboxCommand {
    /// List them, newest first
    List {
        /// How many at most
        #[arg(long, default_value_t = 50)]
        limit: u16,
    },
}

pub fn run(settings: &Settings, command: InboxCommand) -> Outcome {
    let InboxCommand::List { limit } = command;
    with_app(settings, |app| async move {
        let open = app
            .store
            .read(move |tx| inbox::list_open(tx, i64::from(limit)))
            .await?;
        for message in open {
            print_line(&format!(
                "{}  {}  {} {}  {}  {} times, {} bytes  {}",
                message.id,
                message.received_at,
                message.provider,
                message.kind,
                message.state,
                message.times,
                message.bytes,
                message.reason.unwrap_or_default(),
            ));
        }
        Ok(())
    })
}
