//! Menus of a restaurant: when they were read, their versions, and how they differ.

use super::envelope::Data;
use super::paging::Query;
use super::products::{Kind, ProductView};
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::restaurant_id;
use crate::flow::admin::integrations::platform;
use crate::flow::products::differences::{
    DayDifference, DayDifferences, DifferenceFilter, PlatformDifference, of_platforms, since,
};
use crate::flow::products::menus;
use crate::flow::products::menus::{MenuState, VersionSummary};
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::id::ProductId;
use garson_core::menu_difference::{DifferenceKind, Side};
use garson_core::money::Minor;
use garson_core::time::Timestamp;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

/// How long a client waits for menus that it wants to be read.
const WAIT: Duration = Duration::from_secs(10);
const DAY: Duration = Duration::from_secs(86_400);

/// What is known of the menu of a platform.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MenuStateView {
    provider: String,
    /// Can the platform's menu be read? Otherwise products come from orders and from what is entered.
    is_readable: bool,
    #[schema(value_type = Option<String>, format = DateTime)]
    read_at: Option<Timestamp>,
    /// Why the last read failed.
    message: Option<String>,
    /// It is being read, or will be at once.
    is_due: bool,
}

impl From<MenuState> for MenuStateView {
    fn from(state: MenuState) -> Self {
        Self {
            provider: state.provider.to_string(),
            is_readable: state.is_readable,
            read_at: state.read_at,
            message: state.message.map(|message| message.to_string()),
            is_due: state.is_due,
        }
    }
}

/// When the menus of a restaurant were read.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/menus", tag = "Products",
    params(("restaurantId" = String, Path)), responses((status = 200, body = Data<Vec<MenuStateView>>)))]
pub async fn list_menus(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Data<Vec<MenuStateView>>, ApiError> {
    let found = menus::states(&state.app, caller.account, restaurant_id(&restaurant)?).await?;
    Ok(Data::new(found.into_iter().map(Into::into).collect()))
}

/// Have the menus of a restaurant read now. Answers within ten seconds; what is still due continues in the background.
#[utoipa::path(post, path = "/restaurants/{restaurantId}/menus/read", tag = "Products",
    params(("restaurantId" = String, Path)), responses((status = 200, body = Data<Vec<MenuStateView>>)))]
pub async fn read_menus(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Data<Vec<MenuStateView>>, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    let found = menus::request_read(&state.app, caller.account, restaurant, WAIT).await?;
    Ok(Data::new(found.into_iter().map(Into::into).collect()))
}

/// A version of a menu: from when it was read until the next one.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MenuVersionView {
    number: i64,
    #[schema(value_type = String, format = DateTime)]
    read_at: Timestamp,
    products: i64,
}

impl From<VersionSummary> for MenuVersionView {
    fn from(version: VersionSummary) -> Self {
        Self {
            number: version.number,
            read_at: version.read_at,
            products: version.products,
        }
    }
}

/// The versions of a restaurant's menu on a platform, newest first. A version is kept when something has changed.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/menus/{provider}/versions", tag = "Products",
    params(("restaurantId" = String, Path), ("provider" = String, Path)),
    responses((status = 200, body = Data<Vec<MenuVersionView>>)))]
pub async fn list_menu_versions(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path((restaurant, provider)): Path<(String, String)>,
) -> Result<Data<Vec<MenuVersionView>>, ApiError> {
    let provider = platform(&provider)?.provider();
    let restaurant = restaurant_id(&restaurant)?;
    let found = menus::versions(&state.app, caller.account, restaurant, provider).await?;
    Ok(Data::new(found.into_iter().map(Into::into).collect()))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct DifferenceParams {
    /// Between the platforms now, or between two days.
    #[param(inline)]
    between: Between,
    /// With `days`: the time that is compared with now, a timestamp; 24 hours ago if it is left out.
    #[param(
        pattern = "^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$"
    )]
    since: Option<String>,
    /// Only this kind of difference.
    #[param(inline)]
    difference: Option<DifferenceWord>,
    /// Only products, or only options.
    #[param(inline)]
    kind: Option<Kind>,
    /// How many to answer; with `days` for each platform.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// With `platforms`: the next position, from `next` of an earlier answer.
    #[param(format = Uuid)]
    cursor: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code)]
enum Between {
    Platforms,
    Days,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code)]
enum DifferenceWord {
    Missing,
    Price,
    Name,
    Availability,
    Image,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Differences {
    /// With `between=platforms`.
    platforms: Option<PlatformDifferencesView>,
    /// With `between=days`: one for each platform whose menu is read.
    days: Option<Vec<DayDifferencesView>>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlatformDifferences)]
pub struct PlatformDifferencesView {
    differences: Vec<PlatformDifferenceView>,
    /// The cursor of the next page; null at the end.
    #[schema(value_type = Option<String>, format = Uuid)]
    next: Option<ProductId>,
}

/// A product that is not the same on all platforms.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlatformDifference)]
struct PlatformDifferenceView {
    product: ProductView,
    /// `missing`, `price`, `name`, `availability`, `image`.
    differences: Vec<&'static str>,
    /// The platforms that do not have it.
    missing_on: Vec<String>,
}

