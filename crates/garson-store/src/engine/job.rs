//! A queued job: what to run, its result, and the caller that waits for it.

use super::partition::Partition;
use super::tx::{Hooks, Tx};
use crate::error::StoreError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How a run of a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// Its writes are to be committed.
    Keep,
    /// It failed: its writes are to be rolled back.
    Undo,
}

/// How a job reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    Write(Partition),
    /// Reads one snapshot.
    Read,
    /// Reads without a transaction; each statement has its own snapshot.
    ReadWithoutSnapshot,
}

/// A job whose result type is erased.
pub trait Job<H>: Send {
    fn kind(&self) -> JobKind;

    /// The partition of a job that writes.
    fn partition(&self) -> Partition {
        match self.kind() {
            JobKind::Write(partition) => partition,
            JobKind::Read | JobKind::ReadWithoutSnapshot => Partition::COMMON,
        }
    }

    /// When its caller began to wait.
    fn queued_at(&self) -> Instant;

    /// Has its caller got a timeout already? Then it must not run any more: the caller may have retried, and the older job would
    /// be done after the newer one.
    fn is_expired(&self) -> bool;

    /// Runs it, or runs it again; only the last run counts.
    fn run(&mut self, tx: &mut Tx<'_, H>) -> RunEnd;

    /// Makes its last run a failed one, because of its deferred writes.
    fn fail(&mut self, error: StoreError);

    /// Replies to the caller: with the result of the job, or with the error that failed the whole transaction.
    fn reply(self: Box<Self>, committed: Result<(), StoreError>);
}

pub struct TypedJob<T, E, F> {
    kind: JobKind,
    queued_at: Instant,
    deadline: Instant,
    job: F,
    result: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> TypedJob<T, E, F> {
    pub fn new(kind: JobKind, limit: Duration, job: F, reply: oneshot::Sender<Result<T, E>>) -> Self {
        let queued_at = Instant::now();
        Self {
            kind,
            queued_at,
            deadline: queued_at + limit,
            job,
            result: None,
            reply,
        }
    }

    pub fn deadline(&self) -> Instant {
        self.deadline
    }
}

impl<H, T, E, F> Job<H> for TypedJob<T, E, F>
where
    H: Hooks,
    F: Fn(&mut Tx<'_, H>) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn kind(&self) -> JobKind {
        self.kind
    }

    fn queued_at(&self) -> Instant {
        self.queued_at
    }

    fn is_expired(&self) -> bool {
        Instant::now() >= self.deadline
    }

    fn run(&mut self, tx: &mut Tx<'_, H>) -> RunEnd {
        let job = &self.job;
        let result = catch_unwind(AssertUnwindSafe(|| job(tx)))
            .unwrap_or_else(|_| Err(StoreError::internal("a database job panicked").into()));
        let result = match (result, tx.take_failed()) {
            (Ok(_), Some(error)) => Err(error.into()),
            (result, _) => result,
        };
        let end = if result.is_ok() {
            RunEnd::Keep
        } else {
            RunEnd::Undo
        };
        self.result = Some(result);
        end
    }

    fn fail(&mut self, error: StoreError) {
        self.result = Some(Err(error.into()));
    }

    fn reply(self: Box<Self>, committed: Result<(), StoreError>) {
        let reply = match (committed, self.result) {
            (Err(error), _) => Err(error.into()),
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(StoreError::internal("a database job was not run").into()),
        };
        // The caller may be gone; what is committed stays committed.
        let _ = self.reply.send(reply);
    }
}
