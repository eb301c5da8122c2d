//! The service's workers are started again when they end before the service does. One that keeps ending
//! makes the service not ready. One that goes on although its turns fail does not: orders are taken all the same, and a metric
//! shows it.

use crate::app::App;
use crate::flow::Fault;
use garson_store::StoreError;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

/// The pauses before a worker is started again double between these.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A worker that has gone on for this time has recovered.
const RECOVERED: Duration = Duration::from_secs(60);
/// One that had to be started so often without recovering is failing.
const FAILING: u32 = 3;

/// How the workers stand.
#[derive(Debug, Default)]
pub struct Workers {
    failures: Mutex<BTreeMap<&'static str, (u32, Instant)>>,
    restarts: Counter,
    failed_turns: Counter,
}

/// Why a turn of a worker has failed.
pub trait TurnError {
    /// Is storage unavailable? Readiness asks storage itself, and the worker goes on as soon as that is back.
    fn is_outage(&self) -> bool;
}

impl TurnError for StoreError {
    fn is_outage(&self) -> bool {
        self.is_temporary()
    }
}

impl TurnError for Fault {
    fn is_outage(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_temporary())
    }
}

impl Workers {
    /// How often workers had to be started again, for those who watch.
    pub fn register(&self, registry: &mut Registry) {
        let restarts = self.restarts.clone();
        registry.register(
            "worker_restarts",
            "Workers of the service that ended before it did, and were started again",
            restarts,
        );
        registry.register(
            "worker_failed_turns",
            "Turns of workers that failed, other than because storage was unavailable",
            self.failed_turns.clone(),
        );
    }

    /// Notes how a turn of a worker's loop went.
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
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures
            .iter()
            .find(|(_, (times, since))| *times >= FAILING && now.duration_since(*since) < RECOVERED)
            .map(|(name, _)| *name)
    }

    /// Notes that a worker has ended; says how long to wait before it is started again.
    fn failed(&self, name: &'static str, lived: Duration) -> Duration {
        self.restarts.inc();
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Runs a worker until the service stops, and starts it again whenever it ends before. Aborting this ends the worker.
pub fn keep<F>(
    app: &Arc<App>,
    name: &'static str,
    work: impl Fn(Arc<App>) -> F + Send + Sync + 'static,
) -> JoinHandle<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    let (app, stopping) = (Arc::clone(app), app.stopping.subscribe());
    tokio::spawn(async move { keep_running(&app.workers, stopping, name, || work(Arc::clone(&app))).await })
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
        // A set ends what is in it when it is dropped.
        let mut running = JoinSet::new();
        running.spawn(start());
        let ended = running.join_next().await;
        if *stopping.borrow() {
            return;
        }
        let why = match ended {
            Some(Err(error)) => error.to_string(),
            _ => "it came to its end".to_owned(),
        };
        let pause = workers.failed(name, began.elapsed());
        tracing::error!(worker = name, why, ?pause, "a worker ended and is started again");
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stopping.changed() => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_worker_that_goes_on_for_long_enough_fails_no_longer() {
        let workers = Workers::default();
        for _ in 0..FAILING {
            workers.failed("search", Duration::ZERO);
        }
        assert_eq!(workers.failing(), Some("search"));
        assert_eq!(workers.failing_at(Instant::now() + RECOVERED), None);
    }

    #[test]
    fn an_outage_of_storage_is_no_failure_of_a_worker() {
        let workers = Workers::default();
        for error in [
            StoreError::unavailable("away"),
            StoreError::conflict("in the way"),
        ] {
            workers.note_turn::<(), _>(&Err(error.clone()));
            workers.note_turn::<(), _>(&Err(Fault::from(error)));
        }
        assert_eq!(workers.failed_turns.get(), 0);
        workers.note_turn::<(), _>(&Err(StoreError::corrupt("damaged")));
        assert_eq!(workers.failed_turns.get(), 1);
    }

    #[tokio::test]
    async fn a_worker_that_panics_is_started_again_until_the_service_stops() {
        let (workers, stopping) = (Workers::default(), watch::Sender::new(false));
        let starts = Arc::new(Mutex::new(0));
        let start = || {
            let (starts, stopping) = (Arc::clone(&starts), stopping.clone());
            async move {
                let number = {
                    let mut starts = starts.lock().unwrap();
                    *starts += 1;
                    *starts
                };
                match number {
                    1 => panic!("the first time it panics"),
                    // The second time it ends by itself.
                    2 => {}
                    _ => {
                        stopping.send_replace(true);
                    }
                }
            }
        };
        keep_running(&workers, stopping.subscribe(), "calls", start).await;
        assert_eq!(*starts.lock().unwrap(), 3);
        assert_eq!(workers.restarts.get(), 2);
        assert_eq!(workers.failing(), None);
    }
}
