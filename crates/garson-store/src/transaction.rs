//! The store's transaction: the engine's, with writes that are deferred to its end and messages that are published after its
//! commit.

mod deferred;
mod stats;
mod sums;
mod table;

pub use deferred::{DeferredWrites, LockedAccount};
pub use stats::{Counts, StatKey, StatKind};
pub use sums::{Sums, SumsKey, add, add_all};
pub use table::{ACCOUNTS, ALL_TABLES, AUDIT, DEFERRED_TABLES, INTEGRATIONS, ORDER_STATS, PAYMENT_TOTALS};

use crate::engine;
use crate::publish::{CommitMessages, Delivery, HandoffMessage, NodeMessage};
use garson_core::id::{AccountId, EndpointId, NodeId};

/// A running transaction.
pub type Tx<'a> = engine::Tx<'a, TxState>;

/// What the store adds to a transaction of the engine.
#[derive(Debug, Default)]
pub struct TxState {
    /// This node, if it delivers events.
    pub node: Option<NodeId>,
    pub deferred: DeferredWrites,
    pub messages: CommitMessages,
}

impl Tx<'_> {
    /// The id of this node, if it delivers events.
    #[must_use]
    pub fn node(&self) -> Option<NodeId> {
        self.state().node
    }

    /// The deferred writes, to add to them.
    pub(crate) fn deferred(&mut self) -> &mut DeferredWrites {
        self.touch();
        &mut self.state_mut().deferred
    }

    /// After the commit, wakes the watchers of the account on every node. `last` is its last position, and `owner` the node
    /// that delivers for it.
    pub(crate) fn notify_committed(&mut self, account: AccountId, last: i64, owner: Option<NodeId>) {
        self.state_mut().messages.committed(account, last, owner);
    }

    /// After the commit, wakes the watchers of the account on every node, though its position is the same.
    pub fn wake_watchers(&mut self, account: AccountId) {
        self.state_mut().messages.wake_watchers(account);
    }

    /// After the commit, sends a message to the other nodes.
    pub fn notify_nodes(&mut self, message: NodeMessage) {
        self.state_mut().messages.notify_nodes(message);
    }

    /// After the commit, sends a message to the delivery of events in this process.
    pub fn hand_off(&mut self, message: HandoffMessage) {
        self.state_mut().messages.hand_off(message);
    }

    /// Adds a delivery to the message about the account's new positions, if there is one; `endpoint` is `None` for the default one.
    pub(crate) fn hand_off_delivery(
        &mut self,
        account: AccountId,
        endpoint: Option<EndpointId>,
        delivery: impl FnOnce() -> Delivery,
    ) {
        self.state_mut()
            .messages
            .add_delivery(account, endpoint, delivery);
    }
}
