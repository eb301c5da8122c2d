//! Signals to the workers that reconcile stores on platforms.

use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub struct StoreSignals {
    wake: Notify,
    integrations_changed: AtomicBool,
    read_all: AtomicBool,
    /// Opening hours were changed.
    pub hours_changed: Notify,
    pub throttles_changed: Notify,
}

impl StoreSignals {
    /// Something is to be done for a store, or the clock was set.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// An integration was connected, changed, switched or deleted, or nodes have joined or left.
    pub fn integrations_changed(&self) {
        self.integrations_changed.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// The state of every store is to be read now.
    pub fn read_all(&self) {
        self.read_all.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    pub(crate) fn take_read_all(&self) -> bool {
        self.read_all.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn take_integrations_changed(&self) -> bool {
        self.integrations_changed.swap(false, Ordering::Relaxed)
    }

    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }
}
