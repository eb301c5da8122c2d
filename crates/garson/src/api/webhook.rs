//! The account's webhook: its address, the state of its deliveries, resending.

use super::envelope::{Data, Done, Paged};
use super::fields::TextMap;
use super::json_body::Json;
use super::paging::{PageParams, Query};
use crate::flow::Fault;
use crate::flow::admin::accounts;
use crate::flow::admin::accounts::Delivery;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::Name;
use crate::flow::deliver::resend;
use crate::flow::deliver::resend::Resend;
use crate::flow::read::{Attempt, AttemptTiming};
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use crate::net::guard::{Target, is_clear_text};
use axum::extract::State;
use garson_core::account::{AuthorizationForm, Webhook};
use garson_core::delivery::DeliveryState;
use garson_core::event::{OptionalEvent, OptionalEvents};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{EventId, OrderId, RestaurantId};
use garson_core::json::ObjectOnly;
use garson_core::time::Timestamp;
use garson_store::lists::events::EventFilter;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookView {
    /// Null: no webhook is registered.
    url: Option<String>,
    /// `bearer` or `bare`.
    authorization: &'static str,
    #[schema(value_type = Option<String>, format = DateTime)]
    updated_at: Option<Timestamp>,
    /// What the account should know about this address.
    warning: Option<&'static str>,
    /// True where the account gets `siparis.guncellendi` events; missing otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    order_updates: bool,
    /// The optional events that the account gets; missing where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, value_type = Vec<OptionalEventSchema>)]
    optional_events: Vec<&'static str>,
}

/// `magaza.durum_degisti`: a restaurant has opened, closed or become busy on a platform.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = OptionalEvent)]
enum OptionalEventSchema {
    #[schema(rename = "magaza.durum_degisti")]
    StoreChanged,
}

impl WebhookView {
    fn with(mut self, events: OptionalEvents) -> Self {
        self.optional_events = events.iter().map(OptionalEvent::as_str).collect();
        self
    }
}

impl From<(Option<Webhook>, bool)> for WebhookView {
    fn from((webhook, order_updates): (Option<Webhook>, bool)) -> Self {
        let target = webhook.as_ref().and_then(|w| Target::parse(&w.url).ok());
        Self {
            authorization: webhook
                .as_ref()
                .map(|w| w.authorization)
                .unwrap_or_default()
                .as_str(),
            updated_at: webhook.as_ref().map(|w| w.updated_at),
            url: webhook.map(|w| w.url),
            warning: target
                .is_some_and(|target| is_clear_text(&target))
                .then_some("The address is plain http: the account's key travels in clear."),
            order_updates,
            optional_events: Vec::new(),
        }
    }
}

/// Where the account's events go.
#[utoipa::path(get, path = "/webhook", tag = "Webhook", responses((status = 200, body = Data<WebhookView>)))]
pub async fn get_webhook(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
) -> Result<Data<WebhookView>, ApiError> {
    let events = accounts::optional_events(&state.app, caller.account).await?;
    let webhook = accounts::webhook_and_updates(&state.app, caller.account).await?;
    Ok(Data::new(WebhookView::from(webhook).with(events)))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookRequest {
    /// Left out: stays as it is.
    #[schema(format = Uri, max_length = 2048)]
    url: Option<String>,
    /// How the key is sent: `Bearer <key>` or the bare key.
    #[schema(inline)]
    authorization: Option<Form>,
    /// Whether events `siparis.guncellendi` are wanted, of orders whose lines, sums or payment their platform has changed: by
    /// webhook, in the list and in the stream. Left out: stays as it is; at first they are not.
    order_updates: Option<bool>,
    /// The optional events that are wanted, by webhook, in the list and in the stream; an empty list ends them. Left out: they stay
    /// as they are; at first there are none.
    #[schema(value_type = Option<Vec<OptionalEventSchema>>, max_items = 20)]
    optional_events: Option<Vec<String>>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    Bearer,
    Bare,
}

impl From<Form> for AuthorizationForm {
    fn from(form: Form) -> Self {
        match form {
            Form::Bearer => Self::Bearer,
            Form::Bare => Self::Bare,
        }
    }
}

/// Register the webhook.
///
/// It carries the account's primary key, so only that key may change its address.
#[utoipa::path(put, path = "/webhook", tag = "Webhook", request_body = WebhookRequest,
    responses((status = 200, body = Data<WebhookView>)))]
