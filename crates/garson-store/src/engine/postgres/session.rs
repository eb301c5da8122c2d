//! A connection to a PostgreSQL database.

use crate::engine::connect::Hosts;
use crate::engine::connection::Connection;
use crate::engine::insert::Insert;
use crate::engine::insert_buffer::{InsertBuffer, RowSink};
use crate::engine::migrate::{Migrator, Step};
use crate::engine::pipeline::{Pipeline, translate};
use crate::engine::session::Session;
use crate::engine::tx::Tx;
use crate::engine::value::{Owned, Param, Row};
use crate::error::StoreError;
use crate::log_throttle::Throttle;
use crate::params;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

/// Prepared statements per connection; queries with optional parts have some tens of forms.
const MAX_STATEMENTS: usize = 500;
/// The server ends a transaction whose client is silent for this time: its process was stopped, or its machine is gone, and its
/// locks block everyone else.
///
/// Every statement has its index. A generic plan that was made while a table was small must not scan a table that has grown, and
/// need not be made each time. No statement is so long that JIT compilation would pay.
const SESSION_SETTINGS: &str = "SET idle_in_transaction_session_timeout TO '3s';
                                SET enable_seqscan TO off;
                                SET jit TO off;
                                SET plan_cache_mode TO force_generic_plan";
/// A server of version 14 or later notices that the client of a statement is gone, and releases its locks.
const NOTICE_GONE_CLIENTS: &str = "SET client_connection_check_interval TO '1s'";
/// A commit is acknowledged when it is durable, whatever the default of the server or the role is.
const DURABLE_COMMITS: &str = "SELECT set_config('synchronous_commit', 'on', false)
                               WHERE current_setting('synchronous_commit') = 'off'";
/// Any number that nothing else uses: one node migrates at a time.
const MIGRATION_LOCK: i64 = 0x6761_7273_6f6e;
/// One node makes an index at a time.
const INDEX_LOCK: i64 = MIGRATION_LOCK + 1;
/// How long a migration waits until it has reserved a table. PostgreSQL ends an automatic vacuum that is in the way after
/// `deadlock_timeout`, a second by default.
const RESERVE_TIMEOUT: Duration = Duration::from_secs(3);
/// The backoff between attempts to reconnect, so that a server in trouble is not flooded.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

static RECONNECTED: Throttle = Throttle::for_outages();
static LOST: Throttle = Throttle::for_outages();

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Writer,
    /// Cannot write, not even without a transaction.
    Reader,
}

/// A connection with its prepared statements.
pub struct PgSession {
    pipeline: Pipeline,
    hosts: Arc<Hosts>,
    backoff: Option<Backoff>,
    role: Role,
    statements: HashMap<String, Statement>,
    /// Rows that are to be written before any other statement.
    buffer: InsertBuffer<Statement>,
    is_optimistic: bool,
}

/// A time during which connecting is not tried, after it failed.
struct Backoff {
    until: Instant,
    length: Duration,
    error: StoreError,
}

impl PgSession {
    pub fn connect(hosts: &Arc<Hosts>, role: Role) -> Result<Self, StoreError> {
        let pipeline = Pipeline::connect(hosts).map_err(|error| {
            if error.is_temporary() {
                error
            } else {
                StoreError::refused("cannot connect").caused_by(error)
            }
        })?;
        let mut session = Self {
            pipeline,
            hosts: Arc::clone(hosts),
            backoff: None,
            role,
            statements: HashMap::new(),
            buffer: InsertBuffer::default(),
            is_optimistic: false,
        };
        session.command(SESSION_SETTINGS)?;
        session.command(DURABLE_COMMITS)?;
        match session.command(NOTICE_GONE_CLIENTS) {
            Err(error) if error.is_temporary() => return Err(error),
            // An older server does not know the setting; it notices when it replies.
            _ => {}
        }
        if role == Role::Reader {
            session.command("SET default_transaction_read_only TO on")?;
        }
        Ok(session)
    }

