//! A connection to PostgreSQL over which statements can be sent without waiting for what comes of them.
//!
//! Each answer that is waited for is a round trip, and an account's jobs go one after the other: round trips are what
//! limits it. The server works in the order of sending, so an answer that is not in doubt can be looked at later.

use super::silent;
use super::value::Owned;
use crate::engine::connect::Hosts;
use crate::error::StoreError;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, Statement};

/// So many statements are sent together; about a job's.
const SOME: usize = 8;
/// Answers that may be left for later.
const MOST: usize = 1024;

pub struct Pipe {
    /// Moves bytes only while somebody waits in it.
    runtime: Runtime,
    client: Arc<Client>,
    /// Moves the bytes of the connection.
    moving: JoinHandle<()>,
    /// Which of the hosts it leads to.
    host: usize,
    /// How long an answer may take.
    limit: Duration,
    /// It leads to nobody who answers, or to one who takes nothing: it is not used any more.
    is_given_up: bool,
    open: Vec<Open>,
    /// One of those that were looked at was not as expected.
    is_surprised: bool,
}

type Answer = Pin<Box<dyn Future<Output = Result<u64, Error>> + Send>>;

/// A statement whose answer nobody has looked at yet.
struct Open {
    answer: Answer,
    /// How many rows it is expected to touch, if that matters.
    rows: Option<u64>,
}

impl Pipe {
    pub fn connect(hosts: &Hosts) -> Result<Self, StoreError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| StoreError::unavailable(format!("no runtime for PostgreSQL: {error}")))?;
        let (client, connection, host) = match runtime.block_on(hosts.connect()) {
            Ok(connected) => connected,
            Err(error) => {
                // A name that is still being looked up is not waited for.
                runtime.shutdown_background();
                return Err(error);
            }
        };
        // Whoever waits for an answer hears of its end.
        let moving = runtime.spawn(async move { drop(connection.await) });
        Ok(Self {
            runtime,
            client: Arc::new(client),
            moving,
            host,
            limit: hosts.limits().statement(),
            is_given_up: false,
            open: Vec::new(),
            is_surprised: false,
        })
    }

    /// Does something with the connection and waits for its end. One that takes too long is the connection's last.
    pub fn wait<T, F: Future<Output = Result<T, Error>>>(
        &mut self,
        work: impl FnOnce(Arc<Client>) -> F,
    ) -> Result<T, StoreError> {
        let (client, limit) = (Arc::clone(&self.client), self.limit);
        if self.is_given_up {
            return Err(silent());
        }
        let done = self
            .runtime
            .block_on(async { timeout(limit, work(client)).await });
        match done {
            Ok(Ok(said)) => Ok(said),
            Ok(Err(error)) => {
                if error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION) {
                    // Another host may have become the one that takes writes.
                    self.give_up();
                }
                Err(error.into())
            }
            Err(_) => {
                self.give_up();
                Err(silent())
            }
        }
    }

    /// The same for something that may take any time.
    pub fn wait_for_long<T, F: Future<Output = Result<T, Error>>>(
        &self,
        work: impl FnOnce(Arc<Client>) -> F,
    ) -> Result<T, StoreError> {
        Ok(self.runtime.block_on(work(Arc::clone(&self.client)))?)
    }

    fn give_up(&mut self) {
        self.is_given_up = true;
        self.moving.abort();
    }

    pub fn prepare(&mut self, sql: &str) -> Result<Statement, StoreError> {
        let text = words(sql);
        self.wait(|client| async move { client.prepare(&text).await })
    }

    pub fn is_closed(&self) -> bool {
        self.is_given_up || self.client.is_closed()
    }

    /// Which of the hosts it leads to.
    pub fn host(&self) -> usize {
        self.host
    }

    /// Sends a statement; its answer is looked at later.
    pub fn send(&mut self, statement: &Statement, params: Vec<Owned>, rows: Option<u64>) {
        let (client, statement) = (Arc::clone(&self.client), statement.clone());
        self.leave(
            Box::pin(async move { client.execute_raw(&statement, params).await }),
            rows,
        );
    }

    /// The same of a command without parameters.
    pub fn send_command(&mut self, sql: &'static str) {
        let client = Arc::clone(&self.client);
        self.leave(
            Box::pin(async move { client.batch_execute(sql).await.map(|()| 0) }),
            None,
        );
    }

    fn leave(&mut self, mut answer: Answer, rows: Option<u64>) {
        // Being polled for the first time, it takes its place in the line of what is to be sent.
        let answer = match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => answer,
            Poll::Ready(said) => Box::pin(ready(said)),
        };
        self.open.push(Open { answer, rows });
        if self.open.len() >= MOST {
            self.look();
        } else if self.open.len().is_multiple_of(SOME) {
            // The server works on these while we think about the next.
            self.runtime.block_on(tokio::task::yield_now());
        }
    }

    /// Looks at every answer that was left for later.
    fn look(&mut self) {
        let (open, limit) = (std::mem::take(&mut self.open), self.limit);
        if self.is_given_up {
            self.is_surprised = true;
            return;
        }
        let answers = async {
            let mut all = true;
            for Open { answer, rows } in open {
                all &= answer
                    .await
                    .is_ok_and(|said| rows.is_none_or(|rows| rows == said));
            }
            all
        };
        let looked = self.runtime.block_on(async { timeout(limit, answers).await });
        self.is_surprised |= looked != Ok(true);
        if looked.is_err() {
            self.give_up();
        }
    }

    /// Was everything as expected so far?
    pub fn is_as_expected(&mut self) -> bool {
        if !self.open.is_empty() {
            self.look();
        }
        !self.is_surprised
    }

    /// Forgets what came of an earlier transaction.
    pub fn forget(&mut self) {
        self.open.clear();
        self.is_surprised = false;
    }
}

/// Puts this engine's words and parameter marks into a statement.
pub fn words(sql: &str) -> String {
    sql.replace('?', "$")
        .replace("{blob}", "BYTEA")
        .replace("{lock}", "FOR UPDATE")
        .replace("{skip_locked}", "FOR UPDATE SKIP LOCKED")
        .replace("{keyed}", "")
}
