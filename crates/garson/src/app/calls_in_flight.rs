//! The platform calls that this process is making now, for a client or by itself.

use garson_core::id::CallId;
use garson_store::tables::calls::DueCall;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::watch;

/// Calls in flight, by the ends of their leases.
#[derive(Debug, Default)]
pub struct CallsInFlight {
    leases: Mutex<BTreeSet<(i64, CallId)>>,
    count: watch::Sender<usize>,
}

/// Marks a call as in flight until it is dropped.
pub struct InFlightGuard {
    registry: Arc<CallsInFlight>,
    entry: (i64, CallId),
}

impl CallsInFlight {
    pub fn begin(self: &Arc<Self>, call: &DueCall) -> InFlightGuard {
        let entry = (call.leased_until, call.id);
        self.change(|leases| leases.insert(entry));
        InFlightGuard {
            registry: Arc::clone(self),
            entry,
        }
    }

    /// The earliest end of a lease among the calls in flight.
    #[must_use]
    pub fn first_lease_end(&self) -> Option<i64> {
        self.leases.lock().first().map(|(until, _)| *until)
    }

    /// Waits until no call is in flight.
    pub async fn wait_until_none(&self) {
        // It cannot fail: the sender lives as long as `self`.
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }

    fn change(&self, change: impl FnOnce(&mut BTreeSet<(i64, CallId)>) -> bool) {
        let mut leases = self.leases.lock();
        change(&mut leases);
        self.count.send_replace(leases.len());
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.registry.change(|leases| leases.remove(&self.entry));
    }
}