    /// Connects again, unless that has failed a short time ago.
    fn reconnect(&mut self) -> Result<(), StoreError> {
        let now = Instant::now();
        if let Some(backoff) = self.backoff.as_ref().filter(|backoff| now < backoff.until) {
            return Err(backoff.error.clone());
        }
        match Self::connect(&self.hosts, self.role) {
            Ok(session) => {
                if let Some(suppressed) = RECONNECTED.pass() {
                    tracing::warn!(
                        suppressed,
                        "reconnected to PostgreSQL after the connection was lost"
                    );
                }
                *self = session;
                Ok(())
            }
            Err(error) => {
                if let Some(suppressed) = LOST.pass() {
                    tracing::warn!(%error, suppressed, "the connection to PostgreSQL is lost, and reconnecting failed");
                }
                let last = self.backoff.as_ref().map(|backoff| backoff.length * 2);
                let length = last.unwrap_or(FIRST_PAUSE).min(LONGEST_PAUSE);
                self.backoff = Some(Backoff {
                    until: Instant::now() + length,
                    length,
                    error: error.clone(),
                });
                Err(error)
            }
        }
    }

    fn statement(&mut self, sql: &str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.pipeline.prepare(sql)?;
        if self.statements.len() >= MAX_STATEMENTS {
            self.statements.clear();
        }
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Sends the buffered rows.
    fn flush_inserts(&mut self) -> Result<(), StoreError> {
        self.buffer.flush(&mut self.pipeline)
    }
}

impl Session for PgSession {
    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        self.flush_inserts()?;
        let statement = self.statement(sql)?;
        let params = as_sql(params);
        self.pipeline
            .wait(|client| async move { client.execute(&statement, &params).await })
    }

    fn execute_expecting(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        rows: Option<u64>,
    ) -> Result<u64, StoreError> {
        if !self.is_optimistic {
            return self.execute(sql, params);
        }
        self.flush_inserts()?;
        let statement = self.statement(sql)?;
        let params = params.iter().copied().map(Owned::from).collect();
        self.pipeline.send(&statement, params, rows);
        Ok(rows.unwrap_or_default())
    }

