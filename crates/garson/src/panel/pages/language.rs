//! Switching the language.

use crate::http::state::HttpState;
use crate::panel::kit::cookies;
use crate::panel::kit::guest::GuestForm;
use crate::panel::kit::https::is_https;
use crate::panel::kit::redirect::safe_path;
use crate::panel::words::Lang;
use axum::Router;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use http::header;
use std::sync::Arc;

const YEAR_SECONDS: u32 = 365 * 24 * 60 * 60;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new().route("/language", post(switch_language))
}

async fn switch_language(GuestForm { headers, fields, .. }: GuestForm) -> Response {
    let lang = Lang::from_code(fields.get("to")).unwrap_or_default();
    let cookie = cookies::set(is_https(&headers), cookies::LANGUAGE, lang.code(), YEAR_SECONDS);
    let back = safe_path(fields.get("back"));
    ([(header::SET_COOKIE, cookie)], Redirect::to(back)).into_response()
}
