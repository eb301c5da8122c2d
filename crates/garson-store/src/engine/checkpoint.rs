//! SQLite's log is brought into the database by a thread of its own, so that the one that writes need not do it.
//!
//! Readers of an old state hold the log up, and while readers of any state overlap it never begins anew by itself. So beyond a
//! limit the writer waits for them, for a bounded time and not before its callers have their answers.
//!
//! The log begins anew only when all of it has been brought over, and while somebody writes there is always a little left.
//! That is left to the writer, when it is little.

use super::sqlite::claimed_size;
use crate::engine::file_watch::WatchedFiles;
use crate::error::StoreError;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode, MAIN_DB};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// So many pages in the log are worth the trouble.
const MANY: i32 = 4_000;
/// So few are the writer's own.
const FEW: i32 = 100;
/// From here on the writer waits for readers, and again each time that as many have come.
const TOO_MANY: i32 = 12_000;
/// How long it waits where there are so many, and at most where there are many times as many.
const WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// How long the one that brings the log over gets before it is looked at again.
const TURN: Duration = Duration::from_millis(5);

/// How often the thread looks at the files when it has nothing else to do.
const LOOK: Duration = Duration::from_secs(1);
/// Where it does not get on, the next try comes after this.
const PAUSE: Duration = Duration::from_millis(50);

/// What the log has before its first page, and before each page.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// Whose turn it is: nobody's, that of the thread, that of the writer.
const NOBODYS: u8 = 0;
const THREADS: u8 = 1;
const WRITERS: u8 = 2;

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

/// The thread. It ends when the writer's connection has been closed.
pub struct Checkpointer(JoinHandle<()>);

/// The writer's own means against a log that has become too long.
pub struct Relief {
    log: Arc<Log>,
    /// So many pages are too many.
    limit: i32,
}

impl Relief {
    /// The log's size by what the last commit said.
    pub fn log_bytes(&self) -> u64 {
        self.log.bytes(self.log.pages.load(Ordering::Relaxed))
    }

    /// The log's size by what SQLite says now, outside of a transaction.
    pub fn count_log_bytes(&self, writer: &Connection) -> Result<u64, StoreError> {
        let deadline = Instant::now() + WAIT;
        let pages = loop {
            match writer.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE) {
                Ok((pages, _)) if pages >= 0 => break pages,
                // Something is missing in it: SQLite has not emptied it.
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) => {
                    return Ok(self.log_bytes());
                }
                Err(error) if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) => {
                    return Err(error.into());
                }
                _ if Instant::now() >= deadline => {
                    return Err(StoreError::unavailable("the log's size is not known"));
                }
                // The thread is at it.
                _ => std::thread::sleep(TURN),
            }
        };
        self.log.pages.store(pages, Ordering::Relaxed);
        Ok(self.log.bytes(pages))
    }

    /// Makes the log begin anew if it has become too long, and waits for readers for a while; says whether it tried, and so
    /// changed for how long the connection waits.
    pub fn relieve(&mut self, writer: &Connection) -> bool {
        let pages = self.log.pages.load(Ordering::Relaxed);
        if pages < self.limit {
            if pages < TOO_MANY {
                self.limit = TOO_MANY;
            }
            return false;
        }
        let times = u32::try_from(pages / TOO_MANY).unwrap_or(1);
        let deadline = Instant::now() + WAIT.saturating_mul(times).min(LONGEST_WAIT);
        self.limit = match begin_anew(writer, deadline) {
            true => TOO_MANY,
            false => pages.saturating_add(TOO_MANY),
        };
        tracing::debug!(pages, next = self.limit, "the log was too long");
        true
    }
}

/// Brings all of the log over and waits until nobody reads from it. Those who begin to read meanwhile read from the database
/// itself.
fn begin_anew(writer: &Connection, deadline: Instant) -> bool {
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
        // The thread is at it: it may need the processor that this one has.
        std::thread::sleep(TURN);
    }
}

impl Checkpointer {
    /// Takes the log of a connection that writes into the care of another one to the same file.
    pub fn start(
        writer: &mut Connection,
        own: Connection,
        files: Arc<WatchedFiles>,
    ) -> Result<(Self, Relief), StoreError> {
        let page_size: i64 = writer.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let log = Arc::new(Log {
            page_size: u64::try_from(page_size).unwrap_or_default(),
            ..Log::default()
        });
        let relief = Relief {
            log: Arc::clone(&log),
            limit: TOO_MANY,
        };
        let (wake, woken) = bounded(1);
        let watch = Watch {
            log: Arc::clone(&log),
            wake,
        };
        writer.wal_hook(Some(move |wal: &mut Wal, pages| {
            watch.note(wal, pages);
            Ok(())
        }))?;
        let thread = std::thread::Builder::new()
            .name("garson-checkpoint".to_owned())
            .spawn(move || run(&own, &log, &woken, &files))
            .map_err(|error| StoreError::unavailable(format!("cannot start a thread: {error}")))?;
        Ok((Self(thread), relief))
    }

    /// Waits for its end.
    pub fn join(self) {
        if self.0.join().is_err() {
            tracing::error!("the thread that looks after the log panicked");
        }
    }
}

/// What the writer sees of its log.
struct Watch {
    log: Arc<Log>,
    wake: Sender<()>,
}

impl Watch {
    /// The writer has committed, and there are so many pages in the log.
    fn note(&self, wal: &mut Wal, pages: i32) {
        let Log {
            pages: before, turn, ..
        } = self.log.as_ref();
        let begins_anew = pages < before.swap(pages, Ordering::Relaxed);
        match turn.load(Ordering::Acquire) {
            WRITERS if begins_anew => turn.store(NOBODYS, Ordering::Release),
            WRITERS => {
                // Readers may be in the way, now and when the next commit wants to begin anew: it is tried until that has
                // happened.
                if let Err(error) = wal.checkpoint() {
                    tracing::debug!(%error, "the log was not brought over");
                }
            }
            NOBODYS if pages >= MANY => {
                turn.store(THREADS, Ordering::Release);
                if self.wake.try_send(()).is_err() {
                    // The thread is gone, and the writer alone with its log.
                    turn.store(WRITERS, Ordering::Release);
                }
            }
            _ => {}
        }
    }
}

fn run(connection: &Connection, log: &Log, woken: &Receiver<()>, files: &WatchedFiles) {
    loop {
        match woken.recv_timeout(LOOK) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => {
                // Whatever is found is remembered and logged there.
                drop(files.check(|| claimed_size(connection)));
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let next = bring_over(connection, log);
        if next == NOBODYS {
            std::thread::sleep(PAUSE);
        }
        log.turn.store(next, Ordering::Release);
    }
}

/// Brings over what is in the log, and what has come meanwhile, until little is left; says whose turn it is then.
fn bring_over(connection: &Connection, log: &Log) -> u8 {
    let mut left = i32::MAX;
    loop {
        let (pages, done) = match connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE) {
            Ok(counts) => counts,
            Err(error) => {
                tracing::debug!(%error, "the log was not brought over");
                return NOBODYS;
            }
        };
        let before = std::mem::replace(&mut left, log.pages.load(Ordering::Relaxed) - done);
        match (left <= FEW, left < before, done >= pages) {
            (true, _, _) => return WRITERS,
            (false, true, _) => {}
            // More comes than can be brought over here.
            (false, false, true) => return WRITERS,
            // Somebody reads an old state.
            (false, false, false) => return NOBODYS,
        }
    }
}
