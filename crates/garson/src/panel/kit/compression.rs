//! Pages are made smaller on their way, for tablets on slow lines.

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderValue, header};
use std::io::Write as _;

/// Below this nothing is gained.
const WORTH_IT: usize = 1024;
/// No page is as large.
const MAX_PAGE: usize = 64 * 1024 * 1024;

/// Does the browser understand it?
pub fn is_understood(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|kind| {
            let mut parts = kind.split(';').map(str::trim);
            let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
            is_gzip && !parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
        })
}

pub fn gzip(bytes: &[u8], level: Compression) -> Option<Vec<u8>> {
    let mut pressed = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    pressed.write_all(bytes).ok()?;
    pressed.finish().ok()
}

pub async fn press(request: Request, next: Next) -> Response {
    let is_understood = is_understood(request.headers());
    let response = next.run(request).await;
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_page = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if !is_page {
        return response;
    }
    let (mut head, body) = response.into_parts();
    head.headers
        .insert(header::VARY, HeaderValue::from_static("accept-encoding, cookie"));
    // It is in memory already.
    let Ok(bytes) = axum::body::to_bytes(body, MAX_PAGE).await else {
        return Response::from_parts(head, Body::empty());
    };
    let pressed = (is_understood && bytes.len() >= WORTH_IT)
        .then(|| gzip(&bytes, Compression::fast()))
        .flatten();
    let Some(pressed) = pressed else {
        return Response::from_parts(head, Body::from(bytes));
    };
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers
        .insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Response::from_parts(head, Body::from(pressed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_pressed_for_those_who_understand() {
        let accepts = |value| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            is_understood(&headers)
        };
        assert!(accepts("gzip") && accepts("br, GZIP;q=0.5"));
        assert!(!accepts("") && !accepts("br") && !accepts("gzip;q=0") && !accepts("xgzip"));
    }
}
