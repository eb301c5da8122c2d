//! One product: its state and its items on each platform, links, and its price.

use super::ids::product_id;
use crate::flow::Fault;
use crate::flow::admin::integrations::platform;
use crate::flow::admin::restaurants;
use crate::flow::products::availability::{end_of_day, tomorrows_opening};
use crate::flow::products::list::{ItemState, ListRequest, ListedProduct};
use crate::flow::products::{links, list};
use crate::http::state::HttpState;
use crate::panel::components::product_row::{PlatformLine, ProductRow, RowOptions};
use crate::panel::components::restaurant_header::{RestaurantHeader, Tab, products_layout, restaurant_id};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::field_problem;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::local_time;
use crate::panel::kit::short_id::ShortId;
use crate::panel::kit::time_ago::TimeAgo;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::{PriceWords, ProductWords};
use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use garson_core::id::{ProductId, RestaurantId};
use garson_core::platform::Provider;
use garson_core::restaurant::{Config, Restaurant};
use garson_core::store_control::Requester;
use garson_core::time::Timestamp;
use garson_store::tables::platform_items::ItemSource;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Products that can be chosen to be linked.
const CANDIDATES: usize = 20;
const MAX_SEARCH: usize = 100;
const MAX_CODE: usize = 200;

#[derive(Template)]
#[template(path = "product.html")]
struct ProductPage {
    layout: Layout,
    t: ProductWords,
    p: PriceWords,
    header: RestaurantHeader,
    id: String,
    name: String,
    row: ProductRow,
    until: Field,
    items: Vec<ItemView>,
    suggestions: Vec<Candidate>,
    /// What was searched to be linked, and what was found.
    search: String,
    candidates: Option<Vec<Candidate>>,
    /// Platforms whose items are entered by their codes.
    code_platforms: Option<Field>,
    price: Option<PriceForm>,
}

/// An item of a platform.
struct ItemView {
    key: String,
    provider: String,
    name: String,
    item_id: ShortId,
    state: PlatformLine,
    is_gone: bool,
    source: &'static str,
    is_manual: bool,
    checked: TimeAgo,
}

/// Another product that may be the same.
struct Candidate {
    id: String,
    name: String,
    /// The platforms that have it, or how alike they are.
    detail: String,
}

struct PriceForm {
    amount: Field,
    platforms: Vec<Field>,
}

pub async fn show_product(
    State(api): State<Arc<HttpState>>,
    Path((id, product)): Path<(String, String)>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let id = restaurant_id(&user, &id)?;
    let product = product_id(&user, &product)?;
    let (app, account) = (&api.app, user.account.id);
    let restaurant = restaurants::get(app, account, id).await.map_err(fail)?;
    let listed = list::get(app, account, id, product).await.map_err(fail)?;
    let opening = tomorrows_opening(app, account, id).await.map_err(fail)?;
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let search: String = params.get("link").chars().take(MAX_SEARCH).collect();
    let layout = products_layout(&user, &restaurant);
    let candidates = if search.is_empty() {
        None
    } else {
        Some(candidates(&api, &user, &layout, id, &listed, &search).await?)
    };
    let (t, p, now) = (ProductWords::of(user.lang), PriceWords::of(user.lang), app.now());
    let options = RowOptions {
        has_box: false,
        has_opening: opening.is_some(),
    };
    let config = Config::read(restaurant.fields.config.as_deref()).unwrap_or_default();
    let day_ends = end_of_day(&config, None, now);
    let suggestion = |it: &list::SuggestedProduct| Candidate {
        id: it.id.to_string(),
        name: it.name.clone(),
        detail: format!("{}: %{}", t.alike, it.score),
    };
    let item = |it| ItemView::new(&layout, &t, it, now);
    Ok(page(&ProductPage {
        header: RestaurantHeader::new(&user, &restaurant, Tab::Products),
        id: product.to_string(),
        name: listed.product.name.clone(),
        row: ProductRow::new(&layout, id, &listed, options, now),
        until: Field::new("until", t.until, FieldKind::Input("datetime-local"))
            .value(local_time::write(&layout.zone, day_ends))
            .hint(t.until_hint),
        items: listed.items.iter().map(item).collect(),
        suggestions: listed.suggestions.iter().map(suggestion).collect(),
        code_platforms: code_platforms(&layout, &t, &restaurant, &listed),
        price: price_form(&layout, &p, &listed),
        search,
        candidates,
        layout,
        t,
        p,
    }))
}

impl ItemView {
    fn new(layout: &Layout, t: &ProductWords, it: &ItemState, now: Timestamp) -> Self {
        let stored = &it.stored;
        Self {
            key: stored.item.key.provider.to_string(),
            provider: layout.provider(&stored.item.key.provider),
            name: stored.item.name.clone(),
            item_id: ShortId::new(&stored.item.key.id),
            state: PlatformLine::new(layout, t, it, now),
            is_gone: stored.gone_at.is_some(),
            source: match stored.source {
                ItemSource::Menu => t.by_menu,
                ItemSource::Order => t.by_order,
                ItemSource::Manual => t.by_hand,
            },
            is_manual: stored.is_manual,
            checked: layout.time_ago(&stored.available_at),
        }
    }
}

