//! Server-sent events: a response that goes on until its source ends.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use http::{HeaderName, header};
use std::convert::Infallible;
use std::fmt::Write as _;
use std::future::Future;

pub const CONTENT_TYPE: &str = "text/event-stream";

/// Responds with `first`, then with what `next` yields until that is `None`.
///
/// `next` is called when the connection asks for more, that is when the client has read the chunk before: a slow client slows
/// its own stream, and nothing is buffered here.
pub fn event_stream<S, F>(first: String, source: S, next: impl FnMut(S) -> F + Send + 'static) -> Response
where
    S: Send + 'static,
    F: Future<Output = Option<(Bytes, S)>> + Send + 'static,
{
    let chunks = stream::once(async { Bytes::from(first) })
        .chain(stream::unfold(source, next))
        .map(Ok::<_, Infallible>);
    let headers = [
        (header::CONTENT_TYPE, CONTENT_TYPE),
        (header::CACHE_CONTROL, "no-store"),
        // Otherwise nginx buffers the stream.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(chunks)).into_response()
}

/// Appends the `data:` lines of an event. A line break inside the data would otherwise end the event.
pub fn write_data(out: &mut String, data: &str) {
    for line in data.split(['\n', '\r']) {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "data: {line}");
    }
}
