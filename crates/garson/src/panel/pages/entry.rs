//! Pages on the way into the panel: the code of the second factor, a new password by a link, and invitations.

use super::sign_in::{enter, origin};
use crate::flow::Fault;
use crate::flow::admin::passwords::SHORTEST_PASSWORD;
use crate::flow::admin::users::{MAX_NAME, checked_name};
use crate::flow::admin::{invitations, sign_in, user_passwords};
use crate::http::state::HttpState;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::guest::{Guest, GuestForm};
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::redirect::safe_path;
use crate::panel::kit::{cookies, field_problem};
use crate::panel::words::{EntryWords, Lang};
use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use garson_core::secret::Secret;
use http::StatusCode;
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/sign-in/code", get(show_code).post(enter_code))
        .route("/forgot-password", get(show_forgot).post(request_link))
        .route("/reset-password/{token}", get(show_reset).post(reset_password))
        .route(
            "/invitation/{token}",
            get(show_invitation).post(accept_invitation),
        )
}

/// One form, for somebody who is not signed in.
#[derive(Template)]
#[template(path = "entry.html")]
struct EntryPage {
    layout: Layout,
    t: EntryWords,
    title: &'static str,
    lead: &'static str,
    action: String,
    /// The address of the user, for password managers.
    email: String,
    next: String,
    fields: Vec<Field>,
    submit: &'static str,
    notice: Option<&'static str>,
    error: Option<String>,
}

fn show_entry(guest: Guest, entry: EntryPage) -> Response {
    let shown = page(&entry);
    guest.with_cookie(shown)
}

/// What all these pages have in common.
fn entry(guest: &Guest, title: &'static str, lead: &'static str, action: impl Into<String>) -> EntryPage {
    let t = EntryWords::of(guest.lang);
    EntryPage {
        layout: guest.layout(),
        title,
        lead,
        action: action.into(),
        email: String::new(),
        next: String::new(),
        fields: Vec::new(),
        submit: t.submit,
        notice: None,
        error: None,
        t,
    }
}

/// Why a form was refused, if it can be corrected.
fn problem(lang: Lang, fault: Fault) -> Result<(String, String), PanelError> {
    let t = EntryWords::of(lang);
    match fault {
        Fault::Invalid { field, problem } => Ok((field, field_problem::text(lang, &problem))),
        Fault::SignInLocked | Fault::SignInFlood => Ok((String::new(), t.locked.to_owned())),
        fault => Err(PanelError::new(lang, fault)),
    }
}

/// Shows the problem at its field, or above the form.
fn mark(entry: &mut EntryPage, field: &str, text: String) {
    match entry.fields.iter_mut().find(|it| it.name == field) {
        Some(found) => found.error = text,
        None => entry.error = Some(text),
    }
}

fn code_page(guest: &Guest, next: &str) -> EntryPage {
    let t = EntryWords::of(guest.lang);
    EntryPage {
        next: safe_path(next).to_owned(),
        fields: vec![
            Field::text("code", t.code)
                .autocomplete("one-time-code")
                .length(6, 40)
                .required(),
        ],
        ..entry(guest, t.code_title, t.code_lead, "/sign-in/code")
    }
}

async fn show_code(guest: Guest, RawQuery(query): RawQuery) -> Response {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let shown = code_page(&guest, params.get("next"));
    show_entry(guest, shown)
}

async fn enter_code(State(api): State<Arc<HttpState>>, sent: GuestForm) -> Response {
    let GuestForm {
        guest,
        headers,
        fields,
        client,
    } = sent;
    let t = EntryWords::of(guest.lang);
    let next = fields.get("next");
    let held = cookies::get(&headers, cookies::SECOND_STEP).unwrap_or_default();
    let code = Secret::new(fields.get("code").to_owned());
    let (status, text) = match sign_in::enter_code(&api.app, held, &code, origin(&headers, client)).await {
        Ok(signed_in) => return enter(&headers, &signed_in, next),
        Err(Fault::LinkInvalid) => return Redirect::to("/sign-in?notice=ended").into_response(),
        Err(Fault::SignInRefused) => (StatusCode::UNAUTHORIZED, t.wrong_code),
        Err(Fault::SignInLocked | Fault::SignInFlood) => (StatusCode::TOO_MANY_REQUESTS, t.locked),
        Err(fault) => return PanelError::new(guest.lang, fault).into_response(),
    };
    let mut shown = code_page(&guest, next);
    shown.error = Some(text.to_owned());
    (status, show_entry(guest, shown)).into_response()
}

fn forgot_page(guest: &Guest) -> EntryPage {
    let t = EntryWords::of(guest.lang);
    EntryPage {
        fields: vec![
            Field::new("email", t.email, FieldKind::Input("email"))
                .autocomplete("username")
                .length(3, 254)
                .required(),
        ],
        submit: t.send,
        ..entry(guest, t.forgot_title, t.forgot_lead, "/forgot-password")
    }
}

