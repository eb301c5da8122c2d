//! Escalation: what happens when an order is not accepted in time.

use super::envelope::Data;
use super::json_body::Json;
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::escalation;
use crate::flow::admin::escalation::{MAX_NOTE, MAX_REASON};
use crate::flow::admin::input::restaurant_id;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::escalation::{MAX_SECONDS, Step, StepAction, When};
use garson_core::field_problem::FieldProblem;
use garson_core::id::ChannelId;
use garson_core::json::{ObjectOnly, whole_between};
use serde::{Deserialize, Deserializer, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// The steps of a restaurant's escalation.
#[derive(Serialize, ToSchema)]
pub struct EscalationView {
    steps: Vec<StepView>,
}

/// A step, taken for each order that is not accepted at its time. Steps that count from `acceptBy` are left out for orders without
/// one.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StepView {
    #[schema(value_type = WhenSchema)]
    when: &'static str,
    seconds: u32,
    only_if_unwatched: bool,
    #[schema(value_type = StepActionSchema)]
    action: &'static str,
    #[schema(value_type = Option<String>, format = Uuid)]
    channel_id: Option<ChannelId>,
    reason: Option<String>,
    note: Option<String>,
}

/// What `seconds` is counted from: the order's `acceptBy`, or its arrival.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = EscalationWhen, rename_all = "camelCase")]
enum WhenSchema {
    BeforeAcceptBy,
    AfterAcceptBy,
    Age,
}

/// `ring`: open boards ring urgently. `message`: a message by the channel. `verify`: the order is verified. `cancel`: the order is
/// cancelled.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = EscalationAction, rename_all = "camelCase")]
enum StepActionSchema {
    Ring,
    Message,
    Verify,
    Cancel,
}

impl From<Step> for StepView {
    fn from(step: Step) -> Self {
        let action = step.action.as_str();
        let (channel_id, reason, note) = match step.action {
            StepAction::Message { channel_id } => (Some(channel_id), None, None),
            StepAction::Cancel { reason, note } => (None, reason, note),
            StepAction::Ring | StepAction::Verify => (None, None, None),
        };
        Self {
            when: step.when.as_str(),
            seconds: step.seconds,
            only_if_unwatched: step.only_if_unwatched,
            action,
            channel_id,
            reason,
            note,
        }
    }
}

fn view(steps: Vec<Step>) -> Data<EscalationView> {
    Data::new(EscalationView {
        steps: steps.into_iter().map(Into::into).collect(),
    })
}

#[derive(Deserialize, ToSchema)]
pub struct EscalationRequest {
    /// All steps of the restaurant, at most 10; an empty list ends escalation.
    #[schema(max_items = 10)]
    steps: Vec<StepRequest>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EscalationStepRequest)]
struct StepRequest {
    #[schema(value_type = WhenSchema)]
    when: String,
    #[serde(deserialize_with = "step_seconds")]
    #[schema(minimum = 0, maximum = 86400)]
    seconds: u32,
    /// Take the step only if no board, stream or poller is connected for the restaurant at that time.
    #[serde(default)]
    only_if_unwatched: bool,
    #[schema(value_type = StepActionSchema)]
    action: String,
    /// Required for `message`.
    #[schema(value_type = Option<String>, format = Uuid)]
    channel_id: Option<String>,
    /// For `cancel`: the id of a reason. Where the platform does not accept it, and without one, the integration's default reason
    /// is used.
    #[schema(max_length = 100)]
    reason: Option<String>,
    /// For `cancel`: a note for the platform.
    #[schema(max_length = 500)]
    note: Option<String>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

fn step_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    whole_between(deserializer, 0, MAX_SECONDS)
}

impl StepRequest {
    fn parse(self, row: usize) -> Result<Step, Fault> {
        let invalid = |field: &str, problem| Fault::invalid(format!("steps[{row}].{field}"), problem);
        let choices = |list: &[&str]| FieldProblem::NotOneOf {
            choices: list.join(", "),
        };
        let when =
            When::named(&self.when).ok_or_else(|| invalid("when", choices(&When::ALL.map(When::as_str))))?;
        // Also of fields that the action does not use.
        let channel_id = self.channel_id.map(|id| id.parse::<ChannelId>()).transpose();
        let channel_id = channel_id.map_err(|_| invalid("channelId", FieldProblem::NotChannel))?;
        for (field, text, max) in [
            ("reason", &self.reason, MAX_REASON),
            ("note", &self.note, MAX_NOTE),
        ] {
            if text.as_ref().is_some_and(|text| text.chars().count() > max) {
                return Err(invalid(field, FieldProblem::TooLong { max }));
            }
        }
        let action = match self.action.as_str() {
            "ring" => StepAction::Ring,
            "verify" => StepAction::Verify,
            "cancel" => StepAction::Cancel {
                reason: self.reason,
                note: self.note,
            },
            "message" => StepAction::Message {
                channel_id: channel_id.ok_or_else(|| invalid("channelId", FieldProblem::Required))?,
            },
            _ => {
                return Err(invalid(
                    "action",
                    choices(&["ring", "message", "verify", "cancel"]),
                ));
            }
        };
        Ok(Step {
            when,
            seconds: self.seconds,
            only_if_unwatched: self.only_if_unwatched,
            action,
        })
    }
}

/// The steps of a restaurant's escalation.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/escalation", tag = "Escalation",
    params(("restaurantId" = String, Path)), responses((status = 200, body = Data<EscalationView>)))]
pub async fn get_escalation(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Data<EscalationView>, ApiError> {
    let steps = escalation::get(&state.app, caller.account, restaurant_id(&restaurant)?).await?;
    Ok(view(steps))
}

/// Replace the steps of a restaurant's escalation. Orders that have arrived before keep theirs.
#[utoipa::path(put, path = "/restaurants/{restaurantId}/escalation", tag = "Escalation",
    params(("restaurantId" = String, Path)), request_body = EscalationRequest,
    responses((status = 200, body = Data<EscalationView>)))]
pub async fn put_escalation(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    Json(wanted): Json<EscalationRequest>,
) -> Result<Data<EscalationView>, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    let numbered = wanted.steps.into_iter().enumerate();
    let steps: Result<Vec<Step>, Fault> = numbered.map(|(row, step)| step.parse(row)).collect();
    let steps = escalation::set(&state.app, caller.by(), restaurant, steps?).await?;
    Ok(view(steps))
}
