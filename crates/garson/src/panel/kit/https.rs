//! Whether the browser uses HTTPS. TLS ends at a reverse proxy, which says so in a header.

use http::HeaderMap;

/// With several proxies each appends its own value, so the first one is the browser's.
pub fn is_https(headers: &HeaderMap) -> bool {
    let schemes = headers.get("x-forwarded-proto");
    let first = schemes.and_then(|schemes| schemes.to_str().ok()?.split(',').next());
    first.is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case("https"))
}
