//! Group commit: the waiting jobs run in one transaction, and their callers get replies after its one commit.

use super::connection::Connection;
use super::job::{Job, RunEnd};
use super::stats::Stats;
use super::tx::{Hooks, Tx};
use super::workers::Queue;
use crate::error::StoreError;
use crate::log_throttle::Throttle;
use garson_core::id::AccountId;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most jobs that share a commit; more would make the first of them wait too long.
const MAX_BATCH: usize = 256;
/// A batch whose jobs run for longer is blocked, and says nothing about how much there is to do.
const BLOCKED_AFTER: Duration = Duration::from_secs(1);
/// How often a batch is run again after a serialisation failure.
const MAX_RERUNS: usize = 10;

static FAILED: Throttle = Throttle::for_outages();

type Jobs<H> = Vec<Box<dyn Job<H>>>;

/// How a batch is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunMode {
    /// Likely results are assumed and checked before the commit.
    Optimistic,
    /// Every result is read, since an assumption was wrong a short time ago.
    Cautious,
    /// Every result is read, and each job has a savepoint, so that it can be rolled back alone. Savepoints are expensive: round
    /// trips on PostgreSQL, copies of every changed page on SQLite. Jobs rarely fail after they have written something, so
    /// this is never the first run.
    Isolated,
}

/// How a run of a batch ended that did not fail as a whole.
enum BatchEnd {
    /// So many of its jobs failed by themselves; the writes of the others are durable.
    Committed { failed: usize },
    /// A job failed that had no savepoint, or an assumption was wrong: to be run again isolated.
    RolledBack { assumptions_held: bool },
}

/// How a run of a batch failed as a whole.
enum BatchError {
    /// Nothing of it was committed, and it may be run again.
    Retry(StoreError),
    /// It must not be run again.
    Fatal(StoreError),
}

/// How a job left the transaction.
enum JobEnd {
    Kept,
    /// It failed and left nothing behind.
    Failed,
    /// It failed, and what it wrote can only be rolled back with the whole batch.
    FailedWithWrites,
}

/// Runs the jobs of one writing connection.
pub struct Writer<C, H: Hooks> {
    connection: C,
    shared: Arc<H::Shared>,
    stats: Arc<Stats>,
    commit_delay: Duration,
    /// So many of the next batches run without assumptions.
    cautious_batches: u32,
    /// How long the jobs of the last batch ran, without the commit.
    last_run: Duration,
}

impl<C: Connection, H: Hooks> Writer<C, H> {
    pub fn new(connection: C, shared: Arc<H::Shared>, stats: Arc<Stats>, commit_delay: Duration) -> Self {
        Self {
            connection,
            shared,
            stats,
            commit_delay,
            cautious_batches: 0,
            last_run: Duration::ZERO,
        }
    }

    /// Runs batches from the queue until it is closed.
    pub fn run(mut self, queue: &Queue<H>) {
        while let Ok(first) = queue.jobs.recv() {
            let mut jobs = vec![first];
            while jobs.len() < MAX_BATCH
                && let Ok(next) = queue.jobs.try_recv()
            {
                jobs.push(next);
            }
            let now = Instant::now();
            let waits = jobs
                .iter()
                .map(|job| now.saturating_duration_since(job.queued_at()));
            queue.note_wait(self.standing_wait(waits.min().unwrap_or_default()));
            self.drop_expired(&mut jobs);
            if !jobs.is_empty() {
                jobs.sort_by_key(|job| job.partition());
                self.run_and_reply(jobs);
            }
        }
    }

    fn run_and_reply(&mut self, mut jobs: Jobs<H>) {
        let started = Instant::now();
        let committed = self.run_batch(&mut jobs);
        let count = jobs.len();
        let committed = match committed {
            Ok(failed) => {
                self.stats.count_commit(count, failed, started.elapsed());
                Ok(())
            }
            Err(error) => {
                if let Some(suppressed) = FAILED.pass() {
                    tracing::error!(%error, jobs = count, suppressed, "a database transaction failed");
                }
                self.stats.count_loss(count);
                Err(error)
            }
        };
        for job in jobs {
            job.reply(committed.clone());
        }
        self.connection.after_replies();
    }

