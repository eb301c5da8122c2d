//! Group commit: the jobs that wait are run in one transaction and answered after its one commit.

use super::job::{Job, RunEnd};
use super::tx::Outcome;
use super::{Bulletin, Lane, Stats, Tx, silent};
use crate::error::StoreError;
use crate::log_throttle::Throttle;
use crate::tables::accounts;
use crate::tables::deferred::Late;
use crossbeam_channel::Receiver;
use garson_core::id::AccountId;
use std::time::{Duration, Instant};

/// The most jobs that share a commit; more would make the first of them wait too long.
const MAX_BATCH: usize = 256;
/// How often a batch is run again after a serialisation failure.
const MAX_RERUNS: usize = 10;

static FAILED: Throttle = Throttle::for_outages();

/// What the batch runner needs of a connection.
pub trait Connection {
    /// Begins a transaction that writes. A bold one may take answers for granted that are not in doubt.
    fn begin_write(&mut self, is_bold: bool) -> Result<(), StoreError>;
    fn begin_read(&mut self) -> Result<(), StoreError>;
    fn command(&mut self, sql: &'static str) -> Result<(), StoreError>;
    fn tx(&mut self) -> Tx<'_>;
    /// Was everything that has been taken for granted since the beginning of the transaction really so?
    fn is_as_expected(&mut self) -> bool;
    /// Is the transaction that was begun still there, so that it can be committed?
    fn in_transaction(&mut self) -> bool;
    /// Makes the connection usable again if it is not; cheap when it is.
    fn revive(&mut self) -> Result<(), StoreError>;
    /// Work that can wait until those whose jobs were run have their answers.
    fn after_answers(&mut self) {}
    /// Is a transaction that could not be begun worth another try? A remote connection may have broken while it was
    /// idle, which shows only now; a local one has waited for its turn long enough.
    const BEGINS_AGAIN: bool;
    /// May others change the same rows at the same time?
    const IS_SHARED: bool;
    /// So many batches after a surprise nothing is taken for granted.
    const CAUTION: u32;
}

/// How a run of a batch failed as a whole.
enum Fate {
    /// Nothing of it was committed, and it may be run again.
    Again(StoreError),
    /// Nothing can be done.
    Lost(StoreError),
}

/// Takes batches from the queue until it is closed.
pub fn write_loop<C: Connection>(
    mut connection: C,
    queue: &Receiver<Box<dyn Job>>,
    commit_delay: Duration,
    stats: &Stats,
    bulletin: &Bulletin,
) {
    let mut caution = 0_u32;
    while let Ok(first) = queue.recv() {
        let mut jobs = vec![first];
        while jobs.len() < MAX_BATCH
            && let Ok(next) = queue.try_recv()
        {
            jobs.push(next);
        }
        drop_expired(&mut jobs, stats);
        if jobs.is_empty() {
            continue;
        }
        jobs.sort_by_key(|job| job.lane());
        let started = Instant::now();
        let way = Way {
            is_bold: caution == 0,
            savepoints: false,
            commit_delay,
        };
        caution = caution.saturating_sub(1);
        let fate = run_batch(&mut connection, &mut jobs, way, &mut caution, stats, bulletin);
        let count = jobs.len();
        let fate = match fate {
            Ok(failed) => {
                stats.count_commit(count, failed, started.elapsed());
                Ok(())
            }
            Err(error) => {
                if let Some(suppressed) = FAILED.pass() {
                    tracing::error!(%error, jobs = count, suppressed, "a database transaction failed");
                }
                stats.count_loss(count);
                Err(error)
            }
        };
        for job in jobs {
            job.answer(fate.clone());
        }
        connection.after_answers();
    }
}

/// Leaves out the jobs whose callers have been told already that the database does not answer.
fn drop_expired(jobs: &mut Vec<Box<dyn Job>>, stats: &Stats) {
    for job in jobs.extract_if(.., |job| job.is_expired()) {
        stats.count_expired();
        job.answer(Err(silent()));
    }
}

/// Runs reading jobs one by one, each in a transaction of its own.
pub fn read_loop<C: Connection>(mut connection: C, queue: &Receiver<Box<dyn Job>>, stats: &Stats) {
    while let Ok(mut job) = queue.recv() {
        if job.is_expired() {
            job.answer(Err(silent()));
            continue;
        }
        let is_glance = job.lane() == Lane::GLANCE;
        let mut fate = read_once(&mut connection, job.as_mut(), is_glance, stats);
        if fate.as_ref().is_err_and(StoreError::is_temporary) && !job.is_expired() {
            if !is_glance {
                end_read(&mut connection);
            }
            fate = read_once(&mut connection, job.as_mut(), is_glance, stats);
        }
        job.answer(fate);
        if !is_glance {
            // Nobody waits for the end of what has only read.
            end_read(&mut connection);
        }
    }
}

fn end_read<C: Connection>(connection: &mut C) {
    if connection.command("COMMIT").is_err() {
        drop(connection.command("ROLLBACK"));
    }
}

fn read_once<C: Connection>(
    connection: &mut C,
    job: &mut dyn Job,
    is_glance: bool,
    stats: &Stats,
) -> Result<(), StoreError> {
    connection.revive()?;
    if !is_glance {
        connection.begin_read()?;
    }
    let mut tx = connection.tx();
    let end = job.run(&mut tx);
    stats.count_statements(tx.statements());
    match (end, tx.take_lost()) {
        (RunEnd::Undo, Some(error)) => Err(error),
        _ => Ok(()),
    }
}

/// How a batch is run.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// What is not in doubt is taken for granted.
    is_bold: bool,
    /// Each job can be undone alone.
    savepoints: bool,
    commit_delay: Duration,
}

