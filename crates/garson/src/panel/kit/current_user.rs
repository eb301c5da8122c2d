//! Requests with a session: who is signed in, and the forms that they send.

use super::attention::Banner;
use super::error::PanelError;
use super::flash::{self, Flash};
use super::form_data::FormData;
use super::guest::page_path;
use super::https::is_https;
use super::layout::Layout;
use super::navigation::NavItem;
use super::redirect::safe_path;
use super::{cookies, csrf};
use crate::flow::Fault;
use crate::flow::admin::sessions;
use crate::flow::admin::sessions::Visit;
use crate::flow::read::attention;
use crate::flow::read::attention::Attention;
use crate::http::body_budget::BodySource;
use crate::http::connection_registry::Connection;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use crate::net::client_address::ClientAddress;
use crate::panel::words::Lang;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{Html, IntoResponse, Redirect, Response};
use garson_core::account::Account;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::tables::sessions::Session;
use http::request::Parts;
use http::{StatusCode, header};
use std::net::IpAddr;
use std::sync::Arc;

/// The signed-in user of a request. Handlers read and change nothing but this account.
#[derive(Clone)]
pub struct CurrentUser {
    pub account: Account,
    pub session: Session,
    pub lang: Lang,
    /// The token of every form on the page.
    pub csrf: String,
    /// The path and query of the page, to return to.
    pub here: String,
    pub flash: Option<Flash>,
    pub client: Option<IpAddr>,
    /// The script requests a fragment instead of a page.
    pub wants_fragment: bool,
    now: Timestamp,
    attention: Arc<Attention>,
    session_cookie: Secret<String>,
    is_https: bool,
}

impl FromRequestParts<Arc<HttpState>> for CurrentUser {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<HttpState>) -> Result<Self, Response> {
        let lang = cookies::lang(&parts.headers);
        let here = page_path(parts);
        let wants_fragment = parts.headers.contains_key("x-part");
        let not_signed_in = || {
            if wants_fragment {
                (StatusCode::UNAUTHORIZED, Html("")).into_response()
            } else {
                redirect_to_sign_in(&here)
            }
        };
        let Some(cookie) = cookies::get(&parts.headers, cookies::SESSION) else {
            return Err(not_signed_in());
        };
        let visit = sessions::visit(&api.app, cookie)
            .await
            .map_err(|fault| PanelError::new(lang, fault).into_response())?;
        let Some(Visit { session, account }) = visit else {
            return Err(not_signed_in());
        };
        if let Some(connection) = parts.extensions.get::<Arc<Connection>>() {
            connection.mark_authenticated();
        }
        // A page is shown without the banner rather than not at all.
        let attention = attention::attention(&api.app, account.id)
            .await
            .unwrap_or_default();
        let flash = cookies::get(&parts.headers, cookies::FLASH);
        Ok(Self {
            account,
            session,
            lang,
            csrf: csrf::token(cookie),
            flash: flash.and_then(|flash| Flash::read(cookie, flash)),
            session_cookie: Secret::new(cookie.to_owned()),
            is_https: is_https(&parts.headers),
            client: ClientAddress::of(&parts.extensions),
            wants_fragment,
            now: api.app.now(),
            attention,
            here,
        })
    }
}

/// Returns to the page after signing in.
fn redirect_to_sign_in(here: &str) -> Response {
    if here == "/" {
        return Redirect::to("/sign-in").into_response();
    }
    let next: String = url::form_urlencoded::byte_serialize(here.as_bytes()).collect();
    Redirect::to(&format!("/sign-in?next={next}")).into_response()
}

impl CurrentUser {
    pub fn layout(&self, nav_item: NavItem) -> Layout {
        let is_on_board = nav_item == NavItem::Board;
        Layout {
            banner: Some(Banner::new(
                self.lang,
                &self.attention,
                &self.csrf,
                &self.here,
                is_on_board,
            )),
            account: Some(self.account.name.clone()),
            csrf: self.csrf.clone(),
            here: self.here.clone(),
            flash: self.flash.clone(),
            now: Some(self.now),
            nav_item,
            ..Layout::bare(self.lang)
        }
    }

    /// An error page with the menu.
    pub fn fail(&self, fault: Fault) -> PanelError {
        PanelError::new(self.lang, fault).within(self.layout(NavItem::None))
    }

    pub fn fail_with(&self, error: ApiError) -> PanelError {
        PanelError::of(self.lang, error).within(self.layout(NavItem::None))
    }

    /// Redirects to a page that shows a success message.
    pub fn redirect_with_notice(&self, to: &str, text: impl Into<String>) -> Response {
        self.redirect(to, &Flash::notice(text))
    }

    /// Redirects to a page that shows an error message.
    pub fn redirect_with_error(&self, to: &str, text: impl Into<String>) -> Response {
        self.redirect(to, &Flash::error(text))
    }

    fn redirect(&self, to: &str, flash: &Flash) -> Response {
        let value = flash.write(self.session_cookie.expose());
        let cookie = cookies::set(self.is_https, cookies::FLASH, &value, flash::SECONDS);
        ([(header::SET_COOKIE, cookie)], Redirect::to(safe_path(to))).into_response()
    }
}

/// A form that a signed-in user has sent, with a valid CSRF token.
pub struct UserForm {
    pub user: CurrentUser,
    pub fields: FormData,
}

impl FromRequest<Arc<HttpState>> for UserForm {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<HttpState>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let mut user = CurrentUser::from_request_parts(&mut parts, api).await?;
        let sender = BodySource::Account(user.account.id);
        let fields = FormData::read(Request::from_parts(parts, body), api, sender)
            .await
            .map_err(|error| user.fail_with(error).into_response())?;
        fields.page().clone_into(&mut user.here);
        if !csrf::is_valid(user.session_cookie.expose(), fields.get("csrf")) {
            return Err(PanelError::stale_form(user.lang, &user.here).into_response());
        }
        Ok(Self { user, fields })
    }
}
