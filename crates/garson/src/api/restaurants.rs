//! Restaurants: the branches that take orders.

use super::envelope::{Data, Done};
use super::fields::TextMap;
use super::idempotency::NewId;
use super::integrations::IntegrationView;
use super::json_body::Json;
use super::packages::PackageView;
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::{
    Degrees, JsonObject, MatchingHeaders, Name, Patch, Prose, RestaurantInput, business_id, masked_headers,
    restaurant_id,
};
use crate::flow::admin::restaurants;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::id::{BusinessId, RestaurantId};
use garson_core::json::ObjectOnly;
use garson_core::restaurant::{Config, Restaurant, RestaurantFields};
use garson_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;
use utoipa::ToSchema;

/// What can be written about a restaurant. In an update a missing field stays and null clears it.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestaurantRequest {
    #[serde(default)]
    #[schema(value_type = Option<Name>)]
    business_id: Patch<Name>,
    name: Name,
    #[serde(default)]
    #[schema(value_type = Option<Prose>)]
    description: Patch<Prose>,
    #[serde(default)]
    #[schema(value_type = Option<Prose>)]
    address: Patch<Prose>,
    #[serde(default)]
    #[schema(value_type = Option<f64>, minimum = -90, maximum = 90)]
    lat: Patch<Degrees<90>>,
    #[serde(default)]
    #[schema(value_type = Option<f64>, minimum = -180, maximum = 180)]
    lon: Patch<Degrees<180>>,
    /// Any object. Known keys: `autoVerify`, `preparationMinutes`, `timezone`, `dayEndsAt`.
    #[serde(default)]
    #[schema(value_type = Option<ConfigSchema>)]
    config: Patch<JsonObject>,
    /// Asked (GET) for the POS's own payment types.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = Uri, max_length = 2048)]
    payment_matching_url: Patch<String>,
    /// Sent along when it is asked.
    #[serde(default)]
    #[schema(value_type = Option<TextMap>)]
    payment_matching_headers: Patch<TextMap>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// The keys of `config` that the service understands; others are kept as they are.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = RestaurantConfig)]
struct ConfigSchema {
    /// Verify new orders without being asked.
    #[schema(rename = "autoVerify")]
    auto_verify: Option<bool>,
    /// So many minutes after an order is verified, its platform is told that the food is ready, where it wants to know. A whole
    /// number: 15.0 is 15, other numbers and texts are refused.
    #[schema(rename = "preparationMinutes", minimum = 1, maximum = 1440)]
    preparation_minutes: Option<u32>,
    /// An IANA timezone; Europe/Istanbul when there is none.
    timezone: Option<String>,
    /// When a business day ends, a whole hour: with 03:00, orders up to three in the morning belong to the day before. It applies
    /// to every day that is named in a filter or a report. 00:00 when there is none.
    #[schema(rename = "dayEndsAt", pattern = "^(0[0-9]|1[0-2]):00$")]
    day_ends_at: Option<String>,
    /// Read back `paymentMatchingHeaders` with `***` for each value, also with the primary key.
    #[schema(rename = "maskPaymentMatchingHeaders")]
    mask_payment_matching_headers: Option<bool>,
}

impl TryFrom<RestaurantRequest> for RestaurantInput {
    type Error = Fault;

    fn try_from(request: RestaurantRequest) -> Result<Self, Fault> {
        Ok(Self {
            name: Some(request.name),
            business_id: request.business_id.try_map(|id| business_id(id.as_str()))?,
            description: request.description,
            address: request.address,
            lat: request.lat,
            lon: request.lon,
            config: request.config,
            payment_matching_url: request.payment_matching_url,
            payment_matching_headers: request
                .payment_matching_headers
                .try_map(|headers| MatchingHeaders::parse(headers.0))?,
        })
    }
}

