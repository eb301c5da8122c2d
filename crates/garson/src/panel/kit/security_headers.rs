//! What every page tells the browser not to do, and which requests are not taken from elsewhere.

use super::cookies;
use super::error::PanelError;
use super::frame::HasSpoken;
use super::lang::Lang;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};

/// Nothing but our own files, no script in the page, no frame around it, no form that leads elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
    connect-src 'self'; media-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The same for the page that shows the API. Its script, which is not ours, brings some style along.
const DOCS_POLICY: &str = "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Was the request made over TLS, as far as the proxies in front say? Each adds what it was asked over behind what those before
/// it have said: the first is the browser's own.
pub fn is_secure(headers: &HeaderMap) -> bool {
    let said = headers.get("x-forwarded-proto");
    let first = said.and_then(|said| said.to_str().ok()?.split(',').next());
    first.is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case("https"))
}

pub async fn protect(request: Request, next: Next) -> Response {
    let is_secure = is_secure(request.headers());
    let has_flash = cookies::get(request.headers(), cookies::FLASH).is_some();
    let mut response = match is_foreign(&request) {
        true => PanelError::stale_form(Lang::of(request.headers()), "/").into_response(),
        false => next.run(request).await,
    };
    let has_spoken = response.extensions_mut().remove::<HasSpoken>().is_some();
    if has_flash && has_spoken {
        let gone = cookies::set(is_secure, cookies::FLASH, "", 0);
        response.headers_mut().append(header::SET_COOKIE, gone);
    }
    protected(is_secure, response)
}

/// Protects the page that shows the API, which stands beside ours: what could be done to it would be done to them.
pub async fn protect_docs(request: Request, next: Next) -> Response {
    let is_secure = is_secure(request.headers());
    guarded(is_secure, DOCS_POLICY, next.run(request).await)
}

/// The answer with everything that is said of every page.
pub fn protected(is_secure: bool, response: Response) -> Response {
    let mut response = guarded(is_secure, POLICY, response);
    let kept = response.headers_mut().entry(header::CACHE_CONTROL);
    kept.or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The answer with everything that browsers are told not to do.
fn guarded(is_secure: bool, policy: &'static str, mut response: Response) -> Response {
    let headers = response.headers_mut();
    let mut say = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    say(header::CONTENT_SECURITY_POLICY, policy);
    say(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    say(header::X_FRAME_OPTIONS, "DENY");
    say(header::REFERRER_POLICY, "same-origin");
    say(
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    );
    say(
        HeaderName::from_static("permissions-policy"),
        "camera=(), microphone=(), geolocation=()",
    );
    if is_secure {
        say(header::STRICT_TRANSPORT_SECURITY, "max-age=31536000");
    }
    response
}

/// Is it a form that another site's page has sent? Browsers say so; the token in the form is the second lock.
fn is_foreign(request: &Request) -> bool {
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
