//! Packages: which platforms a restaurant may use, and when.

use super::auth::Caller;
use super::envelope::Data;
use super::fields::Name;
use super::{Api, ApiError, restaurants as restaurant_api};
use crate::flow::admin::{integrations, restaurants};
use crate::http::body::Json;
use crate::http::error::Code;
use axum::extract::{Path, State};
use garson_core::field_problem::FieldProblem;
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

fn package(wanted: PackageRequest, at: &str, now: Timestamp) -> Result<Package, ApiError> {
    let provider = |key: &String| {
        integrations::platform(key)
            .map(|platform| platform.provider())
            .map_err(ApiError::from)
    };
    let providers = wanted
        .providers
        .map(|keys| keys.iter().map(provider).collect::<Result<_, _>>())
        .transpose()?;
    let starts_at = wanted.starts_at.unwrap_or(now);
    if wanted.ends_at.is_some_and(|end| end <= starts_at) {
        let field = format!("{at}.endsAt");
        return Err(ApiError::problem(
            Code::InvalidField,
            &field,
            FieldProblem::EndsBeforeStart,
        ));
    }
    Ok(Package {
        id: PackageId::at(now),
        name: wanted.name.0,
        providers,
        starts_at,
        ends_at: wanted.ends_at,
    })
}

/// All packages that a request wants.
pub fn packages(wanted: PackagesRequest, now: Timestamp) -> Result<Vec<Package>, ApiError> {
    if wanted.packages.len() > 50 {
        let problem = FieldProblem::TooMany { max: 50 };
        return Err(ApiError::problem(Code::InvalidField, "packages", problem));
    }
    let numbered = wanted.packages.into_iter().enumerate();
    numbered
        .map(|(n, wanted)| package(wanted, &format!("packages[{n}]"), now))
        .collect()
}

/// The packages of a restaurant.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/packages", tag = "Packages",
    params(("restaurantId" = String, Path)), responses((status = 200, body = Data<Vec<PackageView>>)))]
pub async fn list_packages(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Data<Vec<PackageView>>, ApiError> {
    let restaurant = restaurants::get(&api.app, caller.account, restaurant_api::id(&restaurant)?).await?;
    Ok(Data::new(
        restaurant.packages.into_iter().map(Into::into).collect(),
    ))
}

/// Replace the packages of a restaurant. Integrations that none covers now are switched off.
#[utoipa::path(put, path = "/restaurants/{restaurantId}/packages", tag = "Packages",
    params(("restaurantId" = String, Path)), request_body = PackagesRequest,
    responses((status = 200, body = Data<Vec<PackageView>>)))]
pub async fn put_packages(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    Json(wanted): Json<PackagesRequest>,
) -> Result<Data<Vec<PackageView>>, ApiError> {
    let restaurant = restaurant_api::id(&restaurant)?;
    let packages = packages(wanted, api.app.now())?;
    let set = restaurants::set_packages(&api.app, caller.account, restaurant, packages).await?;
    Ok(Data::new(set.into_iter().map(Into::into).collect()))
}
