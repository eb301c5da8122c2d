//! Signing in, and out.

use crate::flow::Fault;
use crate::flow::admin::sessions;
use crate::http::state::HttpState as Api;
use crate::panel::kit::cookies;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::fields::Fields;
use crate::panel::kit::form::{Field, Kind};
use crate::panel::kit::frame::{Frame, page};
use crate::panel::kit::lang::safe_path;
use crate::panel::kit::security_headers::is_secure;
use crate::panel::kit::visitor::{Guest, GuestSent, Sent};
use crate::panel::words::SignInWords;
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use garson_core::secret::Secret;
use http::{HeaderMap, StatusCode, header};
use std::sync::Arc;

pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/sign-in", get(show_sign_in).post(sign_in))
        .route("/sign-out", post(sign_out))
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    frame: Frame,
    t: SignInWords,
    next: String,
    email: Field,
    password: Field,
    error: Option<&'static str>,
}

fn sign_in_page(guest: Guest, next: &str, email: &str, error: Option<&'static str>) -> Response {
    let t = SignInWords::of(guest.lang);
    let shown = page(&SignInPage {
        frame: Frame::for_guest(&guest),
        next: safe_path(next).to_owned(),
        email: Field::new("email", t.email, Kind::Input("email"))
            .value(email)
            .autocomplete("username")
            .required(),
        password: Field::password("password", t.password)
            .autocomplete("current-password")
            .required(),
        t,
        error,
    });
    guest.given_its_cookie(shown)
}

async fn show_sign_in(guest: Guest, RawQuery(query): RawQuery) -> Response {
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    sign_in_page(guest, asked.get("next"), "", None)
}

async fn sign_in(State(api): State<Arc<Api>>, sent: GuestSent) -> Response {
    let GuestSent {
        guest,
        headers,
        fields,
        client,
    } = sent;
    let t = SignInWords::of(guest.lang);
    let (email, next) = (fields.get("email"), fields.get("next"));
    let password = Secret::new(fields.raw("password").to_owned());
    let agent = headers
        .get(header::USER_AGENT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let from = sessions::Origin {
        client,
        browser: cookies::get(&headers, cookies::BROWSER),
        agent,
    };
    let refused = match sessions::sign_in(&api.app, email, password, from).await {
        Ok(held) => {
            let session = session_cookie(&headers, held.session.expose(), sessions::LASTS_SECONDS);
            let (is_secure, browser) = (is_secure(&headers), held.browser.expose());
            let browser = cookies::set(is_secure, cookies::BROWSER, browser, cookies::BROWSER_SECONDS);
            let set = AppendHeaders([(header::SET_COOKIE, session), (header::SET_COOKIE, browser)]);
            return (set, Redirect::to(safe_path(next))).into_response();
        }
        Err(Fault::SignInRefused) => (StatusCode::UNAUTHORIZED, t.refused),
        Err(Fault::SignInLocked | Fault::SignInFlood) => (StatusCode::TOO_MANY_REQUESTS, t.locked),
        Err(fault) => return PanelError::new(guest.lang, fault).into_response(),
    };
    let (status, text) = refused;
    (status, sign_in_page(guest, next, email, Some(text))).into_response()
}

fn session_cookie(headers: &HeaderMap, value: &str, seconds: u32) -> http::HeaderValue {
    cookies::set(is_secure(headers), cookies::SESSION, value, seconds)
}

async fn sign_out(State(api): State<Arc<Api>>, headers: HeaderMap, sent: Sent) -> Response {
    let Sent { visitor, .. } = sent;
    match sessions::end(&api.app, visitor.account.id, visitor.session.hash).await {
        Ok(_) => {
            let cookie = session_cookie(&headers, "", 0);
            ([(header::SET_COOKIE, cookie)], Redirect::to("/sign-in")).into_response()
        }
        Err(fault) => visitor.fail(fault).into_response(),
    }
}
