//! Threads that take jobs from a common queue.

use super::job::Job;
use crate::error::StoreError;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::thread::JoinHandle;

/// A queue and the threads that empty it. Dropping it lets them finish what waits, and waits for them.
pub struct Workers {
    queue: Option<Sender<Box<dyn Job>>>,
    max_waiting: usize,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts a thread for each body; a body works until its queue is closed and empty.
    pub fn start<F>(name: &str, max_waiting: usize, bodies: Vec<F>) -> Result<Self, StoreError>
    where
        F: FnOnce(Receiver<Box<dyn Job>>) + Send + 'static,
    {
        let (queue, jobs) = unbounded();
        let mut threads = Vec::with_capacity(bodies.len());
        for body in bodies {
            let jobs = jobs.clone();
            let thread = std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || body(jobs))
                .map_err(|error| StoreError::unavailable(format!("cannot start a thread: {error}")))?;
            threads.push(thread);
        }
        Ok(Self {
            queue: Some(queue),
            max_waiting,
            threads,
        })
    }

    pub fn submit(&self, job: Box<dyn Job>) -> Result<(), StoreError> {
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
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a database thread panicked");
            }
        }
    }
}
