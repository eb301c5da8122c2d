//! Prices of a restaurant's products: a preview, and the change of exactly that preview.

use super::envelope::Data;
use super::idempotency::NewId;
use super::json_body::Json;
use super::provider_field::PlatformKeys;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::{ForeignId, price_push_id, product_id, restaurant_id};
use crate::flow::products::prices;
use crate::flow::products::prices::{DesiredPrice, PriceChangeView};
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::id::{PricePushId, ProductId};
use garson_core::json::ObjectOnly;
use garson_core::money::Minor;
use garson_core::price_change::PriceScope;
use garson_core::store_control::Requester;
use garson_core::time::Timestamp;
use garson_store::tables::prices::PriceItem;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Products in one preview.
const MAX_PRODUCTS: usize = 1_000;
/// A million in major units.
const MAX_PRICE: i64 = 100_000_000;

#[derive(Deserialize, ToSchema)]
pub struct PricePreviewRequest {
    #[schema(min_items = 1, max_items = 1000)]
    prices: Vec<WantedPrice>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WantedPrice {
    #[schema(format = Uuid)]
    product_id: String,
    /// In minor units.
    #[schema(minimum = 0, maximum = 100_000_000)]
    price: i64,
    /// Only on these platforms.
    providers: Option<PlatformKeys>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// A price change: what would be sent, or the results.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PriceChangeBody {
    #[schema(value_type = String, format = Uuid)]
    id: PricePushId,
    /// `preview`, `running` or `done`.
    state: &'static str,
    /// Until when a preview can be sent.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    started_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
    /// Some of the prices concern every branch of the chain, which has to be confirmed.
    needs_chain_confirmation: bool,
    /// Only prices that differ from what the platform has.
    prices: Vec<PriceView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChangedPrice)]
struct PriceView {
    #[schema(value_type = String, format = Uuid)]
    product_id: ProductId,
    provider: String,
    item_id: String,
    name: String,
    /// Null where it is not known.
    #[schema(value_type = Option<i64>)]
    old_price: Option<Minor>,
    #[schema(value_type = i64)]
    new_price: Minor,
    /// Whom it concerns: `branch` or `chain`.
    scope: &'static str,
    /// `preview`, `pending`, `queued` (the platform works on it), `done`, `failed` or `unsupported`.
    result: &'static str,
    message: Option<String>,
}

impl From<PriceItem> for PriceView {
    fn from(item: PriceItem) -> Self {
        Self {
            product_id: item.product_id,
            provider: item.key.provider.to_string(),
            item_id: item.key.id,
            name: item.name,
            old_price: item.old_price,
            new_price: item.new_price,
            scope: match item.scope {
                PriceScope::Branch => "branch",
                PriceScope::Chain => "chain",
            },
            result: item.state.as_str(),
            message: item.message.map(|message| message.to_string()),
        }
    }
}

impl From<PriceChangeView> for PriceChangeBody {
    fn from(view: PriceChangeView) -> Self {
        let is_chain = |it: &PriceItem| it.scope == PriceScope::Chain && !it.state.is_settled();
        Self {
            id: view.push.id,
            state: view.push.state.as_str(),
            expires_at: view.push.expires_at,
            started_at: view.push.started_at,
            finished_at: view.push.finished_at,
            needs_chain_confirmation: view.items.iter().any(is_chain),
            prices: view.items.into_iter().map(Into::into).collect(),
        }
    }
}

fn desired_price(row: usize, given: WantedPrice) -> Result<DesiredPrice, ApiError> {
    if !(0..=MAX_PRICE).contains(&given.price) {
        let field = format!("prices[{row}].price");
        return Err(ApiError::invalid(
            Code::InvalidField,
            &field,
            "must be from 0 to 100000000",
        ));
    }
    Ok(DesiredPrice {
        product: product_id(&given.product_id)?,
        price: Minor(given.price),
        providers: given.providers.map(|keys| keys.0).unwrap_or_default(),
    })
}

/// Preview a change of prices: which prices would be sent to which platforms. Nothing is sent.
#[utoipa::path(post, path = "/restaurants/{restaurantId}/prices/preview", tag = "Products",
    params(("restaurantId" = String, Path)), request_body = PricePreviewRequest,
    responses((status = 200, body = Data<PriceChangeBody>)))]
pub async fn preview_prices(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    NewId(new_id): NewId,
    Json(given): Json<PricePreviewRequest>,
) -> Result<Data<PriceChangeBody>, ApiError> {
    if !(1..=MAX_PRODUCTS).contains(&given.prices.len()) {
        return Err(ApiError::invalid(
            Code::InvalidField,
            "prices",
            "must have 1 to 1000 entries",
        ));
    }
    let numbered = given.prices.into_iter().enumerate();
    let prices: Result<Vec<DesiredPrice>, ApiError> =
        numbered.map(|(row, given)| desired_price(row, given)).collect();
    let prices = prices?;
    for (row, desired) in prices.iter().enumerate() {
        let mut earlier = prices.iter().take(row);
        if earlier.any(|it| it.product == desired.product) {
            let field = format!("prices[{row}].productId");
            return Err(ApiError::invalid(Code::InvalidField, &field, "is given twice"));
        }
    }
    let restaurant = restaurant_id(&restaurant)?;
    let named = (PricePushId(new_id), "account");
    let view = prices::preview(&state.app, caller.account, restaurant, named, prices).await?;
    Ok(Data::new(view.into()))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PricePushRequest {
    /// The `id` of a preview.
    preview_id: ForeignId,
    /// Required where prices concern every branch of a chain.
    #[serde(default)]
    confirm_chain: bool,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// Send exactly the prices of a preview. Answers within ten seconds; what is still `pending` or `queued` continues in the background.
#[utoipa::path(post, path = "/restaurants/{restaurantId}/prices", tag = "Products",
    params(("restaurantId" = String, Path)), request_body = PricePushRequest,
    responses((status = 200, body = Data<PriceChangeBody>)))]
pub async fn push_prices(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    Json(given): Json<PricePushRequest>,
) -> Result<Data<PriceChangeBody>, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    let id = price_push_id(given.preview_id.as_str())?;
    let requester = Requester::Key(caller.key);
    let view = prices::push(
        &state.app,
        caller.by(),
        restaurant,
        id,
        given.confirm_chain,
        requester,
    )
    .await?;
    Ok(Data::new(view.into()))
}

/// A price change, previewed or sent, with the result of each price.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/prices/{priceChangeId}", tag = "Products",
    params(("restaurantId" = String, Path), ("priceChangeId" = String, Path)),
    responses((status = 200, body = Data<PriceChangeBody>)))]
pub async fn get_price_change(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path((restaurant, id)): Path<(String, String)>,
) -> Result<Data<PriceChangeBody>, ApiError> {
    let (restaurant, id) = (restaurant_id(&restaurant)?, price_push_id(&id)?);
    let view = prices::get(&state.app, caller.account, restaurant, id).await?;
    Ok(Data::new(view.into()))
}
