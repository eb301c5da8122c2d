//! Server-sent events: an account's events as an answer that goes on.

use super::ApiError;
use super::paging::{Cursor, Query};
use crate::flow::read::event_feed::{Follower, Next, Start};
use crate::http::error::Code;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use garson_store::lists::events::FeedEvent;
use http::{HeaderMap, HeaderName, header};
use hyper::body::Frame;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

const LAST_EVENT_ID: &str = "last-event-id";
const KIND: &str = "text/event-stream";
/// How long a client waits before it comes back, in milliseconds.
const RETRY: u32 = 2_000;

/// Does the client want a stream? It has to name it; whoever takes anything gets a list.
pub fn is_wanted(headers: &HeaderMap) -> bool {
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
    let stream = weight(KIND);
    stream > 0.0 && stream >= weight("application/json")
}

/// Where the stream begins: after `Last-Event-ID`, or after `cursor`, or now. A client that comes back asks with the
/// cursor that it began with, so the header is the newer one.
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

/// Somebody who says one thing after the other; `None` is the end.
pub trait Speaker: Send + Sized + 'static {
    fn speak(self) -> impl Future<Output = Option<(Bytes, Self)>> + Send;
}

impl Speaker for Follower {
    async fn speak(mut self) -> Option<(Bytes, Self)> {
        let text = match self.next().await {
            Next::Events(events) => frames(&events),
            Next::Nothing => ":\n\n".to_owned(),
            Next::End => return None,
        };
        Some((text.into(), self))
    }
}

/// The answer that goes on until its follower is at its end.
pub fn answer(follower: Follower) -> Response {
    let first = format!("retry: {RETRY}\nid: {}\n\n", Cursor(follower.place()));
    answer_of(first, follower)
}

/// An answer that begins with something and goes on until its speaker is at its end.
pub fn answer_of(first: String, speaker: impl Speaker) -> Response {
    let body = EventBody {
        first: Some(first.into()),
        step: Some(Box::pin(speaker.speak())),
    };
    let headers = [
        (header::CONTENT_TYPE, KIND),
        (header::CACHE_CONTROL, "no-store"),
        // Otherwise nginx collects what it should hand on.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::new(body)).into_response()
}

fn frames(events: &[FeedEvent]) -> String {
    let room = events.iter().map(|event| event.body.len() + 100).sum();
    let mut text = String::with_capacity(room);
    for event in events {
        // Writing to a string cannot fail.
        let _written = write!(text, "id: {}\nevent: {}\n", Cursor(event.position), event.name);
        // A body is one line of JSON; were it more, each line would need its mark.
        for line in event.body.split(['\n', '\r']) {
            let _written = writeln!(text, "data: {line}");
        }
        text.push('\n');
    }
    text
}

type Step<S> = Pin<Box<dyn Future<Output = Option<(Bytes, S)>> + Send>>;

/// The body of a stream. The next step is taken when the connection asks for it, which is when the client has taken
/// the one before: a slow client slows its own stream, and nothing piles up here.
struct EventBody<S> {
    first: Option<Bytes>,
    step: Option<Step<S>>,
}

impl<S: Speaker> hyper::body::Body for EventBody<S> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let Some(running) = &mut self.step else {
            return Poll::Ready(None);
        };
        let Poll::Ready(done) = running.as_mut().poll(context) else {
            return Poll::Pending;
        };
        let Some((bytes, speaker)) = done else {
            self.step = None;
            return Poll::Ready(None);
        };
        self.step = Some(Box::pin(speaker.speak()));
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn accepts(value: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static(value));
        is_wanted(&headers)
    }

    #[test]
    fn a_stream_has_to_be_named() {
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
        assert!(!is_wanted(&HeaderMap::new()));
    }

    #[test]
    fn a_line_break_cannot_leave_its_event() {
        let event = FeedEvent {
            position: 10,
            name: "siparis.olusturuldu".to_owned(),
            body: "{\"a\":\n\nid: 7\r1}".to_owned(),
            order_id: None,
        };
        let wanted = "id: 000000000000000a\nevent: siparis.olusturuldu\ndata: {\"a\":\ndata: \ndata: id: 7\n\
                      data: 1}\n\n";
        assert_eq!(frames(&[event]), wanted);
    }
}
