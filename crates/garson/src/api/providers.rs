//! Platforms: what each can do, and restaurants' menus on them.

use super::envelope::Data;
use super::paging::Query;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::restaurant_id;
use crate::flow::admin::menu;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::id::RestaurantId;
use garson_core::menu::{Category, MenuOption, OptionGroup, Product};
use garson_core::money::Minor;
use garson_core::order::Courier;
use garson_core::platform::{CredentialKind, Platform, PollStyle};
use garson_core::time::Timestamp;
use serde::Serialize;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// A platform and what it can do.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderView {
    key: String,
    name: &'static str,
    /// Must the platform agree before an order is verified or cancelled?
    asks: bool,
    cancel_after_accept: bool,
    /// Are cancellation reasons asked of the platform?
    live_reasons: bool,
    menu: bool,
    /// Can the store be opened and closed on the platform?
    store_toggle: bool,
    /// Who delivers: `platform`, `restaurant`, `none`.
    #[schema(value_type = Vec<String>)]
    couriers: Vec<Courier>,
    seconds_between_moves: u32,
    accept_within_seconds: Option<u32>,
    /// Is the platform asked for orders, besides what it pushes?
    polled: bool,
    credentials: Vec<CredentialView>,
}

#[derive(Serialize, ToSchema)]
struct CredentialView {
    name: &'static str,
    required: bool,
    /// What is expected: `secret`, `text`, `address`, `headers` or `choice`.
    kind: &'static str,
    /// The words of a choice.
    choices: Vec<&'static str>,
}

impl From<&dyn Platform> for ProviderView {
    fn from(platform: &dyn Platform) -> Self {
        let can = platform.capability();
        let credential = |field: &garson_core::platform::CredentialField| CredentialView {
            name: field.name,
            required: field.required,
            kind: match field.kind {
                CredentialKind::Secret => "secret",
                CredentialKind::Plain => "text",
                CredentialKind::Address => "address",
                CredentialKind::Headers => "headers",
                CredentialKind::Choice(_) => "choice",
            },
            choices: match field.kind {
                CredentialKind::Choice(words) => words.to_vec(),
                _ => Vec::new(),
            },
        };
        Self {
            key: platform.provider().to_string(),
            name: platform.name(),
            asks: can.asks,
            cancel_after_accept: can.cancel_after_accept,
            live_reasons: can.live_reasons,
            menu: can.menu,
            store_toggle: can.store.is_some(),
            couriers: can.couriers.to_vec(),
            seconds_between_moves: can.seconds_between_moves,
            accept_within_seconds: can.accept_within_seconds,
            polled: can
                .polling
                .is_some_and(|polling| polling.style != PollStyle::Cancelled),
            credentials: platform.credential_fields().iter().map(credential).collect(),
        }
    }
}

/// The platforms, with what each can do.
#[utoipa::path(get, path = "/providers", tag = "Providers", responses((status = 200, body = Data<Vec<ProviderView>>)))]
pub async fn list_providers(_caller: Caller) -> Data<Vec<ProviderView>> {
    Data::new(
        garson_platforms::all()
            .iter()
            .map(|platform| ProviderView::from(*platform))
            .collect(),
    )
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MenuView {
    provider: String,
    #[schema(value_type = String, format = Uuid)]
    restaurant_id: RestaurantId,
    #[schema(value_type = String, format = DateTime)]
    fetched_at: Timestamp,
    categories: Vec<CategoryView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CategoryView {
    id: String,
    name: String,
    position: u32,
    is_available: bool,
    products: Vec<ProductView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ProductView {
    id: String,
    name: String,
    description: Option<String>,
    #[schema(value_type = i64)]
    price: Minor,
    currency: String,
    image_url: Option<String>,
    is_available: bool,
    option_groups: Vec<GroupView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct GroupView {
    id: String,
    name: String,
    min: u32,
    max: u32,
    options: Vec<MenuOptionView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MenuOptionView {
    id: String,
    name: String,
    #[schema(value_type = i64)]
    price: Minor,
    is_available: bool,
    #[schema(no_recursion)]
    option_groups: Vec<GroupView>,
}

impl From<Category> for CategoryView {
    fn from(category: Category) -> Self {
        Self {
            id: category.id,
            name: category.name,
            position: category.position,
            is_available: category.is_available,
            products: category.products.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Product> for ProductView {
    fn from(product: Product) -> Self {
        Self {
            id: product.id,
            name: product.name,
            description: product.description,
            price: product.price,
            currency: product.currency.to_string(),
            image_url: product.image_url,
            is_available: product.is_available,
            option_groups: product.option_groups.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<OptionGroup> for GroupView {
    fn from(group: OptionGroup) -> Self {
        Self {
            id: group.id,
            name: group.name,
            min: group.min,
            max: group.max,
            options: group.options.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<MenuOption> for MenuOptionView {
    fn from(option: MenuOption) -> Self {
        Self {
            id: option.id,
            name: option.name,
            price: option.price,
            is_available: option.is_available,
            option_groups: option.option_groups.into_iter().map(Into::into).collect(),
        }
    }
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct MenuParams {
    /// The restaurant whose menu it is.
    #[param(rename = "restaurantId")]
    restaurant_id: String,
}

/// The menu of a restaurant on a platform.
#[utoipa::path(get, path = "/providers/{provider}/menus", tag = "Providers",
    params(("provider" = String, Path, description = "A platform key"), MenuParams),
    responses((status = 200, body = Data<MenuView>)))]
pub async fn get_menu(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(provider): Path<String>,
    query: Query,
) -> Result<Data<MenuView>, ApiError> {
    crate::flow::admin::integrations::platform(&provider)?;
    let restaurant = restaurant_id(query.required("restaurantId")?)?;
    let fetched = menu::fetch(&state.app, caller.account, restaurant, &provider).await?;
    Ok(Data::new(MenuView {
        provider,
        restaurant_id: restaurant,
        fetched_at: fetched.fetched_at,
        categories: fetched.menu.categories.iter().cloned().map(Into::into).collect(),
    }))
}
