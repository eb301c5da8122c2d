//! Restarts background workers that end before the service does.
//!
//! A worker that keeps ending makes the service not ready. A worker that runs although its turns fail does not: orders are
//! still accepted, and a metric counts the failed turns.

use garson_store::StoreError;
use parking_lot::Mutex;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

/// The pause before a restart doubles between these.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A worker that has run for this long has recovered.
const RECOVERED: Duration = Duration::from_secs(60);
/// A worker that was restarted this often without recovering is failing.
const FAILING: u32 = 3;

/// The state of all workers.
#[derive(Debug, Default)]
pub struct Workers {
    /// By worker: restarts in a row, and the time of the last one.
    failures: Mutex<BTreeMap<&'static str, (u32, Instant)>>,
    restarts: Counter,
    failed_turns: Counter,
}

/// An error of a worker's turn.
pub trait TurnError {
    /// Is storage unavailable? The readiness check asks storage itself, and the worker continues when it is back.
    fn is_outage(&self) -> bool;
}

impl TurnError for StoreError {
    fn is_outage(&self) -> bool {
        self.is_temporary()
    }
}

impl Workers {
    pub fn register(&self, registry: &mut Registry) {
        let restarts = self.restarts.clone();
        registry.register(
            "worker_restarts",
            "Restarts of background workers that ended before the service",
            restarts,
        );
        registry.register(
            "worker_failed_turns",
            "Failed turns of background workers, apart from storage outages",
            self.failed_turns.clone(),
        );
    }

    /// Counts a turn of a worker's loop if it failed.
    pub fn note_turn<T, E: TurnError>(&self, turn: &Result<T, E>) {
        if let Err(error) = turn
            && !error.is_outage()
        {
            self.failed_turns.inc();
        }
    }

    /// A worker that keeps failing, if there is one.
    #[must_use]
    pub fn failing(&self) -> Option<&'static str> {
        self.failing_at(Instant::now())
    }

    fn failing_at(&self, now: Instant) -> Option<&'static str> {
        self.failures
            .lock()
            .iter()
            .find(|(_, (times, since))| *times >= FAILING && now.duration_since(*since) < RECOVERED)
            .map(|(name, _)| *name)
    }

    /// Records that a worker ended; returns the pause before its restart.
    fn failed(&self, name: &'static str, lived: Duration) -> Duration {
        self.restarts.inc();
        let mut failures = self.failures.lock();
        let (times, since) = failures.entry(name).or_insert((0, Instant::now()));
        if lived >= RECOVERED {
            *times = 0;
        }
        *times += 1;
        *since = Instant::now();
        FIRST_PAUSE
            .saturating_mul(1 << (*times - 1).min(16))
            .min(LONGEST_PAUSE)
    }
}

/// Runs a worker until the service stops, and restarts it whenever it ends before that. Aborting the task ends the worker.
pub fn supervise<F>(
    workers: Arc<Workers>,
    stopping: watch::Receiver<bool>,
    name: &'static str,
    start: impl Fn() -> F + Send + Sync + 'static,
) -> JoinHandle<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    tokio::spawn(async move { keep_running(&workers, stopping, name, start).await })
}

async fn keep_running<F>(
    workers: &Workers,
    mut stopping: watch::Receiver<bool>,
    name: &'static str,
    start: impl Fn() -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    loop {
        let began = Instant::now();
        // Dropping the set aborts the worker.
        let mut running = JoinSet::new();
        running.spawn(start());
        let ended = running.join_next().await;
        if *stopping.borrow() {
            return;
        }
        let why = match ended {
            Some(Err(error)) => error.to_string(),
            _ => "it returned".to_owned(),
        };
        let pause = workers.failed(name, began.elapsed());
        tracing::error!(worker = name, why, ?pause, "a worker ended and is restarted");
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stopping.changed() => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::Fault;

    #[test]
    fn pauses_grow_until_a_worker_has_recovered() {
        let workers = Workers::default();
        let pauses: Vec<_> = (0..12)
            .map(|_| workers.failed("calls", Duration::ZERO).as_millis())
            .collect();
        assert_eq!(pauses[..4], [100, 200, 400, 800]);
        assert_eq!(pauses.last(), Some(&30_000));
        assert_eq!(workers.failing(), Some("calls"));
        assert_eq!(workers.failed("calls", RECOVERED).as_millis(), 100);
        assert_eq!(workers.failing(), None);
        assert_eq!(workers.restarts.get(), 13);
    }

    #[test]
    fn worker_that_runs_long_enough_is_no_longer_failing() {
        let workers = Workers::default();
        for _ in 0..FAILING {
            workers.failed("search", Duration::ZERO);
        }
        assert_eq!(workers.failing(), Some("search"));
        assert_eq!(workers.failing_at(Instant::now() + RECOVERED), None);
    }

    #[test]
    fn storage_outage_is_not_a_failed_turn() {
        let workers = Workers::default();
        for error in [StoreError::unavailable("down"), StoreError::conflict("conflict")] {
            workers.note_turn::<(), _>(&Err(error.clone()));
            workers.note_turn::<(), _>(&Err(Fault::from(error)));
        }
        assert_eq!(workers.failed_turns.get(), 0);
        workers.note_turn::<(), _>(&Err(StoreError::corrupt("damaged")));
        assert_eq!(workers.failed_turns.get(), 1);
    }

    #[tokio::test]
    async fn worker_that_panics_is_restarted_until_the_service_stops() {
        let (workers, stopping) = (Workers::default(), watch::Sender::new(false));
        let starts = Arc::new(Mutex::new(0));
        let start = || {
            let (starts, stopping) = (Arc::clone(&starts), stopping.clone());
            async move {
                let number = {
                    let mut starts = starts.lock();
                    *starts += 1;
                    *starts
                };
                match number {
                    1 => panic!("it panics first"),
                    // Then it returns.
                    2 => {}
                    _ => {
                        stopping.send_replace(true);
                    }
                }
            }
        };
        keep_running(&workers, stopping.subscribe(), "calls", start).await;
        assert_eq!(*starts.lock(), 3);
        assert_eq!(workers.restarts.get(), 2);
        assert_eq!(workers.failing(), None);
    }
}
