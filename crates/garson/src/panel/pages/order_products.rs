//! The products of an order, to be marked as sold out from its card. The board shows the page in a dialog.

use crate::flow::admin::restaurants;
use crate::flow::products::availability::tomorrows_opening;
use crate::flow::products::ordered;
use crate::flow::products::ordered::OrderedProduct;
use crate::http::state::HttpState;
use crate::panel::components::product_row::{ProductRow, RowOptions};
use crate::panel::components::restaurant_header::{Tab, products_layout};
use crate::panel::kit::assets;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, fragment, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::paging::url;
use crate::panel::kit::redirect::safe_path;
use crate::panel::words::ProductWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use axum::routing::get;
use garson_core::id::RestaurantId;
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new().route("/board/orders/{id}/products", get(list_order_products))
}

#[derive(Template)]
#[template(path = "order_products.html")]
struct OrderProductsPage {
    layout: Layout,
    t: ProductWords,
    list: OrderProducts,
    back: String,
}

/// The part that the board shows in a dialog.
#[derive(Template)]
#[template(path = "order_products_list.html")]
struct OrderProducts {
    layout: Layout,
    t: ProductWords,
    restaurant: RestaurantId,
    code: String,
    lines: Vec<Line>,
    /// Some of them are being added to the list of products.
    is_behind: bool,
    is_in_dialog: bool,
    all_products: String,
    /// The paths of style sheet and script that the board has not loaded yet.
    assets: (&'static str, &'static str),
}

enum Line {
    Known(Box<ProductRow>),
    /// What was ordered is not in the list of products.
    Unknown {
        name: String,
        is_option: bool,
        search: String,
    },
}

async fn list_order_products(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let (app, account) = (&api.app, user.account.id);
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let found = ordered::of_order(app, account, id).await.map_err(fail)?;
    let order = found.order;
    let restaurant = restaurants::get(app, account, order.restaurant_id)
        .await
        .map_err(fail)?;
    let opening = tomorrows_opening(app, account, restaurant.id)
        .await
        .map_err(fail)?;
    let mut layout = products_layout(&user, &restaurant);
    layout.nav_item = NavItem::Board;
    let products = Tab::Products.path(restaurant.id);
    let options = RowOptions {
        has_box: false,
        has_opening: opening.is_some(),
    };
    let line = |it: OrderedProduct| match it.product {
        Some(listed) => Line::Known(Box::new(ProductRow::new(
            &layout,
            restaurant.id,
            &listed,
            options,
            app.now(),
        ))),
        None => Line::Unknown {
            search: url(&products, &[("q", &it.name)]),
            name: it.name,
            is_option: it.is_option,
        },
    };
    let part = OrderProducts {
        lines: found.found.into_iter().map(line).collect(),
        layout: products_layout(&user, &restaurant),
        is_behind: found.is_behind,
        t: ProductWords::of(user.lang),
        restaurant: restaurant.id,
        code: order.short_code.unwrap_or(order.provider_order_id),
        is_in_dialog: user.wants_fragment,
        all_products: products,
        assets: assets::products(),
    };
    if user.wants_fragment {
        return Ok(fragment(&part));
    }
    Ok(page(&OrderProductsPage {
        layout,
        t: part.t,
        list: part,
        back: safe_path(params.get("back")).to_owned(),
    }))
}