    fn insert(&mut self, insert: &Insert<'_>, params: &[Param<'_>]) -> Result<bool, StoreError> {
        if !self.is_optimistic {
            return self.insert_now(insert, params);
        }
        self.buffer.add(insert, params, &mut self.pipeline)?;
        Ok(true)
    }

    fn insert_now(&mut self, insert: &Insert<'_>, params: &[Param<'_>]) -> Result<bool, StoreError> {
        let sql = self.buffer.for_one_row(insert, params.len());
        Ok(self.execute(&sql, params)? == 1)
    }

    fn query(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        read: &mut dyn FnMut(&Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.flush_inserts()?;
        let statement = self.statement(sql)?;
        let params = as_sql(params);
        let rows = self
            .pipeline
            .wait(|client| async move { client.query(&statement, &params).await })?;
        rows.iter().try_for_each(|row| read(&Row::Postgres(row)))
    }

    fn expect_none(&mut self, sql: &str, params: &[Param<'_>]) -> Result<(), StoreError> {
        self.execute_expecting(sql, params, Some(0)).map(drop)
    }

    fn is_optimistic(&self) -> bool {
        self.is_optimistic
    }
}

impl RowSink for Pipeline {
    type Statement = Statement;

    fn prepare(&mut self, insert: &Insert<'_>, width: usize, rows: usize) -> Result<Statement, StoreError> {
        Self::prepare(self, &insert.sql("INSERT", width, rows))
    }

    fn write(&mut self, statement: &Statement, params: Vec<Owned>, rows: u64) -> Result<(), StoreError> {
        self.send(statement, params, Some(rows));
        Ok(())
    }
}

fn as_sql<'a>(params: &'a [Param<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    params.iter().map(|param| param as &(dyn ToSql + Sync)).collect()
}

impl Connection for PgSession {
    const RETRIES_BEGIN: bool = true;
    const IS_SHARED: bool = true;
    // Waiting for every reply costs more than running a batch twice.
    const CAUTIOUS_BATCHES: u32 = 0;

    fn begin_write(&mut self, is_optimistic: bool) -> Result<(), StoreError> {
        self.is_optimistic = is_optimistic;
        self.buffer.clear();
        self.pipeline.reset();
        self.pipeline.send_command("BEGIN");
        Ok(())
    }

    fn begin_read(&mut self) -> Result<(), StoreError> {
        self.pipeline.reset();
        self.pipeline
            .send_command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.command("COMMIT")
    }

    fn roll_back(&mut self) -> Result<(), StoreError> {
        self.buffer.clear();
        self.command("ROLLBACK")
    }

    fn command(&mut self, sql: &'static str) -> Result<(), StoreError> {
        self.pipeline
            .wait(|client| async move { client.batch_execute(sql).await })
    }

    fn assumptions_held(&mut self) -> bool {
        self.flush_inserts().is_ok() && self.pipeline.assumptions_held()
    }

    fn in_transaction(&mut self) -> bool {
        !self.pipeline.is_closed()
    }

    fn ensure_usable(&mut self) -> Result<(), StoreError> {
        if self.pipeline.is_closed() || self.pipeline.host() != self.hosts.current() {
            self.reconnect()?;
        }
        Ok(())
    }
}

impl PgSession {
    /// Makes an index without blocking writers. `false` if another node is making one now.
    pub fn make_index(&mut self, name: &str, step: &Step) -> Result<bool, StoreError> {
        let Some(sql) = step.index_sql("CONCURRENTLY IF NOT EXISTS") else {
            return Err(StoreError::internal("a step without an index cannot make one"));
        };
        // It ends with the connection, also if this process is killed.
        let lock =
            format!("SELECT CAST(CASE WHEN pg_try_advisory_lock({INDEX_LOCK}) THEN 1 ELSE 0 END AS BIGINT)");
        if Tx::new(self, ()).query_one(&lock, &[], |row| row.get::<i64>(0))? == 0 {
            return Ok(false);
        }
        self.script("SET statement_timeout TO 0")?;
        // An interrupted attempt leaves an index that is not used, but that writers keep up to date.
        let invalid =
            "SELECT COUNT(*) FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
                       WHERE c.relname = ?1 AND NOT i.indisvalid AND pg_catalog.pg_table_is_visible(c.oid)";
        if Tx::new(self, ()).query_one(invalid, params![name], |row| row.get::<i64>(0))? > 0 {
            self.script(&format!("DROP INDEX CONCURRENTLY IF EXISTS {name}"))?;
        }
        self.script(&sql)?;
        Ok(true)
    }
}

impl PgSession {
    /// Statements of this transaction fail that wait for a lock for longer.
    fn limit_lock_waits(&mut self, limit: Duration) -> Result<(), StoreError> {
        self.script(&format!("SET LOCAL lock_timeout = {}", limit.as_millis()))
    }
}

impl Migrator for PgSession {
    const IS_ALONE: bool = false;

    fn exclusively(
        &mut self,
        lock_timeout: Option<Duration>,
        work: &mut dyn FnMut(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.script(&format!("BEGIN; SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))?;
        // Only now: another node may be migrating.
        let limited = lock_timeout.map_or(Ok(()), |limit| self.limit_lock_waits(limit));
        let done = limited.and_then(|()| work(self));
        if done.is_ok() {
            self.commit()
        } else {
            self.roll_back()
        }?;
        done
    }

    fn reserve(&mut self, tables: &[&str], lock_timeout: Duration) -> Result<(), StoreError> {
        if tables.is_empty() {
            return Ok(());
        }
        self.limit_lock_waits(RESERVE_TIMEOUT)?;
        self.script(&format!(
            "LOCK TABLE {} IN SHARE UPDATE EXCLUSIVE MODE",
            tables.join(", ")
        ))?;
        self.limit_lock_waits(lock_timeout)
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        let text = translate(sql);
        // Another node may be migrating, and a large table takes long.
        self.pipeline
            .wait_without_limit(|client| async move { client.batch_execute(&text).await })
    }
}
