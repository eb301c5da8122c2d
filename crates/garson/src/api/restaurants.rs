//! Restaurants: the branches that take orders.

use super::auth::Caller;
use super::envelope::{Data, Done};
use super::fields::{JsonObject, Name, Patch, Prose, TextMap, degrees};
use super::idempotency::NewId;
use super::integrations::IntegrationView;
use super::packages::PackageView;
use super::{Api, ApiError};
use crate::flow::Fault;
use crate::flow::admin::restaurants;
use crate::flow::fault::Thing;
use crate::http::body::Json;
use crate::net::headers::check_headers;
use axum::extract::{Path, State};
use garson_core::id::{BusinessId, RestaurantId};
use garson_core::json::ObjectOnly;
use garson_core::restaurant::{Config, Restaurant, RestaurantFields};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
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
    #[serde(default, deserialize_with = "degrees::<_, 90>")]
    #[schema(value_type = Option<f64>, minimum = -90, maximum = 90)]
    lat: Patch<f64>,
    #[serde(default, deserialize_with = "degrees::<_, 180>")]
    #[schema(value_type = Option<f64>, minimum = -180, maximum = 180)]
    lon: Patch<f64>,
    /// Any object. Known keys: `autoVerify`, `preparationMinutes`, `timezone`.
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
    /// Read back `paymentMatchingHeaders` with `***` for each value, also with the primary key.
    #[schema(rename = "maskPaymentMatchingHeaders")]
    mask_payment_matching_headers: Option<bool>,
}

/// What stands for a value that is not shown; sent back, it keeps the value.
const MASK: &str = "***";

/// The changes of a request, with every reference checked.
pub struct Change {
    request: RestaurantRequest,
    business: Patch<BusinessId>,
    headers: Patch<Secret<String>>,
}

impl Change {
    pub fn check(request: RestaurantRequest) -> Result<Self, ApiError> {
        let business = match &request.business_id {
            Patch::Keep => Patch::Keep,
            Patch::Clear => Patch::Clear,
            Patch::Set(text) => Patch::Set(
                text.0
                    .parse()
                    .map_err(|_| ApiError::from(Fault::not_found(Thing::Business, &text.0)))?,
            ),
        };
        let headers = match &request.payment_matching_headers {
            Patch::Keep => Patch::Keep,
            Patch::Clear => Patch::Clear,
            Patch::Set(map) => Patch::Set(checked_headers(map)?),
        };
        Ok(Self {
            request,
            business,
            headers,
        })
    }

    pub fn apply(&self, fields: &mut RestaurantFields) {
        let request = &self.request;
        self.business.apply(&mut fields.business_id, |id| *id);
        fields.name.clone_from(&request.name.0);
        request.description.apply_text(&mut fields.description);
        request.address.apply_text(&mut fields.address);
        request.lat.apply(&mut fields.lat, |value| *value);
        request.lon.apply(&mut fields.lon, |value| *value);
        request
            .config
            .apply(&mut fields.config, |object| object.0.clone());
        request
            .payment_matching_url
            .apply(&mut fields.payment_matching_url, Clone::clone);
        let stored = fields.payment_matching_headers.clone();
        self.headers.apply(&mut fields.payment_matching_headers, |given| {
            unmasked(given, stored.as_ref())
        });
    }

    /// Would this have header values that the sender may not see sent to an address of the sender's choice?
    fn diverts(&self, before: &RestaurantFields) -> bool {
        let keeps_values = match &self.request.payment_matching_headers {
            Patch::Keep => true,
            Patch::Clear => false,
            Patch::Set(map) => map.0.values().any(|value| value == MASK),
        };
        let is_elsewhere = match &self.request.payment_matching_url {
            Patch::Keep | Patch::Clear => false,
            Patch::Set(url) => before.payment_matching_url.as_ref() != Some(url),
        };
        keeps_values && is_elsewhere && before.payment_matching_headers.is_some()
    }
}

type Headers = BTreeMap<String, String>;

/// Headers as they were given, with the stored value for each that is masked.
fn unmasked(given: &Secret<String>, stored: Option<&Secret<String>>) -> Secret<String> {
    let read = |json: &Secret<String>| serde_json::from_str::<Headers>(json.expose()).unwrap_or_default();
    let stored = stored.map(read).unwrap_or_default();
    let mut headers = read(given);
    for (name, value) in headers.iter_mut().filter(|(_, value)| *value == MASK) {
        let kept = stored.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        if let Some((_, kept)) = kept {
            value.clone_from(kept);
        }
    }
    Secret::new(serde_json::to_string(&headers).unwrap_or_default())
}

