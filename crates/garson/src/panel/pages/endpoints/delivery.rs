//! The page of one delivery to an endpoint.

use super::shown::parse_id;
use crate::http::state::HttpState;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::user_form::UserForm;
use crate::panel::pages::webhook::delivery::{parse, resend_to, show_delivery_to};
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route(
            "/webhook/endpoints/{id}/deliveries/{event}",
            get(show_endpoint_delivery),
        )
        .route(
            "/webhook/endpoints/{id}/deliveries/{event}/resend",
            post(resend_endpoint_delivery),
        )
}

async fn show_endpoint_delivery(
    State(api): State<Arc<HttpState>>,
    Path((id, event)): Path<(String, String)>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let (id, event) = (parse_id(&user, &id)?, parse(&user, &event)?);
    show_delivery_to(&api, &user, id, event).await
}

async fn resend_endpoint_delivery(
    State(api): State<Arc<HttpState>>,
    Path((id, event)): Path<(String, String)>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let (id, event) = (parse_id(&user, &id)?, parse(&user, &event)?);
    resend_to(&api, &user, id, event).await
}
