//! Presence: which boards, streams, pollers and printers are connected for a restaurant.

use super::envelope::Data;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::restaurant_id;
use crate::flow::presence;
use crate::flow::presence::NamedPresence;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::id::KeyId;
use garson_core::time::Timestamp;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Who is connected to a restaurant's orders, on all nodes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PresenceView {
    /// Whether a board, a stream or a poller is connected. Escalation steps with `onlyIfUnwatched` are taken only while this is
    /// false. Printers do not count.
    is_watched: bool,
    connections: Vec<ConnectionView>,
}

/// The connections of one browser session or API key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ConnectionView {
    #[schema(value_type = ConnectionKindSchema)]
    kind: &'static str,
    /// The API key of a stream, a poller or a printer, and its label.
    #[schema(value_type = Option<String>, format = Uuid)]
    key_id: Option<KeyId>,
    key_label: Option<String>,
    /// How many connections there are.
    connections: usize,
    /// Since when it has been connected. A reconnection within some seconds is no interruption.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
}

/// `board`: a live board of the panel. `stream`: `GET /events` as a stream. `poller`: a program that has asked for events or orders
/// within the last 90 seconds. `printer`: a program that does so with `client=printer`, such as `garson print`.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = ConnectionKind, rename_all = "snake_case")]
enum ConnectionKindSchema {
    Board,
    Stream,
    Poller,
    Printer,
}

impl From<NamedPresence> for ConnectionView {
    fn from(it: NamedPresence) -> Self {
        Self {
            kind: it.presence.kind.as_str(),
            key_id: it.presence.key,
            key_label: it.key,
            connections: it.presence.connections,
            since: it.presence.since,
        }
    }
}

/// Which boards, streams, pollers and printers are connected for a restaurant, and since when.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/presence", tag = "Escalation",
    params(("restaurantId" = String, Path)), responses((status = 200, body = Data<PresenceView>)))]
pub async fn get_presence(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Data<PresenceView>, ApiError> {
    let found = presence::of_restaurant(&state.app, caller.account, restaurant_id(&restaurant)?).await?;
    Ok(Data::new(PresenceView {
        is_watched: found.iter().any(|it| it.presence.kind.is_watching()),
        connections: found.into_iter().map(Into::into).collect(),
    }))
}
