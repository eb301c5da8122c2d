//! Deliveries to accounts' webhooks: attempts, and how deliveries end.

use super::labels::{Labels, label};
use super::tally::Tally;
use super::timings::{CALL_BUCKETS, DELIVERY_BUCKETS, Timings};
use garson_core::delivery::{DeliveryState, UndeliveredReason};
use garson_store::tables::deliveries::Outcome;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use std::time::Duration;

#[derive(Debug)]
pub struct Deliveries {
    attempts: Tally,
    attempt_times: Timings,
    ended: Tally,
    times: Timings,
    disabled_endpoints: Counter,
}

const ENDS: [DeliveryState; 3] = [
    DeliveryState::Delivered,
    DeliveryState::Failed,
    DeliveryState::Skipped,
];

/// Reasons for which an attempt can fail; the others apply to events without an attempt.
fn reasons() -> impl Iterator<Item = UndeliveredReason> {
    let is_of_attempt = |reason: &UndeliveredReason| match reason {
        UndeliveredReason::Waiting
        | UndeliveredReason::Earlier
        | UndeliveredReason::NoUrl
        | UndeliveredReason::UrlRemoved
        | UndeliveredReason::Filtered
        | UndeliveredReason::EndpointPaused
        | UndeliveredReason::EndpointDisabled => false,
        UndeliveredReason::Status
        | UndeliveredReason::Redirect
        | UndeliveredReason::NotAllowed
        | UndeliveredReason::Name
        | UndeliveredReason::Connect
        | UndeliveredReason::Tls
        | UndeliveredReason::Broken
        | UndeliveredReason::TimedOut => true,
    };
    UndeliveredReason::ALL.iter().copied().filter(is_of_attempt)
}

impl Deliveries {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let attempt = |outcome: &str, reason: &str| -> Labels {
            vec![("outcome", outcome.to_owned()), ("reason", reason.to_owned())]
        };
        let mut columns = vec![attempt("delivered", "none")];
        columns.extend(reasons().map(|reason| attempt("failed", reason.as_str())));
        let attempts = Tally::row(columns);
        registry.register(
            "delivery_attempts",
            "Automatic attempts to deliver an event",
            attempts.clone(),
        );
        let attempt_times = Timings::unlabelled(CALL_BUCKETS);
        registry.register(
            "delivery_attempt_seconds",
            "Duration of attempts, successful or not",
            attempt_times.clone(),
        );
        let ended = Tally::row(label("state", ENDS.map(DeliveryState::as_str)));
        registry.register("deliveries", "Deliveries that this node ended", ended.clone());
        let times = Timings::unlabelled(DELIVERY_BUCKETS);
        registry.register(
            "delivery_seconds",
            "Time from an event to its delivery",
            times.clone(),
        );
        let disabled_endpoints = Counter::default();
        registry.register(
            "endpoints_disabled",
            "Webhook endpoints that were disabled because they kept failing",
            disabled_endpoints.clone(),
        );
        Self {
            attempts,
            attempt_times,
            ended,
            times,
            disabled_endpoints,
        }
    }

    /// Counts an endpoint that was disabled because it kept failing.
    pub fn count_disabled_endpoint(&self) {
        self.disabled_endpoints.inc();
    }

    /// Counts an attempt, with the reason if it failed.
    pub fn count_attempt(&self, failure: Option<UndeliveredReason>, took: Duration) {
        let column = match failure {
            None => Some(0),
            Some(failure) => reasons().position(|reason| reason == failure).map(|n| n + 1),
        };
        if let Some(column) = column {
            self.attempts.count(0, column);
        }
        self.attempt_times.observe(0, took);
    }

    /// Records how long after it happened an event was delivered.
    pub fn count_time(&self, age: Duration) {
        self.times.observe(0, age);
    }

    /// Counts a stored result, if it ends a delivery.
    pub fn count_end(&self, end: Outcome) {
        let state = match end {
            Outcome::Delivered => DeliveryState::Delivered,
            Outcome::Failed { .. } => DeliveryState::Failed,
            Outcome::Skipped => DeliveryState::Skipped,
            Outcome::Retry { .. } => return,
        };
        if let Some(column) = ENDS.iter().position(|end| *end == state) {
            self.ended.count(0, column);
        }
    }
}