impl From<PlatformDifference> for PlatformDifferenceView {
    fn from(found: PlatformDifference) -> Self {
        Self {
            product: found.listed.into(),
            differences: found.kinds.into_iter().map(DifferenceKind::as_str).collect(),
            missing_on: found.missing_on.iter().map(ToString::to_string).collect(),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DayDifferences)]
pub struct DayDifferencesView {
    provider: String,
    /// When the earlier menu was read; null where there is none.
    #[schema(value_type = Option<String>, format = DateTime)]
    before: Option<Timestamp>,
    /// When the menu last changed.
    #[schema(value_type = String, format = DateTime)]
    after: Timestamp,
    differences: Vec<DayDifferenceView>,
    /// There are more than are listed.
    has_more: bool,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DayDifference)]
struct DayDifferenceView {
    #[schema(value_type = Option<String>, format = Uuid)]
    product_id: Option<ProductId>,
    /// `product` or `option`.
    kind: &'static str,
    item_id: String,
    /// `missing`, `price`, `name`, `availability`, `image`.
    differences: Vec<&'static str>,
    /// Null: it is new.
    before: Option<SideView>,
    /// Null: it is gone.
    after: Option<SideView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DifferenceSide)]
struct SideView {
    name: String,
    #[schema(value_type = Option<i64>)]
    price: Option<Minor>,
    available: Option<bool>,
    image_url: Option<String>,
}

impl From<Side> for SideView {
    fn from(side: Side) -> Self {
        Self {
            name: side.name,
            price: side.price,
            available: side.is_available,
            image_url: side.image_url,
        }
    }
}

impl From<DayDifference> for DayDifferenceView {
    fn from(found: DayDifference) -> Self {
        let changed = found.changed;
        Self {
            product_id: found.product,
            kind: if changed.key.is_option {
                "option"
            } else {
                "product"
            },
            item_id: changed.key.id,
            differences: changed.kinds.into_iter().map(DifferenceKind::as_str).collect(),
            before: changed.before.map(Into::into),
            after: changed.after.map(Into::into),
        }
    }
}

impl From<DayDifferences> for DayDifferencesView {
    fn from(found: DayDifferences) -> Self {
        Self {
            provider: found.provider.to_string(),
            before: found.before,
            after: found.after,
            differences: found.found.into_iter().map(Into::into).collect(),
            has_more: found.has_more,
        }
    }
}

fn wrong(name: &str, message: &str) -> ApiError {
    ApiError::invalid(Code::InvalidParameter, name, message)
}

fn filter(query: &Query) -> Result<DifferenceFilter, ApiError> {
    let kind = match query.get("difference")? {
        None => None,
        Some(word) => Some(DifferenceKind::named(word).ok_or_else(|| {
            wrong(
                "difference",
                "must be missing, price, name, availability or image",
            )
        })?),
    };
    let is_option = match query.get("kind")? {
        None => None,
        Some("product") => Some(false),
        Some("option") => Some(true),
        Some(_) => return Err(wrong("kind", "must be product or option")),
    };
    Ok(DifferenceFilter { kind, is_option })
}

/// How the menus of a restaurant differ: between its platforms, or since an earlier day.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/menu-differences", tag = "Products",
    params(("restaurantId" = String, Path), DifferenceParams), responses((status = 200, body = Data<Differences>)))]
pub async fn list_menu_differences(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    query: Query,
) -> Result<Data<Differences>, ApiError> {
    let (app, account) = (&state.app, caller.account);
    let filter = filter(&query)?;
    let limit = match query.get("limit")? {
        None => 50,
        Some(text) => text
            .parse::<usize>()
            .ok()
            .filter(|limit| (1..=200).contains(limit))
            .ok_or_else(|| wrong("limit", "must be a whole number from 1 to 200"))?,
    };
    let after = query
        .get("cursor")?
        .map(str::parse)
        .transpose()
        .map_err(|_| ApiError::invalid(Code::InvalidCursor, "cursor", "is not one that was given out"))?;
    let earlier = match query.get("since")? {
        None => app.now().minus(DAY),
        Some(text) => text
            .replace(' ', "+")
            .parse()
            .map_err(|_| wrong("since", "must be a timestamp such as 2026-03-01T12:00:00Z"))?,
    };
    let restaurant_id = restaurant_id(&restaurant)?;
    match query.required("between")? {
        "platforms" => {
            let page = of_platforms(app, account, restaurant_id, filter, after, limit).await?;
            let view = PlatformDifferencesView {
                differences: page.found.into_iter().map(Into::into).collect(),
                next: page.next,
            };
            Ok(Data::new(Differences {
                platforms: Some(view),
                days: None,
            }))
        }
        "days" => {
            let found = since(app, account, restaurant_id, filter, earlier, limit).await?;
            Ok(Data::new(Differences {
                platforms: None,
                days: Some(found.into_iter().map(Into::into).collect()),
            }))
        }
        _ => Err(wrong("between", "must be platforms or days")),
    }
}
