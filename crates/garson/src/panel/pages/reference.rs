//! The API reference, at `/docs/api/`: one page, rendered from the OpenAPI document at the first request.
//!
//! It is open to everyone, like the document itself, and in English like it.

mod curl;
mod model;
mod schema;
mod text;

use super::book::navigation::Navigation;
use crate::api::openapi;
use crate::http::state::HttpState;
use crate::panel::kit::assets;
use crate::panel::kit::https::is_https;
use crate::panel::words::Lang;
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use http::{HeaderMap, StatusCode, header};
use model::Reference;
use std::sync::{Arc, OnceLock};

/// What is shown where the request names no usable host.
const UNKNOWN_SERVER: &str = "https://YOUR-SERVER";
/// Names are at most this long, with a port.
const MAX_HOST: usize = 262;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/docs/api", get(async || Redirect::to("/docs/api/")))
        .route("/docs/api/", get(show_reference))
}

#[derive(Template)]
#[template(path = "reference.html")]
struct ReferencePage {
    reference: Reference,
    navigation: Navigation,
    server: &'static str,
    style: &'static str,
    script: &'static str,
}

/// The page, split where the address of the server belongs.
type Parts = Vec<String>;

async fn show_reference(State(state): State<Arc<HttpState>>, headers: HeaderMap) -> Response {
    static PAGE: OnceLock<Option<Parts>> = OnceLock::new();
    // Reading the document takes a while the first time.
    let rendered = tokio::task::spawn_blocking(|| PAGE.get_or_init(render)).await;
    match rendered {
        Ok(Some(parts)) => {
            let public_url = state.app.settings.public_url.trim_end_matches('/');
            let server = match public_url {
                "" => server(&headers),
                known => escaped(known),
            };
            Html(parts.join(&server)).into_response()
        }
        _ => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The operator's address as a part of the page.
fn escaped(url: &str) -> String {
    url.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

fn render() -> Option<Parts> {
    let (style, script) = assets::docs();
    let page = ReferencePage {
        reference: Reference::read(&openapi::document()),
        navigation: Navigation::of(Lang::En),
        server: curl::SERVER,
        style,
        script,
    };
    match page.render() {
        Ok(text) => Some(text.split(curl::SERVER).map(str::to_owned).collect()),
        Err(error) => {
            tracing::error!(%error, "could not render the API reference");
            None
        }
    }
}

/// The address by which the browser has reached this server. The host comes from the client, so nothing but names, addresses
/// and ports is repeated.
fn server(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let is_plain = |host: &&str| {
        let mut bytes = host.bytes();
        (1..=MAX_HOST).contains(&host.len())
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
    };
    let Some(host) = host.filter(is_plain) else {
        return UNKNOWN_SERVER.to_owned();
    };
    let scheme = if is_https(headers) { "https" } else { "http" };
    format!("{scheme}://{host}")
}

#[cfg(test)]
mod tests;
