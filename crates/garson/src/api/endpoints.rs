//! Webhook endpoints: several receivers of an account's events, each with its own filter, authorization and retries.

pub mod deliveries;
pub mod statistics;

use super::envelope::{Data, Done};
use super::idempotency::NewId;
use super::json_body::Json;
use super::provider_field::PlatformKey;
use super::webhook::Sent;
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::endpoints;
use crate::flow::admin::endpoints::{ChangedEndpoint, EndpointInput};
use crate::flow::admin::input::{Line, endpoint_id, overlap};
use crate::flow::deliver::endpoint_sends;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use crate::net::guard::{Target, is_clear_text};
use axum::extract::{Path, State};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, EndpointId, RestaurantId};
use garson_core::json::{ObjectOnly, whole_or_none};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_core::webhook_endpoint::{
    EndpointAuthorization, EventBody, LONGEST_OVERLAP, ROTATION_OVERLAP, RetryPlan, WebhookEndpoint,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// A receiver of the account's events.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointView {
    #[schema(value_type = String, format = Uuid)]
    id: EndpointId,
    /// The endpoint that `PUT /webhook` describes too. There is exactly one; its URL may be null.
    is_default: bool,
    label: String,
    url: Option<String>,
    #[schema(value_type = EndpointStateSchema)]
    state: &'static str,
    /// Since when it is paused or disabled.
    #[schema(value_type = Option<String>, format = DateTime)]
    state_at: Option<Timestamp>,
    /// Since when every attempt has failed; null while it works.
    #[schema(value_type = Option<String>, format = DateTime)]
    failing_since: Option<Timestamp>,
    /// The names of the events that it gets; empty: all.
    events: Vec<String>,
    /// The restaurants whose events it gets; empty: all.
    #[schema(value_type = Vec<String>)]
    restaurant_ids: Vec<RestaurantId>,
    /// The platforms whose events it gets; empty: all.
    platforms: Vec<String>,
    #[schema(value_type = EndpointAuthorizationSchema)]
    authorization: &'static str,
    /// Requests carry `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    signed: bool,
    /// Until when requests are signed with the secret before the current one, too.
    #[schema(value_type = Option<String>, format = DateTime)]
    old_secret_until: Option<Timestamp>,
    #[schema(value_type = EventBodySchema)]
    body: &'static str,
    #[schema(value_type = RetryPlanSchema)]
    retries: &'static str,
    /// What the account should know about this address.
    warning: Option<&'static str>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// `paused`: by the account. `disabled`: it kept failing. Events are skipped meanwhile and can be sent later.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = EndpointState, rename_all = "lowercase")]
enum EndpointStateSchema {
    Active,
    Paused,
    Disabled,
}

/// What `Authorization` holds. `key`: `Bearer` and the account's primary key. `bareKey`: that key alone. `token`: `Bearer` and a
/// token of the endpoint. `none`: there is no such header.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = EndpointAuthorization, rename_all = "camelCase")]
enum EndpointAuthorizationSchema {
    Key,
    BareKey,
    Token,
    None,
}

/// `event`: the event as it is. `withOrder`: with its order as `veri.order`, as `GET /orders/{orderId}` answers it when it is sent.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = EndpointBody, rename_all = "camelCase")]
enum EventBodySchema {
    Event,
    WithOrder,
}

/// `standard`: as the operator has set it, three retries within five minutes by default. `long`: eleven retries within three days.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = EndpointRetries, rename_all = "lowercase")]
enum RetryPlanSchema {
    Standard,
    Long,
}

impl EndpointView {
    fn new(account: AccountId, endpoint: WebhookEndpoint) -> Self {
        let target = endpoint.url.as_deref().and_then(|url| Target::parse(url).ok());
        let is_clear = target.is_some_and(|target| is_clear_text(&target));
        Self {
            id: endpoint.id,
            is_default: endpoint.id.is_default_of(account),
            label: endpoint.label,
            url: endpoint.url,
            state: endpoint.state.as_str(),
            state_at: endpoint.state_at,
            failing_since: endpoint.failing_since,
            events: endpoint.filter.events,
            restaurant_ids: endpoint.filter.restaurants,
            platforms: endpoint
                .filter
                .platforms
                .iter()
                .map(ToString::to_string)
                .collect(),
            authorization: endpoint.authorization.as_str(),
            signed: endpoint.is_signed,
            old_secret_until: endpoint.old_secret_until,
            body: endpoint.body.as_str(),
            retries: endpoint.retries.as_str(),
            warning: is_clear.then_some("The address is plain http: events and secrets travel in clear."),
            created_at: endpoint.created_at,
            updated_at: endpoint.updated_at,
        }
    }
}

/// An endpoint after a change, with the secrets that were made: they are shown this once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedEndpointView {
    #[serde(flatten)]
    endpoint: EndpointView,
    /// The token, if this request has made one.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// The signing secret, if this request has made one.
    #[serde(skip_serializing_if = "Option::is_none")]
    signing_secret: Option<String>,
}

