//! Events on their way to accounts' webhooks: attempts, and how deliveries end.

use super::tally::{Labels, Tally, label};
use super::timings::{OF_CALLS, OF_DELIVERIES, Timings};
use garson_core::delivery::{DeliveryState, UndeliveredReason};
use garson_store::tables::deliveries::Outcome;
use prometheus_client::registry::Registry;
use std::time::Duration;

#[derive(Debug)]
pub struct Deliveries {
    attempts: Tally,
    attempt_times: Timings,
    ended: Tally,
    times: Timings,
}

/// How a delivery can end.
const ENDS: [DeliveryState; 3] = [
    DeliveryState::Delivered,
    DeliveryState::Failed,
    DeliveryState::Skipped,
];

/// Why an attempt can fail; the other reasons are those of events that no attempt was made for.
fn reasons() -> impl Iterator<Item = UndeliveredReason> {
    let is_of_attempt = |reason: &UndeliveredReason| match reason {
        UndeliveredReason::Waiting
        | UndeliveredReason::Earlier
        | UndeliveredReason::NoUrl
        | UndeliveredReason::UrlRemoved => false,
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
            "Attempts to deliver an event by itself",
            attempts.clone(),
        );
        let attempt_times = Timings::one(OF_CALLS);
        registry.register(
            "delivery_attempt_seconds",
            "Time that attempts took, whatever came of them",
            attempt_times.clone(),
        );
        let ended = Tally::row(label("state", ENDS.map(DeliveryState::as_str)));
        registry.register(
            "deliveries",
            "Events that came to their end here and were written down so",
            ended.clone(),
        );
        let times = Timings::one(OF_DELIVERIES);
        registry.register(
            "delivery_seconds",
            "Time from when an event happened to when its receiver had it",
            times.clone(),
        );
        Self {
            attempts,
            attempt_times,
            ended,
            times,
        }
    }

    /// Counts an attempt, by why it failed if it did.
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

    /// Counts the time that an event needed to be delivered.
    pub fn count_time(&self, age: Duration) {
        self.times.observe(0, age);
    }

    /// Counts a result that is written down, if it is the end of a delivery.
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
