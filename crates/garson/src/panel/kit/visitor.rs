//! Who looks at a page: somebody who is signed in, and whose forms come from our own pages.

use super::error::PanelError;
use super::fields::Fields;
use super::flash::{self, Flash};
use super::frame::{Frame, Place};
use super::lang::{Lang, safe_path};
use super::{cookies, csrf};
use crate::flow::Fault;
use crate::flow::admin::sessions;
use crate::flow::admin::sessions::Visit;
use crate::http::body_budget::BodySource;
use crate::http::connection_registry::Connection;
use crate::http::error::ApiError;
use crate::http::state::HttpState as Api;
use crate::net::client_address::ClientAddress;
use crate::panel::kit::security_headers::is_secure;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{Html, IntoResponse, Redirect, Response};
use garson_core::account::Account;
use garson_core::secret::Secret;
use garson_store::tables::sessions::Session;
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, header};
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

/// Somebody who is signed in. Everything that a page shows or does is this account's.
#[derive(Clone)]
pub struct Visitor {
    pub account: Account,
    pub session: Session,
    pub lang: Lang,
    /// What every form of this visitor carries.
    pub csrf: String,
    /// The address of the page, to come back to.
    pub here: String,
    /// What is to be said on this page.
    pub flash: Option<Flash>,
    /// The address that the request comes from.
    pub client: Option<IpAddr>,
    /// Does a script of ours ask, for a part of a page?
    pub wants_part: bool,
    held: Secret<String>,
    is_secure: bool,
}

impl FromRequestParts<Arc<Api>> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Response> {
        let lang = Lang::of(&parts.headers);
        let here = here(parts);
        let wants_part = parts.headers.contains_key("x-part");
        let leave = || match wants_part {
            true => (StatusCode::UNAUTHORIZED, Html("")).into_response(),
            false => to_sign_in(&here),
        };
        let Some(held) = cookies::get(&parts.headers, cookies::SESSION) else {
            return Err(leave());
        };
        let visit = sessions::visit(&api.app, held)
            .await
            .map_err(|fault| PanelError::new(lang, fault).into_response())?;
        let Some(Visit { session, account }) = visit else {
            return Err(leave());
        };
        if let Some(connection) = parts.extensions.get::<Arc<Connection>>() {
            connection.mark_authenticated();
        }
        let said = cookies::get(&parts.headers, cookies::FLASH);
        Ok(Self {
            account,
            session,
            lang,
            csrf: csrf::token(held),
            flash: said.and_then(|cookie| Flash::read(held, cookie)),
            held: Secret::new(held.to_owned()),
            is_secure: is_secure(&parts.headers),
            client: ClientAddress::of(&parts.extensions),
            wants_part,
            here,
        })
    }
}

/// The address of the page, if it is one that can be looked at again; what a form is sent to need not be one.
fn here(parts: &Parts) -> String {
    let asked = parts.uri.path_and_query().map(|path| path.as_str());
    let can_be_seen = [Method::GET, Method::HEAD].contains(&parts.method);
    asked.filter(|_| can_be_seen).unwrap_or("/").to_owned()
}

/// Signing in first, and then back to the page.
fn to_sign_in(here: &str) -> Response {
    if here == "/" {
        return Redirect::to("/sign-in").into_response();
    }
    let next: String = url::form_urlencoded::byte_serialize(here.as_bytes()).collect();
    Redirect::to(&format!("/sign-in?next={next}")).into_response()
}

impl Visitor {
    /// What went wrong, as a page with the way to the others.
    pub fn fail(&self, fault: Fault) -> PanelError {
        PanelError::new(self.lang, fault).within(Frame::new(self, Place::Nowhere))
    }

    /// The same, of something that is said as the API says it.
    pub fn fail_with(&self, error: ApiError) -> PanelError {
        PanelError::of(self.lang, error).within(Frame::new(self, Place::Nowhere))
    }

    /// It is done: on to a page that says so.
    pub fn done(&self, to: &str, text: impl Into<String>) -> Response {
        self.go(to, &Flash::good(text))
    }

    /// It could not be done: on to a page that says why.
    pub fn refused(&self, to: &str, text: impl Into<String>) -> Response {
        self.go(to, &Flash::bad(text))
    }

    fn go(&self, to: &str, flash: &Flash) -> Response {
        let said = flash.write(self.held.expose());
        let cookie = cookies::set(self.is_secure, cookies::FLASH, &said, flash::SECONDS);
        ([(header::SET_COOKIE, cookie)], Redirect::to(safe_path(to))).into_response()
    }
}

/// A form that a visitor has sent from one of our pages.
pub struct Sent {
    pub visitor: Visitor,
    pub fields: Fields,
}

impl FromRequest<Arc<Api>> for Sent {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let mut visitor = Visitor::from_request_parts(&mut parts, api).await?;
        let sender = BodySource::Account(visitor.account.id);
        let fields = Fields::read(Request::from_parts(parts, body), api, sender)
            .await
            .map_err(|error| visitor.fail_with(error).into_response())?;
        fields.page().clone_into(&mut visitor.here);
        if !csrf::is_right(visitor.held.expose(), fields.get("csrf")) {
            return Err(PanelError::stale_form(visitor.lang, &visitor.here).into_response());
        }
        Ok(Self { visitor, fields })
    }
}

/// Anybody: a browser on the way to signing in.
pub struct Guest {
    pub lang: Lang,
    pub csrf: String,
    /// The address of the page, to come back to.
    pub here: String,
    /// The cookie that the browser is to get, if it has none.
    pub cookie: Option<http::HeaderValue>,
}

impl Guest {
    /// The answer with the cookie that the browser is to get.
    pub fn given_its_cookie(self, mut response: Response) -> Response {
        if let Some(cookie) = self.cookie {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
        response
    }
}

impl<S: Sync> FromRequestParts<S> for Guest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let lang = Lang::of(&parts.headers);
        if let Some(held) = cookies::get(&parts.headers, cookies::GUEST) {
            return Ok(Self {
                lang,
                csrf: csrf::token(held),
                here: here(parts),
                cookie: None,
            });
        }
        let held = csrf::fresh();
        let is_secure = is_secure(&parts.headers);
        Ok(Self {
            lang,
            csrf: csrf::token(&held),
            here: here(parts),
            cookie: Some(cookies::set(is_secure, cookies::GUEST, &held, 24 * 60 * 60)),
        })
    }
}

/// A form that needs no signing in, from one of our pages.
pub struct GuestSent {
    pub guest: Guest,
    pub headers: HeaderMap,
    pub fields: Fields,
    /// The address that the form comes from.
    pub client: Option<IpAddr>,
}

impl FromRequest<Arc<Api>> for GuestSent {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let Ok(mut guest) = Guest::from_request_parts(&mut parts, api).await;
        let headers = parts.headers.clone();
        let client = ClientAddress::of(&parts.extensions);
        let fields = Fields::read(Request::from_parts(parts, body), api, BodySource::Anonymous)
            .await
            .map_err(|error| PanelError::of(guest.lang, error).into_response())?;
        let held = [cookies::GUEST, cookies::SESSION].map(|name| cookies::get(&headers, name));
        let given = fields.get("csrf");
        if !held.into_iter().flatten().any(|held| csrf::is_right(held, given)) {
            let refused = PanelError::stale_form(guest.lang, fields.page()).into_response();
            return Err(guest.given_its_cookie(refused));
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
