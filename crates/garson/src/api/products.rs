//! Products of a restaurant on all platforms together: list, link, switch on and off.

mod availability;
mod view;

pub use availability::{
    __path_put_named_availability, __path_put_product_availability, __path_put_products_availability,
    put_named_availability, put_product_availability, put_products_availability,
};
pub use view::ProductView;

use super::envelope::Data;
use super::json_body::Json;
use super::paging::Query;
use super::provider_field::PlatformKey;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::{Name, product_id, restaurant_id};
use crate::flow::admin::integrations::platform;
use crate::flow::products::links::NewItem;
use crate::flow::products::list::ListRequest;
use crate::flow::products::{links, list};
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use garson_core::id::ProductId;
use garson_core::json::ObjectOnly;
use garson_core::store_control::Requester;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// A page of products, products before options, sorted by name.
#[derive(Serialize, ToSchema)]
pub struct ProductPageView {
    /// Always true.
    success: bool,
    data: Vec<ProductView>,
    paging: ProductPaging,
}

#[derive(Serialize, ToSchema)]
pub struct ProductPaging {
    /// The cursor of the next page; null at the end.
    #[schema(value_type = Option<String>, format = Uuid)]
    next: Option<ProductId>,
}

impl IntoResponse for ProductPageView {
    fn into_response(self) -> Response {
        axum::Json(self).into_response()
    }
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct ProductParams {
    /// How many to answer.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The next position, from `paging` of an earlier answer.
    #[param(format = Uuid)]
    cursor: Option<String>,
    /// Words that the name contains.
    #[param(max_length = 100)]
    search: Option<String>,
    /// Only those that can be ordered on every platform that has them, or only the others.
    available: Option<bool>,
    /// Only products, or only options.
    #[param(inline)]
    kind: Option<Kind>,
    /// `suggestions`: with products of other platforms that are likely the same.
    #[param(inline)]
    include: Option<Include>,
}

#[derive(Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    #[default]
    Product,
    Option,
}

/// What the answer has besides.
#[derive(Clone, Copy, ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code)]
pub enum Include {
    Suggestions,
}

fn flag(query: &Query, name: &str) -> Result<Option<bool>, ApiError> {
    match query.get(name)? {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(_) => Err(wrong(name, "must be true or false")),
    }
}

fn wrong(name: &str, message: &str) -> ApiError {
    ApiError::invalid(Code::InvalidParameter, name, message)
}

fn list_request(query: &Query) -> Result<ListRequest, ApiError> {
    let limit = match query.get("limit")? {
        None => 50,
        Some(text) => text
            .parse::<usize>()
            .ok()
            .filter(|limit| (1..=200).contains(limit))
            .ok_or_else(|| wrong("limit", "must be a whole number from 1 to 200"))?,
    };
    let after = query.get("cursor")?.map(str::parse).transpose();
    let after = after
        .map_err(|_| ApiError::invalid(Code::InvalidCursor, "cursor", "is not one that was given out"))?;
    let is_option = match query.get("kind")? {
        None => None,
        Some("product") => Some(false),
        Some("option") => Some(true),
        Some(_) => return Err(wrong("kind", "must be product or option")),
    };
    let with_suggestions = match query.get("include")? {
        None => false,
        Some("suggestions") => true,
        Some(_) => return Err(wrong("include", "must be suggestions")),
    };
    let search = query.get("search")?;
    if search.is_some_and(|text| text.chars().count() > 100) {
        return Err(wrong("search", "must have at most 100 characters"));
    }
    Ok(ListRequest {
        search: search.map(str::to_owned),
        is_available: flag(query, "available")?,
        is_option,
        after,
        limit,
        with_suggestions,
    })
}

/// The products of a restaurant, one list for all platforms.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/products", tag = "Products",
    params(("restaurantId" = String, Path), ProductParams), responses((status = 200, body = ProductPageView)))]
