//! Channels: the ways by which an account's people receive messages.

use super::envelope::{Data, Done};
use super::fields::TextMap;
use super::idempotency::NewId;
use super::json_body::Json;
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::channels;
use crate::flow::admin::channels::{ChannelInput, MASK, TargetInput};
use crate::flow::admin::input::{Name, channel_id};
use crate::flow::messages::{Sending, send_test};
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::channel::{Channel, HttpMethod, Language, Target};
use garson_core::field_problem::FieldProblem;
use garson_core::id::ChannelId;
use garson_core::json::ObjectOnly;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::ToSchema;

/// A channel.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelView {
    #[schema(value_type = String, format = Uuid)]
    id: ChannelId,
    name: String,
    #[schema(value_type = ChannelKindSchema)]
    kind: &'static str,
    #[schema(value_type = LanguageSchema)]
    language: &'static str,
    /// Of an e-mail channel.
    recipients: Option<Vec<String>>,
    /// Of an http channel.
    #[schema(value_type = Option<MethodSchema>)]
    method: Option<&'static str>,
    url: Option<String>,
    /// Values are `***`; sent back, they keep the stored value as long as the URL has the same scheme, host and port.
    #[schema(value_type = Option<TextMap>)]
    headers: Option<BTreeMap<String, &'static str>>,
    body: Option<String>,
    /// Values are `***`, as for `headers`.
    #[schema(value_type = Option<TextMap>)]
    secrets: Option<BTreeMap<String, &'static str>>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = ChannelKind, rename_all = "lowercase")]
enum ChannelKindSchema {
    Email,
    Http,
}

#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = ChannelLanguage, rename_all = "lowercase")]
enum LanguageSchema {
    Tr,
    En,
}

#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = ChannelMethod, rename_all = "UPPERCASE")]
enum MethodSchema {
    Get,
    Post,
    Put,
}

fn masked(values: &BTreeMap<String, Secret<String>>) -> BTreeMap<String, &'static str> {
    values.keys().map(|name| (name.clone(), MASK)).collect()
}

impl From<Channel> for ChannelView {
    fn from(channel: Channel) -> Self {
        let mut view = Self {
            id: channel.id,
            name: channel.name,
            kind: channel.target.kind().as_str(),
            language: channel.language.as_str(),
            recipients: None,
            method: None,
            url: None,
            headers: None,
            body: None,
            secrets: None,
            created_at: channel.created_at,
            updated_at: channel.updated_at,
        };
        match channel.target {
            Target::Email { recipients } => view.recipients = Some(recipients),
            Target::Http(template) => {
                view.method = Some(template.method.as_str());
                view.headers = Some(masked(&template.headers));
                view.secrets = Some(masked(&template.secrets));
                view.url = Some(template.url);
                view.body = Some(template.body);
            }
        }
        view
    }
}

/// What can be written about a channel.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelRequest {
    name: Name,
    #[schema(value_type = ChannelKindSchema)]
    kind: String,
    /// The language of its messages; `tr` when there is none.
    #[schema(value_type = Option<LanguageSchema>)]
    language: Option<String>,
    /// Of an e-mail channel: 1 to 10 addresses.
    #[schema(max_items = 10)]
    recipients: Option<Vec<String>>,
    /// Of an http channel; `POST` when there is none.
    #[schema(value_type = Option<MethodSchema>)]
    method: Option<String>,
    /// Of an http channel. URL and body may have the placeholders `{text}`, `{subject}`, `{kind}`, `{restaurant}`, `{platform}`,
    /// `{code}`, `{minutes}`, `{acceptBy}` and `{secret.NAME}`. Values are escaped for the URL and for the body's content type.
    #[schema(max_length = 2048)]
    url: Option<String>,
    #[schema(value_type = Option<TextMap>)]
    headers: Option<TextMap>,
    /// Without a `Content-Type` in `headers`, a body that begins with a brace or a bracket is JSON, any other is a form.
    #[schema(max_length = 8192)]
    body: Option<String>,
    /// Values for the placeholders `{secret.NAME}`, at most 10.
    #[schema(value_type = Option<TextMap>)]
    secrets: Option<TextMap>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

impl TryFrom<ChannelRequest> for ChannelInput {
    type Error = Fault;

