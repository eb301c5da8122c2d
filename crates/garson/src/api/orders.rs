//! Orders: list, read, verify, advance, cancel.

use super::auth::Caller;
use super::envelope::{Data, Paged};
use super::fields::{ForeignId, Prose};
use super::idempotency::Keyed;
use super::order_view::{DetailedItem, OrderItem, OrderView, ReasonView, SyncView};
use super::paging::{FilterParams, PageParams, PeriodParams, Query, RestaurantParam, StatusParam};
use super::{Api, ApiError, order_json};
use crate::flow::order_actions::{Transition, act, reasons};
use crate::flow::read::order_detail::detail;
use crate::flow::read::{order_lists, reports};
use crate::http::body::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use garson_core::id::OrderId;
use garson_core::json::ObjectOnly;
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
    params(RestaurantParam, StatusParam, FilterParams, PeriodParams, PageParams),
    responses((status = 200, body = Paged<OrderItem>)))]
pub async fn list_orders(
    State(api): State<Arc<Api>>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    let (filter, page) = (query.filter()?, query.page()?);
    let (app, account) = (&api.app, caller.account);
    if query.includes_detail()? {
        let found = order_lists::list_details(app, account, filter, page).await?;
        return Ok(Paged::new(found, DetailedItem::from).into_response());
    }
    let page = match filter.is_plain() {
        true => reports::list(app, account, filter.restaurant, page, order_json::page).await?,
        false => order_lists::list(app, account, filter, page, order_json::filtered_page).await?,
    };
    Ok(page.into_response())
}

/// One order with its items, amounts and customer.
#[utoipa::path(get, path = "/orders/{orderId}", tag = "Orders",
    params(("orderId" = String, Path, description = "The record id, or the platform's order id")),
    responses((status = 200, body = Data<OrderView>)))]
pub async fn get_order(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(order_id): Path<String>,
) -> Result<Data<OrderView>, ApiError> {
    let detail = detail(&api.app, caller.account, order_id.clone()).await?;
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
#[utoipa::path(post, path = "/orders/verify/{orderId}", tag = "Orders",
    params(("orderId" = String, Path, description = "The record id, or the platform's order id")),
    responses((status = 200, body = Data<Verification>)))]
pub async fn verify_order(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(order_id): Path<String>,
) -> Result<Data<Verification>, ApiError> {
    let step = act::verify(&api.app, caller.account, order_id).await?;
    let message = match step.before == step.after.status {
        true => "The order was verified before.",
        false => "The order is verified.",
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
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(order_id): Path<String>,
    keyed: Option<Keyed>,
) -> Result<Data<StatusChange>, ApiError> {
    let step = act::advance(&api.app, caller.account, order_id, keyed.map(|keyed| keyed.0)).await?;
    Ok(Data::new(step.into()))
}

/// Say that the food is ready, which brings the platform's courier. The status stays.
#[utoipa::path(post, path = "/orders/ready/{orderId}", tag = "Orders",
    params(("orderId" = String, Path, description = "The record id, or the platform's order id")),
    responses((status = 200, body = Data<StatusChange>)))]
pub async fn ready_order(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(order_id): Path<String>,
) -> Result<Data<StatusChange>, ApiError> {
    let step = act::ready(&api.app, caller.account, order_id).await?;
    Ok(Data::new(step.into()))
}

/// Tell the platform again of the steps that it could not be told of (`providerSync` is `failed`). The status stays, and an
/// order of which the platform knows everything stays as it is.
#[utoipa::path(post, path = "/orders/retry-sync/{orderId}", tag = "Orders",
    params(("orderId" = String, Path, description = "The record id, or the platform's order id")),
    responses((status = 200, body = Data<StatusChange>)))]
pub async fn retry_order_sync(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(order_id): Path<String>,
) -> Result<Data<StatusChange>, ApiError> {
    let step = act::tell_again(&api.app, caller.account, order_id).await?;
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
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(order_id): Path<String>,
    Json(wanted): Json<CancelRequest>,
) -> Result<Data<CancelledOrder>, ApiError> {
    let (reason, note) = (wanted.reason.map(|r| r.0), wanted.note.map(|n| n.0));
    let step = act::cancel(&api.app, caller.account, order_id, reason, note).await?;
    Ok(Data::new(CancelledOrder {
        order_id: step.after.id,
        status: step.after.status.code(),
    }))
}

#[derive(Serialize, ToSchema)]
pub struct Reasons {
    reasons: Vec<ReasonView>,
}

/// The reasons with which this order can be cancelled now.
#[utoipa::path(get, path = "/orders/reasons/{orderId}", tag = "Orders",
    params(("orderId" = String, Path, description = "The record id, or the platform's order id")),
    responses((status = 200, body = Data<Reasons>)))]
pub async fn list_reasons(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(order_id): Path<String>,
) -> Result<Data<Reasons>, ApiError> {
    let reasons = reasons::list(&api.app, caller.account, order_id).await?;
    Ok(Data::new(Reasons {
        reasons: reasons.into_iter().map(Into::into).collect(),
    }))
}