pub async fn put_webhook(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Json(wanted): Json<WebhookRequest>,
) -> Result<Data<WebhookView>, ApiError> {
    let form = wanted.authorization.map(Into::into);
    let account = caller.account;
    let events = wanted.optional_events.map(read_events).transpose()?;
    let is_about_webhook = wanted.url.is_some() || form.is_some() || wanted.order_updates.is_some();
    let saved = if is_about_webhook || events.is_none() {
        accounts::set_webhook(&state.app, caller.by(), wanted.url, form, wanted.order_updates).await?
    } else {
        accounts::webhook_and_updates(&state.app, account).await?
    };
    if let Some(events) = events {
        accounts::set_optional_events(&state.app, caller.by(), events).await?;
    }
    let events = accounts::optional_events(&state.app, account).await?;
    Ok(Data::new(WebhookView::from(saved).with(events)))
}

fn read_events(names: Vec<String>) -> Result<OptionalEvents, Fault> {
    let event = |(row, name): (usize, String)| {
        OptionalEvent::named(&name).ok_or_else(|| {
            let choices: Vec<&str> = OptionalEvent::ALL.iter().map(|event| event.as_str()).collect();
            let choices = choices.join(", ");
            Fault::invalid(
                format!("optionalEvents[{row}]"),
                FieldProblem::NotOneOf { choices },
            )
        })
    };
    names.into_iter().enumerate().map(event).collect()
}

/// Remove the webhook. Events are kept, and can be read and sent later.
#[utoipa::path(delete, path = "/webhook", tag = "Webhook", responses((status = 200, body = Done)))]
pub async fn delete_webhook(State(state): State<Arc<HttpState>>, caller: Caller) -> Result<Done, ApiError> {
    accounts::remove_webhook(&state.app, caller.by()).await?;
    Ok(Done::new())
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    message: &'static str,
    /// What the target answered.
    status_code: u16,
}

impl From<u16> for Sent {
    fn from(status_code: u16) -> Self {
        let message = if (200..300).contains(&status_code) {
            "The target has taken it."
        } else {
            "The target was reached and did not take it."
        };
        Self { message, status_code }
    }
}

/// Send a test message (`olay` is `test`) to the registered address, now.
#[utoipa::path(post, path = "/webhook/test", tag = "Webhook", responses((status = 200, body = Data<Sent>)))]
pub async fn test_webhook(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
) -> Result<Data<Sent>, ApiError> {
    Ok(Data::new(resend::test(&state.app, caller.by()).await?.into()))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetryRequest {
    /// The id of the webhook record (`veri.id`); an order's id means its newest event.
    webhook_order_id: Name,
    #[schema(format = Uri, max_length = 2048)]
    url: String,
    /// Header names to values, sent along. An Authorization is added unless there is one: with the primary key when that one
    /// asks or the address is the registered one, otherwise with the key that asks.
    headers: TextMap,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// Send an event once more, now, to a given address; answers what the target said, whatever it is.
#[utoipa::path(post, path = "/orders/retry-webhook", tag = "Webhook", request_body = RetryRequest,
    responses((status = 200, body = Data<Sent>)))]
pub async fn retry_webhook(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Json(wanted): Json<RetryRequest>,
) -> Result<Data<Sent>, ApiError> {
    let resend = Resend {
        webhook_order_id: wanted.webhook_order_id.into_string(),
        url: wanted.url,
        headers: wanted.headers.0.into_iter().collect(),
    };
    Ok(Data::new(
        resend::resend(&state.app, caller.by(), resend).await?.into(),
    ))
}

