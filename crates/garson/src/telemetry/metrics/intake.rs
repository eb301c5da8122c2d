//! What comes in from platforms: messages, and the orders in them.

use super::labels::{label, label_product, label_values, platform_index, providers};
use super::tally::Tally;
use garson_core::platform::Provider;
use prometheus_client::registry::Registry;

label_values! {
    /// How something came in.
    Way {
        Pushed "pushed",
        Polled "polled",
    }
}

label_values! {
    /// What became of a message.
    MessageOutcome {
        /// It is in its order.
        Taken "taken",
        /// It had been taken before.
        Repeated "repeated",
        /// It is about no order in particular.
        Noted "noted",
        /// It was kept: the order is known with other content.
        Conflicting "conflicting",
        /// It was kept: nobody has its branch.
        UnknownBranch "unknown_branch",
        /// It was kept: its order has not come.
        UnknownOrder "unknown_order",
        /// It was kept: it cannot be understood.
        Unreadable "unreadable",
        /// It was refused: its sender is not known.
        NotGenuine "not_genuine",
        /// It could not be written down; the platform was told so.
        Failed "failed",
    }
}

#[derive(Debug)]
pub struct Intake {
    messages: Tally,
    orders: Tally,
}

impl Intake {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let ways = label("way", Way::ALL.iter().map(|way| way.as_str()));
        let outcomes = label(
            "outcome",
            MessageOutcome::ALL.iter().map(|outcome| outcome.as_str()),
        );
        let messages = Tally::new(&label_product(&providers(), &ways), &outcomes);
        registry.register(
            "messages",
            "Messages from platforms, and orders that they showed when asked and that were news",
            messages.clone(),
        );
        let orders = Tally::new(&providers(), &ways);
        registry.register("orders", "Orders that were not known before", orders.clone());
        Self { messages, orders }
    }

    pub fn count_message(&self, provider: Provider, way: Way, outcome: MessageOutcome) {
        if let Some(index) = platform_index(provider) {
            self.messages
                .count(index * Way::ALL.len() + way as usize, outcome as usize);
        }
    }

    pub fn count_order(&self, provider: Provider, way: Way) {
        if let Some(index) = platform_index(provider) {
            self.orders.count(index, way as usize);
        }
    }
}
