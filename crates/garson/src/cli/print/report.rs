//! What the printing side and the reporting side of the agent share.

use super::api::Job;
use super::printer::Condition;
use garson_core::id::PrintJobId;
use parking_lot::Mutex;
use std::collections::VecDeque;
use tokio::sync::Notify;

/// Shared between the task that prints and the one that reports.
#[derive(Default)]
pub struct Shared {
    inner: Mutex<Inner>,
    /// There is something new to report.
    pub changed: Notify,
    /// There is something new to print.
    pub requested: Notify,
}

#[derive(Default)]
struct Inner {
    condition: Condition,
    waiting: usize,
    jobs: VecDeque<Job>,
    /// Printed, and not reported yet.
    printed: Vec<PrintJobId>,
}

impl Shared {
    pub fn set_condition(&self, condition: &Condition) {
        let mut inner = self.inner.lock();
        if inner.condition != *condition {
            inner.condition = condition.clone();
            drop(inner);
            self.changed.notify_one();
        }
    }

    pub fn set_waiting(&self, waiting: usize) {
        self.inner.lock().waiting = waiting;
    }

    pub fn mark_printed(&self, job: PrintJobId) {
        self.inner.lock().printed.push(job);
        self.changed.notify_one();
    }

    /// What a report says.
    pub fn report(&self) -> (Condition, usize, Vec<PrintJobId>) {
        let inner = self.inner.lock();
        // The service takes no more than these at once; the others are reported next time.
        let printed = inner.printed.iter().take(100).copied().collect();
        (inner.condition.clone(), inner.waiting + inner.jobs.len(), printed)
    }

    /// The service knows that these are printed.
    pub fn forget_printed(&self, reported: &[PrintJobId]) {
        self.inner.lock().printed.retain(|job| !reported.contains(job));
    }

    /// Takes the jobs that are new. A job comes with every report until it is reported as printed.
    pub fn add_jobs(&self, jobs: Vec<Job>) {
        let mut inner = self.inner.lock();
        for job in jobs {
            let is_known = inner.jobs.iter().any(|it| it.id == job.id) || inner.printed.contains(&job.id);
            if !is_known {
                inner.jobs.push_back(job);
            }
        }
        let has_jobs = !inner.jobs.is_empty();
        drop(inner);
        if has_jobs {
            self.requested.notify_one();
        }
    }

    /// The next job; it stays in the list until it is done, so that it is not taken twice.
    pub fn next_job(&self) -> Option<Job> {
        self.inner.lock().jobs.front().cloned()
    }

    pub fn finish_job(&self, id: PrintJobId) {
        self.inner.lock().jobs.retain(|job| job.id != id);
    }
}
