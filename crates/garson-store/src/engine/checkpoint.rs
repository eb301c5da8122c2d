//! SQLite's log is brought into the database by a thread of its own, so that the one that writes need not do it.
//!
//! The log begins anew only when all of it has been brought over, and while somebody writes there is always a little left.
//! That is left to the writer, when it is little.

use super::sqlite::claimed_size;
use super::watch::WatchedFiles;
use crate::error::StoreError;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, MAIN_DB};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// So many pages in the log are worth the trouble.
const MANY: i32 = 4_000;
/// So few are the writer's own.
const FEW: i32 = 100;
/// How often the thread looks at the files when it has nothing else to do.
const LOOK: Duration = Duration::from_secs(1);
/// Where it does not get on, the next try comes after this.
const PAUSE: Duration = Duration::from_millis(50);

/// Whose turn it is: nobody's, that of the thread, that of the writer.
const NOBODYS: u8 = 0;
const THREADS: u8 = 1;
const WRITERS: u8 = 2;

#[derive(Debug, Default)]
struct Log {
    pages: AtomicI32,
    turn: AtomicU8,
}

/// The thread. It ends when the writer's connection has been closed.
pub struct Checkpointer(JoinHandle<()>);

impl Checkpointer {
    /// Takes the log of a connection that writes into the care of another one to the same file.
    pub fn start(
        writer: &mut Connection,
        own: Connection,
        files: Arc<WatchedFiles>,
    ) -> Result<Self, StoreError> {
        let log = Arc::new(Log::default());
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
        Ok(Self(thread))
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
        let Log { pages: before, turn } = self.log.as_ref();
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
