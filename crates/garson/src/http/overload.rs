//! Refuses requests of a node that has more to do than it can, so that those it accepts are answered soon.
//!
//! Overload is a queue that stands: for a while, even the shortest wait for a processor or for the database's writer is longer than
//! `server.max_wait_ms`. Then every client address may send at the same rate, and the rate is lowered until the queue is short. A client
//! that sends less than this rate is not refused, so a flood is refused to whom it comes from. What was accepted, and everything that
//! follows from it (deliveries, calls), is not affected.
//!
//! The wait for a processor is measured by requests themselves: every hundredth of a second one of them goes to the end of the queue of
//! the runtime. A node without requests measures nothing.

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

    /// May this request be handled? `waited` is for how long work waits in other queues than that of the processors.
    pub async fn admits(&self, client: IpAddr, waited: impl FnOnce() -> Duration) -> bool {
        let Some(limiter) = &self.limiter else { return true };
        if self.is_time_for_a_sample() {
            let began = Instant::now();
            tokio::task::yield_now().await;
            let wait = began.elapsed().max(waited());
            let change = limiter.lock().measured(wait, self.began.elapsed());
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            match change {
                Some(Change::Began) => tracing::warn!(wait_ms, "overloaded: some requests are refused"),
                Some(Change::Ended) => tracing::info!("no longer overloaded: no request is refused"),
                None => {}
            }
        }
        let is_admitted = limiter.lock().admits(client, self.began.elapsed());
        if !is_admitted {
            self.refusals.note(Refusal::Overloaded, Some(client));
        }
        is_admitted
    }

    /// An admitted request has been handled.
    pub fn completed(&self) {
        if let Some(limiter) = &self.limiter {
            limiter.lock().completed();
        }
    }

    fn is_time_for_a_sample(&self) -> bool {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let now = micros(self.began.elapsed());
        let due = self.next_sample.load(Ordering::Relaxed);
        now >= due
            && self
                .next_sample
                .compare_exchange(
                    due,
                    now + micros(SAMPLE_INTERVAL),
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                )
                .is_ok()
    }
}
