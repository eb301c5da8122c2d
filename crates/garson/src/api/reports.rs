//! Reports: orders that accounting has not processed yet, and marking them as reported.

use super::envelope::{Data, Paged};
use super::json_body::Json;
use super::order_items::PendingItem;
use super::paging::{PageParams, PeriodParams, Query, RestaurantParam, StatusParam};
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::ForeignId;
use crate::flow::read::report_marks::{self, Stamping};
use crate::flow::read::reports;
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use axum::extract::State;
use garson_core::id::OrderId;
use garson_core::json::ObjectOnly;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Either one order or many.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarkRequest {
    /// The order's id on its platform; our own where that names several orders. Required unless there is `providerOrderIds`.
    provider_order_id: Option<ForeignId>,
    /// Instead of `providerOrderId`: many orders, each with a result of its own.
    #[schema(min_items = 1, max_items = 500)]
    provider_order_ids: Option<Vec<ForeignId>>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// The most orders that are stamped with one request.
const MOST_MARKS: usize = 500;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Marked {
    provider_order_id: String,
    /// Always true.
    is_report: bool,
}

/// What came of each id, in the order of the request.
#[derive(Serialize, ToSchema)]
pub struct MarkResults {
    results: Vec<MarkResult>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarkResult {
    /// The id as it was given.
    provider_order_id: String,
    #[schema(inline)]
    result: MarkOutcome,
    /// Is it stamped as reported now?
    is_report: bool,
    /// The orders that the id names: one, or several where it is ambiguous.
    #[schema(value_type = Vec<String>)]
    order_ids: Vec<OrderId>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MarkOutcome {
    Marked,
    AlreadyMarked,
    /// There is no such order in the account.
    Unknown,
    /// The platform's id names several orders; none of them is stamped.
    Ambiguous,
}

/// One order's stamp, or many results.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub enum MarkAnswer {
    One(Marked),
    Many(MarkResults),
}

impl From<(String, Stamping)> for MarkResult {
    fn from((id, stamping): (String, Stamping)) -> Self {
        let (result, is_report, order_ids) = match stamping {
            Stamping::Marked(order) => (MarkOutcome::Marked, true, vec![order]),
            Stamping::AlreadyMarked(order) => (MarkOutcome::AlreadyMarked, true, vec![order]),
            Stamping::Unknown => (MarkOutcome::Unknown, false, Vec::new()),
            Stamping::Ambiguous(orders) => (MarkOutcome::Ambiguous, false, orders),
        };
        Self {
            provider_order_id: id,
            result,
            is_report,
            order_ids,
        }
    }
}

/// Stamp an order, or up to 500 of them, as reported. May be repeated.
///
/// With `providerOrderId` an order that is not there is a 404. With `providerOrderIds` every id has a result of its own, and what
/// cannot be stamped stops no other.
#[utoipa::path(post, path = "/orders/reports/mark", tag = "Reports", request_body = MarkRequest,
    responses((status = 200, body = Data<MarkAnswer>)))]
pub async fn mark_reported(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Json(wanted): Json<MarkRequest>,
) -> Result<Data<MarkAnswer>, ApiError> {
    let wrong = |field, message| Err(ApiError::invalid(Code::InvalidField, field, message));
    let scope = caller.access.restaurants.clone();
    match (wanted.provider_order_id, wanted.provider_order_ids) {
        (Some(id), None) => {
            let provider_order_id =
                report_marks::mark(&state.app, caller.by(), scope, id.into_string()).await?;
            Ok(Data::new(MarkAnswer::One(Marked {
                provider_order_id,
                is_report: true,
            })))
        }
        (None, Some(ids)) if (1..=MOST_MARKS).contains(&ids.len()) => {
            let ids = ids.into_iter().map(ForeignId::into_string).collect();
            let results = report_marks::mark_many(&state.app, caller.by(), scope, ids).await?;
            Ok(Data::new(MarkAnswer::Many(MarkResults {
                results: results.into_iter().map(Into::into).collect(),
            })))
        }
        (None, Some(_)) => wrong("providerOrderIds", "must name 1 to 500 orders"),
        (None, None) => wrong("providerOrderId", "is required, or providerOrderIds"),
        (Some(_), Some(_)) => wrong("providerOrderIds", "cannot be given beside providerOrderId"),
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnmarkRequest {
    /// The order's id on its platform; our own where that names several orders.
    provider_order_id: ForeignId,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unmarked {
    provider_order_id: String,
    /// Always false.
    is_report: bool,
}

/// Remove the stamp that an order is reported. May be repeated.
#[utoipa::path(post, path = "/orders/reports/unmark", tag = "Reports", request_body = UnmarkRequest,
    responses((status = 200, body = Data<Unmarked>)))]
pub async fn unmark_reported(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Json(wanted): Json<UnmarkRequest>,
) -> Result<Data<Unmarked>, ApiError> {
    let id = wanted.provider_order_id.into_string();
    let provider_order_id =
        report_marks::unmark(&state.app, caller.by(), caller.access.restaurants.clone(), id).await?;
    Ok(Data::new(Unmarked {
        provider_order_id,
        is_report: false,
    }))
}

/// List the orders that wait to be handed over to accounting, newest first.
#[utoipa::path(get, path = "/orders/reports/pending", tag = "Reports",
    params(RestaurantParam, StatusParam, PeriodParams, PageParams),
    responses((status = 200, body = Paged<PendingItem>)))]
pub async fn list_pending_reports(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    query: Query,
) -> Result<Paged<PendingItem>, ApiError> {
    let (restaurant, page) = (query.restaurant()?, query.page()?);
    let (statuses, period) = (query.statuses()?, query.period()?);
    let (app, account) = (&state.app, caller.account);
    let found = reports::list_pending(
        app,
        account,
        restaurant,
        statuses,
        period,
        page,
        reports::with_charges,
    )
    .await?;
    Ok(Paged::new(found, PendingItem::from))
}
