//! Server-sent events: an account's events as a stream.

use super::paging::Query;
use crate::flow::read::FeedEvent;
use crate::flow::read::event_feed::{Follower, Next, Start};
use crate::http::cursor::Cursor;
use crate::http::error::{ApiError, Code};
use crate::http::event_stream;
use crate::http::event_stream::{event_stream, write_data};
use axum::response::Response;
use bytes::Bytes;
use garson_core::permission::RestaurantScope;
use http::{HeaderMap, header};
use std::fmt::Write as _;

const LAST_EVENT_ID: &str = "last-event-id";
/// How long a client waits before it reconnects.
const RETRY_MILLIS: u32 = 2_000;

/// Does the client ask for a stream? It has to name the media type; a wildcard gets a list.
pub fn is_requested(headers: &HeaderMap) -> bool {
    let weight = |kind: &str| {
        let values = headers.get_all(header::ACCEPT).iter();
        let ranges = values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','));
        let weights = ranges.filter_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            parts.next().filter(|name| name.eq_ignore_ascii_case(kind))?;
            let q = parts.find_map(|part| part.strip_prefix("q="));
            Some(q.map_or(1.0, |q| q.parse::<f32>().unwrap_or(0.0)))
        });
        weights.fold(0.0, f32::max)
    };
    let stream = weight(event_stream::CONTENT_TYPE);
    stream > 0.0 && stream >= weight("application/json")
}

/// Where the stream begins: after `Last-Event-ID`, or after `cursor`, or now. A client that reconnects sends the cursor with which it
/// began, so the header is the newer one.
pub fn start(headers: &HeaderMap, query: &Query) -> Result<Start, ApiError> {
    for name in ["limit", "wait"] {
        if query.get(name)?.is_some() {
            return Err(ApiError::invalid(
                Code::InvalidParameter,
                name,
                "does not go with a stream",
            ));
        }
    }
    if query.get("dir")?.is_some_and(|dir| dir != "prev") {
        let message = "must be prev or left out: a stream goes towards newer ones";
        return Err(ApiError::invalid(Code::InvalidParameter, "dir", message));
    }
    let page = query.page()?;
    let mut given = headers
        .get_all(LAST_EVENT_ID)
        .iter()
        .filter(|value| !value.is_empty());
    let Some(last) = given.next() else {
        return Ok(page.cursor.map_or(Start::Now, |place| Start::After {
            place,
            given: "cursor",
        }));
    };
    let given = "Last-Event-ID";
    let text = last.to_str().unwrap_or_default();
    let place = Cursor::parse(text).map(|Cursor(place)| Start::After { place, given });
    let event = text.parse().ok().map(|id| Start::AfterEvent { id, given });
    place.or(event).ok_or_else(|| {
        ApiError::invalid(
            Code::InvalidCursor,
            given,
            "is neither an id that a stream gave out nor the id of an event",
        )
    })
}

/// The response with the events of these restaurants, which goes on until its follower ends.
pub fn respond(follower: Follower, scope: RestaurantScope) -> Response {
    let first = format!("retry: {RETRY_MILLIS}\nid: {}\n\n", Cursor(follower.place()));
    event_stream(first, (follower, scope), next_chunk)
}

type Stream = (Follower, RestaurantScope);

async fn next_chunk((mut follower, scope): Stream) -> Option<(Bytes, Stream)> {
    let text = match follower.next().await {
        Next::Events(events) => frames(&events, &scope),
        Next::Nothing => ":\n\n".to_owned(),
        Next::End => return None,
    };
    Some((text.into(), (follower, scope)))
}

fn frames(events: &[FeedEvent], scope: &RestaurantScope) -> String {
    let capacity = events.iter().map(|event| event.body.len() + 100).sum();
    let mut text = String::with_capacity(capacity);
    for event in events {
        if !scope.has(event.restaurant_id) {
            // Only the place to go on from: clients do not dispatch an event without data.
            let _ = write!(text, "id: {}\n\n", Cursor(event.position));
            continue;
        }
        // Writing to a String cannot fail.
        let _ = write!(text, "id: {}\nevent: {}\n", Cursor(event.position), event.name);
        write_data(&mut text, &event.body);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::id::RestaurantId;
    use garson_core::time::Timestamp;
    use http::HeaderValue;
    use std::collections::BTreeSet;

    fn accepts(value: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static(value));
        is_requested(&headers)
    }

    #[test]
    fn a_stream_must_be_requested_by_name() {
        for stream in [
            "text/event-stream",
            "Text/Event-Stream; q=0.5, */*",
            "application/json;q=0.9, text/event-stream",
            "application/json, text/event-stream",
        ] {
            assert!(accepts(stream), "{stream}");
        }
        for list in [
            "",
            "*/*",
            "text/*",
            "application/json",
            "text/event-stream;q=0",
            "application/json, text/event-stream;q=0.5",
            "text/event-stream-x",
        ] {
            assert!(!accepts(list), "{list}");
        }
        assert!(!is_requested(&HeaderMap::new()));
    }

    #[test]
    fn a_line_break_does_not_end_an_event() {
        let event = FeedEvent {
            position: 10,
            restaurant_id: RestaurantId::at(Timestamp::from_millis(1)),
            name: "siparis.olusturuldu".to_owned(),
            body: "{\"a\":\n\nid: 7\r1}".to_owned(),
            order_id: None,
        };
        let wanted = "id: 000000000000000a\nevent: siparis.olusturuldu\ndata: {\"a\":\ndata: \ndata: id: 7\n\
                      data: 1}\n\n";
        assert_eq!(
            frames(std::slice::from_ref(&event), &RestaurantScope::All),
            wanted
        );
        let none = RestaurantScope::Only(BTreeSet::new());
        assert_eq!(frames(&[event], &none), "id: 000000000000000a\n\n");
    }
}
