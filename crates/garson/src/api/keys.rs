//! API keys: issue, list, revoke, choose the one that webhooks carry.

use super::auth::Caller;
use super::envelope::{Data, Done};
use super::fields::Line;
use super::idempotency::NewId;
use super::{Api, ApiError};
use crate::flow::Fault;
use crate::flow::admin::accounts;
use crate::flow::fault::Thing;
use crate::http::body::Json;
use axum::extract::{Path, State};
use garson_core::account::ApiKey;
use garson_core::id::KeyId;
use garson_core::json::ObjectOnly;
use garson_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    #[schema(value_type = String, format = Uuid)]
    id: KeyId,
    label: Option<String>,
    /// The last characters of the key.
    hint: String,
    /// Do webhooks carry it?
    is_primary: bool,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Timestamp>,
}

impl From<ApiKey> for KeyView {
    fn from(key: ApiKey) -> Self {
        Self {
            id: key.id,
            label: key.label,
            hint: key.hint,
            is_primary: key.is_primary,
            created_at: key.created_at,
            last_used_at: key.last_used_at,
        }
    }
}

/// A key at the only time it is shown.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewKeyView {
    #[serde(flatten)]
    key: KeyView,
    api_key: String,
}

fn id(text: &str) -> Result<KeyId, ApiError> {
    text.parse()
        .map_err(|_| Fault::not_found(Thing::Key, text).into())
}

/// The account's keys.
#[utoipa::path(get, path = "/keys", tag = "Keys", responses((status = 200, body = Data<Vec<KeyView>>)))]
pub async fn list_keys(State(api): State<Arc<Api>>, caller: Caller) -> Result<Data<Vec<KeyView>>, ApiError> {
    let keys = accounts::list_keys(&api.app, caller.account).await?;
    Ok(Data::new(keys.into_iter().map(Into::into).collect()))
}

#[derive(Deserialize, ToSchema)]
pub struct KeyRequest {
    /// What it is for.
    pub label: Option<Line>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// Issue a key. It is shown this once.
#[utoipa::path(post, path = "/keys", tag = "Keys", request_body(content = Option<KeyRequest>),
    responses((status = 200, body = Data<NewKeyView>)))]
pub async fn create_key(
    State(api): State<Arc<Api>>,
    caller: Caller,
    NewId(new_id): NewId,
    Json(wanted): Json<KeyRequest>,
) -> Result<Data<NewKeyView>, ApiError> {
    let issued = accounts::issue_key(
        &api.app,
        caller.account,
        KeyId(new_id),
        wanted.label.map(|label| label.0),
    )
    .await?;
    Ok(Data::new(NewKeyView {
        api_key: issued.secret.expose().clone(),
        key: issued.record.into(),
    }))
}

/// Revoke a key.
///
/// The primary one is revoked only by itself; the newest remaining one takes its place.
#[utoipa::path(delete, path = "/keys/{keyId}", tag = "Keys", params(("keyId" = String, Path)),
    responses((status = 200, body = Done)))]
pub async fn delete_key(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(key): Path<String>,
) -> Result<Done, ApiError> {
    accounts::revoke_key(&api.app, caller.account, caller.actor(), id(&key)?).await?;
    api.keyring.forget();
    Ok(Done::new())
}

/// Make a key the one that webhooks carry.
///
/// Only the present one may do so.
#[utoipa::path(post, path = "/keys/{keyId}/primary", tag = "Keys", params(("keyId" = String, Path)),
    responses((status = 200, body = Data<KeyView>)))]
pub async fn make_key_primary(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(key): Path<String>,
) -> Result<Data<KeyView>, ApiError> {
    let made = accounts::make_key_primary(&api.app, caller.account, caller.actor(), id(&key)?).await?;
    api.keyring.forget();
    Ok(Data::new(made.into()))
}
