//! Personal data of customers: find, export, erase.

use super::envelope::Data;
use super::idempotency::NewId;
use super::json_body::Json;
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::fault::Thing;
use crate::flow::privacy::{self, CustomerExport, CustomerOrder, Settings};
use crate::http::cursor::Cursor;
use crate::http::customer_file::customer_file;
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use axum::response::Response;
use garson_core::field_problem::FieldProblem;
use garson_core::id::{ErasureId, OrderId, RestaurantId};
use garson_core::json::{ObjectOnly, whole};
use garson_core::privacy::CustomerQuery;
use garson_core::time::Timestamp;
use garson_store::tables::erasures::Erasure;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Orders that a search answers.
const LIMIT: usize = 50;

/// Who is meant. At least one field must be given; an order must match all that are.
#[derive(Deserialize, ToSchema)]
pub struct CustomerRequest {
    /// A phone number, written in any way. A masked number that a platform gives belongs to many customers: give the name too.
    #[schema(max_length = 100)]
    phone: Option<String>,
    /// The e-mail address, in small or capital letters.
    #[schema(max_length = 254)]
    email: Option<String>,
    /// The whole name; capital letters, accents and the order of its words do not matter.
    #[schema(max_length = 200)]
    name: Option<String>,
    /// For a search: `next` of the answer before.
    #[schema(pattern = "^[0-7][0-9a-f]{15}$")]
    cursor: Option<String>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

impl CustomerRequest {
    fn query(&self) -> Result<CustomerQuery, Fault> {
        for (field, text, max) in [
            ("phone", &self.phone, 100),
            ("email", &self.email, 254),
            ("name", &self.name, 200),
        ] {
            if text.as_ref().is_some_and(|text| text.chars().count() > max) {
                return Err(Fault::invalid(field, FieldProblem::Characters { min: 0, max }));
            }
        }
        let is_cursor = |text: &String| Cursor::parse(text).is_some();
        if !self.cursor.as_ref().is_none_or(is_cursor) {
            return Err(Fault::UnknownPlace { given: "cursor" });
        }
        privacy::read_query(self.phone.as_deref(), self.email.as_deref(), self.name.as_deref())
    }
}

/// An order of a customer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomerOrderView {
    #[schema(value_type = String, format = Uuid)]
    order_id: OrderId,
    provider: String,
    provider_order_id: String,
    #[schema(value_type = String, format = Uuid)]
    restaurant_id: RestaurantId,
    status: i64,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    customer_name: Option<String>,
    customer_phone: Option<String>,
    customer_email: Option<String>,
}

impl From<CustomerOrder> for CustomerOrderView {
    fn from(it: CustomerOrder) -> Self {
        let customer = it.content.customer;
        Self {
            order_id: it.order.id,
            provider: it.order.provider.to_string(),
            provider_order_id: it.order.provider_order_id,
            restaurant_id: it.order.restaurant_id,
            status: it.order.status.code(),
            created_at: it.order.created_at,
            customer_name: customer.name,
            customer_phone: customer.phone,
            customer_email: customer.email,
        }
    }
}

/// Orders of a customer, oldest first.
#[derive(Serialize, ToSchema)]
pub struct CustomerOrdersView {
    orders: Vec<CustomerOrderView>,
    /// There may be more: send it as `cursor`.
    #[schema(value_type = Option<String>)]
    next: Option<Cursor>,
}

/// Find the orders of a customer.
#[utoipa::path(post, path = "/privacy/search", tag = "Privacy", request_body = CustomerRequest,
    responses((status = 200, body = Data<CustomerOrdersView>)))]
pub async fn search_customer(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Json(wanted): Json<CustomerRequest>,
) -> Result<Data<CustomerOrdersView>, ApiError> {
    let query = wanted.query()?;
    let broken = || ApiError::invalid(Code::InvalidCursor, "cursor", "is not one that was given out");
    let after = match wanted.cursor.as_deref() {
        None => None,
        Some(text) => Some(Cursor::parse(text).ok_or_else(broken)?.0),
    };
    let found = privacy::search(&state.app, caller.by(), query, after, LIMIT).await?;
    Ok(Data::new(CustomerOrdersView {
        orders: found.orders.into_iter().map(Into::into).collect(),
        next: found.next.map(Cursor),
    }))
}

/// What is stored about a customer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)]
pub struct CustomerExportView {
    #[schema(value_type = String, format = DateTime)]
    exported_at: Timestamp,
    /// Each order with its content, timeline, events, and the platform's messages as they were received.
    #[schema(value_type = Vec<Object>)]
    orders: Vec<serde_json::Value>,
}