async fn show_forgot(guest: Guest) -> Response {
    let shown = forgot_page(&guest);
    show_entry(guest, shown)
}

/// The same answer for every address.
async fn request_link(State(api): State<Arc<HttpState>>, sent: GuestForm) -> Response {
    let GuestForm {
        guest,
        fields,
        client,
        ..
    } = sent;
    let t = EntryWords::of(guest.lang);
    let mut shown = forgot_page(&guest);
    let status = match user_passwords::request_link(&api.app, fields.get("email"), client) {
        Ok(()) => {
            shown.notice = Some(t.sent);
            StatusCode::OK
        }
        Err(_) => {
            shown.error = Some(t.locked.to_owned());
            StatusCode::TOO_MANY_REQUESTS
        }
    };
    (status, show_entry(guest, shown)).into_response()
}

fn password_field(t: &EntryWords) -> Field {
    Field::password("password", t.password)
        .autocomplete("new-password")
        .hint(t.password_hint)
        .length(SHORTEST_PASSWORD, 200)
        .required()
}

fn reset_page(guest: &Guest, token: &str, email: String) -> EntryPage {
    let t = EntryWords::of(guest.lang);
    EntryPage {
        email,
        fields: vec![password_field(&t)],
        submit: t.save,
        ..entry(
            guest,
            t.reset_title,
            t.reset_lead,
            format!("/reset-password/{token}"),
        )
    }
}

async fn show_reset(State(api): State<Arc<HttpState>>, Path(token): Path<String>, guest: Guest) -> Response {
    match user_passwords::find_link(&api.app, &token).await {
        Ok(user) => {
            let shown = reset_page(&guest, &token, user.email);
            show_entry(guest, shown)
        }
        Err(fault) => PanelError::new(guest.lang, fault).into_response(),
    }
}

async fn reset_password(
    State(api): State<Arc<HttpState>>,
    Path(token): Path<String>,
    sent: GuestForm,
) -> Response {
    let GuestForm {
        guest,
        fields,
        client,
        ..
    } = sent;
    let new = Secret::new(fields.raw("password").to_owned());
    match user_passwords::reset_by_link(&api.app, &token, new, client).await {
        Ok(()) => Redirect::to("/sign-in?notice=saved").into_response(),
        Err(fault) => {
            let shown = reset_page(&guest, &token, fields.get("username").to_owned());
            refuse(guest, shown, fault)
        }
    }
}

/// Shows a form again with what is wrong with it.
fn refuse(guest: Guest, mut shown: EntryPage, fault: Fault) -> Response {
    match problem(guest.lang, fault) {
        Ok((field, text)) => {
            mark(&mut shown, &field, text);
            (StatusCode::UNPROCESSABLE_ENTITY, show_entry(guest, shown)).into_response()
        }
        Err(error) => error.into_response(),
    }
}

fn invitation_page(guest: &Guest, token: &str, email: String, name: &str) -> EntryPage {
    let t = EntryWords::of(guest.lang);
    EntryPage {
        email,
        fields: vec![
            Field::text("name", t.name)
                .value(name)
                .autocomplete("name")
                .length(0, MAX_NAME)
                .required(),
            password_field(&t),
        ],
        submit: t.accept,
        ..entry(
            guest,
            t.invitation_title,
            t.invitation_lead,
            format!("/invitation/{token}"),
        )
    }
}

async fn show_invitation(
    State(api): State<Arc<HttpState>>,
    Path(token): Path<String>,
    guest: Guest,
) -> Response {
    match invitations::find(&api.app, &token).await {
        Ok(user) => {
            let shown = invitation_page(&guest, &token, user.email, &user.name);
            show_entry(guest, shown)
        }
        Err(fault) => PanelError::new(guest.lang, fault).into_response(),
    }
}

async fn accept_invitation(
    State(api): State<Arc<HttpState>>,
    Path(token): Path<String>,
    sent: GuestForm,
) -> Response {
    let GuestForm {
        guest,
        fields,
        client,
        ..
    } = sent;
    let password = Secret::new(fields.raw("password").to_owned());
    let accepted = match checked_name(fields.get("name")) {
        Ok(name) => invitations::accept(&api.app, &token, name, password, client).await,
        Err(fault) => Err(fault),
    };
    match accepted {
        Ok(()) => Redirect::to("/sign-in?notice=saved").into_response(),
        Err(fault) => {
            let email = fields.get("username").to_owned();
            let shown = invitation_page(&guest, &token, email, fields.get("name"));
            refuse(guest, shown, fault)
        }
    }
}
