//! Operational notices: what the account is informed of by its channels, and the messages that were sent.

use super::envelope::Data;
use super::json_body::Json;
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::notices;
use crate::flow::platform_names::render_message;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::State;
use garson_core::channel::Language;
use garson_core::field_problem::FieldProblem;
use garson_core::id::{ChannelId, MessageId, OrderId};
use garson_core::json::ObjectOnly;
use garson_core::notice::NoticeKind;
use garson_core::time::Timestamp;
use garson_store::tables::messages::MessageRecord;
use garson_store::tables::notices::NoticeSettings;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// How many messages are listed.
const MESSAGES: i64 = 100;

/// What the account is informed of, by which channels.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoticesView {
    #[schema(value_type = Vec<NoticeKindSchema>)]
    kinds: Vec<&'static str>,
    #[schema(value_type = Vec<String>)]
    channel_ids: Vec<ChannelId>,
}

/// `webhookFailing`: the webhook receiver fails again and again. `deliveryGivenUp`: an event was given up after its last attempt.
/// `endpointDisabled`: a webhook endpoint kept failing and was disabled.
/// `loginRefused`: a platform refuses the credentials. `platformDown`: a platform cannot be reached. `storeClosed`: a platform has
/// closed a restaurant by itself. `storeNotAsWanted`: a restaurant could not be opened on time, or is open although it was closed.
/// Each is sent once per incident; another message says when it has recovered.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = NoticeKind, rename_all = "camelCase")]
enum NoticeKindSchema {
    WebhookFailing,
    DeliveryGivenUp,
    EndpointDisabled,
    LoginRefused,
    PlatformDown,
    StoreClosed,
    StoreNotAsWanted,
}

impl From<NoticeSettings> for NoticesView {
    fn from(settings: NoticeSettings) -> Self {
        Self {
            kinds: settings.kinds.iter().map(|kind| kind.as_str()).collect(),
            channel_ids: settings.channels,
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoticesRequest {
    /// An empty list ends all notices.
    #[schema(value_type = Vec<NoticeKindSchema>, max_items = 20)]
    kinds: Vec<String>,
    #[schema(value_type = Vec<String>, max_items = 10)]
    channel_ids: Vec<String>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// The operational notices of the account.
#[utoipa::path(get, path = "/notices", tag = "Escalation", responses((status = 200, body = Data<NoticesView>)))]
pub async fn get_notices(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
) -> Result<Data<NoticesView>, ApiError> {
    let found = notices::get(&state.app, caller.account).await?;
    Ok(Data::new(found.into()))
}

/// Choose what the account is informed of, and by which channels.
#[utoipa::path(put, path = "/notices", tag = "Escalation", request_body = NoticesRequest,
    responses((status = 200, body = Data<NoticesView>)))]
pub async fn put_notices(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Json(wanted): Json<NoticesRequest>,
) -> Result<Data<NoticesView>, ApiError> {
    let max = 20;
    if wanted.kinds.len() > max {
        return Err(Fault::invalid("kinds", FieldProblem::TooMany { max }).into());
    }
    let kind = |(row, name): (usize, String)| {
        NoticeKind::named(&name).ok_or_else(|| {
            let choices = NoticeKind::ALL.map(NoticeKind::as_str).join(", ");
            Fault::invalid(format!("kinds[{row}]"), FieldProblem::NotOneOf { choices })
        })
    };
    let kinds: Result<Vec<NoticeKind>, Fault> = wanted.kinds.into_iter().enumerate().map(kind).collect();
    let channel = |(row, id): (usize, String)| {
        id.parse::<ChannelId>()
            .map_err(|_| Fault::invalid(format!("channelIds[{row}]"), FieldProblem::NotChannel))
    };
    let by: Result<Vec<ChannelId>, Fault> = wanted.channel_ids.into_iter().enumerate().map(channel).collect();
    let set = notices::set(&state.app, caller.by(), kinds?, by?).await?;
    Ok(Data::new(set.into()))
}

/// A message to the account's people.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    #[schema(value_type = String, format = Uuid)]
    id: MessageId,
    #[schema(value_type = String, format = Uuid)]
    channel_id: ChannelId,
    /// The order that it is about.
    #[schema(value_type = Option<String>, format = Uuid)]
    order_id: Option<OrderId>,
    subject: String,
    #[schema(value_type = MessageStateSchema)]
    state: &'static str,
    attempts: i64,
    /// Why it was not sent, or the last attempt failed.
    problem: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
}

/// `open`: it waits, for its next attempt perhaps. `unclear`: it may have been sent, and is not sent again. `dropped`: it was not
/// needed any more, because the order had been accepted.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = MessageState, rename_all = "lowercase")]
enum MessageStateSchema {
    Open,
    Sending,
    Sent,
    Failed,
    Unclear,
    Dropped,
}

impl From<MessageRecord> for MessageView {
    fn from(it: MessageRecord) -> Self {
        let subject = render_message(&it.content, Language::En, it.created_at).subject;
        Self {
            id: it.id,
            channel_id: it.channel_id,
            order_id: it.order_id,
            subject,
            state: it.state.as_str(),
            attempts: it.attempts,
            problem: it.explanation.map(|why| why.to_string()),
            created_at: it.created_at,
            finished_at: it.finished_at,
        }
    }
}

/// The newest 100 messages to the account's people: escalations and notices.
#[utoipa::path(get, path = "/messages", tag = "Escalation", responses((status = 200, body = Data<Vec<MessageView>>)))]
pub async fn list_messages(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
) -> Result<Data<Vec<MessageView>>, ApiError> {
    let found = notices::messages(&state.app, caller.account, MESSAGES).await?;
    Ok(Data::new(found.into_iter().map(Into::into).collect()))
}
