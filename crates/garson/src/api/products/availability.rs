//! Products are switched on and off: one, many of a restaurant, or those of a name in many restaurants.

use crate::api::envelope::Data;
use crate::api::json_body::Json;
use crate::api::provider_field::PlatformKeys;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::{Name, product_id, restaurant_id};
use crate::flow::products::availability;
use crate::flow::products::availability::{ItemOutcome, ProductOutcome, ProductSwitch, Switch, SwitchTo};
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::id::{ProductId, RestaurantId};
use garson_core::json::ObjectOnly;
use garson_core::store_control::Requester;
use garson_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;

/// Products in one request.
const MAX_PRODUCTS: usize = 500;
/// Restaurants, and names, in one request.
const MAX_RESTAURANTS: usize = 100;
const MAX_NAMES: usize = 50;
/// The longest time for which a product can be off until a time.
const MAX_TIME: Duration = Duration::from_secs(366 * 86_400);

/// Whether products can be ordered.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AvailabilityRequest {
    available: bool,
    /// When it becomes available again: a timestamp, or `end_of_day`. Left out: when it is switched on.
    #[schema(
        pattern = r"^(end_of_day|20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,3})?Z)$"
    )]
    until: Option<String>,
    /// Only on these platforms.
    providers: Option<PlatformKeys>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AvailabilityBatchRequest {
    #[schema(min_items = 1, max_items = 500)]
    products: Vec<ProductAvailability>,
    /// Only on these platforms.
    providers: Option<PlatformKeys>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProductAvailability {
    #[schema(format = Uuid)]
    product_id: String,
    available: bool,
    /// As for one product.
    #[schema(
        pattern = r"^(end_of_day|20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,3})?Z)$"
    )]
    until: Option<String>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamedAvailabilityRequest {
    #[schema(min_items = 1, max_items = 100)]
    restaurant_ids: Vec<String>,
    /// Names of products or options. Spelling, case and portion words do not matter.
    #[schema(min_items = 1, max_items = 50)]
    names: Vec<Name>,
    available: bool,
    /// As for one product.
    #[schema(
        pattern = r"^(end_of_day|20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,3})?Z)$"
    )]
    until: Option<String>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// The result of switching a product, for each platform that has it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AvailabilityResult {
    #[schema(value_type = String, format = Uuid)]
    product_id: ProductId,
    results: Vec<ItemResultView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AvailabilityPlatformResult)]
struct ItemResultView {
    provider: String,
    item_id: String,
    /// `done`, `pending` (it continues in the background), `refused` or `unsupported`.
    result: &'static str,
    /// The platform's own words, or why it is pending.
    message: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// What switches it on again: `platform` or `garson`; null if it has no end.
    timer: Option<&'static str>,
    /// Was the platform seen to have done it?
    is_confirmed: bool,
}

impl From<ProductOutcome> for AvailabilityResult {
    fn from(outcome: ProductOutcome) -> Self {
        let view = |item: ItemOutcome| ItemResultView {
            provider: item.key.provider.to_string(),
            item_id: item.key.id,
            result: item.state.as_str(),
            message: item.message.map(|message| message.to_string()),
            until: item.ends_at,
            timer: item.timer.map(|timer| timer.as_str()),
            is_confirmed: item.is_confirmed,
        };
        Self {
            product_id: outcome.product,
            results: outcome.items.into_iter().map(view).collect(),
        }
    }
}

fn switch_to(
    is_available: bool,
    until: Option<&str>,
    field: &str,
    now: Timestamp,
) -> Result<SwitchTo, ApiError> {
    let invalid = |text: &str| ApiError::invalid(Code::InvalidField, field, text);
    Ok(match until {
        None if is_available => SwitchTo::On,
        None => SwitchTo::Off,
        Some(_) if is_available => return Err(invalid("is only for products that are switched off")),
        Some("end_of_day") => SwitchTo::OffForTheDay,
        Some(text) => {
            let at: Timestamp = text
                .parse()
                .map_err(|_| invalid("must be a timestamp such as 2026-03-01T12:00:00Z, or end_of_day"))?;
            if at <= now || at > now.plus(MAX_TIME) {
                return Err(invalid("must be a time in the future, within a year"));
            }
            SwitchTo::OffUntil(at)
        }
    })
}

fn check_count(field: &str, count: usize, max: usize) -> Result<(), ApiError> {
    if (1..=max).contains(&count) {
        return Ok(());
    }
    let message = format!("must have 1 to {max} entries");
    Err(ApiError::invalid(Code::InvalidField, field, &message))
}

