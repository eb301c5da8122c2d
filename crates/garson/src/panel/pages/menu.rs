//! A restaurant's menu on a platform.

use crate::flow::admin::menu::{FetchedMenu, fetch};
use crate::flow::admin::restaurants;
use crate::http::state::HttpState;
use crate::panel::components::restaurant_header::{RestaurantHeader, Tab, restaurant_id, restaurant_layout};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::Choice;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::words::MenuWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use axum::routing::get;
use garson_core::integration::Integration;
use garson_core::menu::{Category, OptionGroup, Product};
use garson_core::money::{Currency, Minor};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new().route("/restaurants/{id}/menu", get(show_menu))
}

#[derive(Template)]
#[template(path = "menu.html")]
struct MenuPage {
    layout: Layout,
    t: MenuWords,
    header: RestaurantHeader,
    /// The connected platforms that offer their menu.
    platforms: Vec<Choice>,
    menu: Option<MenuView>,
    /// Why the menu could not be read.
    problem: Option<String>,
}

struct MenuView {
    read_at: String,
    categories: Vec<CategoryView>,
}

struct CategoryView {
    name: String,
    is_available: bool,
    products: Vec<ProductView>,
}

struct ProductView {
    name: String,
    description: String,
    price: String,
    is_available: bool,
    options: Vec<OptionRow>,
}

/// A group of options, or one option.
struct OptionRow {
    depth: usize,
    name: String,
    is_group: bool,
    /// Of a group the number of choices, of an option the price.
    detail: String,
    is_available: bool,
}

/// Deeper options are indented no further.
const MAX_INDENT: usize = 6;

impl ProductView {
    fn new(layout: &Layout, t: &MenuWords, product: &Product) -> Self {
        let mut options = Vec::new();
        add_options(
            layout,
            t,
            &product.option_groups,
            product.currency,
            0,
            &mut options,
        );
        Self {
            name: product.name.clone(),
            description: product.description.clone().unwrap_or_default(),
            price: layout.money(&product.price, &product.currency),
            is_available: product.is_available,
            options,
        }
    }
}

fn add_options(
    layout: &Layout,
    t: &MenuWords,
    groups: &[OptionGroup],
    currency: Currency,
    depth: usize,
    rows: &mut Vec<OptionRow>,
) {
    for group in groups {
        rows.push(OptionRow {
            depth: depth.min(MAX_INDENT),
            name: group.name.clone(),
            is_group: true,
            detail: choice_count(t, group.min, group.max),
            is_available: true,
        });
        for option in &group.options {
            rows.push(OptionRow {
                depth: (depth + 1).min(MAX_INDENT),
                name: option.name.clone(),
                is_group: false,
                detail: match option.price {
                    Minor(0) => String::new(),
                    price => layout.money(&price, &currency),
                },
                is_available: option.is_available,
            });
            add_options(layout, t, &option.option_groups, currency, depth + 2, rows);
        }
    }
}

fn choice_count(t: &MenuWords, min: u32, max: u32) -> String {
    match (min, max) {
        (0, 0) => String::new(),
        (0, max) => format!("{} {max}", t.at_most),
        (min, max) if min == max => format!("{min} {}", t.choose),
        (min, 0) => format!("{} {min}", t.at_least),
        (min, max) => format!("{min}–{max} {}", t.choose),
    }
}

impl MenuView {
    fn new(layout: &Layout, t: &MenuWords, fetched: &FetchedMenu) -> Self {
        let category = |category: &Category| CategoryView {
            name: category.name.clone(),
            is_available: category.is_available,
            products: category
                .products
                .iter()
                .map(|product| ProductView::new(layout, t, product))
                .collect(),
        };
        Self {
            read_at: layout.timestamp(&fetched.fetched_at),
            categories: fetched.menu.categories.iter().map(category).collect(),
        }
    }
}

fn has_menu(integration: &&Integration) -> bool {
    garson_platforms::of(integration.provider).is_some_and(|platform| platform.capability().menu)
}

async fn show_menu(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let account = user.account.id;
    let restaurant = restaurants::get(&api.app, account, id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let (t, layout) = (MenuWords::of(user.lang), restaurant_layout(&user, &restaurant));
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let readable: Vec<&Integration> = restaurant.integrations.iter().filter(has_menu).collect();
    let named = readable
        .iter()
        .find(|it| it.provider.as_str() == params.get("platform"));
    let chosen = named.or_else(|| readable.first()).map(|it| it.provider);
    let platforms = readable
        .iter()
        .map(|it| {
            let name = layout.provider(&it.provider);
            Choice::new(it.provider.to_string(), name, Some(it.provider) == chosen)
        })
        .collect();
    let fetched = match chosen {
        Some(provider) => Some(fetch(&api.app, account, id, provider.as_str()).await),
        None => None,
    };
    let (menu, problem) = match fetched {
        None => (None, None),
        Some(Ok(fetched)) => (Some(MenuView::new(&layout, &t, &fetched)), None),
        Some(Err(fault)) => {
            let error = user.fail(fault);
            (
                None,
                Some(format!("{} {}: {}", t.failed, error.title, error.detail)),
            )
        }
    };
    Ok(page(&MenuPage {
        header: RestaurantHeader::new(&user, &restaurant, Tab::Menu),
        layout,
        t,
        platforms,
        menu,
        problem,
    }))
}
