//! Requests with a session: who is signed in, whether the user may use the route, and the forms that they send.

use super::access::{self, Access, PathSubject};
use super::attention::Banner;
use super::error::PanelError;
use super::flash::{self, Flash};
use super::guest::page_path;
use super::https::is_https;
use super::layout::Layout;
use super::navigation::NavItem;
use super::redirect::safe_path;
use super::{cookies, csrf};
use crate::flow::admin::sessions;
use crate::flow::admin::sessions::Visit;
use crate::flow::fault::Thing;
use crate::flow::read::attention;
use crate::flow::read::attention::Attention;
use crate::flow::read::order_scope;
use crate::flow::{By, Fault};
use crate::http::connection_registry::Connection;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use crate::net::client_address::ClientAddress;
use crate::panel::words::Lang;
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams};
use axum::response::{Html, IntoResponse, Redirect, Response};
use garson_core::account::Account;
use garson_core::id::RestaurantId;
use garson_core::permission::{Permission, RestaurantScope};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_core::user::User;
use garson_store::tables::sessions::Session;
use http::request::Parts;
use http::{StatusCode, header};
use std::net::IpAddr;
use std::sync::Arc;

/// The signed-in user of a request. Handlers read and change nothing but this account.
#[derive(Clone)]
pub struct CurrentUser {
    pub account: Account,
    pub person: User,
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
    /// What the browser calls this service, for links that are shown.
    host: String,
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
        let Some(visit) = visit else {
            return Err(not_signed_in());
        };
        if let Some(connection) = parts.extensions.get::<Arc<Connection>>() {
            connection.mark_authenticated();
        }
        let Visit {
            session,
            account,
            user: person,
            requires_two_factor,
        } = visit;
        let attention = attention_for(api, &account, &person).await;
        let flash = cookies::get(&parts.headers, cookies::FLASH);
        let host = parts
            .headers
            .get(header::HOST)
            .and_then(|host| host.to_str().ok());
        let user = Self {
            host: host.unwrap_or_default().to_owned(),
            account,
            person,
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
        };
        user.check_access(parts, api, requires_two_factor).await?;
        Ok(user)
    }
}

/// What the user sees of what needs attention. A page is shown without the banner rather than not at all.
async fn attention_for(api: &HttpState, account: &Account, person: &User) -> Arc<Attention> {
    if !person.may(Permission::ReadStatus) {
        return Arc::default();
    }
    let found = attention::attention(&api.app, account.id)
        .await
        .unwrap_or_default();
    if person.may(Permission::ReadWebhook) {
        return found;
    }
    Arc::new(Attention {
        platforms: found.platforms.clone(),
        ..Attention::default()
    })
}

/// What the table of routes says about a request; nothing if it does not have the route.
pub(super) fn access_of(parts: &Parts) -> Option<Access> {
    let path = parts.extensions.get::<MatchedPath>()?;
    access::of(&parts.method, path.as_str())
}

/// A longer address would make a response whose head proxies do not accept.
const MAX_RETURN: usize = 1000;

/// Returns to the page after signing in.
fn redirect_to_sign_in(here: &str) -> Response {
    if here == "/" || here.len() > MAX_RETURN {
        return Redirect::to("/sign-in").into_response();
    }
    let next: String = url::form_urlencoded::byte_serialize(here.as_bytes()).collect();
    Redirect::to(&format!("/sign-in?next={next}")).into_response()
}

impl CurrentUser {
    /// Who does what a form asks for.
    pub fn by(&self) -> By {
        By::user(&self.person, self.client)
    }

    /// Refuses a route that the user's role or restaurants do not allow.
    async fn check_access(
        &self,
        parts: &mut Parts,
        api: &Arc<HttpState>,
        requires_two_factor: bool,
    ) -> Result<(), Response> {
        let refused = |fault: Fault| self.fail(fault).into_response();
        let access = access_of(parts).ok_or_else(|| refused(Fault::NotAllowed))?;
        let path = parts.extensions.get::<MatchedPath>().cloned();
        let path = path.as_ref().map_or("", MatchedPath::as_str);
        let lacks_two_factor = requires_two_factor && !self.person.has_two_factor;
        if lacks_two_factor && !access::is_open_without_two_factor(path) {
            return Err(Redirect::to("/account/two-factor").into_response());
        }
        if access
            .permission()
            .is_some_and(|permission| !self.may(permission))
        {
            return Err(refused(Fault::NotAllowed));
        }
        if access.permission().is_some() && self.scope().is_empty() {
            return Err(refused(Fault::NoRestaurantLeft));
        }
        let (false, Some(subject)) = (self.scope().is_all(), access::subject(path)) else {
            return Ok(());
        };
        let id = match RawPathParams::from_request_parts(parts, api).await {
            Ok(params) => params
                .iter()
                .find(|(name, _)| *name == "id")
                .map(|(_, id)| id.to_owned()),
            Err(_) => None,
        };
        let id = id.unwrap_or_default();
        match subject {
            PathSubject::Restaurant => {
                let is_own = id.parse().is_ok_and(|id: RestaurantId| self.scope().has(id));
                if is_own {
                    Ok(())
                } else {
                    Err(refused(Fault::not_found(Thing::Restaurant, id)))
                }
            }
            PathSubject::Order => {
                let (scope, named) = (self.scope().clone(), id.clone());
                let found = order_scope::has_order(&api.app, self.account.id, scope, named).await;
                if found.map_err(refused)? {
                    Ok(())
                } else {
                    Err(refused(Fault::not_found(Thing::Order, id)))
                }
            }
        }
    }

    pub fn may(&self, permission: Permission) -> bool {
        self.person.may(permission)
    }

    /// The restaurants that the user is responsible for.
    pub fn scope(&self) -> &RestaurantScope {
        &self.person.restaurants
    }

    /// Those of these restaurants that the user is responsible for.
    pub fn own_names(&self, mut names: Vec<(RestaurantId, String)>) -> Vec<(RestaurantId, String)> {
        names.retain(|(id, _)| self.scope().has(*id));
        names
    }

    /// What of the account needs attention, as far as the user may see it.
    pub fn attention(&self) -> &Attention {
        &self.attention
    }

    /// Does a form's token belong to this session?
    pub(super) fn owns_token(&self, token: &str) -> bool {
        csrf::is_valid(self.session_cookie.expose(), token)
    }

    /// How the browser reaches the panel.
    pub fn base_url(&self) -> String {
        let scheme = if self.is_https { "https" } else { "http" };
        format!("{scheme}://{}", self.host)
    }

    pub fn layout(&self, nav_item: NavItem) -> Layout {
        let is_on_board = nav_item == NavItem::Board;
        Layout {
            banner: Some(Banner::new(
                self.lang,
                &self.attention,
                &self.csrf,
                &self.here,
                is_on_board,
                self.may(Permission::ChangeWebhook),
            )),
            account: Some(self.account.name.clone()),
            person: Some(self.person.clone()),
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
