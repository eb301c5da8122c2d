//! Businesses: the top-level records of an account.

use super::envelope::{Data, Done};
use super::idempotency::NewId;
use super::json_body::Json;
use super::restaurants::RestaurantView;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::{BusinessInput, Line, Name, Patch, Prose, business_id, restaurant_id};
use crate::flow::admin::{businesses, restaurants};
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::business::{Business, BusinessFields};
use garson_core::id::BusinessId;
use garson_core::json::ObjectOnly;
use garson_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// What can be written about a business. In an update a missing field stays and null clears it.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BusinessRequest {
    name: Name,
    #[serde(default)]
    #[schema(value_type = Option<Prose>)]
    description: Patch<Prose>,
    #[serde(default)]
    #[schema(value_type = Option<Line>)]
    vat_number: Patch<Line>,
    #[serde(default)]
    #[schema(value_type = Option<Line>)]
    tax_office: Patch<Line>,
    #[serde(default)]
    #[schema(value_type = Option<Prose>)]
    address: Patch<Prose>,
    #[serde(default)]
    #[schema(value_type = Option<Line>)]
    city: Patch<Line>,
    #[serde(default)]
    #[schema(value_type = Option<Line>)]
    country: Patch<Line>,
    #[serde(default)]
    #[schema(value_type = Option<Line>)]
    zip_code: Patch<Line>,
    #[serde(default)]
    #[schema(value_type = Option<Line>)]
    phone: Patch<Line>,
    #[serde(default)]
    #[schema(value_type = Option<Line>)]
    email: Patch<Line>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

impl From<BusinessRequest> for BusinessInput {
    fn from(request: BusinessRequest) -> Self {
        Self {
            name: request.name,
            description: request.description,
            vat_number: request.vat_number,
            tax_office: request.tax_office,
            address: request.address,
            city: request.city,
            country: request.country,
            zip_code: request.zip_code,
            phone: request.phone,
            email: request.email,
        }
    }
}

/// A business.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BusinessView {
    #[schema(value_type = String, format = Uuid)]
    id: BusinessId,
    name: String,
    description: Option<String>,
    vat_number: Option<String>,
    tax_office: Option<String>,
    address: Option<String>,
    city: Option<String>,
    country: Option<String>,
    zip_code: Option<String>,
    phone: Option<String>,
    email: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl From<Business> for BusinessView {
    fn from(business: Business) -> Self {
        let fields = business.fields;
        Self {
            id: business.id,
            name: fields.name,
            description: fields.description,
            vat_number: fields.vat_number,
            tax_office: fields.tax_office,
            address: fields.address,
            city: fields.city,
            country: fields.country,
            zip_code: fields.zip_code,
            phone: fields.phone,
            email: fields.email,
            created_at: business.created_at,
            updated_at: business.updated_at,
        }
    }
}

/// All businesses of the account.
#[utoipa::path(get, path = "/businesses", tag = "Businesses",
    responses((status = 200, body = Data<Vec<BusinessView>>)))]
pub async fn list_businesses(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
) -> Result<Data<Vec<BusinessView>>, ApiError> {
    let found = businesses::list(&state.app, caller.account).await?;
    Ok(Data::new(found.into_iter().map(Into::into).collect()))
}

/// Create a business.
#[utoipa::path(post, path = "/businesses", tag = "Businesses", request_body = BusinessRequest,
    responses((status = 200, body = Data<BusinessView>)))]
pub async fn create_business(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    NewId(new_id): NewId,
    Json(wanted): Json<BusinessRequest>,
) -> Result<Data<BusinessView>, ApiError> {
    let mut fields = BusinessFields::default();
    BusinessInput::from(wanted).apply(&mut fields);
    let created = businesses::create(&state.app, caller.by(), BusinessId(new_id), fields).await?;
    Ok(Data::new(created.into()))
}

/// One business.
#[utoipa::path(get, path = "/businesses/{businessId}", tag = "Businesses", params(("businessId" = String, Path)),
    responses((status = 200, body = Data<BusinessView>)))]
pub async fn get_business(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(business): Path<String>,
) -> Result<Data<BusinessView>, ApiError> {
    Ok(Data::new(
        businesses::get(&state.app, caller.account, business_id(&business)?)
            .await?
            .into(),
    ))
}

/// Change a business.
#[utoipa::path(put, path = "/businesses/{businessId}", tag = "Businesses", params(("businessId" = String, Path)),
    request_body = BusinessRequest, responses((status = 200, body = Data<BusinessView>)))]
pub async fn update_business(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(business): Path<String>,
    Json(wanted): Json<BusinessRequest>,
) -> Result<Data<BusinessView>, ApiError> {
    let input = BusinessInput::from(wanted);
    let change = move |fields: &mut BusinessFields| input.apply(fields);
    Ok(Data::new(
        businesses::update(&state.app, caller.by(), business_id(&business)?, change)
            .await?
            .into(),
    ))
}

/// Delete a business with its restaurants, their integrations, orders and events. It cannot be undone.
#[utoipa::path(delete, path = "/businesses/{businessId}", tag = "Businesses", params(("businessId" = String, Path)),
    responses((status = 200, body = Done)))]
pub async fn delete_business(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(business): Path<String>,
) -> Result<Done, ApiError> {
    businesses::delete(&state.app, caller.by(), business_id(&business)?).await?;
    Ok(Done::new())
}

/// The restaurants of a business.
#[utoipa::path(get, path = "/businesses/{businessId}/restaurants", tag = "Restaurants",
    params(("businessId" = String, Path)), responses((status = 200, body = Data<Vec<RestaurantView>>)))]
pub async fn list_business_restaurants(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(business): Path<String>,
) -> Result<Data<Vec<RestaurantView>>, ApiError> {
    let found = restaurants::list(&state.app, caller.account, Some(business_id(&business)?)).await?;
    let shown = found.into_iter().map(|it| RestaurantView::new(it, &caller));
    Ok(Data::new(shown.collect()))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkRequest {
    restaurant_id: Name,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// Link an existing restaurant to a business; one that has a business already moves.
#[utoipa::path(post, path = "/businesses/{businessId}/restaurants", tag = "Restaurants",
    params(("businessId" = String, Path)), request_body = LinkRequest,
    responses((status = 200, body = Data<RestaurantView>)))]
pub async fn link_restaurant(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(business): Path<String>,
    Json(wanted): Json<LinkRequest>,
) -> Result<Data<RestaurantView>, ApiError> {
    let restaurant = restaurant_id(wanted.restaurant_id.as_str())?;
    let linked = restaurants::link(&state.app, caller.by(), business_id(&business)?, restaurant).await?;
    Ok(Data::new(RestaurantView::new(linked, &caller)))
}
