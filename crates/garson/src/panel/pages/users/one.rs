//! One user: invite, change, remove.

use super::form::{self, RoleForm};
use crate::flow::Fault;
use crate::flow::admin::invitations::{self, Invited};
use crate::flow::admin::users::{self, MAX_NAME, NewUser, UserChange};
use crate::flow::admin::{openid, restaurants, second_factor};
use crate::flow::fault::Thing;
use crate::http::state::HttpState;
use crate::panel::components::role_name::{language_field, language_of};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::UserWords;
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use garson_core::channel::Language;
use garson_core::id::UserId;
use garson_core::permission::RestaurantScope;
use garson_core::role::Role;
use garson_core::user::User;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "user.html")]
struct UserPage {
    layout: Layout,
    t: UserWords,
    title: String,
    problem: Option<String>,
    /// A link that was just made. It is shown this one time.
    link: Option<String>,
    fields: Vec<Field>,
    form: RoleForm,
    existing: Option<Existing>,
    /// The id of the user that the form invites: a form that is sent twice invites one.
    next_id: UserId,
}

struct Existing {
    id: UserId,
    email: String,
    is_disabled: Field,
    has_two_factor: bool,
    has_openid: bool,
    is_invited: bool,
    invitation_has_ended: bool,
}

/// What the page shows besides what is stored.
#[derive(Default)]
struct Shown<'a> {
    wrong: Option<FormErrors>,
    typed: Option<&'a FormData>,
    link: Option<String>,
}

fn parse_id(user: &CurrentUser, id: &str) -> Result<UserId, PanelError> {
    id.parse()
        .map_err(|_| user.fail(Fault::not_found(Thing::User, id)))
}

pub async fn show_new_user(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    new_page(&api, &user, Shown::default()).await
}

