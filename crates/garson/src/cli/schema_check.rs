//! `garson migrate --check`: what this version would do to the schema. It changes nothing.

use super::command::{CommandError, Outcome, print_line, runtime};
use crate::config::Settings;
use garson_store::engine::{MigrationKind, Schema, newest};
use garson_store::upkeep::schema_change;
use garson_store::{Engine, Location, StoreError};

pub fn run(settings: &Settings) -> Outcome {
    let (location, options) = (settings.location(), settings.storage_options());
    let known = newest(options.migrations);
    print_line(&format!("This version knows the migrations up to {known}."));
    if matches!(&location, Location::Sqlite(path) if !path.exists()) {
        print_line("There is no database yet.");
        return Ok(());
    }
    let (store, schema) = Engine::inspect(&location, &options)?;
    match schema {
        Schema::None => print_line("The database is empty."),
        Schema::Current { later } => {
            print_line("The database has them.");
            for number in &later {
                print_line(&format!(
                    "It also has migration {number} of a later version, with which this version can work."
                ));
            }
            runtime()?.block_on(show_steps(&store))?;
        }
        Schema::Older(pending) => {
            for it in &pending {
                let how = match it.kind {
                    MigrationKind::Offline => "all other nodes must be stopped".to_owned(),
                    MigrationKind::Expand { needs } => {
                        format!("runs beside versions that know migration {needs}")
                    }
                    MigrationKind::Contract { needs } => {
                        format!("waits until all nodes know migration {needs}")
                    }
                };
                print_line(&format!("pending: {} ({}), {how}", it.number, it.name));
            }
            if pending.iter().any(|it| it.kind == MigrationKind::Offline) {
                return Err(CommandError(
                    "stop all nodes before this version is started for the first time".to_owned(),
                ));
            }
            print_line("This version can be started while nodes of the earlier one run.");
        }
    }
    Ok(())
}

async fn show_steps(store: &Engine) -> Result<(), StoreError> {
    let steps = schema_change::steps(store).await?;
    for step in steps.iter().filter(|step| !step.is_done) {
        print_line(&format!(
            "in progress: {} of migration {}: {} rows of pass {}",
            step.step.name(),
            step.number,
            step.visited,
            step.passes + 1
        ));
    }
    if steps.iter().all(|step| step.is_done) {
        print_line("Nothing is left to do.");
    }
    Ok(())
}
