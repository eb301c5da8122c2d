//! Gauges of the delivery dispatcher, which the dispatcher updates and the metrics read.

use crate::telemetry::DispatcherGauges;
use garson_core::time::Timestamp;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

#[derive(Debug, Default)]
pub struct DeliveryGauges {
    queued: AtomicUsize,
    in_flight: AtomicUsize,
    endpoints: AtomicUsize,
    troubled: AtomicUsize,
    waiting_accounts: AtomicUsize,
    /// Milliseconds since 1970, or 0 when nothing waits.
    oldest_at: AtomicI64,
}

impl DeliveryGauges {
    pub(crate) fn set_memory(&self, memory: DispatcherGauges) {
        self.queued.store(memory.queued, Ordering::Relaxed);
        self.in_flight.store(memory.in_flight, Ordering::Relaxed);
        self.endpoints.store(memory.endpoints, Ordering::Relaxed);
        self.troubled.store(memory.troubled, Ordering::Relaxed);
    }

    pub(crate) fn set_waiting(&self, accounts: usize, oldest_at: Option<Timestamp>) {
        self.waiting_accounts.store(accounts, Ordering::Relaxed);
        let millis = oldest_at.map_or(0, Timestamp::as_millis);
        self.oldest_at.store(millis, Ordering::Relaxed);
    }

    #[must_use]
    pub fn memory(&self) -> DispatcherGauges {
        let read = |gauge: &AtomicUsize| gauge.load(Ordering::Relaxed);
        DispatcherGauges {
            queued: read(&self.queued),
            in_flight: read(&self.in_flight),
            endpoints: read(&self.endpoints),
            troubled: read(&self.troubled),
        }
    }

    /// Accounts with undelivered events, as of the last database scan.
    #[must_use]
    pub fn waiting_accounts(&self) -> usize {
        self.waiting_accounts.load(Ordering::Relaxed)
    }

    /// When the oldest event happened that was undelivered at the last database scan.
    #[must_use]
    pub fn oldest_at(&self) -> Option<Timestamp> {
        let millis = self.oldest_at.load(Ordering::Relaxed);
        (millis > 0).then(|| Timestamp::from_millis(millis))
    }
}
