//! Metrics of intake: messages from platforms, and the orders in them.

use super::labels::{label, label_product, label_values, platform_index, providers};
use super::tally::Tally;
use garson_core::platform::{IntakeOutcome, Provider};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

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

#[derive(Debug)]
pub struct Intake {
    messages: Tally,
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
            orders,
            over_quota,
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
