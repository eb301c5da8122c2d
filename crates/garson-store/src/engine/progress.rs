//! How far a long piece of work is. Another thread watches it, and may stop it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counts bytes or rows, whichever the work is about.
#[derive(Debug, Default)]
pub struct WorkProgress {
    done: AtomicU64,
    /// 0 while it is not known.
    total: AtomicU64,
    stopping: AtomicBool,
}

impl WorkProgress {
    pub fn set(&self, done: u64, total: Option<u64>) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total.unwrap_or_default(), Ordering::Relaxed);
    }

    pub fn add(&self, done: u64) {
        self.done.fetch_add(done, Ordering::Relaxed);
    }

    /// What is done, and of how much, if that is known.
    #[must_use]
    pub fn get(&self) -> (u64, Option<u64>) {
        let total = self.total.load(Ordering::Relaxed);
        (self.done.load(Ordering::Relaxed), (total > 0).then_some(total))
    }

    /// The work ends soon, without a result.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}
