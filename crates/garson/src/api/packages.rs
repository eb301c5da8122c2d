//! Packages: which platforms a restaurant may use, and when.

use super::envelope::Data;
use super::json_body::Json;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input;
use crate::flow::admin::input::{Name, PackageInput, restaurant_id};
use crate::flow::admin::restaurants;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::id::PackageId;
use garson_core::json::ObjectOnly;
use garson_core::platform::Provider;
use garson_core::restaurant::Package;
use garson_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// A package of a restaurant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PackageView {
    #[schema(value_type = String, format = Uuid)]
    id: PackageId,
    name: String,
    /// The platforms that it covers.
    #[schema(value_type = Vec<String>)]
    providers: Vec<Provider>,
    #[schema(value_type = String, format = DateTime)]
    starts_at: Timestamp,
    /// Null: open-ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    ends_at: Option<Timestamp>,
}

impl From<Package> for PackageView {
    fn from(package: Package) -> Self {
        let all = || {
            garson_platforms::all()
                .iter()
                .map(|platform| platform.provider())
                .collect()
        };
        Self {
            id: package.id,
            name: package.name,
            providers: package.providers.unwrap_or_else(all),
            starts_at: package.starts_at,
            ends_at: package.ends_at,
        }
    }
}

#[derive(Deserialize, ToSchema)]
pub struct PackagesRequest {
    /// All packages of the restaurant; those that are not named are removed.
    #[schema(max_items = 50)]
    packages: Vec<PackageRequest>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PackageRequest {
    name: Name,
    /// The platforms that it covers; left out or null: all.
    #[schema(max_items = 50)]
    providers: Option<Vec<String>>,
    /// Now, when left out.
    #[schema(value_type = Option<String>, format = DateTime)]
    starts_at: Option<Timestamp>,
    /// Open-ended, when left out.
    #[schema(value_type = Option<String>, format = DateTime)]
    ends_at: Option<Timestamp>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

impl From<PackageRequest> for PackageInput {
    fn from(request: PackageRequest) -> Self {
        Self {
            name: request.name,
            providers: request.providers,
            starts_at: request.starts_at,
            ends_at: request.ends_at,
        }
    }
}

/// The packages of a restaurant.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/packages", tag = "Packages",
    params(("restaurantId" = String, Path)), responses((status = 200, body = Data<Vec<PackageView>>)))]
pub async fn list_packages(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Data<Vec<PackageView>>, ApiError> {
    let restaurant = restaurants::get(&state.app, caller.account, restaurant_id(&restaurant)?).await?;
    Ok(Data::new(
        restaurant.packages.into_iter().map(Into::into).collect(),
    ))
}

/// Replace the packages of a restaurant. Integrations that none covers now are switched off.
#[utoipa::path(put, path = "/restaurants/{restaurantId}/packages", tag = "Packages",
    params(("restaurantId" = String, Path)), request_body = PackagesRequest,
    responses((status = 200, body = Data<Vec<PackageView>>)))]
pub async fn put_packages(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    Json(wanted): Json<PackagesRequest>,
) -> Result<Data<Vec<PackageView>>, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    let inputs = wanted.packages.into_iter().map(Into::into).collect();
    let packages = input::packages(inputs, state.app.now())?;
    let set = restaurants::set_packages(&state.app, caller.by(), restaurant, packages).await?;
    Ok(Data::new(set.into_iter().map(Into::into).collect()))
}