async fn new_page(api: &HttpState, user: &CurrentUser, shown: Shown<'_>) -> Result<Response, PanelError> {
    let t = UserWords::of(user.lang);
    let names = restaurants::names(&api.app, user.account.id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let empty = FormData::default();
    let typed = shown.typed.unwrap_or(&empty);
    let language = Language::named(typed.get("language")).unwrap_or(language_of(user.lang));
    let mut fields = vec![
        Field::new("email", t.email, FieldKind::Input("email"))
            .value(typed.get("email"))
            .length(3, 254)
            .required(),
        Field::text("name", t.name)
            .value(typed.get("name"))
            .length(0, MAX_NAME),
        language_field(&t, language),
    ];
    let role = form::role(typed).unwrap_or(Role::Shift);
    let mut form = RoleForm::new(&t, role, &form::scope(typed), names);
    let problem = mark(shown.wrong.as_ref(), &mut fields, &mut form);
    let shown_page = page(&UserPage {
        layout: user.layout(NavItem::Users),
        title: t.invite.to_owned(),
        problem,
        link: None,
        fields,
        form,
        existing: None,
        next_id: UserId::at(api.app.now()),
        t,
    });
    Ok(form_page(shown_page, shown.wrong.as_ref()))
}

/// Marks the field that is wrong, and returns the text above the form.
fn mark(wrong: Option<&FormErrors>, fields: &mut [Field], form: &mut RoleForm) -> Option<String> {
    let wrong = wrong?;
    if wrong.field() == "restaurantIds" {
        form.restaurants_error = wrong.clone().into_text();
    }
    Some(wrong.mark(fields.iter_mut().chain([&mut form.role])))
}

/// The response itself shows the link instead of redirecting. Reloading it sends the form again, which makes another link for the
/// same user.
pub async fn invite_user(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = parse_id(&user, fields.get("id"))?;
    let wanted = form::role(&fields).map(|role| NewUser {
        email: fields.get("email").to_owned(),
        name: fields.get("name").to_owned(),
        language: Language::named(fields.get("language")).unwrap_or_default(),
        role,
        restaurants: form::scope(&fields),
    });
    let invited = match wanted {
        Ok(new) => {
            let base = user.base_url();
            invitations::invite(&api.app, user.by(), &user.account, id, new, &base).await
        }
        Err(fault) => Err(fault),
    };
    match invited {
        Ok(invited) => show_invited(&api, &user, invited).await,
        Err(fault) => {
            let shown = Shown {
                wrong: Some(FormErrors::new(&user, fault)?),
                typed: Some(&fields),
                link: None,
            };
            new_page(&api, &user, shown).await
        }
    }
}

/// The link, or that it was sent.
async fn show_invited(api: &HttpState, user: &CurrentUser, invited: Invited) -> Result<Response, PanelError> {
    let Some(link) = invited.link else {
        let path = format!("/users/{}", invited.user.id);
        return Ok(user.redirect_with_notice(&path, UserWords::of(user.lang).link_sent));
    };
    let shown = Shown {
        link: Some(link.expose().clone()),
        ..Shown::default()
    };
    user_page(api, user, invited.user, shown).await
}

pub async fn show_user(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let found = get(&api, &user, &id).await?;
    user_page(&api, &user, found, Shown::default()).await
}

async fn get(api: &HttpState, user: &CurrentUser, id: &str) -> Result<User, PanelError> {
    users::get(&api.app, user.account.id, parse_id(user, id)?)
        .await
        .map_err(|fault| user.fail(fault))
}

async fn user_page(
    api: &HttpState,
    user: &CurrentUser,
    found: User,
    shown: Shown<'_>,
) -> Result<Response, PanelError> {
    let (t, app) = (UserWords::of(user.lang), &api.app);
    let fail = |fault| user.fail(fault);
    let names = restaurants::names(app, user.account.id).await.map_err(fail)?;
    let ends_at = users::invitation_end(app, found.id).await.map_err(fail)?;
    let name = shown.typed.map_or(found.name.as_str(), |typed| typed.get("name"));
    let mut fields = vec![Field::text("name", t.name).value(name).length(0, MAX_NAME)];
    let role = shown
        .typed
        .and_then(|typed| form::role(typed).ok())
        .unwrap_or(found.role);
    let scope: RestaurantScope = shown.typed.map_or_else(|| found.restaurants.clone(), form::scope);
    let mut form = RoleForm::new(&t, role, &scope, names);
    let problem = mark(shown.wrong.as_ref(), &mut fields, &mut form);
    let shown_page = page(&UserPage {
        layout: user.layout(NavItem::Users),
        title: found.shown_name().to_owned(),
        problem,
        link: shown.link,
        fields,
        form,
        existing: Some(Existing {
            id: found.id,
            is_disabled: Field::new("disabled", t.is_disabled, FieldKind::Checkbox(found.is_disabled)),
            has_two_factor: found.has_two_factor,
            has_openid: found.has_openid,
            is_invited: !found.has_accepted(),
            invitation_has_ended: ends_at.is_some_and(|at| at <= app.now()),
            email: found.email,
        }),
        next_id: UserId::at(app.now()),
        t,
    });
    Ok(form_page(shown_page, shown.wrong.as_ref()))
}

pub async fn change_user(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let found = get(&api, &user, &id).await?;
    let changed = match form::role(&fields) {
        Ok(role) => {
            let change = UserChange {
                name: Some(fields.get("name").to_owned()),
                role: Some(role),
                restaurants: Some(form::scope(&fields)),
                is_disabled: Some(fields.is_checked("disabled")),
            };
            users::change(&api.app, user.by(), found.id, change).await
        }
        Err(fault) => Err(fault),
    };
    match changed {
        Ok(_) => {
            let t = UserWords::of(user.lang);
            Ok(user.redirect_with_notice(&format!("/users/{}", found.id), t.saved))
        }
        Err(fault) => {
            let shown = Shown {
                wrong: Some(FormErrors::new(&user, fault)?),
                typed: Some(&fields),
                link: None,
            };
            user_page(&api, &user, found, shown).await
        }
    }
}

pub async fn invite_again(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let id = parse_id(&user, &id)?;
    let invited = invitations::invite_again(&api.app, user.by(), &user.account, id, &user.base_url())
        .await
        .map_err(|fault| user.fail(fault))?;
    show_invited(&api, &user, invited).await
}

pub async fn remove_user(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    users::remove(&api.app, user.by(), parse_id(&user, &id)?)
        .await
        .map_err(|fault| user.fail(fault))?;
    Ok(user.redirect_with_notice("/users", UserWords::of(user.lang).removed))
}

pub async fn remove_two_factor(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let found = get(&api, &user, &id).await?;
    second_factor::remove(&api.app, user.by(), &found)
        .await
        .map_err(|fault| user.fail(fault))?;
    let t = UserWords::of(user.lang);
    Ok(user.redirect_with_notice(&format!("/users/{}", found.id), t.two_factor_removed))
}

pub async fn forget_openid(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let found = get(&api, &user, &id).await?;
    openid::forget(&api.app, user.by(), &found)
        .await
        .map_err(|fault| user.fail(fault))?;
    let t = UserWords::of(user.lang);
    Ok(user.redirect_with_notice(&format!("/users/{}", found.id), t.openid_forgotten))
}
