//! Reports: which orders accounting still has to take, and the stamp that it has.

use super::auth::Caller;
use super::body::Json;
use super::envelope::{Data, Paged};
use super::fields::ForeignId;
use super::order_view::PendingItem;
use super::paging::{PageParams, PeriodParams, Query, RestaurantParam};
use super::{Api, ApiError};
use crate::flow::reports;
use axum::extract::State;
use garson_core::json::ObjectOnly;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarkRequest {
    /// The order's id on its platform; our own where that names several orders.
    provider_order_id: ForeignId,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Marked {
    provider_order_id: String,
    /// Always true.
    is_report: bool,
}

/// Stamp an order as reported. May be repeated.
#[utoipa::path(post, path = "/orders/reports/mark", tag = "Reports", request_body = MarkRequest,
    responses((status = 200, body = Data<Marked>)))]
pub async fn mark_reported(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Json(wanted): Json<MarkRequest>,
) -> Result<Data<Marked>, ApiError> {
    let provider_order_id = reports::mark(&api.app, caller.account, wanted.provider_order_id.0).await?;
    Ok(Data::new(Marked {
        provider_order_id,
        is_report: true,
    }))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct StatusParam {
    /// Only orders in these statuses, as a comma list.
    #[param(pattern = "^(325|350|400|500|600|900|1500|1600)(,(325|350|400|500|600|900|1500|1600))*$")]
    status: Option<String>,
}

/// List the orders that wait to be handed over to accounting, newest first.
#[utoipa::path(get, path = "/orders/reports/pending", tag = "Reports",
    params(RestaurantParam, StatusParam, PeriodParams, PageParams),
    responses((status = 200, body = Paged<PendingItem>)))]
pub async fn list_pending_reports(
    State(api): State<Arc<Api>>,
    caller: Caller,
    query: Query,
) -> Result<Paged<PendingItem>, ApiError> {
    let (restaurant, page) = (query.restaurant()?, query.page()?);
    let (statuses, period) = (query.statuses()?, query.period()?);
    let found = reports::list_pending(&api.app, caller.account, restaurant, statuses, period, page).await?;
    Ok(Paged::new(found, PendingItem::from))
}
