//! How delivering stands, for those who watch.

use garson_core::time::Timestamp;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

/// Figures that the dispatcher keeps up to date.
#[derive(Debug, Default)]
pub struct Figures {
    queued: AtomicUsize,
    flying: AtomicUsize,
    endpoints: AtomicUsize,
    troubled: AtomicUsize,
    waiting_accounts: AtomicUsize,
    /// Milliseconds since 1970, or 0 when nothing waits.
    oldest_at: AtomicI64,
}

/// What is in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Deliveries that wait for their attempt.
    pub queued: usize,
    /// Attempts under way.
    pub flying: usize,
    /// Receivers that something is in memory for, and how many of them keep failing.
    pub endpoints: usize,
    pub troubled: usize,
}

impl Figures {
    pub(super) fn set_memory(&self, memory: Memory) {
        self.queued.store(memory.queued, Ordering::Relaxed);
        self.flying.store(memory.flying, Ordering::Relaxed);
        self.endpoints.store(memory.endpoints, Ordering::Relaxed);
        self.troubled.store(memory.troubled, Ordering::Relaxed);
    }

    pub(super) fn set_waiting(&self, accounts: usize, oldest_at: Option<Timestamp>) {
        self.waiting_accounts.store(accounts, Ordering::Relaxed);
        let millis = oldest_at.map_or(0, Timestamp::as_millis);
        self.oldest_at.store(millis, Ordering::Relaxed);
    }

    #[must_use]
    pub fn memory(&self) -> Memory {
        let read = |figure: &AtomicUsize| figure.load(Ordering::Relaxed);
        Memory {
            queued: read(&self.queued),
            flying: read(&self.flying),
            endpoints: read(&self.endpoints),
            troubled: read(&self.troubled),
        }
    }

    /// Accounts with something that is not delivered, as of the last look.
    #[must_use]
    pub fn waiting_accounts(&self) -> usize {
        self.waiting_accounts.load(Ordering::Relaxed)
    }

    /// When the oldest event happened that was not delivered at the last look.
    #[must_use]
    pub fn oldest_at(&self) -> Option<Timestamp> {
        let millis = self.oldest_at.load(Ordering::Relaxed);
        (millis > 0).then(|| Timestamp::from_millis(millis))
    }
}
