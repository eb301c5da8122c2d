//! Attempts in the trace of their order.

use super::attempt::AttemptOutcome;
use super::receiver::Receiver;
use super::target::Target;
use crate::app::App;
use crate::telemetry::{Span, SpanId, SpanKind, Stopwatch, Trace, trace_header};
use garson_core::delivery::UndeliveredReason;
use garson_store::tables::deliveries::{Delivery, Outcome};
use http::HeaderValue;
use url::Url;

/// An attempt of a traced order. Its span is below one for the whole delivery, which is added when that ends.
pub struct AttemptTrace {
    trace: Trace,
    delivery: SpanId,
    attempt: SpanId,
    began: Stopwatch,
}

impl AttemptTrace {
    /// For an attempt that begins now; none if its order is not traced.
    pub fn of(app: &App, receiver: Receiver, delivery: &Delivery) -> Option<Self> {
        let trace = app.traces.of(delivery.order_id?)?;
        let id = SpanId::of_delivery(
            delivery.id,
            receiver.endpoint,
            delivery.attempts - delivery.failures,
        );
        Some(Self {
            trace,
            delivery: id,
            attempt: id.attempt(delivery.attempts + 1),
            began: Stopwatch::start(app.now()),
        })
    }

    /// The header by which the receiver can add its spans below this attempt.
    pub fn header(&self) -> Option<HeaderValue> {
        trace_header(self.trace, self.attempt)
    }

    pub fn add(self, app: &App, delivery: &Delivery, target: &Target, made: &AttemptOutcome, end: &Outcome) {
        let failure = |reason: &UndeliveredReason| Some(reason.as_str().to_owned());
        let mut attempt = Span::new(self.trace, self.attempt, "attempt", SpanKind::Client)
            .below(self.delivery)
            .ending_now(&self.began)
            .with("garson.event_id", delivery.id)
            .with_number("garson.attempt", delivery.attempts + 1)
            .failing(made.failure.as_ref().and_then(failure));
        if let Ok(url) = Url::parse(&target.origin) {
            attempt = attempt.with("server.address", url.host_str().unwrap_or_default());
            attempt = attempt.with_number(
                "server.port",
                i64::from(url.port_or_known_default().unwrap_or_default()),
            );
        }
        if let Some(status) = made.attempt.status {
            attempt = attempt.with_number("http.response.status_code", status);
        }
        let failure = match end {
            Outcome::Delivered => None,
            Outcome::Failed { reason } => failure(reason),
            _ => return app.traces.add(attempt),
        };
        let took = app.now().since(delivery.created_at);
        let delivered = Span::new(self.trace, self.delivery, "deliver", SpanKind::Producer)
            .lasting(delivery.created_at, took)
            .with("garson.event_id", delivery.id)
            .failing(failure)
            .covering(&attempt);
        app.traces.add(attempt);
        app.traces.add(delivered);
    }
}
