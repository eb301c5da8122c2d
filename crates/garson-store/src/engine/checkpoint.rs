//! SQLite's log is brought into the database by a thread of its own, so that the one that writes need not do it.
//!
//! The log begins anew only when all of it has been brought over, and while somebody writes there is always a little left.
//! That is left to the writer, when it is little.

use crate::error::StoreError;
use crossbeam_channel::{Receiver, Sender, bounded};
use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, MAIN_DB};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// So many more pages in the log are worth the trouble.
const MANY: i32 = 4_000;
/// So few are the writer's own.
const FEW: i32 = 100;
/// Somebody who reads an old state of the database keeps the log from being brought over; the next try comes after this.
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
    pub fn start(writer: &mut Connection, own: Connection) -> Result<Self, StoreError> {
        let log = Arc::new(Log::default());
        let (wake, woken) = bounded(1);
        let mut watch = Watch {
            log: Arc::clone(&log),
            wake,
            due: MANY,
        };
        writer.wal_hook(Some(move |wal: &mut Wal, pages| {
            watch.note(wal, pages);
            Ok(())
        }))?;
        let thread = std::thread::Builder::new()
            .name("garson-checkpoint".to_owned())
            .spawn(move || run(&own, &log, &woken))
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
    /// With so many pages it is the thread's turn.
    due: i32,
}

impl Watch {
    /// The writer has committed, and there are so many pages in the log.
    fn note(&mut self, wal: &mut Wal, pages: i32) {
        if pages < self.log.pages.swap(pages, Ordering::Relaxed) {
            // It has begun anew.
            self.due = MANY;
        }
        match self.log.turn.load(Ordering::Acquire) {
            WRITERS => {
                // If it does not work out now, it will some other time: nothing is lost.
                if let Err(error) = wal.checkpoint() {
                    tracing::debug!(%error, "the log was not brought over");
                }
                self.due = pages.saturating_add(MANY);
                self.log.turn.store(NOBODYS, Ordering::Release);
            }
            NOBODYS if pages >= self.due => {
                self.log.turn.store(THREADS, Ordering::Release);
                if self.wake.try_send(()).is_err() {
                    // The thread is gone, and the writer alone with its log.
                    self.log.turn.store(WRITERS, Ordering::Release);
                }
            }
            _ => {}
        }
    }
}

fn run(connection: &Connection, log: &Log, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
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
        match connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE) {
            Ok((pages, done)) if done >= pages => {
                let before = std::mem::replace(&mut left, log.pages.load(Ordering::Relaxed) - done);
                if left <= FEW || left >= before {
                    return WRITERS;
                }
            }
            Ok(_) => return NOBODYS,
            Err(error) => {
                tracing::debug!(%error, "the log was not brought over");
                return NOBODYS;
            }
        }
    }
}
