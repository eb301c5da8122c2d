//! To the OpenID Connect provider and back.

use super::sign_in::{ask_for_code, enter, origin, refused_page};
use crate::flow::admin::openid::{self, ATTEMPT_SECONDS, Answered, Finished, Purpose, Refusal};
use crate::flow::admin::sign_in::SignIn;
use crate::http::state::HttpState;
use crate::net::client_address::ClientAddress;
use crate::panel::kit::cookies;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::guest::Guest;
use crate::panel::kit::https::is_https;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::redirect::safe_path;
use crate::panel::words::{ConfirmationWords, SignInWords};
use askama::Template;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/sign-in/openid", get(go_to_provider))
        .route("/sign-in/openid/callback", get(come_back))
}

#[derive(Template)]
#[template(path = "openid_result.html")]
struct ResultPage {
    layout: Layout,
    title: &'static str,
    text: &'static str,
}

/// Opened by a link: browsers do not let the answer to a form lead to another site.
async fn go_to_provider(State(api): State<Arc<HttpState>>, guest: Guest, request: Request) -> Response {
    let (request, _) = request.into_parts();
    let params = params(&request);
    let purpose = if params.is_checked("confirm") {
        Purpose::Confirm
    } else {
        Purpose::SignIn
    };
    match openid::begin(&api.app, purpose, safe_path(params.get("next"))).await {
        Ok(begun) => {
            let held = held_cookie(&request.headers, begun.held.expose(), ATTEMPT_SECONDS);
            ([(header::SET_COOKIE, held)], Redirect::to(&begun.url)).into_response()
        }
        Err(refusal) => refuse(&api, guest, refusal),
    }
}

fn params(request: &Parts) -> FormData {
    FormData::parse(request.uri.query().unwrap_or_default().as_bytes())
}

fn held_cookie(headers: &HeaderMap, value: &str, seconds: u32) -> HeaderValue {
    cookies::set(is_https(headers), cookies::OPENID, value, seconds)
}

async fn come_back(State(api): State<Arc<HttpState>>, guest: Guest, request: Request) -> Response {
    let (request, _) = request.into_parts();
    let headers = &request.headers;
    let recognised = recognise(&api, &request).await;
    let is_over = !matches!(recognised, Err(Refusal::OtherAttempt));
    let mut response = match recognised {
        Ok(Finished::SignIn { outcome, next }) => match *outcome {
            SignIn::Done(signed_in) => enter(headers, &signed_in, &next),
            SignIn::NeedsCode(held) => ask_for_code(headers, &held, &next),
        },
        Ok(Finished::Confirmed) => {
            let t = ConfirmationWords::of(guest.lang);
            result_page(guest, StatusCode::OK, t.confirmed, t.confirmed_text)
        }
        Err(refusal) => refuse(&api, guest, refusal),
    };
    if is_over {
        let ended = held_cookie(headers, "", 0);
        response.headers_mut().append(header::SET_COOKIE, ended);
    }
    response
}

async fn recognise(api: &HttpState, request: &Parts) -> Result<Finished, Refusal> {
    let (headers, params) = (&request.headers, params(request));
    let held = cookies::get(headers, cookies::OPENID).ok_or(Refusal::Ended)?;
    let session = cookies::get(headers, cookies::SESSION);
    let answered = Answered {
        state: params.get("state"),
        code: params.get("code"),
    };
    let from = origin(headers, ClientAddress::of(&request.extensions));
    openid::finish(&api.app, held, answered, from, session).await
}

fn result_page(guest: Guest, status: StatusCode, title: &'static str, text: &'static str) -> Response {
    let page = page(&ResultPage {
        layout: guest.layout(),
        title,
        text,
    });
    (status, guest.with_cookie(page)).into_response()
}

fn refuse(api: &HttpState, guest: Guest, refusal: Refusal) -> Response {
    let t = SignInWords::of(guest.lang);
    let (status, text) = match refusal {
        Refusal::Fault(fault) => return PanelError::new(guest.lang, fault).into_response(),
        Refusal::Off => return Redirect::to("/sign-in").into_response(),
        Refusal::NotConfirmed => {
            let t = ConfirmationWords::of(guest.lang);
            return result_page(
                guest,
                StatusCode::FORBIDDEN,
                t.not_confirmed,
                t.not_confirmed_text,
            );
        }
        Refusal::Ended | Refusal::OtherAttempt => (StatusCode::BAD_REQUEST, t.openid_ended),
        Refusal::Unavailable => (StatusCode::BAD_GATEWAY, t.openid_unavailable),
        Refusal::Refused => (StatusCode::UNAUTHORIZED, t.openid_refused),
        Refusal::NotVerified => (StatusCode::FORBIDDEN, t.openid_not_verified),
        Refusal::NoUser => (StatusCode::FORBIDDEN, t.openid_no_user),
        Refusal::OtherIdentity => (StatusCode::FORBIDDEN, t.openid_other),
        Refusal::TooMany => (StatusCode::TOO_MANY_REQUESTS, t.locked),
    };
    let page = refused_page(api, guest, text);
    (status, page).into_response()
}
