//! The control panel: pages for the restaurant's people, made here as whole documents.
//!
//! Every action is a form, so that all of it works without script; the little script that there is adds the live parts.
//! Pages enter at `flow` like the API does. A page is a file: its routes, what it shows, and its handlers; its texts stand in
//! `words/`, in Turkish and English side by side, and its markup in `templates/`, built from the pieces of `parts.html`.

pub mod kit;
pub mod pages;
mod words;

pub use crate::panel::kit::error::not_found;
pub use crate::panel::kit::security_headers::protect_docs;

use crate::http::state::HttpState as Api;
use crate::panel::kit::frame::Place;
use axum::Router;
use axum::middleware::from_fn;
use std::sync::Arc;

/// What a page answers to.
type Routes = fn() -> Router<Arc<Api>>;

/// The pages, in the order in which the way to them is shown. A page adds itself here, and is served and found.
const PAGES: &[(Place, Routes)] = &[
    (Place::Board, pages::board::routes),
    (Place::Orders, pages::orders::routes),
    (Place::Restaurants, pages::restaurants::routes),
    (Place::Reports, pages::reports::routes),
    (Place::Payments, pages::payments::routes),
    (Place::Webhook, pages::webhook::routes),
    (Place::Keys, pages::keys::routes),
    (Place::Status, pages::status::routes),
    (Place::Sessions, pages::sessions::routes),
];

/// Every page.
pub fn router() -> Router<Arc<Api>> {
    let around = Router::new()
        .merge(pages::sign_in::routes())
        .merge(kit::lang::routes());
    PAGES
        .iter()
        .fold(around, |all, (_, routes)| all.merge(routes()))
        .route_layer(from_fn(kit::error::not_a_page))
        .route_layer(from_fn(kit::session_renewal::renew))
        .route_layer(from_fn(kit::compression::press))
        .merge(kit::assets::routes())
        .route_layer(from_fn(kit::security_headers::protect))
}
