//! The control panel: pages for the restaurant's people, made here as whole documents.
//!
//! Every action is a form, so that all of it works without script; the little script that there is adds the live parts.
//! Pages enter at `flow` like the API does. A page is a file: its routes, what it shows, and its handlers; its texts stand in
//! `words/`, in Turkish and English side by side, and its markup in `templates/`, built from the pieces of `parts.html`.

mod about;
mod assets;
mod board;
mod businesses;
mod card;
mod chart;
mod cookies;
mod csrf;
mod csv;
mod days;
mod delivery;
mod erase;
mod error;
mod explain;
mod fields;
mod flash;
mod form;
mod frame;
mod integrations;
mod keys;
mod lang;
mod matching;
mod menu;
mod names;
mod order;
mod orders;
mod packages;
mod paging;
mod payments;
mod press;
mod renew;
mod reports;
mod restaurants;
mod safety;
mod sessions;
mod show;
mod sign_in;
mod start;
mod status;
mod visitor;
mod webhook;
mod words;
mod wrong;

pub use error::not_found;
pub use safety::protect_docs;

use crate::api::Api;
use axum::Router;
use axum::middleware::from_fn;
use frame::Place;
use std::sync::Arc;

/// What a page answers to.
type Routes = fn() -> Router<Arc<Api>>;

/// The pages, in the order in which the way to them is shown. A page adds itself here, and is served and found.
const PAGES: &[(Place, Routes)] = &[
    (Place::Board, board::routes),
    (Place::Orders, orders::routes),
    (Place::Restaurants, restaurants::routes),
    (Place::Reports, reports::routes),
    (Place::Payments, payments::routes),
    (Place::Webhook, webhook::routes),
    (Place::Keys, keys::routes),
    (Place::Status, status::routes),
    (Place::Sessions, sessions::routes),
];

/// Every page.
pub fn router() -> Router<Arc<Api>> {
    let around = Router::new().merge(sign_in::routes()).merge(lang::routes());
    PAGES
        .iter()
        .fold(around, |all, (_, routes)| all.merge(routes()))
        .route_layer(from_fn(error::not_a_page))
        .route_layer(from_fn(renew::renew))
        .route_layer(from_fn(press::press))
        .merge(assets::routes())
        .route_layer(from_fn(safety::protect))
}
