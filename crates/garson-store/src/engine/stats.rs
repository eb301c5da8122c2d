//! The engine's counters and durations, without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts since the engine was opened.
#[derive(Debug)]
pub struct Stats {
    pub commits: AtomicU64,
    pub jobs: AtomicU64,
    pub failed_jobs: AtomicU64,
    /// Statements that jobs have run, queries included; savepoints and commits are not counted.
    pub statements: AtomicU64,
    pub lost_transactions: AtomicU64,
    /// How long transactions took, from the first job to the commit.
    pub commit_times: Durations,
    /// The number of losses when a write of normal size was last seen to succeed.
    proven: AtomicU64,
}

/// From half a millisecond, the time of a good disk, to five seconds, in microseconds.
const COMMIT_STEPS: &[u64] = &[
    500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000,
    5_000_000,
];

impl Default for Stats {
    fn default() -> Self {
        Self {
            commits: AtomicU64::default(),
            jobs: AtomicU64::default(),
            failed_jobs: AtomicU64::default(),
            statements: AtomicU64::default(),
            lost_transactions: AtomicU64::default(),
            commit_times: Durations::new(COMMIT_STEPS),
            proven: AtomicU64::default(),
        }
    }
}

impl Stats {
    pub(super) fn count_statements(&self, count: u64) {
        self.statements.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn count_commit(&self, jobs: usize, failed: usize, took: Duration) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.jobs.fetch_add(jobs as u64, Ordering::Relaxed);
        self.failed_jobs.fetch_add(failed as u64, Ordering::Relaxed);
        self.commit_times.observe(took);
    }

    /// Counts a job that timed out in the queue.
    pub(super) fn count_expired(&self) {
        self.jobs.fetch_add(1, Ordering::Relaxed);
        self.failed_jobs.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a transaction that failed as a whole.
    pub(super) fn count_loss(&self, jobs: usize) {
        self.lost_transactions.fetch_add(1, Ordering::Relaxed);
        self.jobs.fetch_add(jobs as u64, Ordering::Relaxed);
        self.failed_jobs.fetch_add(jobs as u64, Ordering::Relaxed);
    }

    /// How many transactions have failed as a whole.
    #[must_use]
    pub fn losses(&self) -> u64 {
        self.lost_transactions.load(Ordering::Relaxed)
    }

    /// Has a transaction failed as a whole since a write of normal size was last seen to succeed? A database may be readable
    /// but not writable: its disk may be full. A small commit proves little, since the last free pages are enough for it.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.losses() > self.proven.load(Ordering::Relaxed)
    }

    /// A write of normal size has succeeded, after so many losses.
    pub fn prove(&self, losses: u64) {
        self.proven.fetch_max(losses, Ordering::Relaxed);
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// A histogram of durations: a count for each bucket, and the total.
#[derive(Debug)]
pub struct Durations {
    /// The upper bound of each bucket in microseconds, ascending.
    steps: &'static [u64],
    /// One for each bucket, and one for longer durations.
    counts: Box<[AtomicU64]>,
    micros: AtomicU64,
}

impl Durations {
    #[must_use]
    pub fn new(steps: &'static [u64]) -> Self {
        Self {
            steps,
            counts: (0..=steps.len()).map(|_| AtomicU64::default()).collect(),
            micros: AtomicU64::default(),
        }
    }

    pub fn observe(&self, took: Duration) {
        let took = micros(took);
        let step = self.steps.partition_point(|longest| *longest < took);
        if let Some(count) = self.counts.get(step) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.micros.fetch_add(took, Ordering::Relaxed);
    }

    /// The upper bound of each bucket in seconds, with its count; the last bucket is unbounded.
    #[must_use]
    pub fn steps(&self) -> Vec<(f64, u64)> {
        let ends = self.steps.iter().map(|micros| seconds(*micros));
        ends.chain([f64::INFINITY])
            .zip(self.counts.iter().map(|count| count.load(Ordering::Relaxed)))
            .collect()
    }

    /// The sum of all durations, in seconds.
    #[must_use]
    pub fn total(&self) -> f64 {
        seconds(self.micros.load(Ordering::Relaxed))
    }
}

#[allow(clippy::cast_precision_loss)]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_counts_in_the_first_bucket_that_fits() {
        let times = Durations::new(&[500, 1_000, 5_000_000]);
        for micros in [0, 500, 501, 1_000, 1_001, 5_000_000, 5_000_001, 60_000_000] {
            times.observe(Duration::from_micros(micros));
        }
        let expected = [(0.0005, 2), (0.001, 2), (5.0, 2), (f64::INFINITY, 2)];
        assert_eq!(times.steps(), expected);
        assert!((times.total() - 70.003_003).abs() < 1e-9, "{}", times.total());
    }

    #[test]
    fn lost_transaction_is_not_counted_as_a_commit() {
        let stats = Stats::default();
        stats.count_commit(3, 1, Duration::from_millis(2));
        assert!(!stats.is_in_doubt());
        stats.count_loss(4);
        assert!(stats.is_in_doubt());
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        assert_eq!((read(&stats.commits), read(&stats.lost_transactions)), (1, 1));
        assert_eq!((read(&stats.jobs), read(&stats.failed_jobs)), (7, 5));
        assert_eq!(
            stats
                .commit_times
                .steps()
                .iter()
                .map(|(_, count)| count)
                .sum::<u64>(),
            1
        );
        stats.count_commit(1, 0, Duration::ZERO);
        assert!(stats.is_in_doubt(), "something small proves nothing");
        let losses = stats.losses();
        stats.count_loss(1);
        stats.prove(losses);
        assert!(stats.is_in_doubt(), "it was lost after that");
        stats.prove(stats.losses());
        assert!(!stats.is_in_doubt());
    }
}
