//! What makes the panel installable: manifest, icons, service worker, and the page that is shown without a connection.

use crate::http::state::HttpState;
use crate::panel::kit::cookies;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::words::{BoardToolWords, Lang, LayoutWords, OfflineWords};
use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderMap, StatusCode, header};
use serde_json::json;
use std::sync::Arc;

const SERVICE_WORKER: &str = include_str!("../../../assets/app/service-worker.js");

/// Name, content type and bytes.
const ICONS: [(&str, &str, &[u8]); 5] = [
    (
        "icon.svg",
        "image/svg+xml",
        include_bytes!("../../../assets/app/icon.svg"),
    ),
    (
        "icon-192.png",
        "image/png",
        include_bytes!("../../../assets/app/icon-192.png"),
    ),
    (
        "icon-512.png",
        "image/png",
        include_bytes!("../../../assets/app/icon-512.png"),
    ),
    (
        "maskable-512.png",
        "image/png",
        include_bytes!("../../../assets/app/maskable-512.png"),
    ),
    (
        "touch-180.png",
        "image/png",
        include_bytes!("../../../assets/app/touch-180.png"),
    ),
];

/// Browsers fetch these without a session.
pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/manifest.webmanifest", get(show_manifest))
        .route("/service-worker.js", get(show_service_worker))
        .route("/offline", get(show_offline))
        .route("/icons/{name}", get(show_icon))
}

#[derive(Template)]
#[template(path = "offline.html")]
struct OfflinePage {
    layout: Layout,
    t: OfflineWords,
}

/// The language of the query: these are fetched without cookies.
fn lang(headers: &HeaderMap, query: Option<String>) -> Lang {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    Lang::from_code(params.get("lang")).unwrap_or_else(|| cookies::lang(headers))
}

async fn show_offline(headers: HeaderMap, RawQuery(query): RawQuery) -> Response {
    let lang = lang(&headers, query);
    page(&OfflinePage {
        layout: Layout::bare(lang),
        t: OfflineWords::of(lang),
    })
}

async fn show_manifest(headers: HeaderMap, RawQuery(query): RawQuery) -> Response {
    let lang = lang(&headers, query);
    let (t, w, l) = (
        OfflineWords::of(lang),
        BoardToolWords::of(lang),
        LayoutWords::of(lang),
    );
    let icon = |name: &str, size: &str, purpose: &str| {
        let kind = if size == "any" {
            "image/svg+xml"
        } else {
            "image/png"
        };
        json!({ "src": format!("/icons/{name}"), "sizes": size, "type": kind, "purpose": purpose })
    };
    let manifest = json!({
        "id": "/",
        "name": t.app_name,
        "short_name": t.app_name,
        "description": t.app_description,
        "lang": lang.code(),
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#f7f5f2",
        "theme_color": "#0b5870",
        "icons": [
            icon("icon-192.png", "192x192", "any"),
            icon("icon-512.png", "512x512", "any"),
            icon("maskable-512.png", "512x512", "maskable"),
            icon("icon.svg", "any", "any"),
        ],
        "shortcuts": [
            { "name": l.board, "url": "/" },
            { "name": w.kitchen, "url": "/kitchen" },
            { "name": l.orders, "url": "/orders" },
        ],
    });
    let headers = [
        (header::CONTENT_TYPE, "application/manifest+json"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
    ];
    (headers, manifest.to_string()).into_response()
}

async fn show_service_worker() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, SERVICE_WORKER).into_response()
}

async fn show_icon(Path(name): Path<String>) -> Response {
    let Some((_, kind, bytes)) = ICONS.into_iter().find(|(known, ..)| *known == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "public, max-age=86400"),
    ];
    (headers, bytes).into_response()
}
