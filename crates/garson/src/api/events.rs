//! The account's events, for those without a public address.

use super::auth::Caller;
use super::envelope::Paged;
use super::paging::{PageParams, Query};
use super::{Api, ApiError};
use crate::flow::accounts;
use axum::extract::State;
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use utoipa::ToSchema;

/// An event, in the very bytes that the webhook gets.
#[derive(Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = EventSchema)]
pub struct EventView(Box<RawValue>);

/// An event.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = Event)]
struct EventSchema {
    /// `siparis.olusturuldu`, `siparis.durum_degisti`, `siparis.iptal_edildi` or `entegrasyon.durum_degisti`.
    olay: String,
    veri: VeriSchema,
}

/// What the event is about.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = Veri, rename_all = "camelCase")]
struct VeriSchema {
    /// The id of the webhook record, the same on every retry.
    #[schema(format = Uuid)]
    id: String,
    #[schema(format = Uuid)]
    restaurant_id: String,
    #[schema(format = DateTime)]
    occurred_at: String,
    provider: String,
    #[schema(format = Uuid)]
    order_id: Option<String>,
    pid: Option<String>,
    provider_order_id: Option<String>,
    /// 1, 2, 3 … within the order.
    sequence: Option<i64>,
    status: Option<i64>,
    old_status: Option<i64>,
    new_status: Option<i64>,
    by: Option<String>,
    note: Option<String>,
    is_active: Option<bool>,
}

/// The account's events, newest first: the same ids and bodies as the webhook gets.
#[utoipa::path(get, path = "/events", tag = "Events", params(PageParams),
    responses((status = 200, body = Paged<EventView>)))]
pub async fn list_events(
    State(api): State<Arc<Api>>,
    caller: Caller,
    query: Query,
) -> Result<Paged<EventView>, ApiError> {
    let page = accounts::list_events(&api.app, caller.account, query.page()?).await?;
    Ok(Paged::new(page, |event| {
        EventView(RawValue::from_string(event.body).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }))
}
