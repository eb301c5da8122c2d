//! API keys: issue one, which is shown once; revoke; choose the one that webhooks carry.

use super::restaurants::answer;
use crate::api::{Api, KeyRequest};
use crate::flow::Fault;
use crate::flow::admin::accounts;
use crate::flow::admin::accounts::Actor;
use crate::flow::fault::Thing;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::Field;
use crate::panel::kit::form_errors::{Wrong, read, text};
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::visitor::{Sent, Visitor};
use crate::panel::words::KeyWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::account::ApiKey;
use garson_core::id::KeyId;
use serde_json::json;
use std::sync::Arc;

pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/keys", get(list_keys).post(issue_key))
        .route("/keys/{id}/primary", post(make_primary))
        .route("/keys/{id}/revoke", post(revoke_key))
}

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysPage {
    frame: Frame,
    t: KeyWords,
    keys: Vec<ApiKey>,
    /// The key that was issued just now: it is shown this once.
    issued: Option<String>,
    label: Field,
    /// The id of the key that the form issues: however often it is sent, it is one key.
    next_id: KeyId,
}

async fn show(
    api: &Api,
    visitor: &Visitor,
    issued: Option<String>,
    label: Field,
) -> Result<Response, PanelError> {
    let t = KeyWords::of(visitor.lang);
    Ok(page(&KeysPage {
        keys: accounts::list_keys(&api.app, visitor.account.id)
            .await
            .map_err(|fault| visitor.fail(fault))?,
        frame: Frame::new(visitor, Place::Keys),
        label,
        next_id: KeyId::at(api.app.now()),
        issued,
        t,
    }))
}

async fn list_keys(State(api): State<Arc<Api>>, visitor: Visitor) -> Result<Response, PanelError> {
    show(&api, &visitor, None, label(&visitor)).await
}

fn label(visitor: &Visitor) -> Field {
    let t = KeyWords::of(visitor.lang);
    Field::text("label", t.label).hint(t.label_hint).between(0, 200)
}

/// The answer itself shows the key, since it can be shown only once; loading the page again sends the form again, which makes
/// no other.
async fn issue_key(
    State(api): State<Arc<Api>>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let wanted = match read::<KeyRequest>(&json!({ "label": text(&fields, "label") })) {
        Ok(wanted) => wanted,
        Err(error) => {
            let wrong = Wrong::new(&visitor, error)?;
            let mut label = label(&visitor).value(fields.get("label"));
            wrong.mark([&mut label]);
            let shown = show(&api, &visitor, None, label).await?;
            return Ok(answer(shown, Some(&wrong)));
        }
    };
    let id = parse(&visitor, fields.get("id"))?;
    let issued = accounts::issue_key_once(
        &api.app,
        visitor.account.id,
        id,
        wanted.label.map(|label| label.0),
    )
    .await
    .map_err(|fault| visitor.fail(fault))?;
    match issued {
        Some(issued) => {
            show(
                &api,
                &visitor,
                Some(issued.secret.expose().clone()),
                label(&visitor),
            )
            .await
        }
        None => Ok(visitor.refused("/keys", KeyWords::of(visitor.lang).issued_before)),
    }
}

fn parse(visitor: &Visitor, id: &str) -> Result<KeyId, PanelError> {
    id.parse()
        .map_err(|_| visitor.fail(Fault::not_found(Thing::Key, id)))
}

async fn make_primary(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, .. }: Sent,
) -> Result<Response, PanelError> {
    accounts::make_key_primary(&api.app, visitor.account.id, Actor::Owner, parse(&visitor, &id)?)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    Ok(visitor.done("/keys", KeyWords::of(visitor.lang).made_primary))
}

async fn revoke_key(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, .. }: Sent,
) -> Result<Response, PanelError> {
    let t = KeyWords::of(visitor.lang);
    match accounts::revoke_key(&api.app, visitor.account.id, Actor::Owner, parse(&visitor, &id)?).await {
        Ok(()) => {
            api.keyring.forget();
            Ok(visitor.done("/keys", t.revoked))
        }
        Err(Fault::LastKey) => Ok(visitor.refused("/keys", t.last_key)),
        Err(fault) => Err(visitor.fail(fault)),
    }
}
