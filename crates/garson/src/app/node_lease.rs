//! Until when this node may start work that other nodes could take over.

use parking_lot::Mutex;
use std::time::Instant;

/// The end of the lease; a single process has a lease without an end.
#[derive(Debug, Default)]
pub struct NodeLease(Mutex<Option<Instant>>);

impl NodeLease {
    pub(crate) fn renew(&self, until: Option<Instant>) {
        *self.0.lock() = until;
    }

    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.0.lock().is_none_or(|until| Instant::now() < until)
    }
}
