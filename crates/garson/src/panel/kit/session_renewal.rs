//! Extends the session cookie on every page, as the session itself is extended.

use super::cookies;
use super::https::is_https;
use crate::flow::admin::sessions;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::{Method, StatusCode, header};

pub async fn renew_cookie(request: Request, next: Next) -> Response {
    let session = cookies::get(request.headers(), cookies::SESSION).map(str::to_owned);
    let (is_page, is_https) = (request.method() == Method::GET, is_https(request.headers()));
    let mut response = next.run(request).await;
    if let Some(session) = session.filter(|_| is_page && response.status() == StatusCode::OK) {
        let cookie = cookies::set(is_https, cookies::SESSION, &session, sessions::LASTS_SECONDS);
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
