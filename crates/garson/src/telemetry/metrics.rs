//! Numbers for Prometheus.

use garson_store::Engine;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use std::sync::atomic::Ordering;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    kind: RequestKind,
    status: u16,
}

/// Which door a request came in by.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, EncodeLabelValue)]
pub enum RequestKind {
    Api,
    Hook,
    Other,
}

impl RequestKind {
    /// The door that a path belongs to.
    #[must_use]
    pub fn of(path: &str) -> Self {
        match path {
            _ if path.starts_with("/web-api/") => Self::Api,
            _ if path.starts_with("/hooks/") => Self::Hook,
            _ => Self::Other,
        }
    }
}

/// Counters that the service raises as it goes.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: Family<RequestLabels, Counter>,
    attempts: Family<AttemptLabels, Counter>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct AttemptLabels {
    outcome: &'static str,
    reason: &'static str,
}

impl Metrics {
    /// Counts an answered request.
    pub fn count_request(&self, kind: RequestKind, status: u16) {
        self.requests.get_or_create(&RequestLabels { kind, status }).inc();
    }

    /// Counts an attempt at a delivery by how it ended.
    pub fn count_attempt(&self, outcome: &'static str, reason: &'static str) {
        self.attempts
            .get_or_create(&AttemptLabels { outcome, reason })
            .inc();
    }

    /// Everything in Prometheus' text form.
    #[must_use]
    pub fn render(&self, store: &Engine) -> String {
        let mut registry = Registry::with_prefix("garson");
        registry.register("http_requests", "Requests answered", self.requests.clone());
        registry.register(
            "delivery_attempts",
            "Attempts to deliver an event",
            self.attempts.clone(),
        );
        let stats = store.stats();
        let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        registry.register(
            "commits",
            "Database transactions committed",
            ConstCounter::new(read(&stats.commits)),
        );
        registry.register(
            "commit_jobs",
            "Jobs that shared those transactions",
            ConstCounter::new(read(&stats.jobs)),
        );
        registry.register(
            "failed_jobs",
            "Jobs that were undone",
            ConstCounter::new(read(&stats.failed_jobs)),
        );
        #[allow(clippy::cast_precision_loss)]
        let seconds = read(&stats.commit_micros) as f64 / 1e6;
        registry.register(
            "commit_seconds",
            "Time spent in transactions",
            ConstCounter::new(seconds),
        );
        let waiting = i64::try_from(store.waiting()).unwrap_or(i64::MAX);
        registry.register(
            "waiting_jobs",
            "Jobs that wait for a writer",
            ConstGauge::new(waiting),
        );
        let streams = i64::try_from(store.news().watches()).unwrap_or(i64::MAX);
        registry.register(
            "event_streams",
            "Streams of events, and requests that wait for some",
            ConstGauge::new(streams),
        );
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _written = encode(&mut text, &registry);
        text
    }
}
