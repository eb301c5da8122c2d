//! PostgreSQL: several writers with group commit, any number of nodes.

use super::batch::{Connection, read_loop, write_loop};
use super::migrate::{self, Migrator, Schema};
use super::pooler::refuse_shared_sessions;
use super::tx::Session;
use super::value::{Owned, Row};
use super::workers::Workers;
use super::{Bulletin, Options, Param, Stats, Tx};
use crate::engine::connect::Hosts;
use crate::engine::insert_batch::{Stacks, Writer};
use crate::engine::notify::{Belfry, Bell};
use crate::engine::pipeline::{Pipe, words};
use crate::error::StoreError;
use crate::log_throttle::Throttle;
use garson_core::secret::Secret;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

/// Prepared statements kept for each connection; queries with optional parts make some tens of shapes.
const MAX_STATEMENTS: usize = 500;
/// A transaction whose client says nothing for this time is given up by the server: its process was stopped, or its machine
/// is gone, and what it has locked stands in everybody's way.
///
/// Every statement has its index. A plan that was made while a table was small must not read the whole of it when it has
/// grown, and need not be thought over each time. None is so long that compiling it would pay.
const MANNERS: &str = "SET idle_in_transaction_session_timeout TO '3s';
                       SET enable_seqscan TO off;
                       SET jit TO off;
                       SET plan_cache_mode TO force_generic_plan";
/// Any number that nothing else takes: one node migrates at a time.
const MIGRATION_LOCK: i64 = 0x6761_7273_6f6e;

/// A server of version 14 or later notices that nobody waits for a statement any more, and gives up what it has locked.
const NOTICE_GONE_CLIENTS: &str = "SET client_connection_check_interval TO '1s'";
/// A commit is acknowledged when it is durable, whatever the server or the role is set to.
const DURABLE_COMMITS: &str = "SELECT set_config('synchronous_commit', 'on', false)
                               WHERE current_setting('synchronous_commit') = 'off'";
/// The pauses before connecting is tried again, so that a server in trouble is not flooded.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The same while the service starts.
const LONGEST_START_PAUSE: Duration = Duration::from_secs(5);

static AGAIN: Throttle = Throttle::for_outages();
static GONE: Throttle = Throttle::for_outages();

/// Connects on a thread of its own: one cannot wait where an async runtime runs.
pub fn open(
    url: &Secret<String>,
    options: &Options,
    stats: &Arc<Stats>,
    bulletin: &Arc<Bulletin>,
) -> Result<(Vec<Workers>, Workers), StoreError> {
    let hosts = Arc::new(Hosts::new(url, "garson", options.limits())?);
    let open = || open_patiently(options.start_wait, || open_here(&hosts, options, stats, bulletin));
    std::thread::scope(|scope| scope.spawn(open).join())
        .unwrap_or_else(|_| Err(StoreError::internal("connecting to PostgreSQL panicked")))
}

/// Tries again while the database is away, for a limited time: it may be starting at the same time as this process.
fn open_patiently<T>(
    wait: Duration,
    mut open: impl FnMut() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let (began, mut pause) = (Instant::now(), FIRST_PAUSE);
    loop {
        let error = match open() {
            Err(error) if error.is_temporary() => error,
            done => return done,
        };
        let left = wait.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Err(error);
        }
        tracing::warn!(%error, seconds_left = left.as_secs(), "the database is not available yet, trying again");
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(LONGEST_START_PAUSE);
    }
}

fn open_here(
    hosts: &Arc<Hosts>,
    options: &Options,
    stats: &Arc<Stats>,
    bulletin: &Arc<Bulletin>,
) -> Result<(Vec<Workers>, Workers), StoreError> {
    refuse_shared_sessions(hosts)?;
    let mut first = PgSession::connect(hosts, false)?;
    migrate::run(&mut first, options.purpose)?;
    warn_of_lazy_commits(&mut first)?;
    drop(first);
    let mut writers = Vec::new();
    for _ in 0..options.writers.max(1) {
        let session = PgSession::connect(hosts, false)?;
        let (stats, bulletin, delay) = (Arc::clone(stats), Arc::clone(bulletin), options.commit_delay);
        let body = move |jobs| write_loop(session, &jobs, delay, &stats, &bulletin);
        writers.push(Workers::start("garson-writer", options.max_waiting, vec![body])?);
    }
    let mut bodies = Vec::new();
    for _ in 0..options.readers.max(1) {
        let session = PgSession::connect(hosts, true)?;
        let stats = Arc::clone(stats);
        bodies.push(move |jobs| read_loop(session, &jobs, &stats));
    }
    Ok((
        writers,
        Workers::start("garson-reader", options.max_waiting, bodies)?,
    ))
}

