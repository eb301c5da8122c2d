//! Menus that are sent to a platform as a whole, where the operator has switched it on.

use super::envelope::Data;
use super::idempotency::NewId;
use super::json_body::Json;
use super::paging::Query;
use super::provider_field::PlatformKey;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::{catalog_push_id, restaurant_id};
use crate::flow::admin::integrations::platform;
use crate::flow::products::catalogs;
use crate::flow::products::catalogs::shown_message;
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use garson_core::catalog::CatalogLogEntry;
use garson_core::id::CatalogPushId;
use garson_core::json::ObjectOnly;
use garson_core::store_control::Requester;
use garson_core::time::Timestamp;
use garson_store::tables::catalogs::PushedCatalog;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, ToSchema)]
pub struct CatalogPushRequest {
    /// The platform whose newest menu is sent.
    from: PlatformKey,
    /// The platform that it is sent to.
    to: PlatformKey,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// A whole menu sent to a platform, and the result.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CatalogPush)]
pub struct CatalogPushView {
    #[schema(value_type = String, format = Uuid)]
    id: CatalogPushId,
    from: String,
    /// The version of the menu that is sent.
    from_version: i64,
    to: String,
    products: i64,
    /// `pending` (not sent yet), `submitted`, `in_progress`, `done`, `done_with_errors`, `failed`, or `unclear`: the platform's
    /// answer was lost, and it is not sent again.
    state: &'static str,
    /// The platform's id of the import.
    import_id: Option<String>,
    /// The platform's words, or why it was not sent.
    message: Option<String>,
    /// What the platform says of single items, in its own words.
    details: Vec<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
}

impl From<PushedCatalog> for CatalogPushView {
    fn from(catalog: PushedCatalog) -> Self {
        let message = shown_message(&catalog);
        let progress = catalog.progress;
        Self {
            id: catalog.id,
            from: catalog.source.to_string(),
            from_version: catalog.source_version,
            to: catalog.provider.to_string(),
            products: catalog.products,
            state: progress.stage.as_str(),
            import_id: progress.import_id.or(progress.reported_id),
            message,
            details: progress.details,
            created_at: catalog.created_at,
            finished_at: catalog.finished_at,
        }
    }
}

/// Send the newest menu of one platform to another, for this restaurant's branch only. Answers within ten seconds; what the platform
/// reports later is shown by a GET.
#[utoipa::path(post, path = "/restaurants/{restaurantId}/catalog", tag = "Products",
    params(("restaurantId" = String, Path)), request_body = CatalogPushRequest,
    responses((status = 200, body = Data<CatalogPushView>)))]
pub async fn push_catalog(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    NewId(new_id): NewId,
    Json(given): Json<CatalogPushRequest>,
) -> Result<Data<CatalogPushView>, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    let (source, target) = (given.from.provider(), given.to.0);
    let made = (CatalogPushId(new_id), Requester::Key(caller.key));
    let pushed = catalogs::create(&state.app, caller.by(), restaurant, made, source, target).await?;
    Ok(Data::new(pushed.into()))
}

/// The result of a menu that was sent to a platform.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/catalog/{catalogPushId}", tag = "Products",
    params(("restaurantId" = String, Path), ("catalogPushId" = String, Path)),
    responses((status = 200, body = Data<CatalogPushView>)))]
pub async fn get_catalog_push(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path((restaurant, id)): Path<(String, String)>,
) -> Result<Data<CatalogPushView>, ApiError> {
    let (restaurant, id) = (restaurant_id(&restaurant)?, catalog_push_id(&id)?);
    let found = catalogs::get(&state.app, caller.account, restaurant, id).await?;
    Ok(Data::new(found.into()))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct CatalogParams {
    /// How many to answer.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The next position, from `paging` of an earlier answer.
    #[param(format = Uuid)]
    cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = CatalogPushPage)]
pub struct CatalogPageView {
    /// Always true.
    success: bool,
    data: Vec<CatalogPushView>,
    paging: CatalogPaging,
}

#[derive(Serialize, ToSchema)]
#[schema(as = CatalogPushPaging)]
struct CatalogPaging {
    /// The cursor of the next page; null at the end.
    #[schema(value_type = Option<String>, format = Uuid)]
    next: Option<CatalogPushId>,
}

impl IntoResponse for CatalogPageView {
    fn into_response(self) -> Response {
        axum::Json(self).into_response()
    }
}

/// The menus that were sent to platforms, newest first.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/catalog", tag = "Products",
    params(("restaurantId" = String, Path), CatalogParams), responses((status = 200, body = CatalogPageView)))]
pub async fn list_catalog_pushes(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    query: Query,
) -> Result<CatalogPageView, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    let limit = query.limit()?;
    let before = query
        .get("cursor")?
        .map(str::parse)
        .transpose()
        .map_err(|_| ApiError::invalid(Code::InvalidCursor, "cursor", "is not one that was given out"))?;
    let page = catalogs::list(&state.app, caller.account, restaurant, before, limit).await?;
    Ok(CatalogPageView {
        success: true,
        data: page.catalogs.into_iter().map(Into::into).collect(),
        paging: CatalogPaging { next: page.next },
    })
}

/// An entry of the platform's log of imports.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CatalogImportView {
    /// The platform's id of the import.
    import_id: String,
    #[schema(value_type = CatalogImportStateSchema)]
    state: &'static str,
    /// The platform's own words.
    message: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    created_at: Option<Timestamp>,
}

/// `unknown`: the platform's word is not known.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = CatalogImportState, rename_all = "snake_case")]
enum CatalogImportStateSchema {
    InProgress,
    Done,
    DoneWithErrors,
    Failed,
    Unknown,
}

impl From<&CatalogLogEntry> for CatalogImportView {
    fn from(entry: &CatalogLogEntry) -> Self {
        Self {
            import_id: entry.import.import_id.clone(),
            state: entry.import.state.as_str(),
            message: entry.import.message.clone(),
            created_at: entry.created_at,
        }
    }
}

/// The platform's own log of menus that it has imported for the restaurant in the last 29 days, newest first. What it says of a menu
/// that was sent settles that.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/catalog/imports/{provider}", tag = "Products",
    params(("restaurantId" = String, Path), ("provider" = String, Path)),
    responses((status = 200, body = Data<Vec<CatalogImportView>>)))]
pub async fn list_catalog_imports(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path((restaurant, provider)): Path<(String, String)>,
) -> Result<Data<Vec<CatalogImportView>>, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    let found = catalogs::imports(&state.app, caller.account, restaurant, platform(&provider)?).await?;
    Ok(Data::new(found.iter().map(Into::into).collect()))
}
