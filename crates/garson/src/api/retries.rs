//! Retries of all failed deliveries since a timestamp, and their progress.

use super::envelope::Data;
use super::idempotency::NewId;
use super::json_body::Json;
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::deliver::resend_all;
use crate::flow::fault::Thing;
use crate::flow::read::Resend;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::id::{EndpointId, ResendId};
use garson_core::json::ObjectOnly;
use garson_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// How far it has come.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetryView {
    #[schema(value_type = String, format = Uuid)]
    id: ResendId,
    /// The endpoint whose deliveries these are; missing for the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = Uuid, required = false)]
    endpoint_id: Option<EndpointId>,
    /// `running` or `done`.
    state: &'static str,
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    include_skipped: bool,
    /// How many there were when it was started.
    found: i64,
    /// How many of them are due again by now.
    requeued: i64,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
}

impl From<Resend> for RetryView {
    fn from(resend: Resend) -> Self {
        Self {
            id: resend.id,
            endpoint_id: resend.endpoint,
            state: match resend.finished_at {
                None => "running",
                Some(_) => "done",
            },
            since: resend.since,
            include_skipped: resend.with_skipped,
            found: resend.found,
            requeued: resend.requeued,
            created_at: resend.created_at,
            finished_at: resend.finished_at,
        }
    }
}

/// A retry as JSON, for the output of a command.
#[must_use]
pub fn retry_json(resend: Resend) -> serde_json::Value {
    serde_json::to_value(RetryView::from(resend)).unwrap_or_default()
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetryAllRequest {
    /// Those of events since this time.
    #[schema(value_type = String, format = DateTime)]
    pub(super) since: Timestamp,
    /// Also those that were skipped because there was nowhere to send them.
    pub(super) include_skipped: Option<bool>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// Make all failed deliveries since a time due again, with all their attempts before them.
///
/// It goes on by itself; the answer says how far it has come. While the same is still running, that one is answered.
#[utoipa::path(post, path = "/webhook/deliveries/retry", tag = "Webhook", request_body = RetryAllRequest,
    responses((status = 200, body = Data<RetryView>)))]
pub async fn retry_deliveries(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    NewId(new_id): NewId,
    Json(wanted): Json<RetryAllRequest>,
) -> Result<Data<RetryView>, ApiError> {
    let with_skipped = wanted.include_skipped.unwrap_or_default();
    let started = resend_all::start(
        &state.app,
        caller.by(),
        None,
        ResendId(new_id),
        wanted.since,
        with_skipped,
    );
    Ok(Data::new(started.await?.into()))
}

/// The account's last 50 of these, newest first; they are kept as long as events.
#[utoipa::path(get, path = "/webhook/deliveries/retries", tag = "Webhook",
    responses((status = 200, body = Data<Vec<RetryView>>)))]
pub async fn list_retries(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
) -> Result<Data<Vec<RetryView>>, ApiError> {
    let listed = resend_all::list(&state.app, caller.account).await?;
    Ok(Data::new(listed.into_iter().map(Into::into).collect()))
}

/// One of them.
#[utoipa::path(get, path = "/webhook/deliveries/retries/{retryId}", tag = "Webhook",
    params(("retryId" = String, Path)), responses((status = 200, body = Data<RetryView>)))]
pub async fn get_retry(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(retry): Path<String>,
) -> Result<Data<RetryView>, ApiError> {
    let id = retry
        .parse::<ResendId>()
        .map_err(|_| Fault::not_found(Thing::Retry, &retry))?;
    Ok(Data::new(
        resend_all::find(&state.app, caller.account, id).await?.into(),
    ))
}
