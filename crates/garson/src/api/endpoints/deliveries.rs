//! The deliveries to an endpoint, and sending again.

use crate::api::envelope::{Data, Paged};
use crate::api::idempotency::NewId;
use crate::api::json_body::Json;
use crate::api::paging::{PageParams, Query};
use crate::api::retries::{RetryAllRequest, RetryView};
use crate::api::webhook::{DeliveryParams, DeliveryView, Sent, read_state};
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::endpoint_id;
use crate::flow::admin::{endpoint_log, endpoints};
use crate::flow::deliver::{endpoint_sends, resend_all};
use crate::flow::fault::Thing;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::id::{EventId, ResendId};
use std::sync::Arc;

/// The deliveries to an endpoint, newest first, with every attempt.
#[utoipa::path(get, path = "/webhook-endpoints/{endpointId}/deliveries", tag = "Webhook",
    params(("endpointId" = String, Path), DeliveryParams, PageParams),
    responses((status = 200, body = Paged<DeliveryView>)))]
pub async fn list_endpoint_deliveries(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(endpoint): Path<String>,
    query: Query,
) -> Result<Paged<DeliveryView>, ApiError> {
    let id = endpoint_id(&endpoint)?;
    let delivery_state = read_state(&query)?;
    let order = query.get("orderId")?.map(str::to_owned);
    let page = endpoint_log::list(
        &state.app,
        caller.account,
        id,
        delivery_state,
        order,
        query.page()?,
    )
    .await?;
    Ok(Paged::new(page, DeliveryView::from))
}

/// Send an event once more to an endpoint, now; answers what the target said, whatever it is.
#[utoipa::path(post, path = "/webhook-endpoints/{endpointId}/deliveries/{eventId}/resend", tag = "Webhook",
    params(("endpointId" = String, Path), ("eventId" = String, Path)),
    responses((status = 200, body = Data<Sent>)))]
pub async fn resend_endpoint_delivery(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path((endpoint, event)): Path<(String, String)>,
) -> Result<Data<Sent>, ApiError> {
    let id = endpoint_id(&endpoint)?;
    let event_id: EventId = event
        .parse()
        .map_err(|_| Fault::not_found(Thing::WebhookRecord, &event))?;
    let status = endpoint_sends::again(&state.app, caller.by(), id, event_id).await?;
    Ok(Data::new(status.into()))
}

/// Make all failed deliveries to an endpoint since a time due again, with all their attempts before them.
///
/// It goes on by itself, and is among `GET /webhook/deliveries/retries`.
#[utoipa::path(post, path = "/webhook-endpoints/{endpointId}/deliveries/retry", tag = "Webhook",
    params(("endpointId" = String, Path)), request_body = RetryAllRequest,
    responses((status = 200, body = Data<RetryView>)))]
pub async fn retry_endpoint_deliveries(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(endpoint): Path<String>,
    NewId(new_id): NewId,
    Json(wanted): Json<RetryAllRequest>,
) -> Result<Data<RetryView>, ApiError> {
    let (app, account) = (&state.app, caller.account);
    let id = endpoint_id(&endpoint)?;
    endpoints::get(app, account, id).await?;
    let of = (!id.is_default_of(account)).then_some(id);
    let with_skipped = wanted.include_skipped.unwrap_or_default();
    let started =
        resend_all::start(app, caller.by(), of, ResendId(new_id), wanted.since, with_skipped).await?;
    Ok(Data::new(started.into()))
}
