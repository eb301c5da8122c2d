//! The banner of every page, as the script asks for it again, and the acknowledgement of events that were given up.

use crate::flow::read::attention;
use crate::http::state::HttpState;
use crate::panel::kit::attention::Banner;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::fragment;
use crate::panel::kit::redirect::safe_path;
use crate::panel::kit::user_form::UserForm;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use garson_core::permission::Permission;
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/attention", get(show_banner))
        .route("/attention/given-up", post(acknowledge_given_up))
}

async fn show_banner(user: CurrentUser, RawQuery(query): RawQuery) -> Result<Response, PanelError> {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let here = safe_path(params.get("here"));
    let is_on_board = params.get("on") == "board";
    Ok(fragment(&Banner::new(
        user.lang,
        user.attention(),
        &user.csrf,
        here,
        is_on_board,
        user.may(Permission::ChangeWebhook),
    )))
}

async fn acknowledge_given_up(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    attention::acknowledge_given_up(&api.app, user.account.id)
        .await
        .map_err(|fault| user.fail(fault))?;
    Ok(Redirect::to(safe_path(fields.get("back"))).into_response())
}
