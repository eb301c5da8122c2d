//! Orders: list, read, verify, advance, cancel.

use super::envelope::{Data, Paged};
use super::idempotency::Keyed;
use super::json_body::Json;
use super::order_items::{DetailedItem, OrderItem};
use super::order_json::OrderPage;
use super::order_view::{OrderView, ReasonView, SyncView};
use super::paging::{
    ClientParam, FilterParams, PageParams, PeriodParams, PreparationParam, Query, RestaurantParam,
    StatusParam,
};
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::{ForeignId, Prose};
use crate::flow::order_actions::{Transition, act, reasons};
use crate::flow::read::order_detail::detail;
use crate::flow::read::order_lists;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use garson_core::id::OrderId;
use garson_core::json::ObjectOnly;
use garson_core::presence::PresenceKind;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// List the orders that reached the restaurants, newest first.
///
/// Filters narrow the list together. A page may hold fewer orders than `limit`, or none, and still have a `next`; the list ends where
/// `next` is null. A cursor is a position only: the filters are given again with it. With `updatedSince` the orders stand in the
/// order of their last change, and each carries `updatedAt`. With `include=detail` each order carries everything that its detail
/// answers; `pid` is the platform's id then.
#[utoipa::path(get, path = "/orders", tag = "Orders",
    params(RestaurantParam, StatusParam, FilterParams, PeriodParams, PageParams, ClientParam),
    responses((status = 200, body = Paged<OrderItem>)))]
pub async fn list_orders(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    let (filter, page) = (query.filter()?, query.page()?);
    let (app, account) = (&state.app, caller.account);
    let kind = query.client()?.kind(PresenceKind::Poller);
    app.presence.note_poll(account, kind, caller.key, app.now());
    if query.includes_detail()? {
        let found = order_lists::list_details(app, account, filter, page).await?;
        return Ok(Paged::new(found, DetailedItem::from).into_response());
    }
    let page = order_lists::write_page::<OrderPage>(app, account, filter, page).await?;
    Ok(page.into_response())
}

/// One order with its items, amounts and customer.
#[utoipa::path(get, path = "/orders/{orderId}", tag = "Orders",
    params(("orderId" = String, Path, description = "The record id, or the platform's order id")),
    responses((status = 200, body = Data<OrderView>)))]
pub async fn get_order(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(order_id): Path<String>,
) -> Result<Data<OrderView>, ApiError> {
    let detail = detail(&state.app, caller.account, order_id.clone()).await?;
    Ok(Data::new(OrderView::new(detail, order_id)))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    message: &'static str,
    /// The platform's key.
    provider: String,
    /// The platform's order id.
    provider_order: String,
    #[schema(value_type = String, format = Uuid)]
    order_id: OrderId,
    status: i64,
}

/// Confirm an order and take it into preparation. May be repeated.
///
/// `preparationMinutes` is sent to platforms that take the time which the kitchen needs; for others it is shown in the panel.
#[utoipa::path(post, path = "/orders/verify/{orderId}", tag = "Orders",
    params(("orderId" = String, Path, description = "The record id, or the platform's order id"), PreparationParam),
    responses((status = 200, body = Data<Verification>)))]
pub async fn verify_order(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(order_id): Path<String>,
    query: Query,
) -> Result<Data<Verification>, ApiError> {
    let minutes = query.preparation_minutes()?;
    let step = act::verify(&state.app, caller.by(), order_id, minutes).await?;
    let message = if step.before == step.after.status {
        "The order was verified before."
    } else {
        "The order is verified."
    };
    Ok(Data::new(Verification {
        message,
        provider: step.after.provider.to_string(),
        provider_order: step.after.provider_order_id,
        order_id: step.after.id,
        status: step.after.status.code(),
    }))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusChange {
    #[schema(value_type = String, format = Uuid)]
    order_id: OrderId,
    old_status: i64,
    new_status: i64,
    provider_sync: SyncView,
}

impl From<Transition> for StatusChange {
    fn from(step: Transition) -> Self {
        Self {
            order_id: step.after.id,
            old_status: step.before.code(),
            new_status: step.after.status.code(),
            provider_sync: step.after.sync.into(),
        }
    }
}

/// Move an order one step: new, preparing, on the way, delivered.
#[utoipa::path(post, path = "/orders/change-status/{orderId}", tag = "Orders",
    params(("orderId" = String, Path, description = "The record id, or the platform's order id")),
    responses((status = 200, body = Data<StatusChange>)))]
