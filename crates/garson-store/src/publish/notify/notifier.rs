//! The queue of messages to other nodes.

use super::message::NodeMessage;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{mpsc, oneshot};

/// Commits whose messages may be queued; what does not fit is found by polling.
pub const CAPACITY: usize = 4096;

/// Where commits leave messages to other nodes. The default one drops them.
#[derive(Debug, Default)]
pub struct Notifier {
    queue: Option<mpsc::Sender<Vec<NodeMessage>>>,
    is_alone: Arc<AtomicBool>,
    /// Dropped with the notifier, which tells the worker that no more messages will come.
    _open: Option<oneshot::Sender<()>>,
}

impl Notifier {
    /// Sends messages, unless this is the only node.
    pub fn send(&self, messages: Vec<NodeMessage>) {
        if messages.is_empty() || self.is_alone.load(Ordering::Relaxed) {
            return;
        }
        if let Some(queue) = &self.queue {
            // Polling finds what does not fit.
            let _ = queue.try_send(messages);
        }
    }

    /// Is this the only node? It sends nothing then, until it receives a message of another one.
    pub fn set_alone(&self, is_alone: bool) {
        self.is_alone.store(is_alone, Ordering::Relaxed);
    }

    /// The flag, for the listener, which clears it.
    pub fn is_alone(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_alone)
    }
}

/// The receiving end of a [`Notifier`].
pub struct Outbox {
    pub queue: mpsc::Receiver<Vec<NodeMessage>>,
    /// Resolves when the notifier is dropped.
    pub closed: oneshot::Receiver<()>,
}

pub fn channel() -> (Notifier, Outbox) {
    let (sender, queue) = mpsc::channel(CAPACITY);
    let (open, closed) = oneshot::channel();
    let notifier = Notifier {
        queue: Some(sender),
        is_alone: Arc::default(),
        _open: Some(open),
    };
    (notifier, Outbox { queue, closed })
}
