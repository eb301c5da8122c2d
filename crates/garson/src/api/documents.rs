//! Serves the documents that describe the API: `/openapi.json` and `/asyncapi.json`.

use super::{asyncapi, openapi};
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use std::sync::Arc;
use tokio::sync::OnceCell;

type Written = serde_json::Result<String>;

pub fn router() -> Router<Arc<HttpState>> {
    let openapi = |public_url: &str| openapi::served_at(public_url).to_json();
    let asyncapi = |public_url: &str| serde_json::to_string(&asyncapi::served_at(public_url));
    route("/openapi.json", openapi).merge(route("/asyncapi.json", asyncapi))
}

/// Serves what `write` makes of the public address of the service.
fn route(path: &str, write: fn(&str) -> Written) -> Router<Arc<HttpState>> {
    // Generated at the first request: it takes some megabytes, and most servers never serve it.
    let text: Arc<OnceCell<Bytes>> = Arc::default();
    let read = async move |State(state): State<Arc<HttpState>>| -> Result<_, ApiError> {
        let public_url = state.app.settings.public_url.clone();
        let text = text.get_or_try_init(|| run(write, public_url)).await?.clone();
        Ok(([(CONTENT_TYPE, "application/json")], text))
    };
    Router::new().route(path, get(read))
}

async fn run(write: fn(&str) -> Written, public_url: String) -> Result<Bytes, ApiError> {
    let written = tokio::task::spawn_blocking(move || write(&public_url)).await;
    match written {
        Ok(Ok(text)) => Ok(text.into()),
        _ => Err(ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR)),
    }
}