/// The names of headers, without their values.
fn masked(headers: &Secret<String>) -> String {
    let mut headers: Headers = serde_json::from_str(headers.expose()).unwrap_or_default();
    headers.values_mut().for_each(|value| MASK.clone_into(value));
    serde_json::to_string(&headers).unwrap_or_default()
}

fn checked_headers(map: &TextMap) -> Result<Secret<String>, ApiError> {
    check_headers(map.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))).map_err(|refusal| {
        ApiError::from(Fault::invalid(
            format!("paymentMatchingHeaders.{}", refusal.name),
            refusal.problem,
        ))
    })?;
    Ok(Secret::new(serde_json::to_string(&map.0).unwrap_or_default()))
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
    pub fn new(restaurant: Restaurant, caller: Caller) -> Self {
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
            payment_matching_headers: fields
                .payment_matching_headers
                .and_then(|headers| match is_masked {
                    true => raw(masked(&headers)),
                    false => raw(headers.expose().clone()),
                }),
            integrations: restaurant.integrations.into_iter().map(Into::into).collect(),
            packages: restaurant.packages.into_iter().map(Into::into).collect(),
            created_at: restaurant.created_at,
            updated_at: restaurant.updated_at,
        }
    }
}

/// The id in a path or body; one that is no id at all is as unknown as any.
pub fn id(text: &str) -> Result<RestaurantId, ApiError> {
    text.parse()
        .map_err(|_| Fault::not_found(Thing::Restaurant, text).into())
}

/// All restaurants of the account.
#[utoipa::path(get, path = "/restaurants", tag = "Restaurants",
    responses((status = 200, body = Data<Vec<RestaurantView>>)))]
pub async fn list_restaurants(
    State(api): State<Arc<Api>>,
    caller: Caller,
) -> Result<Data<Vec<RestaurantView>>, ApiError> {
    let found = restaurants::list(&api.app, caller.account, None).await?;
    let shown = found.into_iter().map(|it| RestaurantView::new(it, caller));
    Ok(Data::new(shown.collect()))
}

/// Create a restaurant, under a business when `businessId` is given.
#[utoipa::path(post, path = "/restaurants", tag = "Restaurants", request_body = RestaurantRequest,
    responses((status = 200, body = Data<RestaurantView>)))]
pub async fn create_restaurant(
    State(api): State<Arc<Api>>,
    caller: Caller,
    NewId(new_id): NewId,
    Json(wanted): Json<RestaurantRequest>,
) -> Result<Data<RestaurantView>, ApiError> {
    let mut fields = RestaurantFields::default();
    Change::check(wanted)?.apply(&mut fields);
    let created = restaurants::create(&api.app, caller.account, RestaurantId(new_id), fields).await?;
    Ok(Data::new(RestaurantView::new(created, caller)))
}

/// One restaurant.
#[utoipa::path(get, path = "/restaurants/{restaurantId}", tag = "Restaurants",
    params(("restaurantId" = String, Path)), responses((status = 200, body = Data<RestaurantView>)))]
pub async fn get_restaurant(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Data<RestaurantView>, ApiError> {
    let found = restaurants::get(&api.app, caller.account, id(&restaurant)?).await?;
    Ok(Data::new(RestaurantView::new(found, caller)))
}

/// Change a restaurant.
#[utoipa::path(put, path = "/restaurants/{restaurantId}", tag = "Restaurants",
    params(("restaurantId" = String, Path)), request_body = RestaurantRequest,
    responses((status = 200, body = Data<RestaurantView>)))]
pub async fn update_restaurant(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    Json(wanted): Json<RestaurantRequest>,
) -> Result<Data<RestaurantView>, ApiError> {
    let restaurant = id(&restaurant)?;
    let change = Change::check(wanted)?;
    if !caller.is_primary {
        let before = restaurants::get(&api.app, caller.account, restaurant).await?;
        if change.diverts(&before.fields) {
            return Err(Fault::PrimaryKeyRequired.into());
        }
    }
    let apply = move |fields: &mut RestaurantFields| change.apply(fields);
    let updated = restaurants::update(&api.app, caller.account, restaurant, apply).await?;
    Ok(Data::new(RestaurantView::new(updated, caller)))
}

/// Delete a restaurant with its integrations, orders and events. It cannot be undone.
#[utoipa::path(delete, path = "/restaurants/{restaurantId}", tag = "Restaurants",
    params(("restaurantId" = String, Path)), responses((status = 200, body = Done)))]
pub async fn delete_restaurant(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Done, ApiError> {
    restaurants::delete(&api.app, caller.account, id(&restaurant)?).await?;
    Ok(Done::new())
}
