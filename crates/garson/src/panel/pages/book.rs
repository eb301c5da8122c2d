//! The book: the documentation for readers, in Turkish and English, at `/docs/`.
//!
//! - `contents`: the list of its pages, in order, with their Markdown.
//! - `generated`: what is written from the code: platforms, error codes, settings, reasons of undelivered events.
//! - `markdown`: Markdown to HTML, and to the sections that the search finds.
//! - `navigation`: the list beside every page, also beside the API reference.
//!
//! A page is rendered at each request and not kept: it takes less than a millisecond, and few are read. It is open to everyone.

pub(super) mod contents;
mod delivery_advice;
mod error_advice;
mod generated;
mod markdown;
pub(super) mod navigation;
mod settings_list;
mod settings_turkish;

use crate::http::state::HttpState;
use crate::panel::kit::{assets, cookies, fallback};
use crate::panel::words::{BookWords, Lang};
use askama::Template;
use axum::Router;
use axum::extract::{Path, Request};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use contents::{PAGES, Page};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use markdown::Rendered;
use navigation::Navigation;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/docs", get(async || Redirect::to("/docs/")))
        .route("/docs/", get(show_first_page))
        .route("/docs/{lang}", get(find_first_page))
        .route("/docs/{lang}/", get(find_first_page))
        .route("/docs/{lang}/search.json", get(show_search_index))
        .route("/docs/{lang}/{page}", get(show_page))
}

#[derive(Template)]
#[template(path = "book.html")]
struct BookPage {
    lang: Lang,
    t: BookWords,
    page: &'static Page,
    navigation: Navigation,
    content: String,
    previous: Option<&'static Page>,
    next: Option<&'static Page>,
    style: &'static str,
    script: &'static str,
}

/// The page at `/docs/`, in the language that the panel has for this browser.
async fn show_first_page(headers: HeaderMap) -> Response {
    let lang = cookies::lang(&headers);
    let mut response = PAGES
        .first()
        .map_or_else(not_rendered, |page| answer_page(&headers, lang, page));
    let vary = HeaderValue::from_static("cookie");
    response.headers_mut().append(header::VARY, vary);
    response
}

async fn find_first_page(Path(lang): Path<String>, request: Request) -> Response {
    match (Lang::from_code(&lang), PAGES.first()) {
        (Some(lang), Some(page)) => Redirect::to(&page.path(lang)).into_response(),
        _ => fallback::not_found(request).await,
    }
}

async fn show_page(Path((lang, name)): Path<(String, String)>, request: Request) -> Response {
    match (Lang::from_code(&lang), contents::find(&name)) {
        (Some(lang), Some(page)) => answer_page(request.headers(), lang, page),
        _ => fallback::not_found(request).await,
    }
}

fn answer_page(headers: &HeaderMap, lang: Lang, page: &'static Page) -> Response {
    let Rendered { html, sections } = markdown::render(&generated::text(page, lang), lang);
    let (style, script) = assets::docs();
    let (previous, next) = page.neighbours();
    let shown = BookPage {
        lang,
        t: BookWords::of(lang),
        page,
        navigation: Navigation::at(lang, page, &sections),
        content: html,
        previous,
        next,
        style,
        script,
    };
    match shown.render() {
        Ok(text) => cacheable(headers, "text/html; charset=utf-8", text),
        Err(error) => {
            tracing::error!(%error, page = page.name, "could not render a page of the book");
            not_rendered()
        }
    }
}

fn not_rendered() -> Response {
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}

/// Every section of every page with its text, for the search in the browser.
async fn show_search_index(Path(lang): Path<String>, request: Request) -> Response {
    let Some(lang) = Lang::from_code(&lang) else {
        return fallback::not_found(request).await;
    };
    let entries: Vec<_> = PAGES
        .iter()
        .flat_map(|page| {
            let rendered = markdown::render(&generated::text(page, lang), lang);
            rendered.sections.into_iter().map(move |section| {
                let path = match section.id.as_str() {
                    "" => page.path(lang),
                    id => format!("{}#{id}", page.path(lang)),
                };
                let text = section.text.trim();
                json!({ "page": page.title(lang), "title": section.title, "path": path, "text": text })
            })
        })
        .collect();
    let text = json!({ "sections": entries }).to_string();
    cacheable(request.headers(), "application/json", text)
}

/// The answer with an ETag; browsers ask each time, and get the page again only if it has changed.
fn cacheable(headers: &HeaderMap, content_type: &'static str, text: String) -> Response {
    let digest = Sha256::digest(text.as_bytes());
    let hash: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    // Weak: a compressed answer has other bytes.
    let tag = format!("W/\"{hash}\"");
    let known = headers.get(header::IF_NONE_MATCH).and_then(|it| it.to_str().ok());
    let is_known = known.is_some_and(|known| known.split(',').any(|it| it.trim() == tag));
    let shared = [
        (header::ETAG, tag),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    if is_known {
        return (StatusCode::NOT_MODIFIED, shared).into_response();
    }
    (shared, [(header::CONTENT_TYPE, content_type)], text).into_response()
}

#[cfg(test)]
mod tests;
