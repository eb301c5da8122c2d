//! A thread that copies SQLite's write-ahead log into the database, so that the writer does not have to.
//!
//! Readers of an old snapshot hold the log up, and while readers overlap it never restarts by itself. So beyond a limit the
//! writer waits for them, for a bounded time and after its callers have their replies.
//!
//! The log restarts only when all of it has been copied, and while a writer is active there is always a little left. The writer
//! copies that itself.

use super::file_watch::WatchedFiles;
use crate::error::StoreError;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode, MAIN_DB};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The thread begins when the log has this many pages.
const MANY_PAGES: i32 = 4_000;
/// So few pages are left to the writer.
const FEW_PAGES: i32 = 100;
/// From here on the writer waits for readers, and again each time that as many pages have been added.
const TOO_MANY_PAGES: i32 = 12_000;
/// How long it waits at that length, and at most at many times that length.
const WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// How long the thread gets to finish its checkpoint before the writer looks again.
const RETRY_AFTER: Duration = Duration::from_millis(5);

/// How often the idle thread checks the files.
const FILE_CHECK: Duration = Duration::from_secs(1);
/// After a checkpoint that made no progress, the next one is tried after this.
const PAUSE: Duration = Duration::from_millis(50);

/// The size of the header of the log, and of each page in it.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// Whose turn it is to copy the log.
const IDLE: u8 = 0;
const THREAD: u8 = 1;
const WRITER: u8 = 2;

#[derive(Debug, Default)]
struct Log {
    pages: AtomicI32,
    turn: AtomicU8,
    page_size: u64,
}

impl Log {
    /// The size of a log with so many pages.
    fn bytes(&self, pages: i32) -> u64 {
        match u64::try_from(pages) {
            Ok(0) | Err(_) => 0,
            Ok(pages) => LOG_HEADER + pages * (FRAME_HEADER + self.page_size),
        }
    }
}

/// How large the database is by its own page count.
pub fn claimed_size(connection: &Connection) -> Option<u64> {
    let number = |pragma| connection.query_row(pragma, [], |row| row.get::<_, i64>(0)).ok();
    let bytes = number("PRAGMA page_count")?.checked_mul(number("PRAGMA page_size")?)?;
    u64::try_from(bytes).ok()
}

/// The thread. It ends when the writer's connection has been closed.
pub struct Checkpointer(JoinHandle<Connection>);

/// Lets the writer restart a log that has become too long.
pub struct LogLimiter {
    log: Arc<Log>,
    /// So many pages are too many.
    limit: i32,
}

impl LogLimiter {
    /// The log's size as of the last commit.
    pub fn log_bytes(&self) -> u64 {
        self.log.bytes(self.log.pages.load(Ordering::Relaxed))
    }

    /// The log's size by SQLite's own count, outside of a transaction.
    pub fn count_log_bytes(&self, writer: &Connection) -> Result<u64, StoreError> {
        let deadline = Instant::now() + WAIT;
        let pages = loop {
            match writer.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE) {
                Ok((pages, _)) if pages >= 0 => break pages,
                // A part of it is missing: SQLite has not emptied it.
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) => {
                    return Ok(self.log_bytes());
                }
                Err(error) if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) => {
                    return Err(error.into());
                }
                _ if Instant::now() >= deadline => {
                    return Err(StoreError::unavailable("the log's size is not known"));
                }
                // The thread runs a checkpoint.
                _ => std::thread::sleep(RETRY_AFTER),
            }
        };
        self.log.pages.store(pages, Ordering::Relaxed);
        Ok(self.log.bytes(pages))
    }

    /// Restarts the log if it has become too long, and waits for readers for a while; returns whether it tried, and so changed
    /// the connection's busy timeout.
    pub fn restart_long_log(&mut self, writer: &Connection) -> bool {
        let pages = self.log.pages.load(Ordering::Relaxed);
        if pages < self.limit {
            if pages < TOO_MANY_PAGES {
                self.limit = TOO_MANY_PAGES;
            }
            return false;
        }
        let times = u32::try_from(pages / TOO_MANY_PAGES).unwrap_or(1);
        let deadline = Instant::now() + WAIT.saturating_mul(times).min(LONGEST_WAIT);
        self.limit = if restart_log(writer, deadline) {
            TOO_MANY_PAGES
        } else {
            pages.saturating_add(TOO_MANY_PAGES)
        };
        tracing::debug!(pages, next = self.limit, "the log was too long");
        true
    }
}

