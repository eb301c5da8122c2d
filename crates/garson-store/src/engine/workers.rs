//! Threads that take jobs from a common queue.

use super::job::Job;
use crate::error::StoreError;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Where the threads get their jobs.
pub struct Queue<H> {
    pub jobs: Receiver<Box<dyn Job<H>>>,
    /// Microseconds that work in this queue waits.
    waited: Arc<AtomicU64>,
}

impl<H> Queue<H> {
    /// Notes how long work in this queue waits.
    pub fn note_wait(&self, wait: Duration) {
        let micros = u64::try_from(wait.as_micros()).unwrap_or(u64::MAX);
        self.waited.store(micros, Ordering::Relaxed);
    }
}

/// A queue and its threads. Dropping it lets them finish the queued jobs, and waits for them.
pub struct Workers<H> {
    queue: Option<Sender<Box<dyn Job<H>>>>,
    max_waiting: usize,
    waited: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl<H: 'static> Workers<H> {
    /// Starts a thread for each body; a body runs until its queue is closed and empty.
    pub fn start<F>(name: &str, max_waiting: usize, bodies: Vec<F>) -> Result<Self, StoreError>
    where
        F: FnOnce(Queue<H>) + Send + 'static,
    {
        let (queue, jobs) = unbounded();
        let waited = Arc::new(AtomicU64::new(0));
        let mut threads = Vec::with_capacity(bodies.len());
        for body in bodies {
            let jobs = Queue {
                jobs: jobs.clone(),
                waited: Arc::clone(&waited),
            };
            let thread = std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || body(jobs))
                .map_err(|error| StoreError::unavailable("cannot start a thread").caused_by(error))?;
            threads.push(thread);
        }
        Ok(Self {
            queue: Some(queue),
            max_waiting,
            waited,
            threads,
        })
    }

    pub fn submit(&self, job: Box<dyn Job<H>>) -> Result<(), StoreError> {
        let stopped = || StoreError::unavailable("the database worker has stopped");
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        if queue.len() >= self.max_waiting {
            return Err(StoreError::unavailable("too many jobs wait for the database"));
        }
        queue.send(job).map_err(|_| stopped())
    }

    pub fn waiting(&self) -> usize {
        self.queue.as_ref().map_or(0, Sender::len)
    }

    /// How long work in this queue waits, as was noted last, if there is any.
    pub fn standing_wait(&self) -> Duration {
        match self.waiting() {
            0 => Duration::ZERO,
            _ => Duration::from_micros(self.waited.load(Ordering::Relaxed)),
        }
    }
}

impl<H> Drop for Workers<H> {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a database thread panicked");
            }
        }
    }
}
