//! The buttons of an endpoint: pause, test, replace its secret, resend, delete.

use super::detail::{Shown, show};
use super::shown::parse_id;
use crate::flow::Fault;
use crate::flow::admin::endpoints;
use crate::flow::admin::endpoints::EndpointInput;
use crate::flow::deliver::{endpoint_sends, resend_all};
use crate::http::state::HttpState;
use crate::panel::components::send_result::{SendTexts, redirect_with_result};
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::EndpointWords;
use axum::extract::{Path, State};
use axum::response::Response;
use garson_core::id::ResendId;
use garson_core::webhook_endpoint::ROTATION_OVERLAP;
use std::sync::Arc;
use std::time::Duration;

/// What the button for missed events covers; retention may have removed earlier ones.
const MISSED_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

pub async fn set_state(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = parse_id(&user, &id)?;
    let t = EndpointWords::of(user.lang);
    let is_active = fields.get("active") == "1";
    let input = EndpointInput {
        is_active: Some(is_active),
        ..EndpointInput::default()
    };
    endpoints::update(&api.app, user.by(), id, input)
        .await
        .map_err(|fault| user.fail(fault))?;
    let text = if is_active { t.resumed_done } else { t.paused_done };
    Ok(user.redirect_with_notice(&format!("/webhook/endpoints/{id}"), text))
}

pub async fn test_endpoint(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let id = parse_id(&user, &id)?;
    let t = EndpointWords::of(user.lang);
    let sent = endpoint_sends::test(&api.app, user.by(), id).await;
    let texts = SendTexts {
        accepted: t.test_taken,
        refused: t.test_refused,
        unreachable: t.test_unreached,
    };
    redirect_with_result(&user, &format!("/webhook/endpoints/{id}"), sent, &texts)
}

/// The response itself shows the secret instead of redirecting.
pub async fn rotate_secret(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let id = parse_id(&user, &id)?;
    let t = EndpointWords::of(user.lang);
    let changed = endpoints::rotate_secret(&api.app, user.by(), id, ROTATION_OVERLAP)
        .await
        .map_err(|fault| user.fail(fault))?;
    let shown = Shown::of(changed, t.rotated);
    show(&api, &user, id, &FormData::default(), None, Some(shown)).await
}

pub async fn resend_missed(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let id = parse_id(&user, &id)?;
    let (app, account) = (&api.app, user.account.id);
    let t = EndpointWords::of(user.lang);
    endpoints::get(app, account, id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let back = format!("/webhook/endpoints/{id}");
    let of = (!id.is_default_of(account)).then_some(id);
    let since = app.now().minus(MISSED_FOR);
    match resend_all::start(app, user.by(), of, ResendId::at(app.now()), since, true).await {
        Ok(resend) => Ok(user.redirect_with_notice(&back, format!("{} {}", t.again_started, resend.found))),
        Err(Fault::NoWebhook) => Ok(user.redirect_with_error(&back, t.again_inactive)),
        Err(fault @ Fault::TooManyRetries) => Ok(user.redirect_with_error(&back, user.fail(fault).text())),
        Err(fault) => Err(user.fail(fault)),
    }
}

pub async fn delete_endpoint(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let id = parse_id(&user, &id)?;
    endpoints::delete(&api.app, user.by(), id)
        .await
        .map_err(|fault| user.fail(fault))?;
    Ok(user.redirect_with_notice("/webhook/endpoints", EndpointWords::of(user.lang).deleted))
}
