//! API keys: issue, revoke, choose the primary one.

use crate::flow::Fault;
use crate::flow::admin::accounts;
use crate::flow::admin::accounts::Actor;
use crate::flow::admin::input::Line;
use crate::flow::fault::Thing;
use crate::http::state::HttpState;
use crate::panel::kit::current_user::{CurrentUser, UserForm};
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::Field;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_input::optional;
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::words::KeyWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::account::ApiKey;
use garson_core::id::KeyId;
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/keys", get(list_keys).post(issue_key))
        .route("/keys/{id}/primary", post(make_primary))
        .route("/keys/{id}/revoke", post(revoke_key))
}

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysPage {
    layout: Layout,
    t: KeyWords,
    keys: Vec<ApiKey>,
    /// A key that was just issued. It is shown this one time.
    issued: Option<String>,
    label: Field,
    /// The id of the key that the form issues: a form that is sent twice issues one key.
    next_id: KeyId,
}

async fn show(
    api: &HttpState,
    user: &CurrentUser,
    issued: Option<String>,
    label: Field,
) -> Result<Response, PanelError> {
    let t = KeyWords::of(user.lang);
    Ok(page(&KeysPage {
        keys: accounts::list_keys(&api.app, user.account.id)
            .await
            .map_err(|fault| user.fail(fault))?,
        layout: user.layout(NavItem::Keys),
        label,
        next_id: KeyId::at(api.app.now()),
        issued,
        t,
    }))
}

async fn list_keys(State(api): State<Arc<HttpState>>, user: CurrentUser) -> Result<Response, PanelError> {
    show(&api, &user, None, label_field(&user)).await
}

fn label_field(user: &CurrentUser) -> Field {
    let t = KeyWords::of(user.lang);
    Field::text("label", t.label).hint(t.label_hint).length(0, 200)
}

/// The response itself shows the key instead of redirecting. Reloading it sends the form again, which issues no second key.
async fn issue_key(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let name: Option<Line> = match optional(&fields, "label") {
        Ok(name) => name,
        Err(fault) => {
            let wrong = FormErrors::new(&user, fault)?;
            let mut label = label_field(&user).value(fields.get("label"));
            wrong.mark([&mut label]);
            let page = show(&api, &user, None, label).await?;
            return Ok(form_page(page, Some(&wrong)));
        }
    };
    let id = parse_id(&user, fields.get("id"))?;
    let issued = accounts::issue_key_once(&api.app, user.account.id, id, name.map(Line::into_string))
        .await
        .map_err(|fault| user.fail(fault))?;
    match issued {
        Some(issued) => {
            show(
                &api,
                &user,
                Some(issued.secret.expose().clone()),
                label_field(&user),
            )
            .await
        }
        None => Ok(user.redirect_with_error("/keys", KeyWords::of(user.lang).issued_before)),
    }
}

fn parse_id(user: &CurrentUser, id: &str) -> Result<KeyId, PanelError> {
    id.parse()
        .map_err(|_| user.fail(Fault::not_found(Thing::Key, id)))
}

async fn make_primary(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    accounts::make_key_primary(&api.app, user.account.id, Actor::Owner, parse_id(&user, &id)?)
        .await
        .map_err(|fault| user.fail(fault))?;
    Ok(user.redirect_with_notice("/keys", KeyWords::of(user.lang).made_primary))
}

async fn revoke_key(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let t = KeyWords::of(user.lang);
    match accounts::revoke_key(&api.app, user.account.id, Actor::Owner, parse_id(&user, &id)?).await {
        Ok(()) => {
            api.auth.forget_keys();
            Ok(user.redirect_with_notice("/keys", t.revoked))
        }
        Err(Fault::LastKey) => Ok(user.redirect_with_error("/keys", t.last_key)),
        Err(fault) => Err(user.fail(fault)),
    }
}
