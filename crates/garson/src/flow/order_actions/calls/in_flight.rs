//! The calls to platforms that this process is making at the moment, whoever began them.

use garson_core::id::CallId;
use garson_store::tables::calls::DueCall;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// Calls that are under way, by the ends of their leases.
#[derive(Debug, Default)]
pub struct InFlight {
    leases: Mutex<BTreeSet<(i64, CallId)>>,
    count: watch::Sender<usize>,
}

/// A call that is under way for as long as this lives.
pub struct Flight {
    registry: Arc<InFlight>,
    entry: (i64, CallId),
}

impl InFlight {
    pub fn begin(self: &Arc<Self>, call: &DueCall) -> Flight {
        let entry = (call.leased_until, call.id);
        self.change(|leases| leases.insert(entry));
        Flight {
            registry: Arc::clone(self),
            entry,
        }
    }

    /// The first end of a lease whose call is under way.
    #[must_use]
    pub fn first_end(&self) -> Option<i64> {
        let leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        leases.first().map(|(until, _)| *until)
    }

    /// Waits until none is under way.
    pub async fn wait_until_none(&self) {
        let mut count = self.count.subscribe();
        // The sender lives as long as this does.
        let _none = count.wait_for(|count| *count == 0).await.is_ok();
    }

    fn change(&self, change: impl FnOnce(&mut BTreeSet<(i64, CallId)>) -> bool) {
        let mut leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut leases);
        self.count.send_replace(leases.len());
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.registry.change(|leases| leases.remove(&self.entry));
    }
}