/// How a run of a batch ended that did not fail as a whole.
enum End {
    /// So many of its jobs failed on their own account, and what the others wrote is durable.
    Committed { failed: usize },
    /// Nothing of it is left, because a job failed or something was not as expected: it is to be run with more care.
    Undone { is_surprise: bool },
}

/// Runs the jobs in one transaction; says how many failed on their own account.
fn run_batch<C: Connection>(
    connection: &mut C,
    jobs: &mut Vec<Box<dyn Job>>,
    mut way: Way,
    caution: &mut u32,
    stats: &Stats,
    bulletin: &Bulletin,
) -> Result<usize, StoreError> {
    // Savepoints are dear: round trips on PostgreSQL, copies of every page that is touched on SQLite. Jobs hardly ever
    // fail after they have written something, so the first run is without.
    let mut last = StoreError::unavailable("the transaction was not run");
    for _ in 0..MAX_RERUNS {
        match run_once(connection, jobs, way, stats, bulletin) {
            Ok(End::Committed { failed }) => return Ok(failed),
            // A job failed where there was nothing to go back to, or something was not as expected: once more, with
            // savepoints and one answer after the other.
            Ok(End::Undone { is_surprise }) => {
                if is_surprise {
                    *caution = C::CAUTION;
                }
                (way.savepoints, way.is_bold) = (true, false);
            }
            Err(Fate::Again(error)) => last = error,
            Err(Fate::Lost(error)) => return Err(error),
        }
        drop_expired(jobs, stats);
        if jobs.is_empty() {
            break;
        }
    }
    Err(last)
}

