//! Requests that need no session: signing in and switching the language. A guest cookie ties forms to the browser.

use super::error::PanelError;
use super::form_data::FormData;
use super::https::is_https;
use super::layout::Layout;
use super::{cookies, csrf};
use crate::http::body_budget::BodySource;
use crate::http::state::HttpState;
use crate::net::client_address::ClientAddress;
use crate::panel::words::Lang;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, header};
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

const GUEST_SECONDS: u32 = 24 * 60 * 60;

/// A browser that need not be signed in.
pub struct Guest {
    pub lang: Lang,
    csrf: String,
    here: String,
    /// The guest cookie to set, if the browser has none yet.
    new_cookie: Option<HeaderValue>,
}

impl Guest {
    pub fn layout(&self) -> Layout {
        Layout {
            csrf: self.csrf.clone(),
            here: self.here.clone(),
            ..Layout::bare(self.lang)
        }
    }

    /// Sets the guest cookie if the browser has none yet.
    pub fn with_cookie(self, mut response: Response) -> Response {
        if let Some(cookie) = self.new_cookie {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
        response
    }
}

impl<S: Sync> FromRequestParts<S> for Guest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let held = cookies::get(&parts.headers, cookies::GUEST);
        let (token, new_cookie) = match held {
            Some(held) => (csrf::token(held), None),
            None => {
                let fresh = csrf::random();
                let is_https = is_https(&parts.headers);
                let cookie = cookies::set(is_https, cookies::GUEST, &fresh, GUEST_SECONDS);
                (csrf::token(&fresh), Some(cookie))
            }
        };
        Ok(Self {
            lang: cookies::lang(&parts.headers),
            csrf: token,
            here: page_path(parts),
            new_cookie,
        })
    }
}

/// The path and query of a page that can be opened again. A form's target may not be one.
pub fn page_path(parts: &Parts) -> String {
    let path = parts.uri.path_and_query().map(|path| path.as_str());
    let is_page = [Method::GET, Method::HEAD].contains(&parts.method);
    path.filter(|_| is_page).unwrap_or("/").to_owned()
}

/// A form that needs no session, with a valid CSRF token.
pub struct GuestForm {
    pub guest: Guest,
    pub headers: HeaderMap,
    pub fields: FormData,
    pub client: Option<IpAddr>,
}

impl FromRequest<Arc<HttpState>> for GuestForm {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<HttpState>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let Ok(mut guest) = Guest::from_request_parts(&mut parts, api).await;
        let headers = parts.headers.clone();
        let client = ClientAddress::of(&parts.extensions);
        let fields = FormData::read(Request::from_parts(parts, body), api, BodySource::Anonymous)
            .await
            .map_err(|error| PanelError::of(guest.lang, error).into_response())?;
        // The language switch is also part of pages that need a session.
        let held = [cookies::GUEST, cookies::SESSION].map(|name| cookies::get(&headers, name));
        let token = fields.get("csrf");
        if !held.into_iter().flatten().any(|held| csrf::is_valid(held, token)) {
            let refused = PanelError::stale_form(guest.lang, fields.page()).into_response();
            return Err(guest.with_cookie(refused));
        }
        fields.page().clone_into(&mut guest.here);
        Ok(Self {
            guest,
            headers,
            fields,
            client,
        })
    }
}
