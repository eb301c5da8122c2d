//! A restaurant's products on all platforms together: list, one product, links, and switching them on and off.

mod ids;
mod list;
mod one;
mod suggestions;
mod switch;

use crate::http::state::HttpState;
use axum::Router;
use axum::routing::{get, post};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    let all = "/restaurants/{id}/products";
    Router::new()
        .route(all, get(list::list_products))
        .route(&format!("{all}/switch"), post(switch::switch_products))
        .route(&format!("{all}/suggestions"), get(suggestions::list_suggestions))
        .route(&format!("{all}/merge"), post(suggestions::merge_products))
        .route(&format!("{all}/keep-apart"), post(suggestions::keep_apart))
        .route(&format!("{all}/{{product}}"), get(one::show_product))
        .route(&format!("{all}/{{product}}/link"), post(one::link_item))
        .route(
            &format!("{all}/{{product}}/unlink/{{provider}}"),
            post(one::unlink_item),
        )
}
