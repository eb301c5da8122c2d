//! A clock that changes only when a test sets it.

use crate::clock::Clock;
use crate::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// A clock for tests; clones share the time.
#[derive(Clone, Debug)]
pub struct SettableClock(Arc<AtomicI64>);

impl SettableClock {
    #[must_use]
    pub fn at(moment: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(moment.as_millis())))
    }

    pub fn advance(&self, by: Duration) {
        self.set(self.now().plus(by));
    }

    pub fn set(&self, moment: Timestamp) {
        self.0.store(moment.as_millis(), Ordering::SeqCst);
    }
}

impl Clock for SettableClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}
