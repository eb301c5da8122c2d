//! Style sheet and script, embedded in the binary. Their names contain a hash, so browsers may cache them forever.

use super::strip_comments;
use crate::http::state::HttpState;
use axum::Router;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::{StatusCode, header};
use sha2::{Digest, Sha256};
use std::sync::{Arc, LazyLock};

struct Asset {
    path: String,
    content_type: &'static str,
    bytes: Bytes,
}

impl Asset {
    fn new(name: &str, extension: &str, content_type: &'static str, text: String) -> Self {
        let bytes = Bytes::from(text);
        let digest = Sha256::digest(&bytes);
        let hash: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        Self {
            path: format!("/assets/{name}-{hash}.{extension}"),
            content_type,
            bytes,
        }
    }
}

/// The files of the style sheet, in the order in which they apply.
pub(super) const STYLE_SOURCE: &str = concat!(
    include_str!("../../../assets/css/tokens.css"),
    include_str!("../../../assets/css/base.css"),
    include_str!("../../../assets/css/board.css"),
    include_str!("../../../assets/css/alarm.css"),
    include_str!("../../../assets/css/responsive.css"),
    include_str!("../../../assets/css/pages.css"),
    include_str!("../../../assets/css/print.css"),
    include_str!("../../../assets/css/notices.css"),
    include_str!("../../../assets/css/today.css"),
    include_str!("../../../assets/css/navigation.css"),
    include_str!("../../../assets/css/controls.css"),
    include_str!("../../../assets/css/stores.css"),
);

/// The files of the script.
const SCRIPT_SOURCE: &str = concat!(
    include_str!("../../../assets/js/device.js"),
    include_str!("../../../assets/js/alarm.js"),
    include_str!("../../../assets/js/actions.js"),
    include_str!("../../../assets/js/attention.js"),
    include_str!("../../../assets/js/board.js"),
    include_str!("../../../assets/js/board_notices.js"),
    include_str!("../../../assets/js/stores.js"),
    include_str!("../../../assets/js/wake_lock.js"),
    include_str!("../../../assets/js/shortcuts.js"),
    include_str!("../../../assets/js/installed_app.js"),
    include_str!("../../../assets/js/print.js"),
    include_str!("../../../assets/js/copy.js"),
    include_str!("../../../assets/js/menus.js"),
    include_str!("../../../assets/js/times.js"),
    include_str!("../../../assets/js/sold_out.js"),
);

/// What only pages of a restaurant's stores and products need; the board loads it with its first dialog of products.
pub(super) const PRODUCTS_STYLE_SOURCE: &str = concat!(
    include_str!("../../../assets/css/products.css"),
    include_str!("../../../assets/css/store_pages.css"),
);
const PRODUCTS_SOURCE: &str = concat!(
    include_str!("../../../assets/js/live_parts.js"),
    include_str!("../../../assets/js/products.js"),
);

/// What only users need who may not do everything.
pub(super) const ROLES_STYLE_SOURCE: &str = include_str!("../../../assets/css/roles.css");

/// What the book and the API reference share with the pages.
const COMMON_STYLE_SOURCE: &str = concat!(
    include_str!("../../../assets/css/tokens.css"),
    include_str!("../../../assets/css/base.css"),
    include_str!("../../../assets/css/responsive.css"),
    include_str!("../../../assets/css/pages.css"),
    include_str!("../../../assets/css/navigation.css"),
    include_str!("../../../assets/css/controls.css"),
);
const COPY_SOURCE: &str = include_str!("../../../assets/js/copy.js");
/// What only the book and the API reference need.
pub(super) const DOCS_STYLE_SOURCE: &str = concat!(
    include_str!("../../../assets/css/reference.css"),
    include_str!("../../../assets/css/book.css"),
);
const DOCS_SOURCE: &str = concat!(
    include_str!("../../../assets/js/reference.js"),
    include_str!("../../../assets/js/book.js"),
);