/// Opens a database to look at it only.
pub fn inspect(
    url: &Secret<String>,
    options: &Options,
    stats: &Arc<Stats>,
) -> Result<(Workers, Schema), StoreError> {
    let connect = || -> Result<(Workers, Schema), StoreError> {
        let hosts = Arc::new(Hosts::new(url, "garson", options.limits())?);
        let mut session = PgSession::connect(&hosts, true)?;
        let sql = "SELECT COUNT(*) FROM pg_catalog.pg_tables
                   WHERE tablename = 'schema_migrations' AND schemaname = ANY(current_schemas(false))";
        let schema = migrate::inspect(&mut session.tx(), sql)?;
        let stats = Arc::clone(stats);
        let body = move |jobs| read_loop(session, &jobs, &stats);
        Ok((Workers::start("garson-reader", 1_000, vec![body])?, schema))
    };
    std::thread::scope(|scope| scope.spawn(connect).join())
        .unwrap_or_else(|_| Err(StoreError::internal("connecting to PostgreSQL panicked")))
}

/// Says so when the server is set to acknowledge what is not durable: others who use it may not know.
fn warn_of_lazy_commits(session: &mut PgSession) -> Result<(), StoreError> {
    let sql = "SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'";
    let default = session.tx().query_one(sql, &[], |row| row.get::<String>(0))?;
    if default == "off" {
        tracing::warn!("synchronous_commit is off on this server; it is switched on for this service");
    }
    Ok(())
}

/// Starts to ring and to listen, side by side with everything else: nothing waits for it.
pub fn start_bell(
    url: &Secret<String>,
    options: &Options,
    belfry: Belfry,
    bulletin: &Bulletin,
) -> Result<Bell, StoreError> {
    Bell::start(
        Hosts::new(url, "garson bell", options.limits())?,
        belfry,
        Arc::clone(&bulletin.news),
        Arc::clone(&bulletin.desk),
    )
}

/// A connection with its prepared statements.
pub struct PgSession {
    pipe: Pipe,
    hosts: Arc<Hosts>,
    /// Not connecting again before this moment, and why.
    pause: Option<Pause>,
    is_reader: bool,
    statements: HashMap<String, Statement>,
    /// Rows that are to be added before anything else is done.
    stacks: Stacks<Statement>,
    /// Answers that are not in doubt are looked at before the commit.
    is_bold: bool,
}

/// A time in which connecting is not tried.
struct Pause {
    until: Instant,
    length: Duration,
    error: StoreError,
}

impl PgSession {
    /// A reader cannot write, not even without a transaction.
    fn connect(hosts: &Arc<Hosts>, is_reader: bool) -> Result<Self, StoreError> {
        let pipe = Pipe::connect(hosts).map_err(|error| {
            if error.is_temporary() {
                error
            } else {
                StoreError::refused(format!("cannot connect: {error}"))
            }
        })?;
        let mut session = Self {
            pipe,
            hosts: Arc::clone(hosts),
            pause: None,
            is_reader,
            statements: HashMap::new(),
            stacks: Stacks::default(),
            is_bold: false,
        };
        session.command(MANNERS)?;
        session.command(DURABLE_COMMITS)?;
        match session.command(NOTICE_GONE_CLIENTS) {
            // An older server finds out when it answers.
            Err(error) if error.is_temporary() => return Err(error),
            _ => {}
        }
        if is_reader {
            session.command("SET default_transaction_read_only TO on")?;
        }
        Ok(session)
    }

