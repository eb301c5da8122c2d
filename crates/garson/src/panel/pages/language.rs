//! Switching the language.

use crate::flow::admin::{sessions, users};
use crate::http::state::HttpState;
use crate::panel::components::role_name::language_of;
use crate::panel::kit::cookies;
use crate::panel::kit::guest::GuestForm;
use crate::panel::kit::https::is_https;
use crate::panel::kit::redirect::safe_path;
use crate::panel::words::Lang;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use http::header;
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new().route("/language", post(switch_language))
}

/// A signed-in user keeps the language for other devices and for e-mails.
async fn switch_language(
    State(api): State<Arc<HttpState>>,
    GuestForm { headers, fields, .. }: GuestForm,
) -> Response {
    let lang = Lang::from_code(fields.get("to")).unwrap_or_default();
    if let Some(session) = cookies::get(&headers, cookies::SESSION)
        && let Ok(Some(visit)) = sessions::visit(&api.app, session).await
    {
        let (account, id) = (visit.account.id, visit.user.id);
        if let Err(fault) = users::set_language(&api.app, account, id, language_of(lang)).await {
            // The browser has it in any case.
            tracing::warn!(?fault, "the language of a user could not be stored");
        }
    }
    let cookie = cookies::language(is_https(&headers), lang);
    let back = safe_path(fields.get("back"));
    ([(header::SET_COOKIE, cookie)], Redirect::to(back)).into_response()
}