impl ChangedEndpointView {
    fn new(account: AccountId, changed: ChangedEndpoint) -> Self {
        let exposed = |secret: Option<Secret<String>>| secret.map(|secret| secret.expose().clone());
        Self {
            endpoint: EndpointView::new(account, changed.endpoint),
            token: exposed(changed.token),
            signing_secret: exposed(changed.signing_secret),
        }
    }
}

/// What can be written about an endpoint. Left out: stays as it is, or is as for the default endpoint at first.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EndpointRequest {
    label: Option<Line>,
    /// Required to create one.
    #[schema(format = Uri, max_length = 2048)]
    url: Option<String>,
    /// False pauses it; true resumes it, also when it was disabled. Not for the default endpoint.
    is_active: Option<bool>,
    /// The names of the events that it gets; an empty list: all.
    #[schema(max_items = 20)]
    events: Option<Vec<String>>,
    /// The restaurants whose events it gets; an empty list: all.
    #[schema(max_items = 200)]
    restaurant_ids: Option<Vec<String>>,
    /// The platforms whose events it gets; an empty list: all.
    #[schema(max_items = 20)]
    platforms: Option<Vec<PlatformKey>>,
    #[schema(value_type = Option<EndpointAuthorizationSchema>)]
    authorization: Option<String>,
    /// With the authorization `token`; without one, a token is made and shown once.
    #[schema(min_length = 16, max_length = 500)]
    token: Option<String>,
    /// True makes a signing secret, if there is none, and shows it once; false removes it.
    signed: Option<bool>,
    #[schema(value_type = Option<EventBodySchema>)]
    body: Option<String>,
    #[schema(value_type = Option<RetryPlanSchema>)]
    retries: Option<String>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// Reads one of a closed set of names.
fn one_of<T: Copy>(
    field: &str,
    name: Option<String>,
    all: &[T],
    as_str: fn(T) -> &'static str,
) -> Result<Option<T>, Fault> {
    let Some(name) = name else { return Ok(None) };
    let found = all.iter().copied().find(|it| as_str(*it) == name);
    found.map(Some).ok_or_else(|| {
        let names: Vec<&str> = all.iter().copied().map(as_str).collect();
        let choices = names.join(", ");
        Fault::invalid(field, FieldProblem::NotOneOf { choices })
    })
}

impl TryFrom<EndpointRequest> for EndpointInput {
    type Error = Fault;

    fn try_from(request: EndpointRequest) -> Result<Self, Fault> {
        let restaurant = |(row, text): (usize, String)| {
            text.parse::<RestaurantId>().map_err(|_| {
                let problem = FieldProblem::text("is not a restaurant of this account");
                Fault::invalid(format!("restaurantIds[{row}]"), problem)
            })
        };
        let restaurants = request
            .restaurant_ids
            .map(|list| list.into_iter().enumerate().map(restaurant).collect())
            .transpose()?;
        Ok(Self {
            label: request.label,
            url: request.url,
            is_active: request.is_active,
            events: request.events,
            restaurants,
            platforms: request
                .platforms
                .map(|list| list.into_iter().map(PlatformKey::provider).collect()),
            authorization: one_of(
                "authorization",
                request.authorization,
                EndpointAuthorization::ALL,
                EndpointAuthorization::as_str,
            )?,
            token: request.token.map(Secret::new),
            is_signed: request.signed,
            body: one_of("body", request.body, EventBody::ALL, EventBody::as_str)?,
            retries: one_of("retries", request.retries, RetryPlan::ALL, RetryPlan::as_str)?,
        })
    }
}

/// All endpoints of the account, the default one first.
#[utoipa::path(get, path = "/webhook-endpoints", tag = "Webhook",
    responses((status = 200, body = Data<Vec<EndpointView>>)))]
pub async fn list_endpoints(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
) -> Result<Data<Vec<EndpointView>>, ApiError> {
    let found = endpoints::list(&state.app, caller.account).await?;
    let view = |endpoint| EndpointView::new(caller.account, endpoint);
    Ok(Data::new(found.into_iter().map(view).collect()))
}

