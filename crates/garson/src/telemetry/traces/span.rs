//! Spans, their ids, and how they travel in the header `traceparent`.

use garson_core::id::{EndpointId, EventId, OrderId, uuid_at};
use garson_core::time::Timestamp;
use http::HeaderValue;
use std::fmt;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// The trace of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace(Uuid);

/// Identifies a span within its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanId(u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    Internal,
    Server,
    Client,
    Producer,
}

/// A span of another system that led to one of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub trace: u128,
    pub span: u64,
}

/// What an attribute says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    Text(String),
    Number(i64),
}

/// Something that took time.
#[derive(Clone, Debug)]
pub struct Span {
    pub trace: Trace,
    pub id: SpanId,
    pub parent: Option<SpanId>,
    pub name: String,
    pub kind: SpanKind,
    /// Nanoseconds since 1970.
    pub start: u64,
    pub end: u64,
    pub attributes: Vec<(&'static str, Attribute)>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    pub link: Option<Link>,
}

/// Measures a span that has begun.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    at: Timestamp,
    began: Instant,
}

impl Stopwatch {
    /// Begins now, which is `at` by the clock.
    #[must_use]
    pub fn start(at: Timestamp) -> Self {
        Self {
            at,
            began: Instant::now(),
        }
    }

    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

impl Trace {
    pub(super) fn of(order: OrderId) -> Self {
        Self(order.0)
    }

    /// The span of the message that brought the order.
    #[must_use]
    pub fn root(self) -> SpanId {
        SpanId::of(self.0)
    }

    /// A number that is random from order to order.
    pub(super) fn draw(self) -> u64 {
        SpanId::of(self.0).0 & 0x00ff_ffff_ffff_ffff
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.simple().fmt(f)
    }
}

impl SpanId {
    /// The random half of an id.
    fn of(id: Uuid) -> Self {
        let (_, low) = id.as_u64_pair();
        // Zero is not allowed.
        Self(low.max(1))
    }

    /// A new id.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self::of(uuid_at(now))
    }

    /// The delivery of an event to an endpoint. One that was given up and begins again after so many attempts is another one.
    #[must_use]
    pub fn of_delivery(event: EventId, endpoint: EndpointId, attempts_before: i64) -> Self {
        let mixed = Self::of(event.0).0 ^ Self::of(endpoint.0).0;
        let round = u64::try_from(attempts_before).unwrap_or_default() << 32;
        Self(mixed.wrapping_add(round).max(1))
    }

    /// An attempt at what has this id.
    #[must_use]
    pub fn attempt(self, number: i64) -> Self {
        let step = u64::try_from(number).unwrap_or_default();
        Self(self.0.wrapping_add(step).max(1))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The header by which a receiver can add its spans to the trace.
#[must_use]
pub fn trace_header(trace: Trace, span: SpanId) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("00-{trace}-{span}-01")).ok()
}

impl Link {
    /// What the header `traceparent` of a request names; none if it is malformed.
    #[must_use]
    pub fn read(header: &str) -> Option<Self> {
        let mut parts = header.split('-');
        let (version, trace, span) = (parts.next()?, parts.next()?, parts.next()?);
        let is_hex = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        };
        let lengths = (version.len(), trace.len(), span.len());
        if lengths != (2, 32, 16) || version == "ff" || !is_hex(trace) || !is_hex(span) {
            return None;
        }
        let link = Self {
            trace: u128::from_str_radix(trace, 16).ok()?,
            span: u64::from_str_radix(span, 16).ok()?,
        };
        (link.trace != 0 && link.span != 0).then_some(link)
    }
}

impl Span {
    /// A span of the trace; below the first one, unless it is that itself.
    #[must_use]
    pub fn new(trace: Trace, id: SpanId, name: impl Into<String>, kind: SpanKind) -> Self {
        let root = trace.root();
        Self {
            trace,
            id,
            parent: (id != root).then_some(root),
            name: name.into(),
            kind,
            start: 0,
            end: 0,
            attributes: Vec::new(),
            failure: None,
            link: None,
        }
    }

    #[must_use]
    pub fn below(self, parent: SpanId) -> Self {
        Self {
            parent: Some(parent),
            ..self
        }
    }

    #[must_use]
    pub fn lasting(self, start: Timestamp, took: Duration) -> Self {
        let start = nanos(start);
        Self {
            start,
            end: start.saturating_add(nanos_of(took)),
            ..self
        }
    }

    /// From the start of a stopwatch until now.
    #[must_use]
    pub fn ending_now(self, began: &Stopwatch) -> Self {
        self.lasting(began.at, began.elapsed())
    }

    /// The last part of another span.
    #[must_use]
    pub fn at_the_end_of(self, other: &Self, took: Duration) -> Self {
        Self {
            start: other.end.saturating_sub(nanos_of(took)).max(other.start),
            end: other.end,
            ..self
        }
    }

    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.attributes.push((name, Attribute::Text(value.to_string())));
        self
    }

    #[must_use]
    pub fn with_number(mut self, name: &'static str, value: i64) -> Self {
        self.attributes.push((name, Attribute::Number(value)));
        self
    }

    /// Ends no earlier than another span.
    #[must_use]
    pub fn covering(self, other: &Self) -> Self {
        Self {
            end: self.end.max(other.end),
            ..self
        }
    }

    #[must_use]
    pub fn failing(self, why: Option<String>) -> Self {
        Self { failure: why, ..self }
    }

    #[must_use]
    pub fn caused_by(self, link: Option<Link>) -> Self {
        Self { link, ..self }
    }
}

fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis())
        .unwrap_or_default()
        .saturating_mul(1_000_000)
}

fn nanos_of(took: Duration) -> u64 {
    u64::try_from(took.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traceparent_is_read_and_written() {
        let link = Link::read("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();
        assert_eq!(
            (link.trace >> 96, link.span),
            (0x4bf9_2f35, 0x00f0_67aa_0ba9_02b7)
        );
        // A later version may have more parts.
        assert!(Link::read("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more").is_some());
        for wrong in [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(Link::read(wrong), None, "{wrong}");
        }
        let trace = Trace::of(OrderId::at(Timestamp::from_millis(1_700_000_000_000)));
        let header = trace_header(trace, trace.root().attempt(1)).unwrap();
        assert_eq!(header.len(), 55);
        assert!(Link::read(header.to_str().unwrap()).is_some());
    }
}