pub async fn list_products(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    query: Query,
) -> Result<ProductPageView, ApiError> {
    let request = list_request(&query)?;
    let restaurant = restaurant_id(&restaurant)?;
    let page = list::list(&state.app, caller.account, restaurant, request).await?;
    Ok(ProductPageView {
        success: true,
        data: page.products.into_iter().map(Into::into).collect(),
        paging: ProductPaging { next: page.next },
    })
}

/// One product, with what each platform has of it and what is likely the same.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/products/{productId}", tag = "Products",
    params(("restaurantId" = String, Path), ("productId" = String, Path)),
    responses((status = 200, body = Data<ProductView>)))]
pub async fn get_product(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path((restaurant, product)): Path<(String, String)>,
) -> Result<Data<ProductView>, ApiError> {
    let (restaurant, product) = (restaurant_id(&restaurant)?, product_id(&product)?);
    let found = list::get(&state.app, caller.account, restaurant, product).await?;
    Ok(Data::new(found.into()))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewProductRequest {
    /// A platform whose menu cannot be read.
    provider: PlatformKey,
    /// The item's id there: the restaurant's own code.
    item_id: Name,
    name: Name,
    #[serde(default)]
    kind: Kind,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// Enter a product of a platform whose menu cannot be read. One that is known already is returned.
#[utoipa::path(post, path = "/restaurants/{restaurantId}/products", tag = "Products",
    params(("restaurantId" = String, Path)), request_body = NewProductRequest,
    responses((status = 200, body = Data<ProductView>)))]
pub async fn create_product(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    Json(wanted): Json<NewProductRequest>,
) -> Result<Data<ProductView>, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    let new = NewItem {
        provider: wanted.provider.provider(),
        is_option: matches!(wanted.kind, Kind::Option),
        item_id: wanted.item_id.into_string(),
        name: wanted.name.into_string(),
    };
    let made = links::add(&state.app, caller.by(), restaurant, new).await?;
    Ok(Data::new(made.into()))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProductLinkRequest)]
pub struct LinkRequest {
    /// The item's id on the platform.
    item_id: Name,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// Link an item of a platform to a product. The link stays when menus are read again; the item that the product had there becomes a
/// product of its own.
#[utoipa::path(put, path = "/restaurants/{restaurantId}/products/{productId}/links/{provider}", tag = "Products",
    params(("restaurantId" = String, Path), ("productId" = String, Path), ("provider" = String, Path)),
    request_body = LinkRequest, responses((status = 200, body = Data<ProductView>)))]
pub async fn put_product_link(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path((restaurant, product, provider)): Path<(String, String, String)>,
    Json(wanted): Json<LinkRequest>,
) -> Result<Data<ProductView>, ApiError> {
    let (restaurant, product) = (restaurant_id(&restaurant)?, product_id(&product)?);
    let provider = platform(&provider)?.provider();
    let item = wanted.item_id.into_string();
    let requester = Requester::Key(caller.key);
    let to = (provider, item);
    let linked = links::link(&state.app, caller.by(), restaurant, product, to, requester).await?;
    Ok(Data::new(linked.into()))
}

/// Take a platform's item out of a product. It becomes a product of its own, and is not matched again.
#[utoipa::path(delete, path = "/restaurants/{restaurantId}/products/{productId}/links/{provider}", tag = "Products",
    params(("restaurantId" = String, Path), ("productId" = String, Path), ("provider" = String, Path)),
    responses((status = 200, body = Data<ProductView>)))]
pub async fn delete_product_link(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path((restaurant, product, provider)): Path<(String, String, String)>,
) -> Result<Data<ProductView>, ApiError> {
    let (restaurant, product) = (restaurant_id(&restaurant)?, product_id(&product)?);
    let provider = platform(&provider)?.provider();
    let requester = Requester::Key(caller.key);
    let left = links::unlink(&state.app, caller.by(), restaurant, product, provider, requester).await?;
    Ok(Data::new(left.into()))
}