/// Switch a product or option on or off on all platforms that have it. Answers within ten seconds; what is still `pending` continues in
/// the background.
#[utoipa::path(put, path = "/restaurants/{restaurantId}/products/{productId}/availability", tag = "Products",
    params(("restaurantId" = String, Path), ("productId" = String, Path)), request_body = AvailabilityRequest,
    responses((status = 200, body = Data<AvailabilityResult>)))]
pub async fn put_product_availability(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path((restaurant, product)): Path<(String, String)>,
    Json(given): Json<AvailabilityRequest>,
) -> Result<Data<AvailabilityResult>, ApiError> {
    let product = product_id(&product)?;
    let to = switch_to(given.available, given.until.as_deref(), "until", state.app.now())?;
    let switch = Switch {
        restaurant: restaurant_id(&restaurant)?,
        products: vec![ProductSwitch { product, to }],
        providers: given.providers.map(|keys| keys.0).unwrap_or_default(),
        requester: Requester::Key(caller.key),
    };
    let mut outcomes = availability::set(&state.app, caller.by(), switch).await?;
    let outcome = outcomes.pop().unwrap_or(ProductOutcome {
        product,
        items: Vec::new(),
    });
    Ok(Data::new(outcome.into()))
}

/// Switch up to 500 products and options of a restaurant on or off.
#[utoipa::path(put, path = "/restaurants/{restaurantId}/products/availability", tag = "Products",
    params(("restaurantId" = String, Path)), request_body = AvailabilityBatchRequest,
    responses((status = 200, body = Data<Vec<AvailabilityResult>>)))]
pub async fn put_products_availability(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    Json(given): Json<AvailabilityBatchRequest>,
) -> Result<Data<Vec<AvailabilityResult>>, ApiError> {
    check_count("products", given.products.len(), MAX_PRODUCTS)?;
    let now = state.app.now();
    let mut products: Vec<ProductSwitch> = Vec::with_capacity(given.products.len());
    for (row, one) in given.products.iter().enumerate() {
        let product = product_id(&one.product_id)?;
        if products.iter().any(|it| it.product == product) {
            let field = format!("products[{row}].productId");
            return Err(ApiError::invalid(Code::InvalidField, &field, "is given twice"));
        }
        let field = format!("products[{row}].until");
        let to = switch_to(one.available, one.until.as_deref(), &field, now)?;
        products.push(ProductSwitch { product, to });
    }
    let switch = Switch {
        restaurant: restaurant_id(&restaurant)?,
        products,
        providers: given.providers.map(|keys| keys.0).unwrap_or_default(),
        requester: Requester::Key(caller.key),
    };
    let outcomes = availability::set(&state.app, caller.by(), switch).await?;
    Ok(Data::new(outcomes.into_iter().map(Into::into).collect()))
}

/// How many items are switched in a restaurant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamedAvailabilityResult {
    #[schema(value_type = String, format = Uuid)]
    restaurant_id: RestaurantId,
    /// Items of platforms that are switched in the background; `GET …/products` shows the results.
    items: usize,
}

/// Switch products and options of a name on or off in many restaurants. They are switched in the background.
#[utoipa::path(put, path = "/products/availability", tag = "Products", request_body = NamedAvailabilityRequest,
    responses((status = 200, body = Data<Vec<NamedAvailabilityResult>>)))]
pub async fn put_named_availability(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Json(given): Json<NamedAvailabilityRequest>,
) -> Result<Data<Vec<NamedAvailabilityResult>>, ApiError> {
    check_count("restaurantIds", given.restaurant_ids.len(), MAX_RESTAURANTS)?;
    check_count("names", given.names.len(), MAX_NAMES)?;
    let to = switch_to(given.available, given.until.as_deref(), "until", state.app.now())?;
    let ids: Result<Vec<RestaurantId>, _> = given.restaurant_ids.iter().map(|id| restaurant_id(id)).collect();
    let ids = ids?;
    ids.iter().try_for_each(|id| caller.must_have(*id))?;
    let names = given.names.into_iter().map(Name::into_string).collect();
    let counts = availability::set_named(
        &state.app,
        caller.by(),
        ids,
        names,
        to,
        Requester::Key(caller.key),
    )
    .await?;
    let view = |(restaurant_id, items)| NamedAvailabilityResult { restaurant_id, items };
    Ok(Data::new(counts.into_iter().map(view).collect()))
}
