//! `garson backup` and `garson migrate`: copies of the data.

use super::{CommandError, Outcome, print_line, with_app};
use crate::app::lock_data;
use crate::config::Settings;
use garson_core::secret::Secret;
use garson_store::{Engine, Location, Options, copy};
use std::path::Path;

pub fn backup(settings: &Settings, file: &Path) -> Outcome {
    with_app(settings, |app| async move {
        let to = file.to_owned();
        let store = app.store.clone();
        tokio::task::spawn_blocking(move || store.backup(&to)).await??;
        print_line(&format!("The database is copied to {}.", file.display()));
        print_line(
            "The master key is not part of it: keep a copy of master.key (or GARSON_MASTER_KEY) elsewhere.",
        );
        Ok(())
    })
}

pub fn migrate(settings: &Settings, to: &str) -> Outcome {
    // Nobody may write while the data moves.
    let _lock = lock_data(settings)?;
    let target = match to.starts_with("postgres://") || to.starts_with("postgresql://") {
        true => Location::Postgres(Secret::new(to.to_owned())),
        false => {
            std::fs::create_dir_all(to)?;
            Location::Sqlite(Path::new(to).join("garson.db"))
        }
    };
    with_app(settings, |app| async move {
        let engine = Engine::open(
            &target,
            &Options {
                readers: 1,
                writers: 1,
                ..Options::default()
            },
        )
        .map_err(|error| CommandError(format!("the target cannot be opened: {error}")))?;
        for (table, rows) in copy::everything(&app.store, &engine).await? {
            print_line(&format!("{rows:>10}  {table}"));
        }
        print_line("Done. The new database needs the same master key as the old one.");
        Ok(())
    })
}
