//! Businesses: the top-level records of an account.

use super::auth::Caller;
use super::envelope::{Data, Done};
use super::fields::{Line, Name, Patch, Prose};
use super::idempotency::NewId;
use super::restaurants::RestaurantView;
use super::{Api, ApiError};
use crate::flow::Fault;
use crate::flow::admin::{businesses, restaurants};
use crate::flow::fault::Thing;
use crate::http::body::Json;
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

impl BusinessRequest {
    pub fn apply(&self, fields: &mut BusinessFields) {
        fields.name.clone_from(&self.name.0);
        self.description.apply_text(&mut fields.description);
        self.vat_number.apply_text(&mut fields.vat_number);
        self.tax_office.apply_text(&mut fields.tax_office);
        self.address.apply_text(&mut fields.address);
        self.city.apply_text(&mut fields.city);
        self.country.apply_text(&mut fields.country);
        self.zip_code.apply_text(&mut fields.zip_code);
        self.phone.apply_text(&mut fields.phone);
        self.email.apply_text(&mut fields.email);
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

/// The id in a path; one that is no id at all is as unknown as any.
fn id(text: &str) -> Result<BusinessId, ApiError> {
    text.parse()
        .map_err(|_| Fault::not_found(Thing::Business, text).into())
}

/// All businesses of the account.
#[utoipa::path(get, path = "/businesses", tag = "Businesses",
    responses((status = 200, body = Data<Vec<BusinessView>>)))]
pub async fn list_businesses(
    State(api): State<Arc<Api>>,
    caller: Caller,
) -> Result<Data<Vec<BusinessView>>, ApiError> {
    let found = businesses::list(&api.app, caller.account).await?;
    Ok(Data::new(found.into_iter().map(Into::into).collect()))
}

/// Create a business.
#[utoipa::path(post, path = "/businesses", tag = "Businesses", request_body = BusinessRequest,
    responses((status = 200, body = Data<BusinessView>)))]
pub async fn create_business(
    State(api): State<Arc<Api>>,
    caller: Caller,
    NewId(new_id): NewId,
    Json(wanted): Json<BusinessRequest>,
) -> Result<Data<BusinessView>, ApiError> {
    let mut fields = BusinessFields::default();
    wanted.apply(&mut fields);
    let created = businesses::create(&api.app, caller.account, BusinessId(new_id), fields).await?;
    Ok(Data::new(created.into()))
}

/// One business.
#[utoipa::path(get, path = "/businesses/{businessId}", tag = "Businesses", params(("businessId" = String, Path)),
    responses((status = 200, body = Data<BusinessView>)))]
pub async fn get_business(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(business): Path<String>,
) -> Result<Data<BusinessView>, ApiError> {
    Ok(Data::new(
        businesses::get(&api.app, caller.account, id(&business)?)
            .await?
            .into(),
    ))
}

/// Change a business.
#[utoipa::path(put, path = "/businesses/{businessId}", tag = "Businesses", params(("businessId" = String, Path)),
    request_body = BusinessRequest, responses((status = 200, body = Data<BusinessView>)))]
pub async fn update_business(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(business): Path<String>,
    Json(wanted): Json<BusinessRequest>,
) -> Result<Data<BusinessView>, ApiError> {
    let change = move |fields: &mut BusinessFields| wanted.apply(fields);
    Ok(Data::new(
        businesses::update(&api.app, caller.account, id(&business)?, change)
            .await?
            .into(),
    ))
}

/// Delete a business with its restaurants, their integrations, orders and events. It cannot be undone.
#[utoipa::path(delete, path = "/businesses/{businessId}", tag = "Businesses", params(("businessId" = String, Path)),
    responses((status = 200, body = Done)))]
pub async fn delete_business(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(business): Path<String>,
) -> Result<Done, ApiError> {
    businesses::delete(&api.app, caller.account, id(&business)?).await?;
    Ok(Done::new())
}

/// The restaurants of a business.
#[utoipa::path(get, path = "/businesses/{businessId}/restaurants", tag = "Restaurants",
    params(("businessId" = String, Path)), responses((status = 200, body = Data<Vec<RestaurantView>>)))]
pub async fn list_business_restaurants(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(business): Path<String>,
) -> Result<Data<Vec<RestaurantView>>, ApiError> {
    let found = restaurants::list(&api.app, caller.account, Some(id(&business)?)).await?;
    let shown = found.into_iter().map(|it| RestaurantView::new(it, caller));
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
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(business): Path<String>,
    Json(wanted): Json<LinkRequest>,
) -> Result<Data<RestaurantView>, ApiError> {
    let restaurant = super::restaurants::id(&wanted.restaurant_id.0)?;
    let linked = restaurants::link(&api.app, caller.account, id(&business)?, restaurant).await?;
    Ok(Data::new(RestaurantView::new(linked, caller)))
}
