//! Hands what a commit has written to the delivery of events in the same process, which need not query for it then.

use garson_core::id::{AccountId, EndpointId, EventId, IntegrationId, OrderId};
use garson_core::time::Timestamp;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc;

/// An event that is to be delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub id: EventId,
    pub order_id: Option<OrderId>,
    pub position: i64,
    pub failures: i64,
    /// All attempts, manual ones included.
    pub attempts: i64,
    pub body: String,
    pub created_at: Timestamp,
}

#[derive(Clone, Debug)]
pub enum HandoffMessage {
    /// Positions of an account that this node delivers for, with the deliveries that are due in them.
    Committed {
        account: AccountId,
        /// The account's last position before these, and the last of these.
        before: i64,
        last: i64,
        /// The account's `deliver_version`.
        version: i64,
        deliveries: Vec<Delivery>,
        /// Those to the endpoints besides the default one.
        endpoint_deliveries: Vec<(EndpointId, Delivery)>,
    },
    /// Something of an account has become due, or its webhook has changed.
    Recheck { account: AccountId },
    /// Another process has committed up to a position of an account that this node delivers for.
    CommittedElsewhere { account: AccountId, last: i64 },
    /// A node has left or was given up: its work can be taken over.
    NodeLeft,
    /// Another node has noticed that something has happened on the platform of an integration.
    PollNow { integration: IntegrationId },
}

impl HandoffMessage {
    #[must_use]
    pub fn account(&self) -> Option<AccountId> {
        match self {
            Self::Committed { account, .. }
            | Self::Recheck { account }
            | Self::CommittedElsewhere { account, .. } => Some(*account),
            Self::NodeLeft | Self::PollNow { .. } => None,
        }
    }
}

/// Commits whose messages may be queued; what does not fit is found by polling the database.
const CAPACITY: usize = 1024;

/// The queue between commits and the delivery of events.
#[derive(Debug, Default)]
pub struct Handoff {
    receiver: Mutex<Option<mpsc::Sender<Vec<HandoffMessage>>>>,
    has_overflowed: AtomicBool,
}

impl Handoff {
    /// Receives the messages from now on.
    #[must_use]
    pub fn subscribe(&self) -> mpsc::Receiver<Vec<HandoffMessage>> {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        *self.receiver.lock() = Some(sender);
        receiver
    }

    /// Were messages dropped since the last call, because the queue was full?
    pub fn take_overflow(&self) -> bool {
        self.has_overflowed.swap(false, Ordering::Relaxed)
    }

    pub(super) fn send(&self, messages: Vec<HandoffMessage>) {
        if messages.is_empty() {
            return;
        }
        let receiver = self.receiver.lock().clone();
        if let Some(receiver) = receiver
            && receiver.try_send(messages).is_err()
        {
            self.has_overflowed.store(true, Ordering::Relaxed);
        }
    }
}