    /// Connects again, unless that has failed a moment ago.
    fn connect_again(&mut self) -> Result<(), StoreError> {
        let now = Instant::now();
        if let Some(pause) = self.pause.as_ref().filter(|pause| now < pause.until) {
            return Err(pause.error.clone());
        }
        match Self::connect(&self.hosts, self.is_reader) {
            Ok(session) => {
                if let Some(suppressed) = AGAIN.pass() {
                    tracing::warn!(suppressed, "a connection to PostgreSQL was lost and made again");
                }
                *self = session;
                Ok(())
            }
            Err(error) => {
                if let Some(suppressed) = GONE.pass() {
                    tracing::warn!(%error, suppressed, "a connection to PostgreSQL is lost and cannot be made again");
                }
                let last = self.pause.as_ref().map(|pause| pause.length * 2);
                let length = last.unwrap_or(FIRST_PAUSE).min(LONGEST_PAUSE);
                self.pause = Some(Pause {
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
        let statement = self.pipe.prepare(sql)?;
        if self.statements.len() >= MAX_STATEMENTS {
            self.statements.clear();
        }
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    pub fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        self.unstack()?;
        let statement = self.statement(sql)?;
        let params = as_sql(params);
        self.pipe
            .wait(|client| async move { client.execute(&statement, &params).await })
    }

    /// Runs a statement that is expected to touch so many rows, if that matters; says how many it touched, or will have.
    pub fn execute_expecting(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        rows: Option<u64>,
    ) -> Result<u64, StoreError> {
        if !self.is_bold {
            return self.execute(sql, params);
        }
        self.unstack()?;
        let statement = self.statement(sql)?;
        let params = params.iter().copied().map(Owned::from).collect();
        self.pipe.send(&statement, params, rows);
        Ok(rows.unwrap_or_default())
    }

    /// Adds a row; says whether it was added, or will have been.
    pub fn insert(&mut self, sql: &str, params: &[Param<'_>]) -> Result<bool, StoreError> {
        if !self.is_bold {
            return Ok(self.execute(sql, params)? == 1);
        }
        self.stacks.add(sql, params, &mut self.pipe)?;
        Ok(true)
    }

    /// Sends the rows that wait for each other.
    fn unstack(&mut self) -> Result<(), StoreError> {
        self.stacks.send(&mut self.pipe)
    }

    /// Are answers taken for granted that are not in doubt?
    pub fn is_bold(&self) -> bool {
        self.is_bold
    }

    pub fn query<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        read: &mut dyn FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.unstack()?;
        let statement = self.statement(sql)?;
        let params = as_sql(params);
        let rows = self
            .pipe
            .wait(|client| async move { client.query(&statement, &params).await })?;
        rows.iter().map(|row| read(&Row::Postgres(row))).collect()
    }
}

impl Writer for Pipe {
    type Statement = Statement;

    fn prepare(&mut self, sql: &str) -> Result<Statement, StoreError> {
        Self::prepare(self, sql)
    }

    fn add(&mut self, statement: &Statement, params: Vec<Owned>, rows: u64) -> Result<(), StoreError> {
        self.send(statement, params, Some(rows));
        Ok(())
    }
}

fn as_sql<'a>(params: &'a [Param<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    params.iter().map(|param| param as &(dyn ToSql + Sync)).collect()
}

impl Connection for PgSession {
    const BEGINS_AGAIN: bool = true;
    // Here every answer would be waited for.
    const CAUTION: u32 = 0;
    const IS_SHARED: bool = true;

    fn begin_write(&mut self, is_bold: bool) -> Result<(), StoreError> {
        self.is_bold = is_bold;
        self.stacks.clear();
        self.pipe.forget();
        self.pipe.send_command("BEGIN");
        Ok(())
    }

    fn begin_read(&mut self) -> Result<(), StoreError> {
        self.pipe.forget();
        self.pipe
            .send_command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        Ok(())
    }

    fn command(&mut self, sql: &'static str) -> Result<(), StoreError> {
        if sql == "ROLLBACK" {
            // What still waited to be sent belonged to it.
            self.stacks.clear();
        }
        self.pipe
            .wait(|client| async move { client.batch_execute(sql).await })
    }

    fn is_as_expected(&mut self) -> bool {
        self.unstack().is_ok() && self.pipe.is_as_expected()
    }

    fn tx(&mut self) -> Tx<'_> {
        Tx::new(Session::Postgres(self))
    }

    fn in_transaction(&mut self) -> bool {
        !self.pipe.is_closed()
    }

    fn revive(&mut self) -> Result<(), StoreError> {
        match self.pipe.is_closed() || self.pipe.host() != self.hosts.current() {
            true => self.connect_again(),
            false => Ok(()),
        }
    }
}

impl Migrator for PgSession {
    fn exclusively(
        &mut self,
        work: &mut dyn FnMut(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.script(&format!("BEGIN; SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))?;
        let done = work(self);
        self.command(if done.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        done
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        let text = words(sql);
        // Another node may be migrating, and a large table takes its time.
        self.pipe
            .wait_for_long(|client| async move { client.batch_execute(&text).await })
    }

    fn transaction(&mut self) -> Tx<'_> {
        self.tx()
    }
}