/// The script of tickets, which are pages of their own.
const TICKET_SOURCE: &str = include_str!("../../../assets/js/ticket.js");

const SCRIPT_TYPE: &str = "text/javascript; charset=utf-8";

fn style_of(name: &str, sources: &[&str]) -> Asset {
    let text = strip_comments::css(&sources.concat());
    Asset::new(name, "css", "text/css; charset=utf-8", text)
}

fn script_of(name: &str, sources: &[&str]) -> Asset {
    let text = strip_comments::javascript(&sources.concat());
    Asset::new(name, "js", SCRIPT_TYPE, text)
}

static STYLE: LazyLock<Asset> = LazyLock::new(|| style_of("panel", &[STYLE_SOURCE]));
static PRODUCTS_STYLE: LazyLock<Asset> = LazyLock::new(|| style_of("products", &[PRODUCTS_STYLE_SOURCE]));
static ROLES_STYLE: LazyLock<Asset> = LazyLock::new(|| style_of("roles", &[ROLES_STYLE_SOURCE]));
static PRODUCT_PAGES_STYLE: LazyLock<Asset> =
    LazyLock::new(|| style_of("panel-products", &[STYLE_SOURCE, PRODUCTS_STYLE_SOURCE]));
static DOCS_STYLE: LazyLock<Asset> =
    LazyLock::new(|| style_of("docs", &[COMMON_STYLE_SOURCE, DOCS_STYLE_SOURCE]));
static SCRIPT: LazyLock<Asset> = LazyLock::new(|| script_of("panel", &[SCRIPT_SOURCE]));
static PRODUCTS_SCRIPT: LazyLock<Asset> = LazyLock::new(|| script_of("products", &[PRODUCTS_SOURCE]));
static PRODUCT_PAGES_SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| script_of("panel-products", &[SCRIPT_SOURCE, PRODUCTS_SOURCE]));
static DOCS_SCRIPT: LazyLock<Asset> = LazyLock::new(|| script_of("docs", &[COPY_SOURCE, DOCS_SOURCE]));
static TICKET_SCRIPT: LazyLock<Asset> = LazyLock::new(|| script_of("ticket", &[TICKET_SOURCE]));

/// The path of the style sheet.
pub fn style() -> &'static str {
    &STYLE.path
}

/// The path of the style sheet for users who may not do everything.
pub fn roles_style() -> &'static str {
    &ROLES_STYLE.path
}

/// The path of the script.
pub fn script() -> &'static str {
    &SCRIPT.path
}

/// The paths of the style sheet and the script of pages of products.
pub fn product_pages() -> (&'static str, &'static str) {
    (&PRODUCT_PAGES_STYLE.path, &PRODUCT_PAGES_SCRIPT.path)
}

/// The paths of what these pages have more than others.
pub fn products() -> (&'static str, &'static str) {
    (&PRODUCTS_STYLE.path, &PRODUCTS_SCRIPT.path)
}

/// The paths of the style sheet and the script of the book and the API reference.
pub fn docs() -> (&'static str, &'static str) {
    (&DOCS_STYLE.path, &DOCS_SCRIPT.path)
}

/// The path of the script of tickets.
pub fn ticket_script() -> &'static str {
    &TICKET_SCRIPT.path
}

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new().route("/assets/{name}", get(serve_asset))
}

async fn serve_asset(Path(name): Path<String>) -> Response {
    let path = format!("/assets/{name}");
    let all = [
        &STYLE,
        &ROLES_STYLE,
        &PRODUCTS_STYLE,
        &PRODUCT_PAGES_STYLE,
        &DOCS_STYLE,
        &SCRIPT,
        &PRODUCTS_SCRIPT,
        &PRODUCT_PAGES_SCRIPT,
        &DOCS_SCRIPT,
        &TICKET_SCRIPT,
    ];
    let found = all.into_iter().find(|asset| asset.path == path);
    let Some(asset) = found else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, asset.bytes.clone()).into_response()
}
