//! A restaurant's escalation: which steps are taken when an order is not accepted in time.

use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::escalation::{MAX_SECONDS, MAX_STEPS, Step, StepAction};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, RestaurantId};
use garson_store::Tx;
use garson_store::tables::{channels, restaurants};
use serde_json::json;

pub const MAX_REASON: usize = 100;
pub const MAX_NOTE: usize = 500;

pub async fn get(app: &App, account: AccountId, id: RestaurantId) -> Result<Vec<Step>, Fault> {
    app.store
        .read(move |tx| {
            if !restaurants::exists(tx, account, id)? {
                return Err(Fault::not_found(Thing::Restaurant, id));
            }
            Ok(restaurants::escalation(tx, id)?)
        })
        .await
}

/// Replaces the steps. Orders that have arrived before keep theirs.
pub async fn set(app: &App, by: By, id: RestaurantId, steps: Vec<Step>) -> Result<Vec<Step>, Fault> {
    check(&steps)?;
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            if !restaurants::lock(tx, account, id)? {
                return Err(Fault::not_found(Thing::Restaurant, id));
            }
            check_channels(tx, account, &steps)?;
            let before = restaurants::escalation(tx, id)?;
            restaurants::set_escalation(tx, id, &steps)?;
            let action = Recorded::new(RecordKind::Escalation, Verb::Changed)
                .id(id)
                .restaurant(id);
            by.record(
                tx,
                action.change(json!({ "steps": before }), json!({ "steps": steps })),
                now,
            );
            Ok(steps.clone())
        })
        .await
}

fn check(steps: &[Step]) -> Result<(), Fault> {
    if steps.len() > MAX_STEPS {
        return Err(Fault::invalid("steps", FieldProblem::TooMany { max: MAX_STEPS }));
    }
    for (row, step) in steps.iter().enumerate() {
        let invalid = |field: &str, problem| Fault::invalid(format!("steps[{row}].{field}"), problem);
        if step.seconds > MAX_SECONDS {
            let (min, max) = (0, i64::from(MAX_SECONDS));
            return Err(invalid("seconds", FieldProblem::NotWholeNumber { min, max }));
        }
        if let StepAction::Cancel { reason, note } = &step.action {
            let length = |text: &Option<String>| text.as_ref().map_or(0, |text| text.chars().count());
            if length(reason) > MAX_REASON {
                return Err(invalid("reason", FieldProblem::TooLong { max: MAX_REASON }));
            }
            if length(note) > MAX_NOTE {
                return Err(invalid("note", FieldProblem::TooLong { max: MAX_NOTE }));
            }
        }
    }
    Ok(())
}

fn check_channels(tx: &mut Tx<'_>, account: AccountId, steps: &[Step]) -> Result<(), Fault> {
    for (row, step) in steps.iter().enumerate() {
        if let StepAction::Message { channel_id } = step.action
            && !channels::exists(tx, account, channel_id)?
        {
            let field = format!("steps[{row}].channelId");
            return Err(Fault::invalid(field, FieldProblem::NotChannel));
        }
    }
    Ok(())
}
