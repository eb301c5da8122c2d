//! The list of restaurants.

use crate::flow::admin::{businesses, restaurants};
use crate::flow::platform_trouble::TroubleRule;
use crate::http::state::HttpState;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::words::RestaurantWords;
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use garson_core::id::RestaurantId;
use garson_core::restaurant::Restaurant;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "restaurants.html")]
struct RestaurantsPage {
    layout: Layout,
    t: RestaurantWords,
    restaurants: Vec<RestaurantRow>,
}

struct RestaurantRow {
    id: RestaurantId,
    name: String,
    /// Id and name.
    business: Option<(String, String)>,
    platforms: Vec<PlatformTag>,
}

struct PlatformTag {
    key: String,
    name: String,
    is_active: bool,
    is_in_trouble: bool,
}

pub async fn list_restaurants(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let account = user.account.id;
    let known = businesses::list(&api.app, account).await.map_err(fail)?;
    let mut found = restaurants::list(&api.app, account, None).await.map_err(fail)?;
    found.retain(|it| user.scope().has(it.id));
    let (layout, now) = (user.layout(NavItem::Restaurants), api.app.now());
    let rule = TroubleRule::of(&api.app);
    let row = |restaurant: Restaurant| RestaurantRow {
        id: restaurant.id,
        business: known
            .iter()
            .find(|business| Some(business.id) == restaurant.fields.business_id)
            .map(|business| (business.id.to_string(), business.fields.name.clone())),
        platforms: restaurant
            .integrations
            .iter()
            .map(|it| PlatformTag {
                key: it.provider.to_string(),
                name: layout.provider(&it.provider),
                is_active: it.is_active,
                is_in_trouble: rule.is_in_trouble(it, now),
            })
            .collect(),
        name: restaurant.fields.name,
    };
    Ok(page(&RestaurantsPage {
        restaurants: found.into_iter().map(row).collect(),
        t: RestaurantWords::of(user.lang),
        layout,
    }))
}
