//! Traces for OpenTelemetry: what happened to an order, from the platform's message to the receiver's answer.
//!
//! - A trace belongs to an order, and has the order's id. Its parts are recorded by different requests, on different nodes, before and
//!   after restarts, and still fit together, because ids of spans follow from stored ids: nothing about traces is stored.
//! - The first span is the message that brought the order; all others are below it.
//! - Which orders are traced also follows from their ids, so that all nodes agree.
//! - Spans wait in memory until they are sent. If too many wait, new ones are dropped and counted.

mod otlp;
mod span;

pub use span::{Link, Span, SpanId, SpanKind, Stopwatch, Trace, trace_header};

use garson_core::id::OrderId;
use parking_lot::Mutex;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use std::collections::VecDeque;
use tokio::sync::Notify;

/// How many spans wait at most: some megabytes.
const MAX_WAITING: usize = 10_000;
/// How many are sent at once.
const BATCH: usize = 500;

/// Spans that are not sent yet.
#[derive(Debug)]
pub struct Traces {
    percent: u64,
    waiting: Mutex<VecDeque<Span>>,
    has_batch: Notify,
    sent: Counter,
    dropped: Counter,
}

impl Traces {
    /// With the share of orders that are traced, in percent.
    #[must_use]
    pub fn new(percent: u32) -> Self {
        Self {
            percent: u64::from(percent),
            waiting: Mutex::default(),
            has_batch: Notify::new(),
            sent: Counter::default(),
            dropped: Counter::default(),
        }
    }

    pub(super) fn register(&self, registry: &mut Registry) {
        let sent = self.sent.clone();
        registry.register("trace_spans_sent", "Spans that the collector has accepted", sent);
        registry.register(
            "trace_spans_dropped",
            "Spans that were dropped because the collector did not accept them",
            self.dropped.clone(),
        );
    }

    /// The trace of an order; none if it is not traced.
    #[must_use]
    pub fn of(&self, order: OrderId) -> Option<Trace> {
        let trace = Trace::of(order);
        (trace.draw() % 100 < self.percent).then_some(trace)
    }

    pub fn add(&self, span: Span) {
        let mut waiting = self.waiting.lock();
        if waiting.len() >= MAX_WAITING {
            self.dropped.inc();
            return;
        }
        waiting.push_back(span);
        if waiting.len() >= BATCH {
            self.has_batch.notify_one();
        }
    }

    /// Waits until a whole batch is there.
    pub async fn wait_for_batch(&self) {
        self.has_batch.notified().await;
    }

    /// The next batch as the body of a request, and how many spans are in it; none if none is waiting. `node` names this process.
    #[must_use]
    pub fn take(&self, node: &str) -> Option<(Vec<u8>, u64)> {
        let mut waiting = self.waiting.lock();
        let count = waiting.len().min(BATCH);
        let batch: Vec<Span> = waiting.drain(..count).collect();
        drop(waiting);
        let body = (!batch.is_empty()).then(|| otlp::body(&batch, node))?;
        Some((body, u64::try_from(count).unwrap_or(u64::MAX)))
    }

    pub fn count_sent(&self, spans: u64) {
        self.sent.inc_by(spans);
    }

    pub fn count_dropped(&self, spans: u64) {
        self.dropped.inc_by(spans);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::time::Timestamp;
    use std::time::Duration;

    fn orders(count: i64) -> impl Iterator<Item = OrderId> {
        (0..count).map(|n| OrderId::at(Timestamp::from_millis(1_700_000_000_000 + n / 10)))
    }

    #[test]
    fn share_of_orders_is_traced_on_every_node() {
        let (none, some, all) = (Traces::new(0), Traces::new(20), Traces::new(100));
        let (other, mut traced) = (Traces::new(20), 0);
        for order in orders(10_000) {
            assert!(none.of(order).is_none() && all.of(order).is_some());
            assert_eq!(some.of(order).is_some(), other.of(order).is_some());
            traced += u32::from(some.of(order).is_some());
        }
        assert!((1_700..2_300).contains(&traced), "{traced}");
    }

    #[test]
    fn waiting_spans_are_limited() {
        let traces = Traces::new(100);
        let order = orders(1).next().unwrap();
        let trace = traces.of(order).unwrap();
        for _ in 0..MAX_WAITING + 7 {
            let span = Span::new(trace, trace.root(), "x", SpanKind::Internal);
            traces.add(span.lasting(Timestamp::from_millis(0), Duration::ZERO));
        }
        assert_eq!(traces.dropped.get(), 7);
        let mut taken = 0;
        while let Some((_, count)) = traces.take("node") {
            taken += count;
        }
        assert_eq!(usize::try_from(taken).unwrap(), MAX_WAITING);
    }
}
