//! Style sheet and script: part of the program, under names that change with them.

use crate::http::state::HttpState as Api;
use crate::panel::kit::compression;
use axum::Router;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use flate2::Compression;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};
use std::sync::{Arc, LazyLock};

struct Asset {
    path: String,
    kind: &'static str,
    bytes: &'static [u8],
    pressed: Vec<u8>,
}

impl Asset {
    fn new(extension: &str, kind: &'static str, bytes: &'static [u8]) -> Self {
        let digest = Sha256::digest(bytes);
        let mark: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        Self {
            path: format!("/assets/panel-{mark}.{extension}"),
            kind,
            bytes,
            pressed: compression::gzip(bytes, Compression::best()).unwrap_or_default(),
        }
    }
}

static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let bytes = include_bytes!("../../../assets/panel.css");
    Asset::new("css", "text/css; charset=utf-8", bytes)
});
static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let bytes = include_bytes!("../../../assets/panel.js");
    Asset::new("js", "text/javascript; charset=utf-8", bytes)
});

/// Where the style sheet is.
pub fn style() -> &'static str {
    &STYLE.path
}

/// Where the script is.
pub fn script() -> &'static str {
    &SCRIPT.path
}

pub fn routes() -> Router<Arc<Api>> {
    Router::new().route("/assets/{name}", get(serve))
}

async fn serve(Path(name): Path<String>, asked: HeaderMap) -> Response {
    let wanted = format!("/assets/{name}");
    let found = [&*STYLE, &*SCRIPT].into_iter().find(|asset| asset.path == wanted);
    let Some(asset) = found else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::VARY, "accept-encoding"),
    ];
    if !compression::is_understood(&asked) || asset.pressed.is_empty() {
        return (headers, asset.bytes).into_response();
    }
    let mut response = (headers, asset.pressed.as_slice()).into_response();
    let kind = HeaderValue::from_static("gzip");
    response.headers_mut().insert(header::CONTENT_ENCODING, kind);
    response
}
