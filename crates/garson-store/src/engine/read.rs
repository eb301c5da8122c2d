//! Runs reading jobs one by one, each in a transaction of its own.

use super::connection::Connection;
use super::job::{Job, JobKind, RunEnd};
use super::stats::Stats;
use super::tx::{Hooks, Tx};
use super::workers::Queue;
use crate::error::StoreError;

/// Runs jobs from the queue until it is closed.
pub fn read_loop<C: Connection, H: Hooks>(mut connection: C, queue: &Queue<H>, stats: &Stats) {
    while let Ok(mut job) = queue.jobs.recv() {
        queue.note_wait(job.queued_at().elapsed());
        if job.is_expired() {
            job.reply(Err(StoreError::timed_out()));
            continue;
        }
        let has_snapshot = job.kind() != JobKind::ReadWithoutSnapshot;
        let mut done = read_once(&mut connection, job.as_mut(), has_snapshot, stats);
        if done.as_ref().is_err_and(StoreError::is_temporary) && !job.is_expired() {
            if has_snapshot {
                end_read(&mut connection);
            }
            done = read_once(&mut connection, job.as_mut(), has_snapshot, stats);
        }
        job.reply(done);
        if has_snapshot {
            // After the reply: no caller needs to wait for the end of a transaction that only reads.
            end_read(&mut connection);
        }
    }
}

fn end_read<C: Connection>(connection: &mut C) {
    if connection.commit().is_err() {
        // A connection on which this fails too is replaced before the next job.
        let _ = connection.roll_back();
    }
}

fn read_once<C: Connection, H: Hooks>(
    connection: &mut C,
    job: &mut dyn Job<H>,
    has_snapshot: bool,
    stats: &Stats,
) -> Result<(), StoreError> {
    connection.ensure_usable()?;
    if has_snapshot {
        connection.begin_read()?;
    }
    let mut tx = Tx::new(connection, H::default());
    let end = job.run(&mut tx);
    stats.count_statements(tx.statements());
    match (end, tx.take_lost()) {
        (RunEnd::Undo, Some(error)) => Err(error),
        _ => Ok(()),
    }
}
