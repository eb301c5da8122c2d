//! API keys: issue, list, revoke, choose the one that webhooks carry.

use super::envelope::{Data, Done};
use super::idempotency::NewId;
use super::json_body::Json;
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::{Line, key_id, overlap, restaurant_id};
use crate::flow::admin::keys;
use crate::flow::admin::keys::{LONGEST_OVERLAP, NewKey, OVERLAP};
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::account::{ApiKey, IssuedKey};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{KeyId, RestaurantId};
use garson_core::json::{ObjectOnly, whole_or_none};
use garson_core::key_access::{KeyAccess, Scope};
use garson_core::network::Network;
use garson_core::permission::RestaurantScope;
use garson_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use utoipa::ToSchema;

/// What a key may be for.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = Scope)]
enum ScopeSchema {
    #[schema(rename = "orders:read")]
    OrdersRead,
    #[schema(rename = "orders:act")]
    OrdersAct,
    #[schema(rename = "reports")]
    Reports,
    #[schema(rename = "restaurants:read")]
    RestaurantsRead,
    #[schema(rename = "stores")]
    Stores,
    #[schema(rename = "menus")]
    Menus,
    #[schema(rename = "settings")]
    Settings,
    #[schema(rename = "webhooks")]
    Webhooks,
    #[schema(rename = "keys")]
    Keys,
    #[schema(rename = "users")]
    Users,
    #[schema(rename = "audit")]
    Audit,
    #[schema(rename = "privacy")]
    Privacy,
}

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
    /// What it is for; null for everything.
    #[schema(value_type = Option<Vec<ScopeSchema>>)]
    scopes: Option<BTreeSet<Scope>>,
    /// The restaurants that it is for; null for all.
    #[schema(value_type = Option<Vec<String>>)]
    restaurant_ids: Option<BTreeSet<RestaurantId>>,
    /// The networks that it may be used from; empty for all.
    #[schema(value_type = Vec<String>)]
    networks: BTreeSet<Network>,
    /// It is refused from then on.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// The key that takes its place.
    #[schema(value_type = Option<String>, format = Uuid)]
    replaced_by: Option<KeyId>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Timestamp>,
    /// The network address that it was used from then. Both are brought up to date once a minute.
    last_used_from: Option<String>,
}