/// A webhook record: an event and how its delivery stands.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    /// The same as `veri.id` in the event.
    #[schema(value_type = String, format = Uuid)]
    id: EventId,
    olay: String,
    /// `pending`, `delivered`, `failed` or `skipped`.
    state: &'static str,
    /// Why it is not delivered: `waiting`, `earlier_event`, `no_url`, `url_removed`, `filtered`, `endpoint_paused`,
    /// `endpoint_disabled`, `bad_status`, `redirect`,
    /// `target_not_allowed`, `name_not_resolved`, `cannot_connect`, `tls_failed`, `connection_broken` or `timed_out`.
    reason: Option<String>,
    /// When its next attempt is due; null when there is none to come.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_attempt_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = Uuid)]
    order_id: Option<OrderId>,
    #[schema(value_type = String, format = Uuid)]
    restaurant_id: RestaurantId,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    attempts: Vec<AttemptView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AttemptView {
    number: i64,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    url: String,
    /// What the target answered; null when it did not.
    status_code: Option<i64>,
    duration_ms: i64,
    timing: TimingView,
    /// What happened, in plain words.
    explanation: String,
    /// What the receiver answered: the headers, an empty line and the first 16 kB of the body. Secrets are masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<String>,
}

/// Where the time went, in milliseconds; null for what did not happen, such as a look-up for a literal address, or a
/// connection that was still open.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TimingView {
    dns_ms: Option<f64>,
    connect_ms: Option<f64>,
    tls_ms: Option<f64>,
    first_byte_ms: Option<f64>,
}

impl From<AttemptTiming> for TimingView {
    fn from(timing: AttemptTiming) -> Self {
        // The microseconds of an attempt are exact as f64.
        #[allow(clippy::cast_precision_loss)]
        let millis = |micros: Option<i64>| micros.map(|micros| micros as f64 / 1000.0);
        Self {
            dns_ms: millis(timing.name),
            connect_ms: millis(timing.connect),
            tls_ms: millis(timing.tls),
            first_byte_ms: millis(timing.first_byte),
        }
    }
}

impl From<Attempt> for AttemptView {
    fn from(attempt: Attempt) -> Self {
        Self {
            number: attempt.number,
            at: attempt.at,
            url: attempt.url,
            status_code: attempt.status,
            duration_ms: attempt.duration_ms,
            timing: attempt.timing.into(),
            explanation: attempt.explanation.to_string(),
            response: attempt.response,
        }
    }
}

impl From<Delivery> for DeliveryView {
    fn from(delivery: Delivery) -> Self {
        let event = delivery.event;
        Self {
            id: event.id,
            olay: event.name,
            state: event.state.as_str(),
            reason: event.reason,
            next_attempt_at: event.due_at,
            order_id: event.order_id,
            restaurant_id: event.restaurant_id,
            created_at: event.created_at,
            attempts: delivery.attempts.into_iter().map(Into::into).collect(),
        }
    }
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct DeliveryParams {
    /// Only those in this state.
    #[param(inline)]
    state: Option<StateSchema>,
    /// Only those of this order.
    #[param(rename = "orderId")]
    order_id: Option<String>,
}

#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(rename_all = "lowercase")]
enum StateSchema {
    Pending,
    Delivered,
    Failed,
    Skipped,
}

/// The state that a list of deliveries is limited to, if any.
pub fn read_state(query: &Query) -> Result<Option<DeliveryState>, ApiError> {
    let wrong = || {
        ApiError::invalid(
            Code::InvalidParameter,
            "state",
            "must be pending, delivered, failed or skipped",
        )
    };
    let name = query.get("state")?;
    name.map(|name| DeliveryState::named(name).ok_or_else(wrong))
        .transpose()
}

/// The webhook records, newest first, with every attempt.
#[utoipa::path(get, path = "/webhook/deliveries", tag = "Webhook", params(DeliveryParams, PageParams),
    responses((status = 200, body = Paged<DeliveryView>)))]
pub async fn list_deliveries(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    query: Query,
) -> Result<Paged<DeliveryView>, ApiError> {
    let delivery_state = read_state(&query)?;
    let order = query.get("orderId")?.map(str::to_owned);
    let page = accounts::list_deliveries(
        &state.app,
        caller.account,
        EventFilter::with_state(delivery_state),
        order,
        query.page()?,
    )
    .await?;
    Ok(Paged::new(page, DeliveryView::from))
}
