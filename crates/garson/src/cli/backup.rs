//! `garson backup`: a backup of the database while the service runs.

use super::command::{CommandError, Outcome, failed, with_app};
use super::output::Output;
use super::progress::{ShownProgress, Unit};
use crate::app::backup_folder;
use crate::app::key_file::prepare_folder;
use crate::config::Settings;
use crate::flow::admin::audit::record_command;
use crate::flow::upkeep::backups;
use garson_core::audit::{RecordKind, Verb};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// Makes a backup in a new file, or in the folder of the settings, where it replaces the oldest one.
pub fn run(settings: &Settings, file: Option<PathBuf>, output: Output) -> Outcome {
    let folder = settings.backup.folder.clone();
    if file.is_none() && folder.as_os_str().is_empty() {
        return Err(CommandError(
            "name the new file, or set backup.folder in the settings".to_owned(),
        ));
    }
    with_app(settings, |app| async move {
        let (is_in_folder, at) = (file.is_none(), app.now());
        let (to, _lock) = match file {
            Some(file) => (file, None),
            None => {
                prepare_folder(&folder)?;
                let lock = backup_folder::try_lock(&folder)?.ok_or_else(|| {
                    CommandError(format!("another backup is being made in {}", folder.display()))
                })?;
                backup_folder::remove_abandoned(&folder)?;
                let file = backup_folder::new_file(&folder, app.store.backup_format(), at);
                (file, Some(lock))
            }
        };
        record_command(
            &app,
            "backup",
            (RecordKind::Database, Verb::Copied),
            &to.display().to_string(),
        )
        .await
        .map_err(failed)?;
        let progress = Arc::default();
        let shown = ShownProgress::start_stoppable("backup", Unit::Bytes, &progress);
        let made = backups::make(&app, &to, progress).await;
        drop(shown);
        made?;
        let removed = if is_in_folder {
            backup_folder::remove_old(&folder, app.settings.backup.keep, at)
        } else {
            Ok(0)
        };
        output.result(
            format!("The database was copied to {}.", to.display()),
            &json!({ "file": to, "deletedBackups": removed.as_ref().unwrap_or(&0) }),
        );
        let removed = removed?;
        if removed > 0 {
            output.remark(format!("Old backups deleted: {removed}."));
        }
        output.remark(
            "The master key is not part of it: keep a copy of master.key (or GARSON_MASTER_KEY) elsewhere.",
        );
        Ok(())
    })
}