impl From<ApiKey> for KeyView {
    fn from(key: ApiKey) -> Self {
        Self {
            id: key.id,
            label: key.label,
            hint: key.hint,
            is_primary: key.is_primary,
            scopes: key.access.scopes,
            restaurant_ids: match key.access.restaurants {
                RestaurantScope::All => None,
                RestaurantScope::Only(ids) => Some(ids),
            },
            networks: key.access.networks,
            expires_at: key.expires_at,
            replaced_by: key.replaced_by,
            created_at: key.created_at,
            last_used_at: key.last_used_at,
            last_used_from: key.last_used_from,
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

impl From<IssuedKey> for NewKeyView {
    fn from(issued: IssuedKey) -> Self {
        Self {
            api_key: issued.secret.expose().clone(),
            key: issued.record.into(),
        }
    }
}

/// The account's keys.
#[utoipa::path(get, path = "/keys", tag = "Keys", responses((status = 200, body = Data<Vec<KeyView>>)))]
pub async fn list_keys(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
) -> Result<Data<Vec<KeyView>>, ApiError> {
    let found = keys::list(&state.app, caller.account).await?;
    Ok(Data::new(found.into_iter().map(Into::into).collect()))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyRequest {
    /// What people call it.
    label: Option<Line>,
    /// What it is for; everything if left out.
    #[schema(value_type = Option<Vec<ScopeSchema>>, min_items = 1)]
    scopes: Option<Vec<String>>,
    /// The restaurants that it is for; all if left out.
    #[schema(min_items = 1, max_items = 200)]
    restaurant_ids: Option<Vec<String>>,
    /// The networks that it may be used from, such as `203.0.113.0/24` or a single address; all if left out or empty.
    #[schema(max_items = 50)]
    networks: Option<Vec<String>>,
    /// When it ends; never if left out.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

impl TryFrom<KeyRequest> for NewKey {
    type Error = Fault;

    fn try_from(request: KeyRequest) -> Result<Self, Fault> {
        let scope = |(row, name): (usize, String)| {
            Scope::named(&name).ok_or_else(|| {
                let choices = Scope::ALL.map(Scope::as_str).join(", ");
                Fault::invalid(format!("scopes[{row}]"), FieldProblem::NotOneOf { choices })
            })
        };
        let network = |(row, text): (usize, String)| {
            text.parse::<Network>().map_err(|problem| {
                Fault::invalid(
                    format!("networks[{row}]"),
                    FieldProblem::text(format!("is no network: {problem}")),
                )
            })
        };
        let scopes = request
            .scopes
            .map(|names| names.into_iter().enumerate().map(scope).collect())
            .transpose()?;
        let restaurants = match request.restaurant_ids {
            None => RestaurantScope::All,
            Some(ids) => {
                let ids: Result<_, Fault> = ids.iter().map(|id| restaurant_id(id)).collect();
                RestaurantScope::Only(ids?)
            }
        };
        let networks = request.networks.unwrap_or_default();
        let networks: Result<_, Fault> = networks.into_iter().enumerate().map(network).collect();
        Ok(Self {
            label: request.label.map(Line::into_string),
            access: KeyAccess {
                scopes,
                restaurants,
                networks: networks?,
            },
            expires_at: request.expires_at,
        })
    }
}

/// Issue a key. It is shown this once.
///
/// A key issues keys that can do no more than it can itself, and that last no longer.
#[utoipa::path(post, path = "/keys", tag = "Keys", request_body(content = Option<KeyRequest>),
    responses((status = 200, body = Data<NewKeyView>)))]
pub async fn create_key(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    NewId(new_id): NewId,
    Json(wanted): Json<KeyRequest>,
) -> Result<Data<NewKeyView>, ApiError> {
    let issued = keys::issue(&state.app, caller.by(), KeyId(new_id), wanted.try_into()?).await?;
    Ok(Data::new(issued.into()))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RotateKeyRequest {
    /// For how long the old key stays valid; 24 without it, 0 ends it at once.
    #[serde(default, deserialize_with = "whole_or_none")]
    #[schema(value_type = Option<u32>, minimum = 0, maximum = 720)]
    overlap_hours: Option<i64>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// Issue a key in the place of another one, with the same label and access. It is shown this once.
///
/// The old key stays valid until the overlap is over. If it is the primary one, webhooks carry it until then; afterwards the new one
/// is primary. Only the primary key replaces itself.
#[utoipa::path(post, path = "/keys/{keyId}/rotate", tag = "Keys", params(("keyId" = String, Path)),
    request_body(content = Option<RotateKeyRequest>), responses((status = 200, body = Data<NewKeyView>)))]
pub async fn rotate_key(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(key): Path<String>,
    NewId(new_id): NewId,
    Json(wanted): Json<RotateKeyRequest>,
) -> Result<Data<NewKeyView>, ApiError> {
    let overlap = overlap(wanted.overlap_hours, LONGEST_OVERLAP)?.unwrap_or(OVERLAP);
    let ids = (key_id(&key)?, KeyId(new_id));
    let issued = keys::rotate(&state.app, caller.by(), ids, overlap).await?;
    state.auth.forget_keys();
    Ok(Data::new(issued.into()))
}

/// Revoke a key.
///
/// The primary one is revoked only by itself; the newest remaining one takes its place.
#[utoipa::path(delete, path = "/keys/{keyId}", tag = "Keys", params(("keyId" = String, Path)),
    responses((status = 200, body = Done)))]
pub async fn delete_key(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(key): Path<String>,
) -> Result<Done, ApiError> {
    keys::revoke(&state.app, caller.by(), key_id(&key)?).await?;
    state.auth.forget_keys();
    Ok(Done::new())
}

/// Make a key the one that webhooks carry.
///
/// Only the present one may do so.
#[utoipa::path(post, path = "/keys/{keyId}/primary", tag = "Keys", params(("keyId" = String, Path)),
    responses((status = 200, body = Data<KeyView>)))]
pub async fn make_key_primary(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(key): Path<String>,
) -> Result<Data<KeyView>, ApiError> {
    let made = keys::make_primary(&state.app, caller.by(), key_id(&key)?).await?;
    state.auth.forget_keys();
    Ok(Data::new(made.into()))
}
