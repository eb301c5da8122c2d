//! Answers to addresses without a page: an HTML page for browsers, the API's error body for programs.

use super::cookies;
use super::error::PanelError;
use super::https::is_https;
use super::security_headers::protected;
use crate::http::error::ApiError;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};

fn is_browser(headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT);
    accepts.is_some_and(|kinds| kinds.to_str().is_ok_and(|kinds| kinds.contains("text/html")))
}

/// Replaces the plain 405 of a path that only accepts forms.
pub async fn method_not_allowed(request: Request, next: Next) -> Response {
    let lang = is_browser(request.headers()).then(|| cookies::lang(request.headers()));
    let mut response = next.run(request).await;
    let (Some(lang), StatusCode::METHOD_NOT_ALLOWED) = (lang, response.status()) else {
        return response;
    };
    let error = ApiError::from_status(StatusCode::METHOD_NOT_ALLOWED);
    let mut page = PanelError::of(lang, error).into_response();
    if let Some(methods) = response.headers_mut().remove(header::ALLOW) {
        page.headers_mut().insert(header::ALLOW, methods);
    }
    page
}

pub async fn not_found(request: Request) -> Response {
    let error = ApiError::from_status(StatusCode::NOT_FOUND);
    let path = request.uri().path();
    let is_for_programs = [crate::http::path::API_PREFIX, "/hooks"]
        .iter()
        .any(|prefix| path.starts_with(prefix));
    if is_for_programs || !is_browser(request.headers()) {
        return error.into_response();
    }
    let error = PanelError::of(cookies::lang(request.headers()), error);
    protected(is_https(request.headers()), error.into_response())
}
