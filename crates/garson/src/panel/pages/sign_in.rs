//! Signing in and out.

use crate::flow::Fault;
use crate::flow::admin::sign_in::{self, Origin, SignIn, SignedIn};
use crate::flow::admin::{openid, sessions};
use crate::http::state::HttpState;
use crate::panel::kit::cookies;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::guest::{Guest, GuestForm};
use crate::panel::kit::https::is_https;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::paging;
use crate::panel::kit::redirect::safe_path;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::{EntryWords, Lang, SignInWords};
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use garson_core::secret::Secret;
use http::{HeaderMap, StatusCode, header};
use std::net::IpAddr;
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
    /// The link to the OpenID Connect provider.
    openid: Option<String>,
    notice: Option<&'static str>,
    error: Option<&'static str>,
}

fn sign_in_page(
    api: &HttpState,
    guest: Guest,
    next: &str,
    email: &str,
    notice: Option<&'static str>,
    error: Option<&'static str>,
) -> Response {
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
        openid: openid::label(&api.app).map(|label| t.openid.replace("{label}", label)),
        t,
        notice,
        error,
    });
    guest.with_cookie(page)
}

/// The page with the reason why somebody was not let in.
pub fn refused_page(api: &HttpState, guest: Guest, error: &'static str) -> Response {
    sign_in_page(api, guest, "", "", None, Some(error))
}

async fn show_sign_in(
    State(api): State<Arc<HttpState>>,
    guest: Guest,
    RawQuery(query): RawQuery,
) -> Response {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let t = EntryWords::of(guest.lang);
    let notice = match params.get("notice") {
        "saved" => Some(t.saved),
        _ => None,
    };
    let error = match params.get("notice") {
        "ended" => Some(t.code_ended),
        _ => None,
    };
    sign_in_page(&api, guest, params.get("next"), "", notice, error)
}

/// Where a form was sent from.
pub fn origin(headers: &HeaderMap, client: Option<IpAddr>) -> Origin<'_> {
    let agent = headers.get(header::USER_AGENT);
    Origin {
        client,
        browser: cookies::get(headers, cookies::BROWSER),
        agent: agent.and_then(|value| value.to_str().ok()).unwrap_or_default(),
    }
}

/// Gives the browser its session. It gets the user's language unless another was chosen in it.
pub fn enter(headers: &HeaderMap, signed_in: &SignedIn, next: &str) -> Response {
    let is_https = is_https(headers);
    let mut response = Redirect::to(safe_path(next)).into_response();
    let browser = signed_in.browser.expose();
    let mut set = vec![
        session_cookie(headers, signed_in.session.expose(), sessions::LASTS_SECONDS),
        cookies::set(is_https, cookies::BROWSER, browser, cookies::BROWSER_SECONDS),
        cookies::set(is_https, cookies::SECOND_STEP, "", 0),
    ];
    if cookies::get(headers, cookies::LANGUAGE).is_none()
        && let Some(lang) = Lang::from_code(signed_in.user.language.as_str())
    {
        set.push(cookies::language(is_https, lang));
    }
    for cookie in set {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
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
    let refused = match sign_in::sign_in(&api.app, email, password, origin(&headers, client)).await {
        Ok(SignIn::Done(signed_in)) => return enter(&headers, &signed_in, next),
        Ok(SignIn::NeedsCode(held)) => return ask_for_code(&headers, &held, next),
        Err(Fault::SignInRefused) => (StatusCode::UNAUTHORIZED, t.refused),
        Err(Fault::SignInLocked | Fault::SignInFlood) => (StatusCode::TOO_MANY_REQUESTS, t.locked),
        Err(fault) => return PanelError::new(guest.lang, fault).into_response(),
    };
    let (status, text) = refused;
    (status, sign_in_page(&api, guest, next, email, None, Some(text))).into_response()
}

/// Leads to the page that asks for the code of the second factor.
pub fn ask_for_code(headers: &HeaderMap, held: &Secret<String>, next: &str) -> Response {
    let seconds = sign_in::SECOND_STEP_SECONDS;
    let cookie = cookies::set(is_https(headers), cookies::SECOND_STEP, held.expose(), seconds);
    let to = paging::url("/sign-in/code", &[("next", safe_path(next))]);
    ([(header::SET_COOKIE, cookie)], Redirect::to(&to)).into_response()
}

fn session_cookie(headers: &HeaderMap, value: &str, seconds: u32) -> http::HeaderValue {
    cookies::set(is_https(headers), cookies::SESSION, value, seconds)
}

async fn sign_out(State(api): State<Arc<HttpState>>, headers: HeaderMap, sent: UserForm) -> Response {
    let UserForm { user, .. } = sent;
    match sessions::end(&api.app, user.by(), user.person.id, user.session.hash).await {
        Ok(_) => {
            let cookie = session_cookie(&headers, "", 0);
            ([(header::SET_COOKIE, cookie)], Redirect::to("/sign-in")).into_response()
        }
        Err(fault) => user.fail(fault).into_response(),
    }
}
