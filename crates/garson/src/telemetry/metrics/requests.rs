//! Answered requests, by interface and status, and API calls that are missing in the log.

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Labels {
    kind: RequestKind,
    status: u16,
}

/// The interface that a request used.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, EncodeLabelValue)]
pub enum RequestKind {
    Api,
    Hook,
    Other,
}

impl RequestKind {
    #[must_use]
    pub fn of(path: &str) -> Self {
        match path {
            _ if path.starts_with("/web-api/") => Self::Api,
            _ if path.starts_with("/hooks/") => Self::Hook,
            _ => Self::Other,
        }
    }
}

#[derive(Debug)]
pub struct Requests {
    answered: Family<Labels, Counter>,
    unlogged: Counter,
}

impl Requests {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let answered = Family::default();
        registry.register("http_requests", "Requests answered", answered.clone());
        let unlogged = Counter::default();
        registry.register(
            "unlogged_requests",
            "API calls that are missing in the request logs because storage was too slow or unavailable",
            unlogged.clone(),
        );
        Self { answered, unlogged }
    }

    pub fn count(&self, kind: RequestKind, status: u16) {
        self.answered.get_or_create(&Labels { kind, status }).inc();
    }

    pub fn count_unlogged(&self, calls: usize) {
        self.unlogged.inc_by(u64::try_from(calls).unwrap_or(u64::MAX));
    }
}
