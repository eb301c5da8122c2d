//! What a commit hands over to the part of this process that delivers events, so that it need not look for them.

use crate::tables::deliveries::Delivery;
use garson_core::id::{AccountId, IntegrationId, NodeId};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;

/// What has been committed.
#[derive(Clone, Debug)]
pub enum Handover {
    /// Places of an account that this node delivers for, with the deliveries that are due in them.
    Places {
        account: AccountId,
        /// The account's last place before these, and the last of these.
        before: i64,
        last: i64,
        /// The account's `deliver_version`.
        version: i64,
        deliveries: Vec<Delivery>,
    },
    /// Something of an account is due that was not, or its events go elsewhere.
    LookAgain { account: AccountId },
    /// Another process has committed up to a place of an account that this node delivers for.
    Elsewhere { account: AccountId, last: i64 },
    /// A node has left or was given up: what it did is free.
    NodeGone,
    /// Another node has noticed that something has happened on the platform of an integration.
    Poll { integration: IntegrationId },
}

impl Handover {
    #[must_use]
    pub fn account(&self) -> Option<AccountId> {
        match self {
            Self::Places { account, .. } | Self::LookAgain { account } | Self::Elsewhere { account, .. } => {
                Some(*account)
            }
            Self::NodeGone | Self::Poll { .. } => None,
        }
    }
}

/// Handovers that may wait; those that find no room are found by looking.
const ROOM: usize = 1024;

/// Where handovers go, and who this node is.
#[derive(Debug, Default)]
pub struct Desk {
    inner: Mutex<Inner>,
    has_missed: AtomicBool,
}

#[derive(Debug, Default)]
struct Inner {
    node: Option<NodeId>,
    is_closed: bool,
    taker: Option<mpsc::Sender<Vec<Handover>>>,
}

impl Desk {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The node that this process is.
    #[must_use]
    pub fn node(&self) -> Option<NodeId> {
        self.inner().node
    }

    /// From now on this process is that node.
    pub fn set_node(&self, node: Option<NodeId>) {
        self.inner().node = node;
    }

    /// The node that this process is, if it takes more to deliver.
    #[must_use]
    pub fn deliverer(&self) -> Option<NodeId> {
        let inner = self.inner();
        inner.node.filter(|_| !inner.is_closed)
    }

    /// From now on this process delivers only what is under way: it is about to end.
    pub fn close(&self) {
        self.inner().is_closed = true;
    }

    /// Takes what is handed over from now on.
    #[must_use]
    pub fn open(&self) -> mpsc::Receiver<Vec<Handover>> {
        let (sender, receiver) = mpsc::channel(ROOM);
        self.inner().taker = Some(sender);
        receiver
    }

    /// Has something found no room since the last time this was asked?
    pub fn take_missed(&self) -> bool {
        self.has_missed.swap(false, Ordering::Relaxed)
    }

    pub(super) fn hand_over(&self, handed: Vec<Handover>) {
        if handed.is_empty() {
            return;
        }
        let taker = self.inner().taker.clone();
        if let Some(taker) = taker
            && taker.try_send(handed).is_err()
        {
            self.has_missed.store(true, Ordering::Relaxed);
        }
    }
}
