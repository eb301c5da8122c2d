//! Requests to the poll worker: poll an integration now, or look up anew which integrations are polled.

use garson_core::id::IntegrationId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

#[derive(Default)]
pub struct PollRequests {
    requested: Mutex<HashMap<IntegrationId, RequestOrigin>>,
    integrations_changed: Mutex<bool>,
    wake: Notify,
    polled: AtomicUsize,
}

/// Which node has noticed that an integration should be polled before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOrigin {
    /// This node: if another one polls the integration, that one must be notified.
    ThisNode,
    /// Another node, which has already notified all others.
    OtherNode,
}

impl PollRequests {
    /// Requests a poll of an integration because something has happened on its platform.
    pub fn poll_now(&self, integration: IntegrationId) {
        self.request(integration, RequestOrigin::ThisNode);
    }

    /// Passes on such a request of another node.
    pub fn poll_now_for_other_node(&self, integration: IntegrationId) {
        self.request(integration, RequestOrigin::OtherNode);
    }

    fn request(&self, integration: IntegrationId, origin: RequestOrigin) {
        let mut requested = self.requested.lock();
        let known = requested.entry(integration).or_insert(origin);
        if origin == RequestOrigin::ThisNode {
            *known = origin;
        }
        drop(requested);
        self.wake.notify_one();
    }

    /// An integration was connected, changed, switched or deleted, or nodes have joined or left.
    pub fn integrations_changed(&self) {
        *self.integrations_changed.lock() = true;
        self.wake.notify_one();
    }

    /// The number of integrations that this node polls.
    #[must_use]
    pub fn polled_integrations(&self) -> usize {
        self.polled.load(Ordering::Relaxed)
    }

    pub(crate) fn set_polled_integrations(&self, count: usize) {
        self.polled.store(count, Ordering::Relaxed);
    }

    pub(crate) fn take_requested(&self) -> HashMap<IntegrationId, RequestOrigin> {
        std::mem::take(&mut self.requested.lock())
    }

    pub(crate) fn take_integrations_changed(&self) -> bool {
        let mut changed = self.integrations_changed.lock();
        std::mem::take(&mut changed)
    }

    /// Waits for the next request.
    pub(crate) async fn requested(&self) {
        self.wake.notified().await;
    }
}
