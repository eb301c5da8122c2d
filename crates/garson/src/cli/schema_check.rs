//! `garson migrate --check`: what this version would do to the schema. It changes nothing.

use super::command::{CommandError, Outcome, runtime};
use super::output::Output;
use crate::config::Settings;
use garson_store::engine::{MigrationKind, Pending, Schema, StepState, newest};
use garson_store::upkeep::schema_change;
use garson_store::{Engine, Location};
use serde_json::{Value, json};

pub fn run(settings: &Settings, output: Output) -> Outcome {
    let (location, options) = (settings.location(), settings.storage_options());
    let known = newest(options.migrations);
    output.remark(format!("This version knows the migrations up to {known}."));
    let show = |text: &str, state: &str, pending: &[Pending], steps: &[StepState]| {
        let shown = json!({
            "known": known, "state": state, "pending": pending.iter().map(shown).collect::<Vec<_>>(),
            "steps": steps.iter().map(shown_step).collect::<Vec<_>>(),
        });
        output.result(text, &shown);
    };
    if matches!(&location, Location::Sqlite(path) if !path.exists()) {
        show("There is no database yet.", "none", &[], &[]);
        return Ok(());
    }
    let (store, schema) = Engine::inspect(&location, &options)?;
    match schema {
        Schema::None => show("The database is empty.", "empty", &[], &[]),
        Schema::Current { later } => {
            let mut lines = vec!["The database has them.".to_owned()];
            lines.extend(later.iter().map(|number| {
                format!(
                    "It also has migration {number} of a later version, with which this version can work."
                )
            }));
            let steps = unfinished(&store)?;
            lines.extend(steps.iter().map(step_line));
            if steps.is_empty() {
                lines.push("Nothing is left to do.".to_owned());
            }
            show(&lines.join("\n"), "current", &[], &steps);
        }
        Schema::Older(pending) => {
            let mut lines: Vec<String> = pending.iter().map(line).collect();
            let is_offline = pending.iter().any(|it| it.kind == MigrationKind::Offline);
            // Where offline migrations are pending, there may be no table of steps yet.
            let steps = if is_offline {
                Vec::new()
            } else {
                unfinished(&store)?
            };
            lines.extend(steps.iter().map(step_line));
            if !is_offline {
                lines.push("This version can be started while nodes of the earlier one run.".to_owned());
            }
            show(&lines.join("\n"), "older", &pending, &steps);
            if is_offline {
                return Err(CommandError(
                    "stop all nodes before this version is started for the first time".to_owned(),
                ));
            }
        }
    }
    Ok(())
}

/// The steps that are not done.
fn unfinished(store: &Engine) -> Result<Vec<StepState>, CommandError> {
    let mut steps = runtime()?.block_on(schema_change::steps(store))?;
    steps.retain(|step| !step.is_done);
    Ok(steps)
}

fn line(it: &Pending) -> String {
    let how = match it.kind {
        MigrationKind::Offline => "all other nodes must be stopped".to_owned(),
        MigrationKind::Expand { needs } => format!("runs beside versions that know migration {needs}"),
        MigrationKind::Contract { needs } => format!("waits until all nodes know migration {needs}"),
    };
    format!("pending: {} ({}), {how}", it.number, it.name)
}

fn shown(it: &Pending) -> Value {
    let (kind, needs) = match it.kind {
        MigrationKind::Offline => ("offline", None),
        MigrationKind::Expand { needs } => ("expand", Some(needs)),
        MigrationKind::Contract { needs } => ("contract", Some(needs)),
    };
    json!({ "number": it.number, "name": it.name, "kind": kind, "needs": needs })
}

fn step_line(step: &StepState) -> String {
    format!(
        "in progress: {} of migration {}: {} rows of pass {}",
        step.step.name(),
        step.number,
        step.visited,
        step.passes + 1
    )
}

fn shown_step(step: &StepState) -> Value {
    json!({
        "migration": step.number, "step": step.step.name(), "rows": step.visited, "pass": step.passes + 1,
    })
}