fn providers(listed: &ListedProduct) -> BTreeSet<Provider> {
    let there = listed.items.iter().filter(|it| it.stored.gone_at.is_none());
    there.map(|it| it.stored.item.key.provider).collect()
}

/// Products of the name that no platform has besides this one.
async fn candidates(
    api: &HttpState,
    user: &CurrentUser,
    layout: &Layout,
    restaurant: RestaurantId,
    listed: &ListedProduct,
    search: &str,
) -> Result<Vec<Candidate>, PanelError> {
    let request = ListRequest {
        search: Some(search.to_owned()),
        is_option: Some(listed.product.is_option),
        limit: 5 * CANDIDATES,
        ..ListRequest::default()
    };
    let found = list::list(&api.app, user.account.id, restaurant, request)
        .await
        .map_err(|fault| user.fail(fault))?;
    let own = providers(listed);
    let can_be = |it: &&ListedProduct| it.product.id != listed.product.id && own.is_disjoint(&providers(it));
    let candidate = |it: &ListedProduct| {
        let names: Vec<String> = providers(it)
            .iter()
            .map(|provider| layout.provider(provider))
            .collect();
        Candidate {
            id: it.product.id.to_string(),
            name: it.product.name.clone(),
            detail: names.join(", "),
        }
    };
    let fitting = found.products.iter().filter(can_be).take(CANDIDATES);
    Ok(fitting.map(candidate).collect())
}

/// The connected platforms that do not have the product, as far as is known, and whose menus cannot be read.
fn code_platforms(
    layout: &Layout,
    t: &ProductWords,
    restaurant: &Restaurant,
    listed: &ListedProduct,
) -> Option<Field> {
    let own = providers(listed);
    let is_entered = |provider: Provider| {
        let platform = garson_platforms::of(provider);
        platform.is_some_and(|it| !it.capability().menu) && !own.contains(&provider)
    };
    let choices: Vec<Choice> = restaurant
        .integrations
        .iter()
        .filter(|it| is_entered(it.provider))
        .map(|it| Choice::new(it.provider.to_string(), layout.provider(&it.provider), false))
        .collect();
    (!choices.is_empty()).then(|| Field::new("provider", t.platform, FieldKind::Select(choices)))
}

fn price_form(layout: &Layout, p: &PriceWords, listed: &ListedProduct) -> Option<PriceForm> {
    let platforms: Vec<Field> = providers(listed)
        .into_iter()
        .map(|provider| {
            let name = format!("on.{provider}");
            Field::new(name, layout.provider(&provider), FieldKind::Checkbox(true))
        })
        .collect();
    (!platforms.is_empty()).then(|| PriceForm {
        amount: Field::text("price", p.new_price)
            .hint(p.price_hint)
            .required()
            .length(0, 20),
        platforms,
    })
}

fn path(restaurant: RestaurantId, product: ProductId) -> String {
    format!("/restaurants/{restaurant}/products/{product}")
}

/// Links an item by the code that it has on a platform whose menu cannot be read.
pub async fn link_item(
    State(api): State<Arc<HttpState>>,
    Path((id, product)): Path<(String, String)>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let product = product_id(&user, &product)?;
    let t = ProductWords::of(user.lang);
    let provider = platform(fields.get("provider")).map_err(|fault| user.fail(fault))?;
    let code: String = fields.get("itemId").chars().take(MAX_CODE).collect();
    if code.is_empty() {
        return Ok(user.redirect_with_error(&path(id, product), t.link_code));
    }
    let to = (provider.provider(), code);
    match links::link(&api.app, user.by(), id, product, to, Requester::Panel).await {
        Ok(_) => Ok(user.redirect_with_notice(&path(id, product), t.linked)),
        Err(Fault::Invalid { problem, .. }) => {
            Ok(user.redirect_with_error(&path(id, product), field_problem::text(user.lang, &problem)))
        }
        Err(fault @ Fault::NotConnected { .. }) => {
            Ok(user.redirect_with_error(&path(id, product), user.fail(fault).text()))
        }
        Err(fault) => Err(user.fail(fault)),
    }
}

pub async fn unlink_item(
    State(api): State<Arc<HttpState>>,
    Path((id, product, provider)): Path<(String, String, String)>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let product = product_id(&user, &product)?;
    let provider = platform(&provider).map_err(|fault| user.fail(fault))?.provider();
    links::unlink(&api.app, user.by(), id, product, provider, Requester::Panel)
        .await
        .map_err(|fault| user.fail(fault))?;
    let t = ProductWords::of(user.lang);
    Ok(user.redirect_with_notice(&path(id, product), t.unlinked))
}
