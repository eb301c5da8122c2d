//! A connection to PostgreSQL over which statements can be sent without waiting for what comes of them.
//!
//! Each answer that is waited for is a round trip, and an account's jobs go one after the other: round trips are what
//! limits it. The server works in the order of sending, so an answer that is not in doubt can be looked at later.

use super::value::Owned;
use crate::error::StoreError;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, Config, Error, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

/// So many statements are sent together; about a job's.
const SOME: usize = 8;
/// Answers that may be left for later.
const MOST: usize = 1024;

pub struct Pipe {
    /// Moves bytes only while somebody waits in it.
    runtime: Runtime,
    client: Arc<Client>,
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
    pub fn connect(config: &Config, tls: MakeRustlsConnect) -> Result<Self, StoreError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| StoreError::unavailable(format!("no runtime for PostgreSQL: {error}")))?;
        let (client, connection) = runtime.block_on(config.connect(tls))?;
        // Whoever waits for an answer hears of its end.
        runtime.spawn(async move { drop(connection.await) });
        Ok(Self {
            runtime,
            client: Arc::new(client),
            open: Vec::new(),
            is_surprised: false,
        })
    }

    /// Does something with the connection and waits for its end.
    pub fn wait<T, F: Future<Output = Result<T, Error>>>(
        &self,
        work: impl FnOnce(Arc<Client>) -> F,
    ) -> Result<T, StoreError> {
        Ok(self.runtime.block_on(work(Arc::clone(&self.client)))?)
    }

    pub fn prepare(&self, sql: &str) -> Result<Statement, StoreError> {
        let text = words(sql);
        self.wait(|client| async move { client.prepare(&text).await })
    }

    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
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
        let open = std::mem::take(&mut self.open);
        let all_as_expected = self.runtime.block_on(async {
            let mut all = true;
            for Open { answer, rows } in open {
                all &= answer
                    .await
                    .is_ok_and(|said| rows.is_none_or(|rows| rows == said));
            }
            all
        });
        self.is_surprised |= !all_as_expected;
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