/// Create an endpoint, at most 20 besides the default one. Only with the account's primary key.
#[utoipa::path(post, path = "/webhook-endpoints", tag = "Webhook", request_body = EndpointRequest,
    responses((status = 200, body = Data<ChangedEndpointView>)))]
pub async fn create_endpoint(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    NewId(new_id): NewId,
    Json(wanted): Json<EndpointRequest>,
) -> Result<Data<ChangedEndpointView>, ApiError> {
    let account = caller.account;
    let input = EndpointInput::try_from(wanted)?;
    let created = endpoints::create(&state.app, caller.by(), EndpointId(new_id), input).await?;
    Ok(Data::new(ChangedEndpointView::new(account, created)))
}

/// One endpoint.
#[utoipa::path(get, path = "/webhook-endpoints/{endpointId}", tag = "Webhook", params(("endpointId" = String, Path)),
    responses((status = 200, body = Data<EndpointView>)))]
pub async fn get_endpoint(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(endpoint): Path<String>,
) -> Result<Data<EndpointView>, ApiError> {
    let found = endpoints::get(&state.app, caller.account, endpoint_id(&endpoint)?).await?;
    Ok(Data::new(EndpointView::new(caller.account, found)))
}

/// Change an endpoint. Its URL and authorization only with the account's primary key.
#[utoipa::path(patch, path = "/webhook-endpoints/{endpointId}", tag = "Webhook", params(("endpointId" = String, Path)),
    request_body(content = Option<EndpointRequest>), responses((status = 200, body = Data<ChangedEndpointView>)))]
pub async fn update_endpoint(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(endpoint): Path<String>,
    Json(wanted): Json<EndpointRequest>,
) -> Result<Data<ChangedEndpointView>, ApiError> {
    let account = caller.account;
    let id = endpoint_id(&endpoint)?;
    let input = EndpointInput::try_from(wanted)?;
    let changed = endpoints::update(&state.app, caller.by(), id, input).await?;
    Ok(Data::new(ChangedEndpointView::new(account, changed)))
}

/// Delete an endpoint with its deliveries. Of the default one, the URL and all settings are removed.
#[utoipa::path(delete, path = "/webhook-endpoints/{endpointId}", tag = "Webhook", params(("endpointId" = String, Path)),
    responses((status = 200, body = Done)))]
pub async fn delete_endpoint(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(endpoint): Path<String>,
) -> Result<Done, ApiError> {
    endpoints::delete(&state.app, caller.by(), endpoint_id(&endpoint)?).await?;
    Ok(Done::new())
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RotateSecretRequest {
    /// For how long requests are signed with the old secret, too; 24 without it.
    #[serde(default, deserialize_with = "whole_or_none")]
    #[schema(value_type = Option<u32>, minimum = 0, maximum = 168)]
    overlap_hours: Option<i64>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// Replace the signing secret; the new one is shown this once. Only with the account's primary key.
///
/// Until the overlap is over, requests carry a signature of each secret, so that a receiver can change its secret meanwhile.
#[utoipa::path(post, path = "/webhook-endpoints/{endpointId}/secret/rotate", tag = "Webhook",
    params(("endpointId" = String, Path)), request_body(content = Option<RotateSecretRequest>),
    responses((status = 200, body = Data<ChangedEndpointView>)))]
pub async fn rotate_endpoint_secret(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(endpoint): Path<String>,
    Json(wanted): Json<RotateSecretRequest>,
) -> Result<Data<ChangedEndpointView>, ApiError> {
    let account = caller.account;
    let overlap = overlap(wanted.overlap_hours, LONGEST_OVERLAP)?.unwrap_or(ROTATION_OVERLAP);
    let id = endpoint_id(&endpoint)?;
    let changed = endpoints::rotate_secret(&state.app, caller.by(), id, overlap).await?;
    Ok(Data::new(ChangedEndpointView::new(account, changed)))
}

/// Send a test message (`olay` is `test`) to an endpoint, now.
#[utoipa::path(post, path = "/webhook-endpoints/{endpointId}/test", tag = "Webhook",
    params(("endpointId" = String, Path)), responses((status = 200, body = Data<Sent>)))]
pub async fn test_endpoint(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(endpoint): Path<String>,
) -> Result<Data<Sent>, ApiError> {
    let id = endpoint_id(&endpoint)?;
    let status = endpoint_sends::test(&state.app, caller.by(), id).await?;
    Ok(Data::new(status.into()))
}
