//! The account's events, for clients without a public address: as a list, by long polling, as a stream.

use super::envelope::Paged;
use super::order_view::{ChangeView, ReasonView};
use super::paging::{ClientParam, PageParams, Query, WaitParam};
use super::stream;
use crate::flow::admin::api_auth::Caller;
use crate::flow::read::event_feed::{Follower, Pass, list_events as list, wait_for_events};
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use garson_core::presence::PresenceKind;
use http::HeaderMap;
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// An event, in the very bytes that the webhook gets.
#[derive(Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = EventSchema)]
pub struct EventView(Box<RawValue>);

/// An event.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = Event)]
struct EventSchema {
    /// `siparis.olusturuldu`, `siparis.durum_degisti`, `siparis.iptal_edildi` or `entegrasyon.durum_degisti`; with
    /// `orderUpdates` also `siparis.guncellendi`; and those of `optionalEvents`.
    olay: String,
    veri: VeriSchema,
}

/// What the event is about.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = Veri, rename_all = "camelCase")]
struct VeriSchema {
    /// The id of the webhook record, the same on every retry.
    #[schema(format = Uuid)]
    id: String,
    #[schema(format = Uuid)]
    restaurant_id: String,
    #[schema(format = DateTime)]
    occurred_at: String,
    provider: String,
    #[schema(format = Uuid)]
    order_id: Option<String>,
    pid: Option<String>,
    provider_order_id: Option<String>,
    /// 1, 2, 3 … within the order.
    sequence: Option<i64>,
    status: Option<i64>,
    old_status: Option<i64>,
    new_status: Option<i64>,
    by: Option<String>,
    /// Why the order is cancelled, if a reason was given.
    reason: Option<ReasonView>,
    note: Option<String>,
    is_active: Option<bool>,
    /// Of `siparis.guncellendi`: the version of the order's content, its total, and what has changed.
    revision: Option<i64>,
    /// In minor units (kuruş).
    total: Option<i64>,
    currency: Option<String>,
    changes: Option<Vec<ChangeView>>,
    /// Of `magaza.durum_degisti`: the state of the store on the platform, `open`, `busy` or `closed`, and the one before.
    state: Option<String>,
    old_state: Option<String>,
    #[schema(format = DateTime)]
    since: Option<String>,
    /// When the store opens again by itself, or the product can be ordered again.
    #[schema(format = DateTime)]
    until: Option<String>,
    state_reason: Option<StateReasonSchema>,
    /// Of `urun.durum_degisti`: the product, its id on the platform, and whether it can be ordered there.
    #[schema(format = Uuid)]
    product_id: Option<String>,
    item_id: Option<String>,
    name: Option<String>,
    available: Option<bool>,
    /// Of `menu.degisti`: the number of the menu's version, and how many products have changed in what way.
    version: Option<i64>,
    added: Option<i64>,
    removed: Option<i64>,
    prices: Option<i64>,
    names: Option<i64>,
    availability: Option<i64>,
    images: Option<i64>,
}

/// Why a store is in its state.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = StateReason)]
struct StateReasonSchema {
    code: String,
    text: String,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[allow(dead_code)]
pub struct LastEventId {
    /// A stream begins after this event: an `id` of an earlier stream, or a `veri.id`.
    #[param(rename = "Last-Event-ID")]
    last_event_id: Option<String>,
}

/// The account's events, newest first: the same ids and bodies as the webhook gets.
///
/// With `Accept: text/event-stream` they come as server-sent events, oldest first: what was missed since `Last-Event-ID`
/// (or since `cursor`; without either nothing), and then each as it happens.
#[utoipa::path(get, path = "/events", tag = "Events", params(PageParams, WaitParam, ClientParam, LastEventId),
    responses((status = 200, content((Paged<EventView> = "application/json"), (String = "text/event-stream")))))]
pub async fn list_events(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let client = query.client()?;
    if stream::is_requested(&headers) {
        let start = stream::start(&headers, &query)?;
        let follower = Follower::start(
            Arc::clone(&state.app),
            caller.account,
            Pass::Key(caller.key, client.kind(PresenceKind::Stream)),
            start,
        )
        .await?;
        return Ok(stream::respond(follower, caller.access.restaurants.clone()));
    }
    let kind = client.kind(PresenceKind::Poller);
    state
        .app
        .presence
        .note_poll(caller.account, kind, caller.key, state.app.now());
    let scope = &caller.access.restaurants;
    let request = query.page()?;
    let page = match query.wait(&request)? {
        None => list(&state.app, caller.account, scope, request).await?,
        Some(timeout) => {
            let who = (caller.key, kind);
            wait_for_events(&state.app, caller.account, scope, who, request, timeout).await?
        }
    };
    let page = Paged::new(page, |event| {
        EventView(RawValue::from_string(event.body).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    });
    Ok(page.into_response())
}