    /// How long jobs wait at least: behind others, and for those that they are run with. The time of the commit does not count, since
    /// fewer jobs would not make it shorter. Nor does a batch that was blocked, most likely by a lock of another program.
    fn standing_wait(&self, shortest: Duration) -> Duration {
        if self.last_run < BLOCKED_AFTER {
            shortest + self.last_run
        } else {
            Duration::ZERO
        }
    }

    /// Removes the jobs whose callers have got a timeout already.
    fn drop_expired(&self, jobs: &mut Jobs<H>) {
        for job in jobs.extract_if(.., |job| job.is_expired()) {
            self.stats.count_expired();
            job.reply(Err(StoreError::timed_out()));
        }
    }

    /// Runs the jobs in one transaction; returns how many failed by themselves.
    fn run_batch(&mut self, jobs: &mut Jobs<H>) -> Result<usize, StoreError> {
        let mut mode = match self.cautious_batches {
            0 => RunMode::Optimistic,
            _ => RunMode::Cautious,
        };
        self.cautious_batches = self.cautious_batches.saturating_sub(1);
        let mut last_error = StoreError::unavailable("the transaction was not run");
        for _ in 0..MAX_RERUNS {
            match self.run_once(jobs, mode) {
                Ok(BatchEnd::Committed { failed }) => return Ok(failed),
                Ok(BatchEnd::RolledBack { assumptions_held }) => {
                    if !assumptions_held {
                        self.cautious_batches = C::CAUTIOUS_BATCHES;
                    }
                    mode = RunMode::Isolated;
                }
                Err(BatchError::Retry(error)) => last_error = error,
                Err(BatchError::Fatal(error)) => return Err(error),
            }
            self.drop_expired(jobs);
            if jobs.is_empty() {
                break;
            }
        }
        Err(last_error)
    }

    fn run_once(&mut self, jobs: &mut Jobs<H>, mode: RunMode) -> Result<BatchEnd, BatchError> {
        let began = Instant::now();
        self.begin(mode)?;
        // Another program may have held the database's write lock until now.
        self.drop_expired(jobs);
        if jobs.is_empty() {
            self.roll_back()?;
            return Ok(BatchEnd::Committed { failed: 0 });
        }
        let mut state = H::begin(&self.shared);
        self.lock_accounts(jobs)?;
        let (mut messages, mut failed) = (H::Messages::default(), 0);
        for job in jobs.iter_mut() {
            match self.run_job(job.as_mut(), &mut state, &mut messages, mode)? {
                JobEnd::Kept => {}
                JobEnd::Failed => failed += 1,
                JobEnd::FailedWithWrites => {
                    // It may have failed because of a wrong assumption.
                    let assumptions_held = self.connection.assumptions_held();
                    self.roll_back()?;
                    let is_final = jobs.len() == 1 && assumptions_held;
                    return Ok(if is_final {
                        BatchEnd::Committed { failed: 1 }
                    } else {
                        BatchEnd::RolledBack { assumptions_held }
                    });
                }
            }
        }
        if !self.settle(state)? {
            self.roll_back()?;
            return Ok(BatchEnd::RolledBack {
                assumptions_held: false,
            });
        }
        self.last_run = began.elapsed();
        self.commit(messages)?;
        Ok(BatchEnd::Committed { failed })
    }

    fn begin(&mut self, mode: RunMode) -> Result<(), BatchError> {
        self.connection.ensure_usable().map_err(BatchError::Fatal)?;
        let begun = self.connection.begin_write(mode == RunMode::Optimistic);
        begun.map_err(|error| {
            if C::RETRIES_BEGIN && error.is_temporary() {
                BatchError::Retry(error)
            } else {
                BatchError::Fatal(error)
            }
        })
    }

    /// Locks the accounts of a batch before anything else, where others may change them too.
    fn lock_accounts(&mut self, jobs: &[Box<dyn Job<H>>]) -> Result<(), BatchError> {
        if !C::IS_SHARED {
            return Ok(());
        }
        let mut accounts: Vec<AccountId> = jobs.iter().filter_map(|job| job.partition().account()).collect();
        accounts.dedup();
        let mut tx = Tx::new(&mut self.connection, H::default());
        let locked = H::lock_accounts(&mut tx, &accounts);
        self.stats.count_statements(tx.statements());
        self.or_retry(locked)
    }

