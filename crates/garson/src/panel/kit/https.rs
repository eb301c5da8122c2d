//! Whether the browser uses HTTPS. Where TLS ends at a reverse proxy, it says so in a header; the server itself sets the same one.

use http::{HeaderMap, header};

/// With several proxies each appends its own value, so the first one is the browser's.
pub fn is_https(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let scheme = text("x-forwarded-proto").and_then(|schemes| schemes.split(',').next());
    let scheme = scheme.or_else(|| {
        let first = text(header::FORWARDED.as_str())?.split(',').next()?;
        let pairs = first.split(';').filter_map(|pair| pair.trim().split_once('='));
        let mut protos = pairs.filter(|(name, _)| name.eq_ignore_ascii_case("proto"));
        protos.next().map(|(_, scheme)| scheme.trim_matches('"'))
    });
    scheme.is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case("https"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};

    fn says(name: &'static str, value: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        is_https(&headers)
    }

    #[test]
    fn the_first_proxy_says_it() {
        assert!(says("x-forwarded-proto", "https"));
        assert!(says("x-forwarded-proto", "HTTPS, http"));
        assert!(!says("x-forwarded-proto", "http, https"));
        assert!(says(
            "forwarded",
            "for=192.0.2.1;proto=https, for=10.0.0.1;proto=http"
        ));
        assert!(says("forwarded", "Proto=\"https\""));
        assert!(!says("forwarded", "for=192.0.2.1;host=https"));
        assert!(!is_https(&HeaderMap::new()));
    }
}
