//! The live stream of an open board: changed cards, platform alerts and stores as server-sent events.

use super::shared::PlatformAlerts;
use super::view::{BoardPlace, chosen_filter, path};
use crate::flow::read::board::{Card as BoardCard, Part};
use crate::flow::read::event_feed::Start;
use crate::flow::read::live_board::{Changes, Live, Shown, View};
use crate::http::cursor::Cursor;
use crate::http::event_stream::{event_stream, write_data};
use crate::http::state::HttpState;
use crate::panel::components::card::Card;
use crate::panel::components::kitchen_card::KitchenCard;
use crate::panel::components::store_strip::StoreStrip;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::navigation::NavItem;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// An open board.
struct BoardStream {
    live: Live,
    api: Arc<HttpState>,
    user: CurrentUser,
    /// The path of the board.
    back: String,
    part: Part,
}

/// Starts after the last event that the browser received, or else at the state of the page.
pub async fn follow_board(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let last_event = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let cursor = last_event
        .and_then(Cursor::parse)
        .or_else(|| Cursor::parse(params.get("after")));
    let start = cursor.map_or(Start::Now, |Cursor(place)| Start::After {
        place,
        given: "after",
    });
    let place = BoardPlace::from_name(params.get("place"));
    let filter = chosen_filter(&user, &params, place)?;
    let view = View {
        account: user.account.id,
        filter,
        // A browser that reconnects may have missed answers of platforms, which are not events.
        shown: match last_event {
            Some(_) => Shown::LongAgo,
            None => Shown::JustNow {
                unsettled: params
                    .get("unsettled")
                    .split(',')
                    .filter_map(|id| id.parse().ok())
                    .collect(),
            },
        },
    };
    let live = Live::open(Arc::clone(&api.app), user.session.hash, view, start)
        .await
        .map_err(|fault| user.fail(fault))?;
    let first = format!("retry: 2000\nid: {}\n\n", Cursor(live.place()));
    let stream = BoardStream {
        live,
        api,
        user,
        back: path(place, filter),
        part: filter.part,
    };
    Ok(event_stream(first, stream, BoardStream::next_chunk))
}

impl BoardStream {
    async fn next_chunk(mut self) -> Option<(Bytes, Self)> {
        match self.live.next().await {
            Ok(Some(changes)) => Some((self.message(changes).into(), self)),
            Ok(None) => None,
            // The browser reconnects and continues after the last event.
            Err(fault) => {
                tracing::warn!(?fault, "the live stream of a board failed");
                None
            }
        }
    }

    fn message(&self, changes: Changes) -> String {
        let mut text = String::new();
        if let Some(away) = changes.away {
            let layout = self.user.layout(NavItem::Board);
            push_event(&mut text, "away", &PlatformAlerts::new(&layout, away));
        }
        if let Some(stores) = changes.stores {
            let (user, now) = (&self.user, self.api.app.now());
            let strip = StoreStrip::new(user.lang, &user.csrf, &self.back, &stores, now);
            push_event(&mut text, "stores", &strip);
        }
        for card in changes.cards {
            self.push_card(&mut text, card);
        }
        if text.is_empty() {
            return ":\n\n".to_owned();
        }
        // The id comes last: a browser that reconnects must have received everything before it.
        // Ignored: writing to a String does not fail.
        let _ = write!(text, "id: {}\nevent: place\ndata:\n\n", Cursor(self.live.place()));
        text
    }

    fn push_card(&self, text: &mut String, card: BoardCard) {
        let (user, now) = (&self.user, self.api.app.now());
        match self.part {
            Part::All => {
                let card = Card::new(user.lang, &user.csrf, &self.back, card, now);
                push_event(text, "card", &card);
            }
            Part::Kitchen => {
                let card = KitchenCard::new(user.lang, &user.csrf, &self.back, card, now);
                push_event(text, "card", &card);
            }
        }
    }
}

fn push_event(text: &mut String, event: &str, template: &impl Template) {
    let Ok(markup) = template.render() else { return };
    // Ignored: writing to a String does not fail.
    let _ = writeln!(text, "event: {event}");
    write_data(text, &markup);
    text.push('\n');
}
