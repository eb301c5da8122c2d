//! Forwards the messages of other nodes within this process.

use super::message::NodeMessage;
use crate::publish::account_watch::AccountWatch;
use crate::publish::handoff::{Handoff, HandoffMessage};
use crate::publish::node_identity::NodeIdentity;
use garson_core::id::NodeId;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use uuid::Uuid;

pub struct Listener {
    /// Identifies the notifications of this process, which are ignored.
    sender: Uuid,
    account_watch: Arc<AccountWatch>,
    handoff: Arc<Handoff>,
    node: Arc<NodeIdentity>,
    is_alone: Arc<AtomicBool>,
}

impl Listener {
    pub fn new(
        account_watch: Arc<AccountWatch>,
        handoff: Arc<Handoff>,
        node: Arc<NodeIdentity>,
        is_alone: Arc<AtomicBool>,
    ) -> Self {
        Self {
            sender: Uuid::now_v7(),
            account_watch,
            handoff,
            node,
            is_alone,
        }
    }

    /// The sender of this process's notifications.
    pub fn sender(&self) -> Uuid {
        self.sender
    }

    /// Handles the payload of a notification.
    pub fn receive(&self, payload: &str) {
        let mut words = payload.split(' ');
        let sender = words.next().and_then(|sender| Uuid::try_parse(sender).ok());
        if sender.is_none_or(|sender| sender == self.sender) {
            return;
        }
        self.is_alone.store(false, Ordering::Relaxed);
        let this_node = self.node.id();
        let is_own = |owner: Option<NodeId>| owner.is_some() && owner == this_node;
        let (mut positions, mut handoff) = (Vec::new(), Vec::new());
        for message in words.filter_map(NodeMessage::read) {
            match message {
                NodeMessage::NodeJoined => {}
                NodeMessage::NodeLeft => handoff.push(HandoffMessage::NodeLeft),
                NodeMessage::PollNow { integration } => handoff.push(HandoffMessage::PollNow { integration }),
                NodeMessage::WakeWatchers { account } => self.account_watch.notify(&[(account, 0)]),
                NodeMessage::Recheck { account, owner } => {
                    if is_own(owner) {
                        handoff.push(HandoffMessage::Recheck { account });
                    }
                }
                NodeMessage::Committed { account, owner, last } => {
                    positions.push((account, last));
                    if is_own(owner) {
                        handoff.push(HandoffMessage::CommittedElsewhere { account, last });
                    }
                }
            }
        }
        self.account_watch.notify_newer(&positions);
        self.handoff.send(handoff);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::publish::notify::message::payloads;
    use garson_core::id::AccountId;
    use garson_core::time::Timestamp;
    use std::collections::BTreeSet;

    #[test]
    fn only_messages_of_other_nodes_are_received() {
        let (account, node) = (
            AccountId::at(Timestamp::from_millis(7)),
            NodeId::at(Timestamp::from_millis(8)),
        );
        let listener = Listener::new(
            Arc::default(),
            Arc::default(),
            Arc::default(),
            Arc::new(AtomicBool::new(true)),
        );
        let mut received = listener.handoff.subscribe();
        listener.node.set(Some(node));
        let payload = |sender: Uuid, owner| {
            let message = NodeMessage::Committed {
                account,
                owner,
                last: 5,
            };
            payloads(sender, BTreeSet::from([message])).remove(0)
        };
        listener.receive(&payload(listener.sender, Some(node)));
        assert!(listener.is_alone.load(Ordering::Relaxed) && received.try_recv().is_err());
        // Another node delivers for the account.
        listener.receive(&payload(Uuid::now_v7(), None));
        assert!(!listener.is_alone.load(Ordering::Relaxed) && received.try_recv().is_err());
        listener.receive(&payload(Uuid::now_v7(), Some(node)));
        assert!(matches!(
            received.try_recv().unwrap()[..],
            [HandoffMessage::CommittedElsewhere { last: 5, .. }]
        ));
    }
}