/// Copies all of the log and waits until no reader uses it. New readers read from the database itself meanwhile.
fn restart_log(writer: &Connection, deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let done = writer
            .busy_timeout(left)
            .and_then(|()| writer.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::RESTART));
        let is_busy =
            matches!(&done, Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy));
        if !is_busy || left.is_zero() {
            return done.is_ok();
        }
        // The thread runs a checkpoint, and may need this processor.
        std::thread::sleep(RETRY_AFTER);
    }
}

impl Checkpointer {
    /// Starts the thread, with a connection of its own to the writer's database.
    pub fn start(
        writer: &mut Connection,
        own: Connection,
        files: Arc<WatchedFiles>,
    ) -> Result<(Self, LogLimiter), StoreError> {
        let page_size: i64 = writer.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let log = Arc::new(Log {
            page_size: u64::try_from(page_size).unwrap_or_default(),
            ..Log::default()
        });
        let limiter = LogLimiter {
            log: Arc::clone(&log),
            limit: TOO_MANY_PAGES,
        };
        let (wake, woken) = bounded(1);
        let hook = CommitHook {
            log: Arc::clone(&log),
            wake,
        };
        writer.wal_hook(Some(move |wal: &mut Wal, pages| {
            hook.committed(wal, pages);
            Ok(())
        }))?;
        let thread = std::thread::Builder::new()
            .name("garson-checkpoint".to_owned())
            .spawn(move || {
                run(&own, &log, &woken, &files);
                own
            })
            .map_err(|error| StoreError::unavailable("cannot start a thread").caused_by(error))?;
        Ok((Self(thread), limiter))
    }

    /// Waits for its end, after the writer has closed its connection. Its own connection is then the last one, and SQLite copies the
    /// log when it is closed.
    pub fn join(self) {
        if self.0.join().is_err() {
            tracing::error!("the checkpoint thread panicked");
        }
    }
}

/// What the writer does about its log after a commit.
struct CommitHook {
    log: Arc<Log>,
    wake: Sender<()>,
}

impl CommitHook {
    /// The writer has committed, and the log has so many pages.
    fn committed(&self, wal: &mut Wal, pages: i32) {
        let Log {
            pages: before, turn, ..
        } = self.log.as_ref();
        let has_restarted = pages < before.swap(pages, Ordering::Relaxed);
        match turn.load(Ordering::Acquire) {
            WRITER if has_restarted => turn.store(IDLE, Ordering::Release),
            WRITER => {
                // Readers may prevent the copy, now or when the next commit could restart the log: it is tried until the log
                // has restarted.
                if let Err(error) = wal.checkpoint() {
                    tracing::debug!(%error, "the log was not copied");
                }
            }
            IDLE if pages >= MANY_PAGES => {
                turn.store(THREAD, Ordering::Release);
                if self.wake.try_send(()).is_err() {
                    // The thread has ended: the writer has to copy the log.
                    turn.store(WRITER, Ordering::Release);
                }
            }
            _ => {}
        }
    }
}

fn run(connection: &Connection, log: &Log, woken: &Receiver<()>, files: &WatchedFiles) {
    loop {
        match woken.recv_timeout(FILE_CHECK) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => {
                // An error is remembered and logged there.
                let _ = files.check(|| claimed_size(connection));
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let next = copy_log(connection, log);
        if next == IDLE {
            std::thread::sleep(PAUSE);
        }
        log.turn.store(next, Ordering::Release);
    }
}

/// Copies the log, and what is added meanwhile, until little is left; returns whose turn it is then.
fn copy_log(connection: &Connection, log: &Log) -> u8 {
    let mut left = i32::MAX;
    loop {
        let (pages, done) = match connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE) {
            Ok(counts) => counts,
            Err(error) => {
                tracing::debug!(%error, "the log was not copied");
                return IDLE;
            }
        };
        let before = std::mem::replace(&mut left, log.pages.load(Ordering::Relaxed) - done);
        if left <= FEW_PAGES {
            return WRITER;
        }
        if left >= before {
            // Either more is added than can be copied here, or a reader has an old snapshot.
            return if done >= pages { WRITER } else { IDLE };
        }
    }
}
