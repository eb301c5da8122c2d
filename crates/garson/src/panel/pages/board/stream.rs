//! What changes on a board while it is open: cards as they are then, and platforms that are in trouble.

use super::{AwayLines, address};
use crate::flow::read::board::{Changes, Live, Shown, View};
use crate::flow::read::event_feed::Start;
use crate::http::cursor::Cursor;
use crate::http::event_stream::{event_stream, write_data};
use crate::http::state::HttpState as Api;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::fields::Fields;
use crate::panel::kit::frame::{Frame, Place};
use crate::panel::kit::restaurant_header::chosen_restaurant;
use crate::panel::kit::visitor::Visitor;
use crate::panel::pages::card::Card;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// A board in somebody's browser.
struct Told {
    live: Live,
    api: Arc<Api>,
    visitor: Visitor,
    /// Where the board is.
    back: String,
}

/// Goes on from the place of the page, or from where the browser has heard up to.
pub async fn follow_board(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    let heard = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let place = heard
        .and_then(Cursor::parse)
        .or_else(|| Cursor::parse(asked.get("after")));
    let start = place.map_or(Start::Now, |Cursor(place)| Start::After {
        place,
        given: "after",
    });
    let only = chosen_restaurant(&visitor, &asked)?;
    let view = View {
        account: visitor.account.id,
        only,
        // Whoever comes back may have missed how platforms answered, which is no event.
        shown: match heard {
            Some(_) => Shown::LongAgo,
            None => Shown::JustNow {
                unsettled: asked
                    .get("unsettled")
                    .split(',')
                    .filter_map(|id| id.parse().ok())
                    .collect(),
            },
        },
    };
    let live = Live::open(Arc::clone(&api.app), visitor.session.hash, view, start)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let first = format!("retry: 2000\nid: {}\n\n", Cursor(live.place()));
    let back = address(only);
    let told = Told {
        live,
        api,
        visitor,
        back,
    };
    Ok(event_stream(first, told, Told::next_chunk))
}

impl Told {
    async fn next_chunk(mut self) -> Option<(Bytes, Self)> {
        match self.live.next().await {
            Ok(Some(changes)) => Some((self.words(changes).into(), self)),
            Ok(None) => None,
            // The browser comes back by itself, and goes on from where it was.
            Err(fault) => {
                tracing::warn!(?fault, "a board could not be followed");
                None
            }
        }
    }
}

impl Told {
    fn words(&self, changes: Changes) -> String {
        let now = self.api.app.now();
        let mut text = String::new();
        if let Some(away) = changes.away {
            let frame = Frame::new(&self.visitor, Place::Board);
            say(&mut text, "away", &AwayLines::new(&frame, away));
        }
        for card in changes.cards {
            let card = Card::new(self.visitor.lang, &self.visitor.csrf, &self.back, card, now);
            say(&mut text, "card", &card);
        }
        if text.is_empty() {
            return ":\n\n".to_owned();
        }
        // Where to go on from, once all of it has come.
        let _written = write!(text, "id: {}\nevent: place\ndata:\n\n", Cursor(self.live.place()));
        text
    }
}

fn say(text: &mut String, event: &str, shown: &impl Template) {
    let Ok(markup) = shown.render() else { return };
    let _written = writeln!(text, "event: {event}");
    write_data(text, &markup);
    text.push('\n');
}
