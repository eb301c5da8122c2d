//! Publishes the messages of committed transactions.

use super::account_watch::AccountWatch;
use super::changed_accounts::ChangedAccounts;
use super::handoff::{Delivery, Handoff, HandoffMessage};
use super::node_identity::NodeIdentity;
use super::notify::{Listener, NodeMessage, Notifier, NotifyWorker, Outbox, channel};
use crate::engine::connect::Hosts;
use crate::error::StoreError;
use garson_core::id::{AccountId, EndpointId, NodeId};
use std::sync::{Arc, OnceLock};

/// What a transaction publishes after its commit.
#[derive(Debug, Default)]
pub struct CommitMessages {
    /// The accounts that have changed, with their last positions.
    positions: Vec<(AccountId, i64)>,
    handoff: Vec<HandoffMessage>,
    nodes: Vec<NodeMessage>,
}

impl CommitMessages {
    /// An account was changed; its last position is now this one, and that node delivers for it.
    pub fn committed(&mut self, account: AccountId, last: i64, owner: Option<NodeId>) {
        self.positions.push((account, last));
        self.nodes.push(NodeMessage::Committed { account, owner, last });
    }

    /// The watchers of an account are to be woken, on every node, though its position is the same.
    pub fn wake_watchers(&mut self, account: AccountId) {
        self.positions.push((account, 0));
        self.nodes.push(NodeMessage::WakeWatchers { account });
    }

    pub fn hand_off(&mut self, message: HandoffMessage) {
        self.handoff.push(message);
    }

    pub fn notify_nodes(&mut self, message: NodeMessage) {
        self.nodes.push(message);
    }

    /// Adds a delivery to the newest message about positions of an account, if there is one; `endpoint` is `None` for the default one.
    pub fn add_delivery(
        &mut self,
        of: AccountId,
        endpoint: Option<EndpointId>,
        delivery: impl FnOnce() -> Delivery,
    ) {
        for message in self.handoff.iter_mut().rev() {
            if let HandoffMessage::Committed {
                account,
                deliveries,
                endpoint_deliveries,
                ..
            } = message
                && *account == of
            {
                match endpoint {
                    None => deliveries.push(delivery()),
                    Some(endpoint) => endpoint_deliveries.push((endpoint, delivery())),
                }
                return;
            }
        }
    }

    pub fn append(&mut self, mut other: Self) {
        self.positions.append(&mut other.positions);
        self.handoff.append(&mut other.handoff);
        self.nodes.append(&mut other.nodes);
    }
}

/// The receivers of what is committed.
#[derive(Debug, Default)]
pub struct Publisher {
    pub account_watch: Arc<AccountWatch>,
    pub changed_accounts: ChangedAccounts,
    pub handoff: Arc<Handoff>,
    pub node: Arc<NodeIdentity>,
    // Before the worker, which ends when its notifier is dropped.
    pub notifier: Notifier,
    worker: OnceLock<NotifyWorker>,
}

impl Publisher {
    /// A publisher for a database that other nodes use too; its worker has to be started with the outbox.
    pub fn with_outbox() -> (Self, Outbox) {
        let (notifier, outbox) = channel();
        let publisher = Self {
            notifier,
            ..Self::default()
        };
        (publisher, outbox)
    }

    /// Starts to send and receive notifications in the background.
    pub fn start_notifications(&self, hosts: Hosts, outbox: Outbox) -> Result<(), StoreError> {
        let listener = Listener::new(
            Arc::clone(&self.account_watch),
            Arc::clone(&self.handoff),
            Arc::clone(&self.node),
            self.notifier.is_alone(),
        );
        // It is started once.
        let _ = self.worker.set(NotifyWorker::start(hosts, outbox, listener)?);
        Ok(())
    }

    pub fn publish(&self, messages: CommitMessages) {
        self.account_watch.notify(&messages.positions);
        self.changed_accounts.add(&messages.positions);
        self.handoff.send(messages.handoff);
        self.notifier.send(messages.nodes);
    }
}
