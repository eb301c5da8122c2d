//! The user's own account: profile and second factor.

mod two_factor;

use crate::flow::admin::users::{self, MAX_NAME, Profile};
use crate::http::state::HttpState;
use crate::panel::components::role_name::{language_field, role_name};
use crate::panel::kit::cookies;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Field, FieldKind};
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::https::is_https;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::{AccountWords, Lang, UserWords};
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::channel::Language;
use http::{HeaderMap, header};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/account", get(show_account).post(save_profile))
        .route(
            "/account/two-factor",
            get(two_factor::show_two_factor).post(two_factor::turn_on),
        )
        .route("/account/two-factor/disable", post(two_factor::turn_off))
        .route("/account/two-factor/codes", post(two_factor::renew_codes))
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    layout: Layout,
    t: AccountWords,
    problem: Option<String>,
    fields: Vec<Field>,
    role: &'static str,
    has_two_factor: bool,
}

fn fields(t: &AccountWords, u: &UserWords, profile: &Profile) -> Vec<Field> {
    vec![
        Field::text("name", t.name)
            .value(profile.name.as_str())
            .autocomplete("name")
            .length(0, MAX_NAME),
        Field::new("email", t.email, FieldKind::Input("email"))
            .value(profile.email.as_str())
            .hint(t.email_hint)
            .autocomplete("email")
            .length(3, 254)
            .required(),
        language_field(u, profile.language),
    ]
}

fn show(user: &CurrentUser, profile: &Profile, wrong: Option<&FormErrors>) -> Response {
    let (t, u) = (AccountWords::of(user.lang), UserWords::of(user.lang));
    let mut fields = fields(&t, &u, profile);
    let shown = page(&AccountPage {
        layout: user.layout(NavItem::Account),
        problem: wrong.map(|wrong| wrong.mark(&mut fields)),
        fields,
        role: role_name(&u, user.person.role),
        has_two_factor: user.person.has_two_factor,
        t,
    });
    form_page(shown, wrong)
}

async fn show_account(user: CurrentUser) -> Response {
    let profile = Profile {
        name: user.person.name.clone(),
        email: user.person.email.clone(),
        language: user.person.language,
    };
    show(&user, &profile, None)
}

async fn save_profile(
    State(api): State<Arc<HttpState>>,
    headers: HeaderMap,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let profile = Profile {
        name: fields.get("name").to_owned(),
        email: fields.get("email").to_owned(),
        language: Language::named(fields.get("language")).unwrap_or_default(),
    };
    match users::set_profile(&api.app, user.by(), &user.person, profile.clone()).await {
        Ok(()) => {
            let lang = Lang::from_code(profile.language.as_str()).unwrap_or_default();
            let mut saved = user.redirect_with_notice("/account", AccountWords::of(lang).saved);
            let cookie = cookies::language(is_https(&headers), lang);
            saved.headers_mut().append(header::SET_COOKIE, cookie);
            Ok(saved)
        }
        Err(fault) => {
            let wrong = FormErrors::new(&user, fault)?;
            Ok(show(&user, &profile, Some(&wrong)))
        }
    }
}