/// A restaurant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestaurantView {
    #[schema(value_type = String, format = Uuid)]
    id: RestaurantId,
    #[schema(value_type = Option<String>, format = Uuid)]
    business_id: Option<BusinessId>,
    name: String,
    description: Option<String>,
    address: Option<String>,
    lat: Option<f64>,
    lon: Option<f64>,
    #[schema(value_type = Option<Object>)]
    config: Option<Box<RawValue>>,
    payment_matching_url: Option<String>,
    /// Values are `***` for any key but the primary one, and for that too where `config.maskPaymentMatchingHeaders` is true. `***`
    /// sent back keeps the value.
    #[schema(value_type = Option<TextMap>)]
    payment_matching_headers: Option<Box<RawValue>>,
    integrations: Vec<IntegrationView>,
    packages: Vec<PackageView>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl RestaurantView {
    /// A restaurant as this caller may see it.
    pub fn new(restaurant: Restaurant, caller: &Caller) -> Self {
        let fields = restaurant.fields;
        let config = Config::read(fields.config.as_deref()).unwrap_or_default();
        let is_masked = !caller.is_primary || config.mask_headers;
        let raw = |json: String| RawValue::from_string(json).ok();
        Self {
            id: restaurant.id,
            business_id: fields.business_id,
            name: fields.name,
            description: fields.description,
            address: fields.address,
            lat: fields.lat,
            lon: fields.lon,
            config: fields.config.and_then(raw),
            payment_matching_url: fields.payment_matching_url,
            payment_matching_headers: fields.payment_matching_headers.and_then(|headers| {
                raw(if is_masked {
                    masked_headers(&headers)
                } else {
                    headers.expose().clone()
                })
            }),
            integrations: restaurant.integrations.into_iter().map(Into::into).collect(),
            packages: restaurant.packages.into_iter().map(Into::into).collect(),
            created_at: restaurant.created_at,
            updated_at: restaurant.updated_at,
        }
    }
}

/// All restaurants of the account.
#[utoipa::path(get, path = "/restaurants", tag = "Restaurants",
    responses((status = 200, body = Data<Vec<RestaurantView>>)))]
pub async fn list_restaurants(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
) -> Result<Data<Vec<RestaurantView>>, ApiError> {
    let mut found = restaurants::list(&state.app, caller.account, None).await?;
    found.retain(|it| caller.access.restaurants.has(it.id));
    let shown = found.into_iter().map(|it| RestaurantView::new(it, &caller));
    Ok(Data::new(shown.collect()))
}

/// Create a restaurant, under a business when `businessId` is given.
#[utoipa::path(post, path = "/restaurants", tag = "Restaurants", request_body = RestaurantRequest,
    responses((status = 200, body = Data<RestaurantView>)))]
pub async fn create_restaurant(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    NewId(new_id): NewId,
    Json(wanted): Json<RestaurantRequest>,
) -> Result<Data<RestaurantView>, ApiError> {
    let mut fields = RestaurantFields::default();
    RestaurantInput::try_from(wanted)?.apply(&mut fields);
    let created = restaurants::create(&state.app, caller.by(), RestaurantId(new_id), fields).await?;
    Ok(Data::new(RestaurantView::new(created, &caller)))
}

/// One restaurant.
#[utoipa::path(get, path = "/restaurants/{restaurantId}", tag = "Restaurants",
    params(("restaurantId" = String, Path)), responses((status = 200, body = Data<RestaurantView>)))]
pub async fn get_restaurant(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Data<RestaurantView>, ApiError> {
    let found = restaurants::get(&state.app, caller.account, restaurant_id(&restaurant)?).await?;
    Ok(Data::new(RestaurantView::new(found, &caller)))
}

/// Change a restaurant.
#[utoipa::path(put, path = "/restaurants/{restaurantId}", tag = "Restaurants",
    params(("restaurantId" = String, Path)), request_body = RestaurantRequest,
    responses((status = 200, body = Data<RestaurantView>)))]
pub async fn update_restaurant(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    Json(wanted): Json<RestaurantRequest>,
) -> Result<Data<RestaurantView>, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    let input = RestaurantInput::try_from(wanted)?;
    if !caller.access.restaurants.is_all() && !matches!(input.business_id, Patch::Keep) {
        // The business concerns other restaurants, too.
        return Err(Fault::KeyNotAllowed { scopes: Vec::new() }.into());
    }
    if !caller.is_primary {
        let before = restaurants::get(&state.app, caller.account, restaurant).await?;
        if input.redirects_stored_headers(&before.fields) {
            return Err(Fault::PrimaryKeyRequired.into());
        }
    }
    let apply = move |fields: &mut RestaurantFields| input.apply(fields);
    let updated = restaurants::update(&state.app, caller.by(), restaurant, apply).await?;
    Ok(Data::new(RestaurantView::new(updated, &caller)))
}

/// Delete a restaurant with its integrations, orders and events. It cannot be undone.
#[utoipa::path(delete, path = "/restaurants/{restaurantId}", tag = "Restaurants",
    params(("restaurantId" = String, Path)), responses((status = 200, body = Done)))]
pub async fn delete_restaurant(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Done, ApiError> {
    restaurants::delete(&state.app, caller.by(), restaurant_id(&restaurant)?).await?;
    Ok(Done::new())
}
