//! Products that are likely the same on several platforms: a person decides.

use super::ids::product_id;
use crate::flow::Fault;
use crate::flow::admin::restaurants;
use crate::flow::products::links;
use crate::flow::products::list::ListedProduct;
use crate::flow::products::suggestions::{SuggestedPair, pairs};
use crate::http::state::HttpState;
use crate::panel::components::restaurant_header::{RestaurantHeader, Tab, products_layout, restaurant_id};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::field_problem;
use crate::panel::kit::format;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::ProductWords;
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use garson_core::store_control::Requester;
use std::sync::Arc;

/// Pairs on the page.
const LIMIT: usize = 30;

#[derive(Template)]
#[template(path = "product_suggestions.html")]
struct SuggestionsPage {
    layout: Layout,
    t: ProductWords,
    header: RestaurantHeader,
    pairs: Vec<PairView>,
    has_more: bool,
}

struct PairView {
    score: u32,
    one: SideView,
    other: SideView,
}

/// One of the two, as its platforms have it.
struct SideView {
    id: String,
    name: String,
    is_option: bool,
    items: Vec<ItemView>,
}

struct ItemView {
    key: String,
    provider: String,
    name: String,
    price: String,
}

impl SideView {
    fn new(layout: &Layout, listed: &ListedProduct) -> Self {
        let there = listed.items.iter().filter(|it| it.stored.gone_at.is_none());
        let item = |stored: &garson_core::product::ListedItem| ItemView {
            key: stored.key.provider.to_string(),
            provider: layout.provider(&stored.key.provider),
            name: stored.name.clone(),
            price: stored.price.map_or_else(String::new, |price| {
                format::short_money(layout.lang, price, stored.currency)
            }),
        };
        Self {
            id: listed.product.id.to_string(),
            name: listed.product.name.clone(),
            is_option: listed.product.is_option,
            items: there.map(|it| item(&it.stored.item)).collect(),
        }
    }
}

pub async fn list_suggestions(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let id = restaurant_id(&user, &id)?;
    let restaurant = restaurants::get(&api.app, user.account.id, id)
        .await
        .map_err(fail)?;
    let found = pairs(&api.app, user.account.id, id, LIMIT).await.map_err(fail)?;
    let layout = products_layout(&user, &restaurant);
    let view = |pair: &SuggestedPair| PairView {
        score: pair.score,
        one: SideView::new(&layout, &pair.product),
        other: SideView::new(&layout, &pair.other),
    };
    Ok(page(&SuggestionsPage {
        pairs: found.pairs.iter().map(view).collect(),
        has_more: found.has_more,
        header: RestaurantHeader::new(&user, &restaurant, Tab::Products),
        t: ProductWords::of(user.lang),
        layout,
    }))
}

/// The two are the same product.
pub async fn merge_products(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let t = ProductWords::of(user.lang);
    let (product, other) = (
        product_id(&user, fields.get("product"))?,
        product_id(&user, fields.get("other"))?,
    );
    match links::merge(&api.app, user.by(), id, product, other, Requester::Panel).await {
        Ok(_) => Ok(user.redirect_with_notice(&user.here, t.linked)),
        Err(Fault::Invalid { problem, .. }) => {
            Ok(user.redirect_with_error(&user.here, field_problem::text(user.lang, &problem)))
        }
        Err(fault) => Err(user.fail(fault)),
    }
}

/// The two are different products.
pub async fn keep_apart(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let (product, other) = (
        product_id(&user, fields.get("product"))?,
        product_id(&user, fields.get("other"))?,
    );
    let t = ProductWords::of(user.lang);
    match links::keep_apart(&api.app, user.by(), id, product, other, Requester::Panel).await {
        Ok(()) => Ok(user.redirect_with_notice(&user.here, t.kept_apart)),
        Err(Fault::Invalid { problem, .. }) => {
            Ok(user.redirect_with_error(&user.here, field_problem::text(user.lang, &problem)))
        }
        Err(fault) => Err(user.fail(fault)),
    }
}
