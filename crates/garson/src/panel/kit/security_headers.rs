//! Security headers of every page, and the rejection of forms that other sites send.

use super::cookies;
use super::error::PanelError;
use super::https::is_https;
use super::layout::FlashShown;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, Method, header};

/// Only our own files, no inline script, no embedding in frames, no forms to other sites.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
    connect-src 'self'; media-src 'self'; manifest-src 'self'; worker-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Rejects cross-site forms, sets the security headers, and removes a flash message that was shown.
pub async fn protect(request: Request, next: Next) -> Response {
    let is_https = is_https(request.headers());
    let has_flash = cookies::get(request.headers(), cookies::FLASH).is_some();
    let mut response = if is_cross_site(&request) {
        PanelError::stale_form(cookies::lang(request.headers()), "/").into_response()
    } else {
        next.run(request).await
    };
    let was_shown = response.extensions_mut().remove::<FlashShown>().is_some();
    if has_flash && was_shown {
        let removed = cookies::set(is_https, cookies::FLASH, "", 0);
        response.headers_mut().append(header::SET_COOKIE, removed);
    }
    protected(is_https, response)
}

/// For the OpenAPI document: it has the same origin as the panel, so a hole in it would be one in the panel.
pub async fn protect_docs(request: Request, next: Next) -> Response {
    let is_https = is_https(request.headers());
    with_headers(is_https, next.run(request).await)
}

/// Sets the headers of a panel page.
pub fn protected(is_https: bool, response: Response) -> Response {
    let mut response = with_headers(is_https, response);
    let cache_control = response.headers_mut().entry(header::CACHE_CONTROL);
    cache_control.or_insert(HeaderValue::from_static("no-store"));
    response
}

fn with_headers(is_https: bool, mut response: Response) -> Response {
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::X_FRAME_OPTIONS, "DENY");
    set(header::REFERRER_POLICY, "same-origin");
    set(
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    );
    set(
        HeaderName::from_static("permissions-policy"),
        "camera=(), microphone=(), geolocation=()",
    );
    if is_https {
        set(header::STRICT_TRANSPORT_SECURITY, "max-age=31536000");
    }
    response
}

/// Whether another site's page sent the form. Browsers say so; the CSRF token is the second line of defence.
fn is_cross_site(request: &Request) -> bool {
    if [Method::GET, Method::HEAD].contains(request.method()) {
        return false;
    }
    let text = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text("sec-fetch-site") {
        return !["same-origin", "none"].contains(&site);
    }
    match (text("origin"), text("host")) {
        (Some(origin), Some(host)) => origin.split_once("://").is_none_or(|(_, from)| from != host),
        _ => false,
    }
}
