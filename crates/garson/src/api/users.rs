//! The users of the account: people who sign in to the panel. A key acts as the account; only the primary one changes users, because
//! an owner may decide where that key is sent.

use super::envelope::{Data, Done};
use super::idempotency::NewId;
use super::json_body::Json;
use crate::flow::Fault;
use crate::flow::admin::accounts;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::{Line, Patch, restaurant_id, user_id};
use crate::flow::admin::invitations;
use crate::flow::admin::users::{self, NewUser, UserChange};
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::channel::Language;
use garson_core::field_problem::FieldProblem;
use garson_core::id::{RestaurantId, UserId};
use garson_core::json::ObjectOnly;
use garson_core::permission::RestaurantScope;
use garson_core::role::Role;
use garson_core::time::Timestamp;
use garson_core::user::User;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// A person who may sign in to the panel.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserView {
    #[schema(value_type = String, format = Uuid)]
    id: UserId,
    email: String,
    name: String,
    /// `tr` or `en`.
    language: &'static str,
    #[schema(value_type = UserRoleSchema)]
    role: Role,
    /// The restaurants that the user is responsible for; null for all.
    #[schema(value_type = Option<Vec<String>>)]
    restaurant_ids: Option<Vec<RestaurantId>>,
    is_disabled: bool,
    /// Has the user accepted the invitation?
    has_accepted: bool,
    has_two_factor: bool,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_sign_in_at: Option<Timestamp>,
}

#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = UserRole, rename_all = "kebab-case")]
enum UserRoleSchema {
    Owner,
    Manager,
    Shift,
    Accountant,
    Developer,
    ReadOnly,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        let has_accepted = user.has_accepted();
        Self {
            id: user.id,
            email: user.email,
            name: user.name,
            language: user.language.as_str(),
            role: user.role,
            restaurant_ids: match user.restaurants {
                RestaurantScope::All => None,
                RestaurantScope::Only(ids) => Some(ids.into_iter().collect()),
            },
            is_disabled: user.is_disabled,
            has_accepted,
            has_two_factor: user.has_two_factor,
            created_at: user.created_at,
            last_sign_in_at: user.last_sign_in_at,
        }
    }
}

/// A user that was invited.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitedUserView {
    #[serde(flatten)]
    user: UserView,
    /// The link by which the person sets a password; shown this once. Null if it was sent by e-mail.
    invitation_link: Option<String>,
}

/// The users of the account.
#[utoipa::path(get, path = "/users", tag = "Users", responses((status = 200, body = Data<Vec<UserView>>)))]
pub async fn list_users(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
) -> Result<Data<Vec<UserView>>, ApiError> {
    let found = users::list(&state.app, caller.account).await?;
    Ok(Data::new(found.into_iter().map(Into::into).collect()))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InviteUserRequest {
    email: Line,
    name: Option<Line>,
    /// `tr` (default) or `en`.
    language: Option<Line>,
    #[schema(value_type = UserRoleSchema)]
    role: Line,
    /// The restaurants that the user is responsible for; all if left out or null.
    restaurant_ids: Option<Vec<String>>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

fn role(text: &Line) -> Result<Role, Fault> {
    Role::named(text.as_str()).ok_or_else(|| {
        let choices = Role::ALL.map(Role::as_str).join(", ");
        Fault::invalid("role", FieldProblem::NotOneOf { choices })
    })
}

fn scope(ids: Option<Vec<String>>) -> Result<RestaurantScope, Fault> {
    let Some(ids) = ids else {
        return Ok(RestaurantScope::All);
    };
    let ids = ids
        .iter()
        .map(|id| restaurant_id(id))
        .collect::<Result<_, Fault>>()?;
    Ok(RestaurantScope::Only(ids))
}

/// Invite a person.
///
/// The person sets a password by a link, which works once within 7 days. It is sent by e-mail if the operator has configured a mail
/// server; otherwise it is in the answer, this once. Needs the primary key.
#[utoipa::path(post, path = "/users", tag = "Users", request_body = InviteUserRequest,
    responses((status = 200, body = Data<InvitedUserView>)))]
pub async fn invite_user(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    NewId(new_id): NewId,
    Json(wanted): Json<InviteUserRequest>,
) -> Result<Data<InvitedUserView>, ApiError> {
    let language = match wanted.language.as_ref().map(Line::as_str) {
        None => Language::default(),
        Some(name) => Language::named(name).ok_or_else(|| {
            let choices = "tr, en".to_owned();
            Fault::invalid("language", FieldProblem::NotOneOf { choices })
        })?,
    };
    let new = NewUser {
        role: role(&wanted.role)?,
        email: wanted.email.into_string(),
        name: wanted.name.map(Line::into_string).unwrap_or_default(),
        language,
        restaurants: scope(wanted.restaurant_ids)?,
    };
    let account = accounts::get(&state.app, caller.account).await?;
    let base = format!("http://{}", state.app.settings.listen);
    let id = UserId(new_id);
    let invited = invitations::invite(&state.app, caller.by(), &account, id, new, &base).await?;
    Ok(Data::new(InvitedUserView {
        user: invited.user.into(),
        invitation_link: invited.link.map(|link| link.expose().clone()),
    }))
}

/// What can be changed of a user. A missing field stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserChangeRequest {
    name: Option<Line>,
    #[schema(value_type = Option<UserRoleSchema>)]
    role: Option<Line>,
    /// Null for all.
    #[serde(default)]
    #[schema(value_type = Option<Vec<String>>)]
    restaurant_ids: Patch<Vec<String>>,
    is_disabled: Option<bool>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// Change a user.
///
/// A user whose role or restaurants change, or who is disabled, is signed out at once. An account keeps an owner. Needs the primary
/// key.
#[utoipa::path(patch, path = "/users/{userId}", tag = "Users", params(("userId" = String, Path)),
    request_body(content = Option<UserChangeRequest>), responses((status = 200, body = Data<UserView>)))]
pub async fn change_user(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(id): Path<String>,
    Json(wanted): Json<UserChangeRequest>,
) -> Result<Data<UserView>, ApiError> {
    let change = UserChange {
        name: wanted.name.map(Line::into_string),
        role: wanted.role.as_ref().map(role).transpose()?,
        restaurants: wanted.restaurant_ids.into_option().map(scope).transpose()?,
        is_disabled: wanted.is_disabled,
    };
    let id = user_id(&id)?;
    let changed = users::change(&state.app, caller.by(), id, change).await?;
    Ok(Data::new(changed.into()))
}

/// Remove a user.
///
/// The user is signed out at once. An account keeps an owner. Needs the primary key.
#[utoipa::path(delete, path = "/users/{userId}", tag = "Users", params(("userId" = String, Path)),
    responses((status = 200, body = Done)))]
pub async fn remove_user(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Done, ApiError> {
    users::remove(&state.app, caller.by(), user_id(&id)?).await?;
    Ok(Done::new())
}
