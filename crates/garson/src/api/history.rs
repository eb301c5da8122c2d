//! The history of a restaurant: who changed what on its platforms, and the results.

use super::envelope::Paged;
use super::paging::{PageParams, Query};
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::restaurant_id;
use crate::flow::stores;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::id::KeyId;
use garson_core::restaurant_history::HistoryEntry;
use garson_core::store_status::StoreActor;
use garson_core::time::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// An entry of a restaurant's history.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryView {
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// The platform that it is about; null: all of the restaurant's.
    provider: Option<String>,
    /// `account`, `platform`, `schedule` or `throttle`.
    by: &'static str,
    /// The key that the account used; null in the panel, and where it was not the account.
    #[schema(value_type = Option<String>, format = Uuid)]
    key_id: Option<KeyId>,
    /// What happened, such as `store_requested`, `store_result` or `throttle_step`.
    action: &'static str,
    /// What was asked for or found, and the result.
    #[schema(value_type = Object)]
    detail: Value,
}

impl From<HistoryEntry> for HistoryView {
    fn from(mut entry: HistoryEntry) -> Self {
        if let Value::Object(detail) = &mut entry.detail {
            // `message` has it in words.
            detail.remove("cause");
        }
        Self {
            at: entry.at,
            provider: entry.provider.map(|provider| provider.to_string()),
            by: StoreActor::as_str(entry.by),
            key_id: entry.key,
            action: entry.action.as_str(),
            detail: entry.detail,
        }
    }
}

/// Who changed what on a restaurant's platforms, and the results; newest first.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/history", tag = "Stores",
    params(("restaurantId" = String, Path), PageParams), responses((status = 200, body = Paged<HistoryView>)))]
pub async fn list_history(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    query: Query,
) -> Result<Paged<HistoryView>, ApiError> {
    let page = query.page()?;
    let found = stores::list_history(&state.app, caller.account, restaurant_id(&restaurant)?, page).await?;
    Ok(Paged::new(found, HistoryView::from))
}