/// Export everything that is stored about a customer, as one file.
#[utoipa::path(post, path = "/privacy/export", tag = "Privacy", request_body = CustomerRequest,
    responses((status = 200, body = Data<CustomerExportView>)))]
pub async fn export_customer(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Json(wanted): Json<CustomerRequest>,
) -> Result<Response, ApiError> {
    let query = wanted.query()?;
    let export = CustomerExport::begin(&state.app, caller.by(), query).await?;
    Ok(customer_file(Arc::clone(&state.app), export).await?)
}

/// An erasure and its progress.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErasureView {
    #[schema(value_type = String, format = Uuid)]
    id: ErasureId,
    /// Orders that were erased.
    erased: i64,
    /// Orders that were still open; they are erased when they have ended.
    waiting: i64,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
}

impl From<Erasure> for ErasureView {
    fn from(it: Erasure) -> Self {
        Self {
            id: it.id,
            erased: it.erased,
            waiting: it.waiting,
            created_at: it.created_at,
            finished_at: it.finished_at,
        }
    }
}

/// Erase the personal data of a customer.
///
/// Name, phone, e-mail, address, notes, search words and the platform's messages are erased from the customer's orders and their
/// events, and cannot be restored. Items, amounts and reports stay. It goes on by itself; the answer says how far it has come. Only the
/// primary key may do so.
#[utoipa::path(post, path = "/privacy/erasures", tag = "Privacy", request_body = CustomerRequest,
    responses((status = 200, body = Data<ErasureView>)))]
pub async fn erase_customer(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    NewId(new_id): NewId,
    Json(wanted): Json<CustomerRequest>,
) -> Result<Data<ErasureView>, ApiError> {
    let started = privacy::start(&state.app, caller.by(), ErasureId(new_id), wanted.query()?).await?;
    Ok(Data::new(started.into()))
}

/// The account's last 50 erasures, newest first.
#[utoipa::path(get, path = "/privacy/erasures", tag = "Privacy", responses((status = 200, body = Data<Vec<ErasureView>>)))]
pub async fn list_erasures(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
) -> Result<Data<Vec<ErasureView>>, ApiError> {
    let listed = privacy::list(&state.app, caller.account).await?;
    Ok(Data::new(listed.into_iter().map(Into::into).collect()))
}

/// One of them.
#[utoipa::path(get, path = "/privacy/erasures/{erasureId}", tag = "Privacy", params(("erasureId" = String, Path)),
    responses((status = 200, body = Data<ErasureView>)))]
pub async fn get_erasure(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Data<ErasureView>, ApiError> {
    let id = id
        .parse::<ErasureId>()
        .map_err(|_| Fault::not_found(Thing::Erasure, &id))?;
    Ok(Data::new(
        privacy::find(&state.app, caller.account, id).await?.into(),
    ))
}

/// After how many days customers' data is erased by itself.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrivacySettingsView {
    /// The account's own choice; 0: none.
    anonymise_days: i64,
    /// The operator's; 0: none.
    installation_days: i64,
}

impl From<Settings> for PrivacySettingsView {
    fn from(it: Settings) -> Self {
        Self {
            anonymise_days: it.own_days,
            installation_days: it.installation_days,
        }
    }
}

/// After how many days customers' data is erased by itself. The fewer days of the two count.
#[utoipa::path(get, path = "/privacy/settings", tag = "Privacy", responses((status = 200, body = Data<PrivacySettingsView>)))]
pub async fn get_privacy_settings(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
) -> Result<Data<PrivacySettingsView>, ApiError> {
    Ok(Data::new(
        privacy::get_settings(&state.app, caller.account).await?.into(),
    ))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrivacySettingsRequest {
    /// 0: as the operator has set.
    #[serde(deserialize_with = "whole")]
    #[schema(minimum = 0, maximum = 36500)]
    anonymise_days: i64,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// Choose after how many days customers' data is erased by itself.
#[utoipa::path(put, path = "/privacy/settings", tag = "Privacy", request_body = PrivacySettingsRequest,
    responses((status = 200, body = Data<PrivacySettingsView>)))]
pub async fn put_privacy_settings(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Json(wanted): Json<PrivacySettingsRequest>,
) -> Result<Data<PrivacySettingsView>, ApiError> {
    let set = privacy::set_settings(&state.app, caller.by(), wanted.anonymise_days).await?;
    Ok(Data::new(set.into()))
}
