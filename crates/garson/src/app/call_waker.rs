//! Wakes the worker that makes platform calls, with a hint about which integrations to check.

use garson_core::id::IntegrationId;
use parking_lot::Mutex;
use std::collections::HashSet;
use tokio::sync::Notify;

/// Where calls may have become due.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WakeHints {
    pub integrations: HashSet<IntegrationId>,
    /// Any integration may have due calls.
    pub all: bool,
}

#[derive(Debug, Default)]
pub struct CallWaker {
    hints: Mutex<WakeHints>,
    notify: Notify,
}

impl CallWaker {
    /// Calls of an integration were written or may be made now.
    pub fn wake(&self, integration: IntegrationId) {
        self.hints.lock().integrations.insert(integration);
        self.notify.notify_one();
    }

    /// Any call may have become due: a node left, or the clock was set.
    pub fn wake_all(&self) {
        self.hints.lock().all = true;
        self.notify.notify_one();
    }

    pub(crate) fn take(&self) -> WakeHints {
        std::mem::take(&mut *self.hints.lock())
    }

    pub(crate) async fn woken(&self) {
        self.notify.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn hints_are_taken_once() {
        let waker = CallWaker::default();
        let integration = IntegrationId(Uuid::now_v7());
        waker.wake(integration);
        waker.wake(integration);
        assert_eq!(waker.take().integrations.len(), 1);
        assert_eq!(waker.take(), WakeHints::default());
    }
}