pub async fn change_order_status(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(order_id): Path<String>,
    keyed: Option<Keyed>,
) -> Result<Data<StatusChange>, ApiError> {
    let step = act::advance(&state.app, caller.by(), order_id, keyed.map(|keyed| keyed.0)).await?;
    Ok(Data::new(step.into()))
}

/// Say that the food is ready, which brings the platform's courier. The status stays.
#[utoipa::path(post, path = "/orders/ready/{orderId}", tag = "Orders",
    params(("orderId" = String, Path, description = "The record id, or the platform's order id")),
    responses((status = 200, body = Data<StatusChange>)))]
pub async fn ready_order(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(order_id): Path<String>,
) -> Result<Data<StatusChange>, ApiError> {
    let step = act::ready(&state.app, caller.by(), order_id).await?;
    Ok(Data::new(step.into()))
}

/// Tell the platform again of the steps that it could not be told of (`providerSync` is `failed`). The status stays, and an
/// order of which the platform knows everything stays as it is.
#[utoipa::path(post, path = "/orders/retry-sync/{orderId}", tag = "Orders",
    params(("orderId" = String, Path, description = "The record id, or the platform's order id")),
    responses((status = 200, body = Data<StatusChange>)))]
pub async fn retry_order_sync(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(order_id): Path<String>,
) -> Result<Data<StatusChange>, ApiError> {
    let step = act::tell_again(&state.app, caller.by(), order_id).await?;
    Ok(Data::new(step.into()))
}

#[derive(Deserialize, ToSchema)]
pub struct CancelRequest {
    /// The id of one of the reasons that the order's platform accepts.
    reason: Option<ForeignId>,
    /// Free text, handed on where the platform takes it.
    note: Option<Prose>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelledOrder {
    #[schema(value_type = String, format = Uuid)]
    order_id: OrderId,
    status: i64,
}

/// Cancel an order with a reason that its platform accepts. May be repeated.
#[utoipa::path(post, path = "/orders/cancel/{orderId}", tag = "Orders",
    params(("orderId" = String, Path, description = "The record id, or the platform's order id")),
    request_body(content = Option<CancelRequest>),
    responses((status = 200, body = Data<CancelledOrder>)))]
pub async fn cancel_order(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(order_id): Path<String>,
    Json(wanted): Json<CancelRequest>,
) -> Result<Data<CancelledOrder>, ApiError> {
    let (reason, note) = (
        wanted.reason.map(ForeignId::into_string),
        wanted.note.map(Prose::into_string),
    );
    let step = act::cancel(&state.app, caller.by(), order_id, reason, note).await?;
    Ok(Data::new(CancelledOrder {
        order_id: step.after.id,
        status: step.after.status.code(),
    }))
}

#[derive(Serialize, ToSchema)]
#[schema(as = CancellationReasons)]
pub struct Reasons {
    reasons: Vec<ReasonView>,
}

/// The reasons with which this order can be cancelled now.
#[utoipa::path(get, path = "/orders/reasons/{orderId}", tag = "Orders",
    params(("orderId" = String, Path, description = "The record id, or the platform's order id")),
    responses((status = 200, body = Data<Reasons>)))]
pub async fn list_reasons(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(order_id): Path<String>,
) -> Result<Data<Reasons>, ApiError> {
    let reasons = reasons::list(&state.app, caller.account, order_id).await?;
    Ok(Data::new(Reasons {
        reasons: reasons.into_iter().map(Into::into).collect(),
    }))
}
