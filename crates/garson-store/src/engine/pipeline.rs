//! A pipelined connection to PostgreSQL: statements are sent without waiting for their replies.
//!
//! Each reply that is waited for is a round trip, and the jobs of an account run one after the other, so round trips limit its
//! throughput. The server works in the order of sending, so a reply that is hardly in doubt can be read later.

use super::connect::Hosts;
use super::value::Owned;
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

/// Statements are written to the socket in groups of this size, about the number of a job.
const FLUSH_EVERY: usize = 8;
/// The most replies that may be unread.
const MAX_UNREAD: usize = 1024;

pub struct Pipeline {
    /// Moves bytes only while a caller waits in it.
    runtime: Runtime,
    client: Arc<Client>,
    /// Drives the connection.
    driver: JoinHandle<()>,
    /// Which of the hosts it leads to.
    host: usize,
    /// How long a reply may take.
    limit: Duration,
    /// The server does not reply, or accepts no writes: the connection is not used any more.
    is_abandoned: bool,
    unread: Vec<UnreadReply>,
    /// One of the replies that were read later was not as expected.
    has_mismatch: bool,
}

type Reply = Pin<Box<dyn Future<Output = Result<u64, Error>> + Send>>;

struct UnreadReply {
    reply: Reply,
    /// How many rows the statement is expected to change, if that matters.
    rows: Option<u64>,
}

impl Pipeline {
    pub fn connect(hosts: &Hosts) -> Result<Self, StoreError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| StoreError::unavailable("no runtime for PostgreSQL").caused_by(error))?;
        let (client, connection, host) = match runtime.block_on(hosts.connect()) {
            Ok(connected) => connected,
            Err(error) => {
                // Does not wait for a name lookup that is still running.
                runtime.shutdown_background();
                return Err(error);
            }
        };
        let driver = runtime.spawn(async move {
            // The client reports the end of the connection to its callers.
            let _ = connection.await;
        });
        Ok(Self {
            runtime,
            client: Arc::new(client),
            driver,
            host,
            limit: hosts.limits().statement(),
            is_abandoned: false,
            unread: Vec::new(),
            has_mismatch: false,
        })
    }

    /// Runs an operation and waits for its reply. After a timeout the connection is not used any more.
    pub fn wait<T, F: Future<Output = Result<T, Error>>>(
        &mut self,
        work: impl FnOnce(Arc<Client>) -> F,
    ) -> Result<T, StoreError> {
        let (client, limit) = (Arc::clone(&self.client), self.limit);
        if self.is_abandoned {
            return Err(StoreError::timed_out());
        }
        let done = self
            .runtime
            .block_on(async { timeout(limit, work(client)).await });
        match done {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => {
                if error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION) {
                    // Another host may have become the primary.
                    self.abandon();
                }
                Err(error.into())
            }
            Err(_) => {
                self.abandon();
                Err(StoreError::timed_out())
            }
        }
    }

    /// The same without a time limit.
    pub fn wait_without_limit<T, F: Future<Output = Result<T, Error>>>(
        &self,
        work: impl FnOnce(Arc<Client>) -> F,
    ) -> Result<T, StoreError> {
        Ok(self.runtime.block_on(work(Arc::clone(&self.client)))?)
    }

    fn abandon(&mut self) {
        self.is_abandoned = true;
        self.driver.abort();
    }

    pub fn prepare(&mut self, sql: &str) -> Result<Statement, StoreError> {
        let text = translate(sql);
        self.wait(|client| async move { client.prepare(&text).await })
    }

    pub fn is_closed(&self) -> bool {
        self.is_abandoned || self.client.is_closed()
    }

    /// Which of the hosts it leads to.
    pub fn host(&self) -> usize {
        self.host
    }

    /// Sends a statement; its reply is read later.
    pub fn send(&mut self, statement: &Statement, params: Vec<Owned>, rows: Option<u64>) {
        let (client, statement) = (Arc::clone(&self.client), statement.clone());
        self.enqueue(
            Box::pin(async move { client.execute_raw(&statement, params).await }),
            rows,
        );
    }

    /// Sends a command without parameters; its reply is read later.
    pub fn send_command(&mut self, sql: &'static str) {
        let client = Arc::clone(&self.client);
        self.enqueue(
            Box::pin(async move { client.batch_execute(sql).await.map(|()| 0) }),
            None,
        );
    }

    fn enqueue(&mut self, mut reply: Reply, rows: Option<u64>) {
        // The first poll puts the statement into the client's send queue.
        let reply = match reply.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => reply,
            Poll::Ready(done) => Box::pin(ready(done)),
        };
        self.unread.push(UnreadReply { reply, rows });
        if self.unread.len() >= MAX_UNREAD {
            self.read_replies();
        } else if self.unread.len().is_multiple_of(FLUSH_EVERY) {
            // The server works on these while the next are prepared.
            self.runtime.block_on(tokio::task::yield_now());
        }
    }

    /// Reads every unread reply.
    fn read_replies(&mut self) {
        let (unread, limit) = (std::mem::take(&mut self.unread), self.limit);
        if self.is_abandoned {
            self.has_mismatch = true;
            return;
        }
        let replies = async {
            let mut all_expected = true;
            for UnreadReply { reply, rows } in unread {
                all_expected &= reply
                    .await
                    .is_ok_and(|changed| rows.is_none_or(|rows| rows == changed));
            }
            all_expected
        };
        let read = self.runtime.block_on(async { timeout(limit, replies).await });
        self.has_mismatch |= read != Ok(true);
        if read.is_err() {
            self.abandon();
        }
    }

    /// Were all replies as expected so far?
    pub fn assumptions_held(&mut self) -> bool {
        if !self.unread.is_empty() {
            self.read_replies();
        }
        !self.has_mismatch
    }

    /// Forgets the replies of an earlier transaction.
    pub fn reset(&mut self) {
        self.unread.clear();
        self.has_mismatch = false;
    }
}

/// Replaces parameter marks and the placeholders for what the two engines write differently.
pub fn translate(sql: &str) -> String {
    sql.replace('?', "$")
        .replace("{blob}", "BYTEA")
        .replace("{lock}", "FOR UPDATE")
        .replace("{skip_locked}", "FOR UPDATE SKIP LOCKED")
        .replace("{keyed}", "")
        .replace("{json}", "json")
}
