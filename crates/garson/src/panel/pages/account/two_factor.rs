//! Setting up the second factor, and turning it off.

use crate::flow::Fault;
use crate::flow::admin::second_factor::{self, Enrolment};
use crate::flow::admin::users;
use crate::http::state::HttpState;
use crate::panel::components::qr_code::QrCode;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::Field;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::AccountWords;
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use garson_core::secret::Secret;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "two_factor.html")]
struct TwoFactorPage {
    layout: Layout,
    t: AccountWords,
    problem: Option<String>,
    is_required: bool,
    /// What the app has to be given, while the second factor is off.
    setup: Option<Setup>,
    codes_left: i64,
}

struct Setup {
    qr: Option<QrCode>,
    /// The secret in groups of four.
    secret: String,
    /// Opens an app on the same device.
    address: String,
    code: Field,
}

#[derive(Template)]
#[template(path = "recovery_codes.html")]
struct RecoveryCodesPage {
    layout: Layout,
    t: AccountWords,
    codes: Vec<String>,
}

fn in_groups(secret: &str) -> String {
    let letters: Vec<char> = secret.chars().collect();
    let groups: Vec<String> = letters.chunks(4).map(|group| group.iter().collect()).collect();
    groups.join(" ")
}

impl Setup {
    fn new(t: &AccountWords, enrolment: &Enrolment) -> Self {
        Self {
            qr: QrCode::new(enrolment.address.expose(), t.qr),
            secret: in_groups(enrolment.secret.expose()),
            address: enrolment.address.expose().clone(),
            code: Field::text("code", t.code)
                .autocomplete("one-time-code")
                .length(6, 10)
                .required(),
        }
    }
}

pub async fn show_two_factor(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    show(&api, &user, None).await
}

async fn show(
    api: &HttpState,
    user: &CurrentUser,
    wrong: Option<&FormErrors>,
) -> Result<Response, PanelError> {
    let (t, app) = (AccountWords::of(user.lang), &api.app);
    let fail = |fault| user.fail(fault);
    let mut setup = None;
    let mut codes_left = 0;
    if user.person.has_two_factor {
        codes_left = second_factor::recovery_codes_left(app, user.person.id)
            .await
            .map_err(fail)?;
    } else {
        let enrolment = match wrong {
            None => second_factor::enrol(app, &user.person).await,
            Some(_) => second_factor::shown_enrolment(app, &user.person).await,
        };
        setup = Some(Setup::new(&t, &enrolment.map_err(fail)?));
    }
    let problem = match (&mut setup, wrong) {
        (Some(setup), Some(wrong)) => Some(wrong.mark([&mut setup.code])),
        _ => None,
    };
    let shown = page(&TwoFactorPage {
        layout: user.layout(NavItem::Account),
        is_required: users::requires_two_factor(app, user.account.id)
            .await
            .map_err(fail)?,
        problem,
        setup,
        codes_left,
        t,
    });
    Ok(form_page(shown, wrong))
}

fn show_codes(user: &CurrentUser, codes: &[Secret<String>]) -> Response {
    page(&RecoveryCodesPage {
        layout: user.layout(NavItem::Account),
        t: AccountWords::of(user.lang),
        codes: codes.iter().map(|code| code.expose().clone()).collect(),
    })
}

/// The response shows the recovery codes instead of redirecting.
pub async fn turn_on(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let code = Secret::new(fields.get("code").to_owned());
    match second_factor::confirm(&api.app, user.by(), &user.person, &code).await {
        Ok(codes) => Ok(show_codes(&user, &codes)),
        Err(fault) => {
            let wrong = FormErrors::new(&user, fault)?;
            show(&api, &user, Some(&wrong)).await
        }
    }
}

pub async fn renew_codes(
    State(api): State<Arc<HttpState>>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    if !user.person.has_two_factor {
        return Err(user.fail(Fault::NotAllowed));
    }
    let codes = second_factor::renew_recovery_codes(&api.app, user.by(), &user.person)
        .await
        .map_err(|fault| user.fail(fault))?;
    Ok(show_codes(&user, &codes))
}

pub async fn turn_off(
    State(api): State<Arc<HttpState>>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let t = AccountWords::of(user.lang);
    match second_factor::disable(&api.app, user.by(), &user.person).await {
        Ok(()) => Ok(user.redirect_with_notice("/account", t.turned_off)),
        Err(Fault::TwoFactorRequired) => {
            Ok(user.redirect_with_error("/account/two-factor", t.cannot_turn_off))
        }
        Err(fault) => Err(user.fail(fault)),
    }
}
