//! `garson migrate --to`: all data in another database.

use super::command::{CommandError, Outcome, with_app};
use super::output::Output;
use super::progress::{ShownProgress, Unit};
use crate::app::key_file::prepare_folder;
use crate::app::lock_data;
use crate::config::Settings;
use garson_core::secret::Secret;
use garson_store::engine::Purpose;
use garson_store::upkeep::copy;
use garson_store::{Engine, Location, Options};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;

pub fn migrate(settings: &Settings, to: &str, output: Output) -> Outcome {
    let target = target(to)?;
    // No server may write while the data is copied.
    let _lock = lock_data(settings)?;
    if let Location::Sqlite(file) = &target {
        prepare_folder(file.parent().unwrap_or(Path::new(".")))?;
    }
    with_app(settings, |app| async move {
        if let Location::Postgres(_) = app.store.location() {
            copy::ensure_not_in_use(&app.store).await?;
        }
        let engine = Engine::open(
            &target,
            &Options {
                readers: 1,
                writers: 1,
                purpose: Purpose::CopyTarget,
                ..Options::default()
            },
        )
        .map_err(|error| CommandError(format!("the target cannot be opened: {error}")))?;
        let progress = Arc::default();
        let shown = ShownProgress::start_stoppable("copy", Unit::Rows, &progress);
        let copied = copy::copy_all(&app.store, &engine, &progress).await;
        drop(shown);
        let tables = copied?;
        let lines = tables.iter().map(|(table, rows)| format!("{rows:>10}  {table}"));
        let rows: Map<String, Value> = tables
            .iter()
            .map(|(table, rows)| ((*table).to_string(), json!(rows)))
            .collect();
        output.result(
            lines.collect::<Vec<_>>().join("\n"),
            &json!({ "copiedRows": rows }),
        );
        output.remark("Done. The new database needs the same master key as the old one.");
        Ok(())
    })
}

/// The target: PostgreSQL, or a folder. What looks like another URL is refused as a folder.
fn target(to: &str) -> Result<Location, CommandError> {
    if to.starts_with("postgres://") || to.starts_with("postgresql://") {
        return Ok(Location::Postgres(Secret::new(to.to_owned())));
    }
    let before_slash = to.split('/').next().unwrap_or_default();
    if to.is_empty() || before_slash.contains(':') {
        return Err(CommandError(
            "--to takes postgres://user:password@host/database, or a folder for SQLite (one with a colon in its name as ./a:b)"
                .to_owned(),
        ));
    }
    Ok(Location::Sqlite(Path::new(to).join("garson.db")))
}