fn run_once<C: Connection>(
    connection: &mut C,
    jobs: &mut Vec<Box<dyn Job>>,
    way: Way,
    stats: &Stats,
    bulletin: &Bulletin,
) -> Result<End, Fate> {
    connection.revive().map_err(Fate::Lost)?;
    let savepoints = way.savepoints;
    if let Err(error) = connection.begin_write(way.is_bold) {
        return Err(match C::BEGINS_AGAIN && error.is_temporary() {
            true => Fate::Again(error),
            false => Fate::Lost(error),
        });
    }
    // Another program may have held the database's write lock until now.
    drop_expired(jobs, stats);
    if jobs.is_empty() {
        roll_back(connection)?;
        return Ok(End::Committed { failed: 0 });
    }
    let mut failed = 0;
    let node = bulletin.desk.deliverer();
    if C::IS_SHARED {
        hold_accounts(connection, jobs, stats).map_err(|error| undo(connection, error))?;
    }
    let mut outcome = Outcome::default();
    let mut late = Late::default();
    for job in jobs.iter_mut() {
        if savepoints {
            connection
                .command("SAVEPOINT job")
                .map_err(|error| undo(connection, error))?;
        }
        let mut tx = connection.tx().of_node(node).with_late(late);
        let mut end = job.run(&mut tx);
        // What was left to be written belongs to the job: it is undone with it, and without it the job has failed.
        if savepoints
            && end == RunEnd::Keep
            && let Err(error) = tx.settle_late()
        {
            job.fail(error);
            end = RunEnd::Undo;
        }
        late = tx.take_late();
        if savepoints {
            late = Late::default();
        }
        stats.count_statements(tx.statements());
        if let Some(error) = tx.take_lost() {
            return Err(undo(connection, error));
        }
        if end == RunEnd::Keep {
            outcome.append(tx.take_outcome());
        }
        let left_nothing = tx.left_nothing();
        // An error that takes the whole transaction down is noticed before the next job runs on nothing.
        if !connection.in_transaction() {
            return Err(Fate::Lost(StoreError::unavailable(
                "the database gave the transaction up",
            )));
        }
        match end {
            RunEnd::Keep if savepoints => {
                connection
                    .command("RELEASE SAVEPOINT job")
                    .map_err(|error| undo(connection, error))?;
            }
            RunEnd::Keep => {}
            RunEnd::Undo if savepoints => {
                failed += 1;
                connection
                    .command("ROLLBACK TO SAVEPOINT job")
                    .map_err(|error| undo(connection, error))?;
                connection
                    .command("RELEASE SAVEPOINT job")
                    .map_err(|error| undo(connection, error))?;
            }
            RunEnd::Undo if left_nothing => failed += 1,
            RunEnd::Undo => {
                // It may have failed because of what was taken for granted.
                let is_surprise = !connection.is_as_expected();
                roll_back(connection)?;
                return Ok(match jobs.len() == 1 && !is_surprise {
                    true => End::Committed { failed: 1 },
                    false => End::Undone { is_surprise },
                });
            }
        }
    }
    let mut tx = connection.tx().with_late(late);
    let settled = tx.settle_late();
    stats.count_statements(tx.statements());
    match settled {
        Err(error) if error.is_temporary() => return Err(undo(connection, error)),
        Ok(()) if connection.is_as_expected() => {}
        // What one of the jobs has left to be written cannot be: which one shows when each is alone.
        _ => {
            roll_back(connection)?;
            return Ok(End::Undone { is_surprise: true });
        }
    }
    if !way.commit_delay.is_zero() {
        std::thread::sleep(way.commit_delay);
    }
    if let Err(error) = connection.command("COMMIT") {
        drop(connection.command("ROLLBACK"));
        // Whether a commit that got no answer took place is not known, so it must not be run again.
        return Err(Fate::Lost(error));
    }
    bulletin.publish(outcome);
    Ok(End::Committed { failed })
}

/// Holds the accounts that a batch is about before anything else, so that two nodes do not wait for each other's orders
/// or integrations: whoever changes something of an account has the account.
fn hold_accounts<C: Connection>(
    connection: &mut C,
    jobs: &[Box<dyn Job>],
    stats: &Stats,
) -> Result<(), StoreError> {
    let mut ids: Vec<AccountId> = jobs.iter().filter_map(|job| job.lane().account).collect();
    ids.dedup();
    let mut tx = connection.tx();
    let held = accounts::hold_all(&mut tx, &ids);
    stats.count_statements(tx.statements());
    held
}

/// Undoes everything, unless the database has done so already.
fn roll_back<C: Connection>(connection: &mut C) -> Result<(), Fate> {
    match connection.command("ROLLBACK") {
        Err(error) if connection.in_transaction() => Err(Fate::Again(error)),
        _ => Ok(()),
    }
}

fn undo<C: Connection>(connection: &mut C, error: StoreError) -> Fate {
    drop(connection.command("ROLLBACK"));
    Fate::Again(error)
}
