//! A restaurant's menu on a platform, as it is read from there.

use crate::flow::admin::menu::{FetchedMenu, fetch};
use crate::flow::admin::restaurants;
use crate::http::state::HttpState as Api;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::fields::Fields;
use crate::panel::kit::form::Choice;
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::restaurant_header::{About, Tab, restaurant_id};
use crate::panel::kit::visitor::Visitor;
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

pub fn routes() -> Router<Arc<Api>> {
    Router::new().route("/restaurants/{id}/menu", get(show_menu))
}

#[derive(Template)]
#[template(path = "menu.html")]
struct MenuPage {
    frame: Frame,
    t: MenuWords,
    about: About,
    /// The platforms whose menu can be read.
    platforms: Vec<Choice>,
    menu: Option<ShownMenu>,
    /// Why there is none.
    problem: Option<String>,
}

struct ShownMenu {
    read_at: String,
    categories: Vec<ShownCategory>,
}

struct ShownCategory {
    name: String,
    is_available: bool,
    products: Vec<ShownProduct>,
}

struct ShownProduct {
    name: String,
    description: String,
    price: String,
    is_available: bool,
    options: Vec<Line>,
}

/// A group of options, or one of its options, so many steps in.
struct Line {
    depth: usize,
    name: String,
    is_group: bool,
    /// How many may be chosen, or what it costs.
    more: String,
    is_available: bool,
}

/// Deeper ones are shown as deep as this.
const DEEPEST: usize = 6;

impl ShownProduct {
    fn new(frame: &Frame, t: &MenuWords, product: &Product) -> Self {
        let mut options = Vec::new();
        lines(
            frame,
            t,
            &product.option_groups,
            product.currency,
            0,
            &mut options,
        );
        Self {
            name: product.name.clone(),
            description: product.description.clone().unwrap_or_default(),
            price: frame.money(&product.price, &product.currency),
            is_available: product.is_available,
            options,
        }
    }
}

fn lines(
    frame: &Frame,
    t: &MenuWords,
    groups: &[OptionGroup],
    currency: Currency,
    depth: usize,
    into: &mut Vec<Line>,
) {
    for group in groups {
        into.push(Line {
            depth: depth.min(DEEPEST),
            name: group.name.clone(),
            is_group: true,
            more: how_many(t, group.min, group.max),
            is_available: true,
        });
        for option in &group.options {
            into.push(Line {
                depth: (depth + 1).min(DEEPEST),
                name: option.name.clone(),
                is_group: false,
                more: match option.price {
                    Minor(0) => String::new(),
                    price => frame.money(&price, &currency),
                },
                is_available: option.is_available,
            });
            lines(frame, t, &option.option_groups, currency, depth + 2, into);
        }
    }
}

fn how_many(t: &MenuWords, min: u32, max: u32) -> String {
    match (min, max) {
        (0, 0) => String::new(),
        (0, max) => format!("{} {max}", t.at_most),
        (min, max) if min == max => format!("{min} {}", t.choose),
        (min, 0) => format!("{} {min}", t.at_least),
        (min, max) => format!("{min}–{max} {}", t.choose),
    }
}

impl ShownMenu {
    fn new(frame: &Frame, t: &MenuWords, fetched: &FetchedMenu) -> Self {
        let category = |category: &Category| ShownCategory {
            name: category.name.clone(),
            is_available: category.is_available,
            products: category
                .products
                .iter()
                .map(|product| ShownProduct::new(frame, t, product))
                .collect(),
        };
        Self {
            read_at: frame.moment(&fetched.fetched_at),
            categories: fetched.menu.categories.iter().map(category).collect(),
        }
    }
}

fn has_menu(integration: &&Integration) -> bool {
    garson_platforms::of(integration.provider).is_some_and(|platform| platform.capability().menu)
}

async fn show_menu(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&visitor, &id)?;
    let account = visitor.account.id;
    let restaurant = restaurants::get(&api.app, account, id)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let (t, frame) = (
        MenuWords::of(visitor.lang),
        Frame::new(&visitor, Place::Restaurants),
    );
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    let readable: Vec<&Integration> = restaurant.integrations.iter().filter(has_menu).collect();
    let named = readable
        .iter()
        .find(|it| it.provider.as_str() == asked.get("platform"));
    let chosen = named.or_else(|| readable.first()).map(|it| it.provider);
    let platforms = readable
        .iter()
        .map(|it| {
            let name = frame.provider(&it.provider);
            Choice::new(it.provider.to_string(), name, Some(it.provider) == chosen)
        })
        .collect();
    let fetched = match chosen {
        Some(provider) => Some(fetch(&api.app, account, id, provider.as_str()).await),
        None => None,
    };
    let (menu, problem) = match fetched {
        None => (None, None),
        Some(Ok(fetched)) => (Some(ShownMenu::new(&frame, &t, &fetched)), None),
        // The platform's trouble is no reason to show nothing else.
        Some(Err(fault)) => {
            let error = visitor.fail(fault);
            (
                None,
                Some(format!("{} {}: {}", t.failed, error.title, error.detail)),
            )
        }
    };
    Ok(page(&MenuPage {
        about: About::new(&visitor, &restaurant, Tab::Menu),
        frame,
        t,
        platforms,
        menu,
        problem,
    }))
}