    fn try_from(request: ChannelRequest) -> Result<Self, Fault> {
        let one_of = |field: &str, choices: &str| {
            let choices = choices.to_owned();
            Fault::invalid(field, FieldProblem::NotOneOf { choices })
        };
        let language = match request.language {
            Some(name) => Language::named(&name).ok_or_else(|| one_of("language", "tr, en"))?,
            None => Language::default(),
        };
        let target = match request.kind.as_str() {
            "email" => TargetInput::Email {
                recipients: request.recipients.unwrap_or_default(),
            },
            "http" => TargetInput::Http {
                method: match request.method {
                    Some(name) => {
                        HttpMethod::named(&name).ok_or_else(|| one_of("method", "GET, POST, PUT"))?
                    }
                    None => HttpMethod::Post,
                },
                url: request.url.unwrap_or_default(),
                headers: secret(request.headers),
                body: request.body.unwrap_or_default(),
                secrets: secret(request.secrets),
            },
            _ => return Err(one_of("kind", "email, http")),
        };
        Ok(Self {
            name: request.name,
            language,
            target,
        })
    }
}

fn secret(map: Option<TextMap>) -> BTreeMap<String, Secret<String>> {
    let pairs = map.map(|map| map.0).unwrap_or_default().into_iter();
    pairs.map(|(name, value)| (name, Secret::new(value))).collect()
}

/// All channels of the account.
#[utoipa::path(get, path = "/channels", tag = "Escalation",
    responses((status = 200, body = Data<Vec<ChannelView>>)))]
pub async fn list_channels(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
) -> Result<Data<Vec<ChannelView>>, ApiError> {
    let found = channels::list(&state.app, caller.account).await?;
    Ok(Data::new(found.into_iter().map(Into::into).collect()))
}

/// Create a channel: e-mail by the operator's mail server, or a request to a gateway for text messages or voice calls.
#[utoipa::path(post, path = "/channels", tag = "Escalation", request_body = ChannelRequest,
    responses((status = 200, body = Data<ChannelView>)))]
pub async fn create_channel(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    NewId(new_id): NewId,
    Json(wanted): Json<ChannelRequest>,
) -> Result<Data<ChannelView>, ApiError> {
    let input = ChannelInput::try_from(wanted)?;
    let created = channels::create(&state.app, caller.by(), ChannelId(new_id), input).await?;
    Ok(Data::new(created.into()))
}

/// One channel.
#[utoipa::path(get, path = "/channels/{channelId}", tag = "Escalation", params(("channelId" = String, Path)),
    responses((status = 200, body = Data<ChannelView>)))]
pub async fn get_channel(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(channel): Path<String>,
) -> Result<Data<ChannelView>, ApiError> {
    let found = channels::get(&state.app, caller.account, channel_id(&channel)?).await?;
    Ok(Data::new(found.into()))
}

/// Replace a channel.
#[utoipa::path(put, path = "/channels/{channelId}", tag = "Escalation", params(("channelId" = String, Path)),
    request_body = ChannelRequest, responses((status = 200, body = Data<ChannelView>)))]
pub async fn update_channel(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(channel): Path<String>,
    Json(wanted): Json<ChannelRequest>,
) -> Result<Data<ChannelView>, ApiError> {
    let id = channel_id(&channel)?;
    let input = ChannelInput::try_from(wanted)?;
    let updated = channels::update(&state.app, caller.by(), id, input).await?;
    Ok(Data::new(updated.into()))
}

/// Delete a channel that no escalation and no notice uses.
#[utoipa::path(delete, path = "/channels/{channelId}", tag = "Escalation", params(("channelId" = String, Path)),
    responses((status = 200, body = Done)))]
pub async fn delete_channel(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(channel): Path<String>,
) -> Result<Done, ApiError> {
    channels::delete(&state.app, caller.by(), channel_id(&channel)?).await?;
    Ok(Done::new())
}

/// What came of a test message.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestResultView {
    is_sent: bool,
    /// What the mail server or gateway answered, or why it could not be reached, if the message was not sent.
    message: Option<String>,
}

/// Send a test message by a channel now.
#[utoipa::path(post, path = "/channels/{channelId}/test", tag = "Escalation", params(("channelId" = String, Path)),
    responses((status = 200, body = Data<TestResultView>)))]
pub async fn test_channel(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(channel): Path<String>,
) -> Result<Data<TestResultView>, ApiError> {
    let sending = send_test(&state.app, caller.by(), channel_id(&channel)?).await?;
    Ok(Data::new(match sending {
        Sending::Sent => TestResultView {
            is_sent: true,
            message: None,
        },
        Sending::NotYet(why) | Sending::Failed(why) | Sending::Unclear(why) => TestResultView {
            is_sent: false,
            message: Some(why.to_string()),
        },
    }))
}
