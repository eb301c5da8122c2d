//! Asks users for their password or a code before a sensitive change, if they were not asked recently. What they have filled in is
//! kept in the page that asks, and sent again with the answer.

use super::current_user::CurrentUser;
use super::error::PanelError;
use super::form::Field;
use super::form_data::FormData;
use super::layout::{Layout, page};
use super::navigation::NavItem;
use crate::flow::Fault;
use crate::flow::admin::openid;
use crate::flow::admin::sessions::{self, Proof};
use crate::http::state::HttpState;
use crate::panel::words::ConfirmationWords;
use askama::Template;
use axum::response::{IntoResponse, Response};
use garson_core::secret::Secret;
use http::StatusCode;

/// The fields of the answer.
const PASSWORD: &str = "confirm-password";
const CODE: &str = "confirm-code";

#[derive(Template)]
#[template(path = "confirmation.html")]
struct ConfirmationPage {
    layout: Layout,
    t: ConfirmationWords,
    /// Where the form that is interrupted goes.
    action: String,
    lead: &'static str,
    email: String,
    /// For users with a password.
    password: Option<Field>,
    /// For users with a second factor.
    code: Option<Field>,
    /// The link to the OpenID Connect provider, for users who sign in with it.
    openid: Option<String>,
    error: Option<&'static str>,
    /// What was filled in.
    kept: Vec<(String, String)>,
}

/// Lets a confirmed session pass, or one that brings the right answer.
pub async fn require(
    api: &HttpState,
    user: &CurrentUser,
    action: &str,
    fields: &FormData,
) -> Result<(), Response> {
    let proof = if !fields.raw(PASSWORD).is_empty() {
        Some(Proof::Password(Secret::new(fields.raw(PASSWORD).to_owned())))
    } else if !fields.get(CODE).is_empty() {
        Some(Proof::Code(Secret::new(fields.get(CODE).to_owned())))
    } else {
        None
    };
    let Some(proof) = proof else {
        if sessions::is_confirmed(&api.app, &user.session) {
            return Ok(());
        }
        return Err(ask(api, user, action, fields, None));
    };
    let t = ConfirmationWords::of(user.lang);
    match sessions::confirm(&api.app, user.by(), &user.session, &user.person, proof).await {
        Ok(()) => Ok(()),
        Err(Fault::SignInRefused) => Err(ask(api, user, action, fields, Some(t.wrong))),
        Err(Fault::SignInLocked | Fault::SignInFlood) => Err(ask(api, user, action, fields, Some(t.locked))),
        Err(fault) => Err(PanelError::into_response(user.fail(fault))),
    }
}

fn ask(
    api: &HttpState,
    user: &CurrentUser,
    action: &str,
    fields: &FormData,
    error: Option<&'static str>,
) -> Response {
    let (t, person) = (ConfirmationWords::of(user.lang), &user.person);
    let has_password = person.has_password;
    let label = openid::label(&api.app).filter(|_| person.has_openid);
    let is_own = |name: &str| ["csrf", "page", PASSWORD, CODE].contains(&name);
    let kept = fields.iter().filter(|(name, _)| !is_own(name));
    let page = page(&ConfirmationPage {
        layout: user.layout(NavItem::None),
        action: action.to_owned(),
        lead: if has_password {
            t.lead
        } else {
            t.lead_without_password
        },
        email: person.email.clone(),
        password: has_password
            .then(|| Field::password(PASSWORD, t.password).autocomplete("current-password")),
        openid: label.map(|label| t.openid.replace("{label}", label)),
        code: person.has_two_factor.then(|| {
            Field::text(CODE, if has_password { t.code } else { t.only_code })
                .hint(t.code_hint)
                .autocomplete("one-time-code")
        }),
        kept: kept
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        t,
        error,
    });
    (StatusCode::FORBIDDEN, page).into_response()
}
