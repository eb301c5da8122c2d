//! The control panel: server-rendered pages for restaurant staff.
//!
//! Every action is an HTML form, so everything works without JavaScript; the script only adds the live parts. Handlers call
//! `flow`, like the API does.
//!
//! - `words`: all texts, in Turkish and English side by side.
//! - `kit`: request and response plumbing: sessions, forms, errors, cookies, headers, formats.
//! - `components`: parts that several pages show; their markup is in `templates/components.html` or a template of their own.
//! - `pages`: one file or folder per page with its routes, its view and its handlers; the markup is in `templates/`.
//!
//! Imports point from later entries of this list to earlier ones.
//!
//! To add a page:
//!
//! 1. `pages/NAME.rs`: `routes()`, a template struct that holds `layout: Layout` and `t: NameWords`, and handlers that take
//!    `CurrentUser` (pages) or `UserForm` (posted forms) and call `flow`. Its routes go into `pages.rs`, and who may use
//!    them into the table of `kit/access.rs`; an entry of the menu
//!    is a `NavItem`.
//! 2. `words/NAME.rs`: its texts.
//! 3. `templates/NAME.html`: extends `layout.html` and uses the macros of `components.html` and the classes that
//!    `docs/design.md` lists. Never mark input `|safe`; there is no inline script or style.
//! 4. Its path in `tests/suite/panel/every_page.rs`, which checks every page, and tests of its own.
//!
//! Handlers answer with `user.redirect_with_notice(path, text)`, `user.redirect_with_error(path, text)` or `user.fail(fault)`.

mod components;
pub mod kit;
pub mod pages;
mod words;

pub use crate::panel::kit::fallback::not_found;
pub use crate::panel::kit::security_headers::protect_docs;

use crate::http::state::HttpState;
use axum::Router;
use axum::middleware::from_fn;
use std::sync::Arc;

/// The book and the API reference with their assets, for the address of operators.
pub fn docs_routes() -> Router<Arc<HttpState>> {
    pages::docs_routes()
        .merge(kit::assets::routes())
        .route_layer(kit::compression::layer())
        .route_layer(from_fn(kit::security_headers::protect))
}

/// Every page and asset.
pub fn router() -> Router<Arc<HttpState>> {
    pages::routes()
        .route_layer(from_fn(kit::fallback::method_not_allowed))
        .route_layer(from_fn(kit::session_renewal::renew_cookie))
        .merge(kit::assets::routes())
        .route_layer(kit::compression::layer())
        .route_layer(from_fn(kit::security_headers::protect))
}
