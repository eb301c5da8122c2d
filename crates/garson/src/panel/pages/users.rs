//! The users of the account: list, invite, change and remove them.

mod form;
mod one;

use crate::flow::admin::{restaurants, users};
use crate::http::state::HttpState;
use crate::panel::components::role_name::role_name;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::time_ago::TimeAgo;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::UserWords;
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::id::UserId;
use garson_core::permission::RestaurantScope;
use garson_core::user::User;
use std::collections::HashMap;
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/users", get(list_users))
        .route("/users/new", get(one::show_new_user).post(one::invite_user))
        .route("/users/require-two-factor", post(require_two_factor))
        .route("/users/{id}", get(one::show_user).post(one::change_user))
        .route("/users/{id}/invite", post(one::invite_again))
        .route("/users/{id}/remove", post(one::remove_user))
        .route("/users/{id}/remove-two-factor", post(one::remove_two_factor))
        .route("/users/{id}/forget-openid", post(one::forget_openid))
}

#[derive(Template)]
#[template(path = "users.html")]
struct UsersPage {
    layout: Layout,
    t: UserWords,
    users: Vec<UserRow>,
    requires_two_factor: bool,
}

struct UserRow {
    id: UserId,
    name: String,
    email: String,
    role: &'static str,
    restaurants: String,
    has_two_factor: bool,
    last_sign_in: TimeAgo,
    is_you: bool,
    is_invited: bool,
    is_disabled: bool,
}

async fn list_users(State(api): State<Arc<HttpState>>, user: CurrentUser) -> Result<Response, PanelError> {
    let (app, account) = (&api.app, user.account.id);
    let fail = |fault| user.fail(fault);
    let found = users::list(app, account).await.map_err(fail)?;
    let names = restaurants::names(app, account).await.map_err(fail)?;
    let names: HashMap<_, _> = names.into_iter().collect();
    let (layout, t) = (user.layout(NavItem::Users), UserWords::of(user.lang));
    let row = |it: User| UserRow {
        id: it.id,
        name: it.shown_name().to_owned(),
        role: role_name(&t, it.role),
        restaurants: match &it.restaurants {
            RestaurantScope::All => t.all_restaurants.to_owned(),
            RestaurantScope::Only(ids) => {
                let known: Vec<&str> = ids
                    .iter()
                    .filter_map(|id| names.get(id))
                    .map(String::as_str)
                    .collect();
                known.join(", ")
            }
        },
        has_two_factor: it.has_two_factor,
        last_sign_in: layout.time_ago_or(&it.last_sign_in_at, t.never),
        is_you: it.id == user.person.id,
        is_invited: !it.has_accepted(),
        is_disabled: it.is_disabled,
        email: it.email,
    };
    Ok(page(&UsersPage {
        requires_two_factor: users::requires_two_factor(app, account).await.map_err(fail)?,
        users: found.into_iter().map(row).collect(),
        layout,
        t,
    }))
}

async fn require_two_factor(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let (t, requires) = (UserWords::of(user.lang), fields.get("require") == "on");
    users::set_requires_two_factor(&api.app, user.by(), requires)
        .await
        .map_err(|fault| user.fail(fault))?;
    let text = if requires {
        t.required_now
    } else {
        t.not_required_now
    };
    Ok(user.redirect_with_notice("/users", text))
}
