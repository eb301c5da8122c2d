//! Whoever uses the panel stays signed in: what the browser holds lasts on from every page that is shown, as the session does.

use super::cookies;
use crate::flow::admin::sessions;
use crate::panel::kit::security_headers::is_secure;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::{Method, StatusCode, header};

pub async fn renew(request: Request, next: Next) -> Response {
    let held = cookies::get(request.headers(), cookies::SESSION).map(str::to_owned);
    let (is_page, is_secure) = (request.method() == Method::GET, is_secure(request.headers()));
    let mut response = next.run(request).await;
    if let Some(held) = held.filter(|_| is_page && response.status() == StatusCode::OK) {
        let cookie = cookies::set(is_secure, cookies::SESSION, &held, sessions::LASTS_SECONDS);
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
