//! A job on its way: what to run, what it said, and who waits for the answer.

use super::{Lane, Tx};
use crate::error::StoreError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use tokio::sync::oneshot;

/// How a run of a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// What it wrote is to be kept.
    Keep,
    /// It failed: what it wrote is to be undone.
    Undo,
}

/// A job whose types are forgotten.
pub trait Job: Send {
    /// Where it stands in a batch: jobs of one account together.
    fn lane(&self) -> Lane;

    /// Has its caller been told already that the database does not answer? Then it must not be run any more: whoever has
    /// heard so tries again, and what is older would be done after what is newer.
    fn is_expired(&self) -> bool;

    /// Runs it, or runs it again; only the last run counts.
    fn run(&mut self, tx: &mut Tx<'_>) -> RunEnd;

    /// Makes its last run a failed one, because of something that was left to be written after it.
    fn fail(&mut self, error: StoreError);

    /// Answers the caller: with what the job said, or with the failure that took the whole transaction down.
    fn answer(self: Box<Self>, fate: Result<(), StoreError>);
}

pub struct TypedJob<T, E, F> {
    lane: Lane,
    deadline: Instant,
    job: F,
    said: Option<Result<T, E>>,
    answer: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> TypedJob<T, E, F> {
    pub fn new(lane: Lane, deadline: Instant, job: F, answer: oneshot::Sender<Result<T, E>>) -> Self {
        Self {
            lane,
            deadline,
            job,
            said: None,
            answer,
        }
    }
}

impl<T, E, F> Job for TypedJob<T, E, F>
where
    F: Fn(&mut Tx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn lane(&self) -> Lane {
        self.lane
    }

    fn is_expired(&self) -> bool {
        Instant::now() >= self.deadline
    }

    fn run(&mut self, tx: &mut Tx<'_>) -> RunEnd {
        let job = &self.job;
        let said = catch_unwind(AssertUnwindSafe(|| job(tx)))
            .unwrap_or_else(|_| Err(StoreError::internal("a database job panicked").into()));
        let said = match (said, tx.take_failed()) {
            (Ok(_), Some(error)) => Err(error.into()),
            (said, _) => said,
        };
        let end = if said.is_ok() { RunEnd::Keep } else { RunEnd::Undo };
        self.said = Some(said);
        end
    }

    fn fail(&mut self, error: StoreError) {
        self.said = Some(Err(error.into()));
    }

    fn answer(self: Box<Self>, fate: Result<(), StoreError>) {
        let answer = match (fate, self.said) {
            (Err(error), _) => Err(error.into()),
            (Ok(()), Some(said)) => said,
            (Ok(()), None) => Err(StoreError::internal("a database job was not run").into()),
        };
        // The caller may have gone; what is committed stays committed.
        drop(self.answer.send(answer));
    }
}
