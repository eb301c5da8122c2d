//! Signing in and out.

use crate::flow::Fault;
use crate::flow::admin::sessions;
use crate::http::state::HttpState;
use crate::panel::kit::cookies;
use crate::panel::kit::current_user::UserForm;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::guest::{Guest, GuestForm};
use crate::panel::kit::https::is_https;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::redirect::safe_path;
use crate::panel::words::SignInWords;
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use garson_core::secret::Secret;
use http::{HeaderMap, StatusCode, header};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/sign-in", get(show_sign_in).post(sign_in))
        .route("/sign-out", post(sign_out))
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    layout: Layout,
    t: SignInWords,
    next: String,
    email: Field,
    password: Field,
    error: Option<&'static str>,
}

fn sign_in_page(guest: Guest, next: &str, email: &str, error: Option<&'static str>) -> Response {
    let t = SignInWords::of(guest.lang);
    let page = page(&SignInPage {
        layout: guest.layout(),
        next: safe_path(next).to_owned(),
        email: Field::new("email", t.email, FieldKind::Input("email"))
            .value(email)
            .autocomplete("username")
            .required(),
        password: Field::password("password", t.password)
            .autocomplete("current-password")
            .required(),
        t,
        error,
    });
    guest.with_cookie(page)
}

async fn show_sign_in(guest: Guest, RawQuery(query): RawQuery) -> Response {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    sign_in_page(guest, params.get("next"), "", None)
}

async fn sign_in(State(api): State<Arc<HttpState>>, sent: GuestForm) -> Response {
    let GuestForm {
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
        Ok(tokens) => {
            let session = session_cookie(&headers, tokens.session.expose(), sessions::LASTS_SECONDS);
            let (is_https, browser) = (is_https(&headers), tokens.browser.expose());
            let browser = cookies::set(is_https, cookies::BROWSER, browser, cookies::BROWSER_SECONDS);
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
    cookies::set(is_https(headers), cookies::SESSION, value, seconds)
}

async fn sign_out(State(api): State<Arc<HttpState>>, headers: HeaderMap, sent: UserForm) -> Response {
    let UserForm { user, .. } = sent;
    match sessions::end(&api.app, user.account.id, user.session.hash).await {
        Ok(_) => {
            let cookie = session_cookie(&headers, "", 0);
            ([(header::SET_COOKIE, cookie)], Redirect::to("/sign-in")).into_response()
        }
        Err(fault) => user.fail(fault).into_response(),
    }
}