    /// Runs a job with the state that the jobs before it have left.
    fn run_job(
        &mut self,
        job: &mut dyn Job<H>,
        state: &mut H,
        messages: &mut H::Messages,
        mode: RunMode,
    ) -> Result<JobEnd, BatchError> {
        let is_isolated = mode == RunMode::Isolated;
        if is_isolated {
            let set = self.connection.set_savepoint();
            self.or_retry(set)?;
        }
        let mut tx = Tx::new(&mut self.connection, std::mem::take(state));
        let mut end = job.run(&mut tx);
        // Deferred writes belong to the job: they are rolled back with it, and if they fail, the job has failed.
        if is_isolated
            && end == RunEnd::Keep
            && let Err(error) = tx.flush()
        {
            job.fail(error);
            end = RunEnd::Undo;
        }
        self.stats.count_statements(tx.statements());
        let (lost, is_touched) = (tx.take_lost(), tx.is_touched());
        *state = tx.into_state();
        if is_isolated {
            state.discard_deferred();
        }
        if let Some(error) = lost {
            return Err(self.undo(error));
        }
        let sent = state.take_messages();
        if end == RunEnd::Keep {
            H::append_messages(messages, sent);
        }
        // An error that ends the whole transaction is noticed before the next job runs outside of it.
        if !self.connection.in_transaction() {
            return Err(BatchError::Fatal(StoreError::unavailable(
                "the database rolled the transaction back",
            )));
        }
        match end {
            RunEnd::Keep if is_isolated => {
                let released = self.connection.release_savepoint();
                self.or_retry(released).map(|()| JobEnd::Kept)
            }
            RunEnd::Keep => Ok(JobEnd::Kept),
            RunEnd::Undo if is_isolated => {
                let back = self.connection.roll_back_to_savepoint();
                self.or_retry(back)?;
                let released = self.connection.release_savepoint();
                self.or_retry(released).map(|()| JobEnd::Failed)
            }
            RunEnd::Undo if is_touched => Ok(JobEnd::FailedWithWrites),
            RunEnd::Undo => Ok(JobEnd::Failed),
        }
    }

    /// Executes the deferred writes and checks the assumptions; returns whether all was well. If not, one of the jobs is the
    /// cause; an isolated run shows which one.
    fn settle(&mut self, state: H) -> Result<bool, BatchError> {
        let mut tx = Tx::new(&mut self.connection, state);
        let flushed = tx.flush();
        self.stats.count_statements(tx.statements());
        match flushed {
            Ok(()) => Ok(self.connection.assumptions_held()),
            Err(error) if error.is_temporary() => Err(self.undo(error)),
            Err(_) => Ok(false),
        }
    }

    fn commit(&mut self, messages: H::Messages) -> Result<(), BatchError> {
        if !self.commit_delay.is_zero() {
            std::thread::sleep(self.commit_delay);
        }
        if let Err(error) = self.connection.commit() {
            // The error of the commit is the one that matters.
            let _ = self.connection.roll_back();
            // Whether a commit without a reply took place is not known, so it must not be run again.
            return Err(BatchError::Fatal(error));
        }
        H::publish(&self.shared, messages);
        Ok(())
    }

    /// Rolls everything back, unless the database has done so already.
    fn roll_back(&mut self) -> Result<(), BatchError> {
        match self.connection.roll_back() {
            Err(error) if self.connection.in_transaction() => Err(BatchError::Retry(error)),
            _ => Ok(()),
        }
    }

    fn undo(&mut self, error: StoreError) -> BatchError {
        // A connection on which this fails is replaced before the next run.
        let _ = self.connection.roll_back();
        BatchError::Retry(error)
    }

    fn or_retry(&mut self, done: Result<(), StoreError>) -> Result<(), BatchError> {
        done.map_err(|error| self.undo(error))
    }
}
