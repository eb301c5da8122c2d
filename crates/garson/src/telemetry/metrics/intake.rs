//! Metrics of intake: messages from platforms, and the orders in them.

use super::labels::{label, label_product, label_values, platform_index, providers};
use super::tally::Tally;
use super::timings::{CALL_BUCKETS, Timings};
use garson_core::platform::{IntakeOutcome, Provider};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use std::time::{Duration, Instant};

label_values! {
    /// How a message came in.
    IntakeSource {
        Pushed "pushed",
        Polled "polled",
    }
}

label_values! {
    /// The label for what became of a message.
    MessageOutcome {
        /// Applied to its order.
        Taken "taken",
        /// The same message had been applied before.
        Repeated "repeated",
        /// Changes no order.
        Noted "noted",
        /// Stored in the inbox: the order is known with other content.
        Conflicting "conflicting",
        /// Stored in the inbox: no integration has its branch.
        UnknownBranch "unknown_branch",
        /// Stored in the inbox: its order has not come.
        UnknownOrder "unknown_order",
        /// Stored in the inbox: it cannot be read.
        Unreadable "unreadable",
        /// Rejected: its sender is not known.
        NotGenuine "not_genuine",
        /// It could not be stored, and the platform received an error.
        Failed "failed",
    }
}

impl MessageOutcome {
    #[must_use]
    pub fn of(outcome: &IntakeOutcome, is_repeat: bool) -> Self {
        match outcome {
            IntakeOutcome::Taken { .. } | IntakeOutcome::Noted if is_repeat => Self::Repeated,
            IntakeOutcome::Taken { .. } => Self::Taken,
            IntakeOutcome::Noted => Self::Noted,
            IntakeOutcome::Conflict { .. } => Self::Conflicting,
            IntakeOutcome::UnknownBranch { .. } => Self::UnknownBranch,
            IntakeOutcome::UnknownOrder { .. } => Self::UnknownOrder,
            IntakeOutcome::Unreadable(_) => Self::Unreadable,
            IntakeOutcome::NotGenuine => Self::NotGenuine,
        }
    }
}

label_values! {
    /// How a platform's request was answered, as far as the objective of acceptance is concerned.
    RequestOutcome {
        /// The message is durable, or was before.
        Accepted "accepted",
        /// It was answered with an error for which this service is not the cause: its sender, its content or its branch.
        Refused "refused",
        /// It could not be stored.
        Failed "failed",
        /// The platform closed the connection before the answer.
        Unanswered "unanswered",
    }
}

impl From<&IntakeOutcome> for RequestOutcome {
    fn from(outcome: &IntakeOutcome) -> Self {
        match outcome {
            IntakeOutcome::Taken { .. } | IntakeOutcome::Noted => Self::Accepted,
            IntakeOutcome::Conflict { .. }
            | IntakeOutcome::UnknownBranch { .. }
            | IntakeOutcome::UnknownOrder { .. }
            | IntakeOutcome::Unreadable(_)
            | IntakeOutcome::NotGenuine => Self::Refused,
        }
    }
}

/// Measures the time in which a platform's request is answered.
#[derive(Debug)]
pub struct RequestTimer<'a> {
    intake: &'a Intake,
    provider: Provider,
    began: Instant,
    has_been_read: bool,
    is_answered: bool,
}

impl RequestTimer<'_> {
    /// The whole request has arrived: the time begins here, because what comes before depends on the sender.
    pub fn mark_read(&mut self) {
        self.began = Instant::now();
        self.has_been_read = true;
    }

    pub fn answered(mut self, outcome: RequestOutcome) {
        self.is_answered = true;
        self.intake
            .time_request(self.provider, outcome, self.began.elapsed());
    }
}

/// A handler is dropped when its client closes the connection. A platform that gives up waiting must not vanish from the objective.
impl Drop for RequestTimer<'_> {
    fn drop(&mut self) {
        if self.has_been_read && !self.is_answered {
            let took = self.began.elapsed();
            self.intake
                .time_request(self.provider, RequestOutcome::Unanswered, took);
        }
    }
}

#[derive(Debug)]
pub struct Intake {
    messages: Tally,
    request_times: Timings,
    orders: Tally,
    over_quota: Counter,
}

impl Intake {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let sources = label("way", IntakeSource::ALL.iter().map(|source| source.as_str()));
        let outcomes = label(
            "outcome",
            MessageOutcome::ALL.iter().map(|outcome| outcome.as_str()),
        );
        let messages = Tally::new(&label_product(&providers(), &sources), &outcomes);
        registry.register(
            "messages",
            "Messages from platforms, and polled orders that were new or had changed",
            messages.clone(),
        );
        let answers = label(
            "outcome",
            RequestOutcome::ALL.iter().map(|outcome| outcome.as_str()),
        );
        let request_times =
            Timings::in_groups(answers.len(), label_product(&providers(), &answers), CALL_BUCKETS);
        registry.register(
            "platform_request_seconds",
            "Time from a platform's complete request to its answer",
            request_times.clone(),
        );
        let orders = Tally::new(&providers(), &sources);
        registry.register("orders", "Orders that were not known before", orders.clone());
        let over_quota = Counter::default();
        registry.register(
            "orders_over_quota",
            "Orders of platforms beyond the quota of their account",
            over_quota.clone(),
        );
        Self {
            messages,
            request_times,
            orders,
            over_quota,
        }
    }

    /// Starts to measure a platform's request.
    pub fn start_request(&self, provider: Provider) -> RequestTimer<'_> {
        RequestTimer {
            intake: self,
            provider,
            began: Instant::now(),
            has_been_read: false,
            is_answered: false,
        }
    }

    fn time_request(&self, provider: Provider, outcome: RequestOutcome, took: Duration) {
        if let Some(index) = platform_index(provider) {
            self.request_times
                .observe(index * RequestOutcome::ALL.len() + outcome as usize, took);
        }
    }

    pub fn count_over_quota(&self) {
        self.over_quota.inc();
    }

    pub fn count_message(&self, provider: Provider, source: IntakeSource, outcome: MessageOutcome) {
        if let Some(index) = platform_index(provider) {
            self.messages.count(
                index * IntakeSource::ALL.len() + source as usize,
                outcome as usize,
            );
        }
    }

    pub fn count_order(&self, provider: Provider, source: IntakeSource) {
        if let Some(index) = platform_index(provider) {
            self.orders.count(index, source as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text::encode;

    #[test]
    fn dropped_request_counts_as_unanswered_once_it_was_read() {
        let mut registry = Registry::default();
        let intake = Intake::new(&mut registry);
        let provider: Provider = "direct".parse().unwrap();
        // Its sender hangs up before the request is complete.
        drop(intake.start_request(provider));
        let mut read = intake.start_request(provider);
        read.mark_read();
        drop(read);
        let mut answered = intake.start_request(provider);
        answered.mark_read();
        answered.answered(RequestOutcome::Failed);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for (outcome, count) in [("accepted", 0), ("refused", 0), ("failed", 1), ("unanswered", 1)] {
            let name = "platform_request_seconds_count";
            let line = format!("{name}{{provider=\"direct\",outcome=\"{outcome}\"}} {count}\n");
            assert!(text.contains(&line), "{line} in {text}");
        }
    }
}
