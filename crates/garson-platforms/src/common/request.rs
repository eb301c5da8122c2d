//! Building requests to a platform.

use garson_core::platform::{HttpRequest, Trust};
use garson_core::secret::Secret;
use serde::Serialize;

/// A request without a body.
#[must_use]
pub fn request(method: &'static str, url: String) -> HttpRequest {
    HttpRequest {
        method,
        url,
        headers: Vec::new(),
        body: None,
        trust: Trust::Operator,
        limit: None,
    }
}

/// A request with a JSON body.
#[must_use]
pub fn with_json<T: Serialize>(method: &'static str, url: String, body: &T) -> HttpRequest {
    let body = serde_json::to_vec(body).unwrap_or_default();
    let mut request = header(request(method, url), "Content-Type", "application/json");
    request.body = Some(body);
    request
}

#[must_use]
pub fn header(mut request: HttpRequest, name: &str, value: &str) -> HttpRequest {
    let value = Secret::new(value.to_owned());
    request.headers.push((name.to_owned(), value));
    request
}

#[must_use]
pub fn limited(mut request: HttpRequest, limit: &'static str) -> HttpRequest {
    request.limit = Some(limit);
    request
}

/// A value as one segment of a path, or of a query. One that is only dots cannot be written so that it stays a segment: readers
/// of addresses take `%2E%2E` for `..` too. Such ids are not taken from platforms, and such addresses are not called.
#[must_use]
pub fn segment(value: &str) -> String {
    let mut written = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                written.push(char::from(byte));
            }
            _ => written.push_str(&format!("%{byte:02X}")),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_cannot_leave_their_place() {
        assert_eq!(segment("5f3a-B_c"), "5f3a-B_c");
        assert_eq!(segment("a/b?c#d"), "a%2Fb%3Fc%23d");
        assert_eq!(segment("ş x"), "%C5%9F%20x");
    }
}
