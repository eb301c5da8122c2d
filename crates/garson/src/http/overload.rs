//! Refuses requests of a node that has more to do than it can, so that those it accepts are answered soon.
//!
//! Overload is a queue that stands: for a while, even the shortest wait for a processor or for the database is longer than
//! `server.max_wait_ms`. Then the number of requests under way is limited, so that the queue becomes short. The limit is shared by the
//! addresses that have requests under way: one with less than its share is not refused because of another that sends more. What was
//! accepted, and everything that follows from it (deliveries, calls), is not affected.
//!
//! The wait for a processor is measured by requests themselves: every hundredth of a second one of them lets itself be woken by another
//! thread, and so goes to the end of the queue that tasks of all threads share. A node with few requests measures nothing.

mod limiter;

use crate::telemetry::{Refusal, Refusals};
use limiter::{Change, Limiter};
use parking_lot::Mutex;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often the wait is measured.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(10);

pub struct Overload {
    limiter: Option<Mutex<Limiter>>,
    began: Instant,
    /// Microseconds since `began`.
    next_sample: AtomicU64,
    refusals: Arc<Refusals>,
}

/// A request that is under way until this is dropped.
pub struct Admitted<'a>(Option<(&'a Mutex<Limiter>, IpAddr)>);

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        if let Some((limiter, client)) = self.0 {
            limiter.lock().ended(client);
        }
    }
}

/// Measures how long a task waits for a processor.
async fn measure() -> Duration {
    let began = Instant::now();
    // It only wakes this task; if it cannot, the time is measured all the same.
    let _ = tokio::task::spawn_blocking(|| ()).await;
    began.elapsed()
}

impl Overload {
    /// Work may wait for `max_wait`; zero: nothing is refused.
    pub fn new(max_wait: Duration, refusals: Arc<Refusals>) -> Self {
        Self {
            limiter: (!max_wait.is_zero()).then(|| Mutex::new(Limiter::new(max_wait))),
            began: Instant::now(),
            next_sample: AtomicU64::new(0),
            refusals,
        }
    }

    /// Admits a request, or not. `waited` is for how long work waits in other queues than that of the processors.
    pub async fn admit(&self, client: IpAddr, waited: impl FnOnce() -> Duration) -> Option<Admitted<'_>> {
        let Some(limiter) = &self.limiter else {
            return Some(Admitted(None));
        };
        if self.is_time_for_a_sample() {
            let is_busy = limiter.lock().is_busy();
            let wait = if is_busy {
                measure().await.max(waited())
            } else {
                Duration::ZERO
            };
            let change = limiter.lock().measured(wait, self.began.elapsed());
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            match change {
                Some(Change::Began) => tracing::warn!(wait_ms, "overloaded: some requests are refused"),
                Some(Change::Ended) => tracing::info!("no longer overloaded: no request is refused"),
                None => {}
            }
        }
        if limiter.lock().admits(client) {
            return Some(Admitted(Some((limiter, client))));
        }
        self.refusals.note(Refusal::Overloaded, Some(client));
        None
    }

    fn is_time_for_a_sample(&self) -> bool {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let now = micros(self.began.elapsed());
        let due = self.next_sample.load(Ordering::Relaxed);
        let next = now + micros(SAMPLE_INTERVAL);
        now >= due
            && self
                .next_sample
                .compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}
