//! The audit log: who did what, from where, and what it changed.

use super::envelope::Paged;
use super::paging::{PageParams, PeriodParams, Query, RestaurantParam};
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::audit;
use crate::flow::read::period::resolve_period;
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use axum::extract::State;
use garson_core::audit::{ActorKind, AuditAction, AuditEntry, RecordKind};
use garson_core::id::RestaurantId;
use garson_core::time::Timestamp;
use garson_store::lists::audit::AuditFilter;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// An entry of the audit log.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditView {
    /// Counts the entries of the account, without gaps.
    number: i64,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    actor: AuditActorView,
    /// The network address that the request came from.
    address: Option<String>,
    /// What was done, such as `restaurant.changed` or `order.verified`.
    action: String,
    /// The id of the record, or what else names it.
    record_id: Option<String>,
    #[schema(value_type = Option<String>, format = Uuid)]
    restaurant_id: Option<RestaurantId>,
    /// The changed fields before; secrets are fingerprints.
    #[schema(value_type = Option<Object>)]
    before: Option<Value>,
    /// The changed fields after.
    #[schema(value_type = Option<Object>)]
    after: Option<Value>,
    /// SHA-256 over this entry and the hash of the one before it, in hexadecimal digits.
    hash: String,
}

/// Who did it.
#[derive(Serialize, ToSchema)]
pub struct AuditActorView {
    #[schema(value_type = AuditActorKindSchema)]
    kind: &'static str,
    /// The id of the user or the key.
    #[schema(value_type = Option<String>, format = Uuid)]
    id: Option<Uuid>,
    /// A user's e-mail address, an operator's command, a platform.
    name: Option<String>,
}

/// `system` is the service itself, by a rule that was set before.
#[derive(ToSchema)]
#[schema(as = AuditActorKind, rename_all = "lowercase")]
#[allow(dead_code)]
enum AuditActorKindSchema {
    User,
    Key,
    Operator,
    Platform,
    System,
}

impl From<AuditEntry> for AuditView {
    fn from(it: AuditEntry) -> Self {
        let AuditEntry { number, entry, hash } = it;
        let json = |text: Option<String>| text.and_then(|text| serde_json::from_str(&text).ok());
        Self {
            number,
            at: entry.at,
            actor: AuditActorView {
                kind: entry.actor.kind.as_str(),
                id: entry.actor.id,
                name: entry.actor.name,
            },
            address: entry.address,
            action: entry.action.to_string(),
            record_id: entry.record_id,
            restaurant_id: entry.restaurant_id,
            before: json(entry.before),
            after: json(entry.after),
            hash: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct AuditParams {
    /// Only what this kind of actor did.
    #[param(inline)]
    actor: Option<AuditActorKindSchema>,
    /// Only what the user or the key with this id did.
    #[param(rename = "actorId", format = Uuid)]
    actor_id: Option<String>,
    /// Only this action, such as `restaurant.changed`; or all actions on a kind of record, such as `restaurant`.
    action: Option<String>,
    /// Only what was done to this record.
    #[param(rename = "recordId")]
    record_id: Option<String>,
}

fn wrong(name: &str, message: &str) -> ApiError {
    ApiError::invalid(Code::InvalidParameter, name, message)
}

/// The audit log of the account, newest first.
///
/// An entry is written in the transaction of the change, and cannot be changed unnoticed: `garson audit verify` finds entries that
/// were changed, removed or inserted. Filters look at some thousand entries at a time, so a page may have fewer entries than `limit`
/// and still a `next`.
#[utoipa::path(get, path = "/audit", tag = "Audit",
    params(AuditParams, RestaurantParam, PeriodParams, PageParams), responses((status = 200, body = Paged<AuditView>)))]
pub async fn list_audit(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    query: Query,
) -> Result<Paged<AuditView>, ApiError> {
    let page = query.page()?;
    let actor = match query.get("actor")? {
        None => None,
        Some(name) => Some(
            ActorKind::named(name)
                .ok_or_else(|| wrong("actor", "must be user, key, operator, platform or system"))?,
        ),
    };
    let actor_id = match query.get("actorId")? {
        None => None,
        Some(id) => Some(id.parse().map_err(|_| wrong("actorId", "must be a UUID"))?),
    };
    let (action, record) = match query.get("action")? {
        None => (None, None),
        Some(name) => match (AuditAction::named(name), RecordKind::named(name)) {
            (None, None) => {
                let message =
                    "must be an action such as restaurant.changed, or a kind of record such as restaurant";
                return Err(wrong("action", message));
            }
            found => found,
        },
    };
    let restaurant = query.restaurant()?;
    let (from, to) = resolve_period(&state.app, caller.account, query.period()?).await?;
    let filter = AuditFilter {
        actor,
        actor_id,
        actor_name: None,
        action,
        record,
        record_id: query.get("recordId")?.map(str::to_owned),
        restaurant,
        from,
        to,
    };
    let found = audit::list(&state.app, caller.account, filter, page).await?;
    Ok(Paged::new(found, AuditView::from))
}
