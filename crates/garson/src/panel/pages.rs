//! The pages, one file or folder each. A new page adds its routes here; one of the menu also adds a `NavItem`.

mod account;
mod attention;
mod audit;
mod board;
mod board_actions;
mod board_stores;
mod book;
mod businesses;
mod catalogs;
#[cfg(debug_assertions)]
mod component_list;
mod endpoints;
mod entry;
mod escalation;
mod installed_app;
mod integrations;
mod keys;
mod language;
mod matching;
mod menu;
mod menu_differences;
mod notices;
mod openid;
mod order;
mod order_products;
mod orders;
mod packages;
mod payments;
mod prices;
mod printing;
mod privacy;
mod products;
mod reference;
mod reports;
mod requests;
mod restaurants;
mod sessions;
mod sign_in;
mod status;
mod store;
mod today;
mod users;
mod webhook;

use crate::http::state::HttpState;
use axum::Router;
use std::sync::Arc;

/// The routes of the book and the API reference alone.
pub fn docs_routes() -> Router<Arc<HttpState>> {
    book::routes().merge(reference::routes())
}

/// The routes of every page.
pub fn routes() -> Router<Arc<HttpState>> {
    let routes = Router::new();
    #[cfg(debug_assertions)]
    let routes = routes.merge(component_list::routes());
    routes
        .merge(sign_in::routes())
        .merge(openid::routes())
        .merge(entry::routes())
        .merge(language::routes())
        .merge(installed_app::routes())
        .merge(attention::routes())
        .merge(board::routes())
        .merge(board_actions::routes())
        .merge(board_stores::routes())
        .merge(orders::routes())
        .merge(order::routes())
        .merge(printing::routes())
        .merge(restaurants::routes())
        .merge(businesses::routes())
        .merge(integrations::routes())
        .merge(packages::routes())
        .merge(matching::routes())
        .merge(menu::routes())
        .merge(products::routes())
        .merge(prices::routes())
        .merge(catalogs::routes())
        .merge(menu_differences::routes())
        .merge(order_products::routes())
        .merge(escalation::routes())
        .merge(store::routes())
        .merge(endpoints::routes())
        .merge(notices::routes())
        .merge(today::routes())
        .merge(reports::routes())
        .merge(payments::routes())
        .merge(webhook::routes())
        .merge(keys::routes())
        .merge(status::routes())
        .merge(sessions::routes())
        .merge(account::routes())
        .merge(users::routes())
        .merge(audit::routes())
        .merge(requests::routes())
        .merge(privacy::routes())
        .merge(docs_routes())
}
