//! PostgreSQL: several writers with group commit, any number of nodes.

mod session;

use super::connect::Hosts;
use super::migrate::{self, MigrationKind, Schema, Step, StepState};
use super::options::Options;
use super::pooler::refuse_shared_sessions;
use super::read::read_loop;
use super::stats::Stats;
use super::tx::{Hooks, Tx};
use super::workers::Workers;
use super::write::Writer;
use crate::error::StoreError;
use garson_core::secret::Secret;
use session::{PgSession, Role};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The backoff between attempts to connect while the service starts.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// A node sends a heartbeat every two seconds, and is dead after nine without one.
const SILENCE: Duration = Duration::from_secs(10);

type Opened<H> = (Vec<Workers<H>>, Workers<H>);

pub fn open<H: Hooks>(
    url: &Secret<String>,
    options: &Options,
    stats: &Arc<Stats>,
    shared: &Arc<H::Shared>,
) -> Result<Opened<H>, StoreError> {
    let hosts = Arc::new(Hosts::new(url, "garson", options.limits())?);
    on_own_thread(|| retry_for(options.start_wait, || connect_all(&hosts, options, stats, shared)))
}

/// Connecting blocks, which is not allowed on a thread of an async runtime.
fn on_own_thread<T: Send>(connect: impl FnOnce() -> Result<T, StoreError> + Send) -> Result<T, StoreError> {
    std::thread::scope(|scope| scope.spawn(connect).join())
        .unwrap_or_else(|_| Err(StoreError::internal("connecting to PostgreSQL panicked")))
}

/// Retries while the database is unavailable, for a limited time: it may be starting at the same time as this process.
fn retry_for<T>(wait: Duration, mut open: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
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
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn connect_all<H: Hooks>(
    hosts: &Arc<Hosts>,
    options: &Options,
    stats: &Arc<Stats>,
    shared: &Arc<H::Shared>,
) -> Result<Opened<H>, StoreError> {
    refuse_shared_sessions(hosts)?;
    let mut first = PgSession::connect(hosts, Role::Writer)?;
    refuse_running_nodes(&mut first, options)?;
    migrate::run(&mut first, options.migrations, options.purpose)?;
    warn_of_asynchronous_commits(&mut first)?;
    drop(first);
    let mut writers = Vec::new();
    for _ in 0..options.writers.max(1) {
        let session = PgSession::connect(hosts, Role::Writer)?;
        let writer = Writer::<_, H>::new(
            session,
            Arc::clone(shared),
            Arc::clone(stats),
            options.commit_delay,
        );
        let body = move |jobs| writer.run(&jobs);
        writers.push(Workers::start("garson-writer", options.max_waiting, vec![body])?);
    }
    let mut bodies = Vec::new();
    for _ in 0..options.readers.max(1) {
        let session = PgSession::connect(hosts, Role::Reader)?;
        let stats = Arc::clone(stats);
        bodies.push(move |jobs| read_loop(session, &jobs, &stats));
    }
    Ok((
        writers,
        Workers::start("garson-reader", options.max_waiting, bodies)?,
    ))
}

/// Opens a database to inspect it only.
pub fn inspect<H: Hooks>(
    url: &Secret<String>,
    options: &Options,
    stats: &Arc<Stats>,
) -> Result<(Workers<H>, Schema), StoreError> {
    on_own_thread(|| {
        let hosts = Arc::new(Hosts::new(url, "garson", options.limits())?);
        let mut session = PgSession::connect(&hosts, Role::Reader)?;
        let schema = inspect_schema(&mut session, options)?;
        let stats = Arc::clone(stats);
        let body = move |jobs| read_loop(session, &jobs, &stats);
        Ok((Workers::start("garson-reader", 1_000, vec![body])?, schema))
    })
}

fn inspect_schema(session: &mut PgSession, options: &Options) -> Result<Schema, StoreError> {
    let sql = "SELECT COUNT(*) FROM pg_catalog.pg_tables
               WHERE tablename = 'schema_migrations' AND schemaname = ANY(current_schemas(false))";
    migrate::inspect(&mut Tx::new(session, ()), options.migrations, sql)
}

/// Fails if a migration is pending beside which no other node may run, and there is one.
fn refuse_running_nodes(session: &mut PgSession, options: &Options) -> Result<(), StoreError> {
    match inspect_schema(session, options) {
        Ok(Schema::Older(pending)) if pending.iter().any(|it| it.kind == MigrationKind::Offline) => {}
        // Where it must not be used, migrating refuses it.
        _ => return Ok(()),
    }
    let beats = |session: &mut PgSession| {
        Tx::new(session, ()).query("SELECT name, beats FROM nodes ORDER BY name", &[], |row| {
            Ok((row.get::<String>(0)?, row.get::<i64>(1)?))
        })
    };
    let before = beats(session)?;
    if before.is_empty() {
        return Ok(());
    }
    tracing::info!("the schema is to be migrated; waiting to see whether other nodes are running");
    std::thread::sleep(SILENCE);
    let running: Vec<String> = beats(session)?
        .into_iter()
        .filter(|node| !before.contains(node))
        .map(|(name, _)| name)
        .collect();
    if running.is_empty() {
        return Ok(());
    }
    Err(StoreError::refused(format!(
        "the schema must be migrated, and nodes of an earlier version are running: stop them first ({})",
        running.join(", ")
    )))
}

/// Makes an index while the database is used. What an interrupted attempt has left is removed first.
pub fn make_index(url: &Secret<String>, options: &Options, state: &StepState) -> Result<bool, StoreError> {
    let Step::Index { name, .. } = state.step else {
        return Err(StoreError::internal("a step without an index cannot make one"));
    };
    on_own_thread(|| {
        let hosts = Arc::new(Hosts::new(url, "garson migration", options.limits())?);
        let mut session = PgSession::connect(&hosts, Role::Writer)?;
        session.make_index(name, &state.step)
    })
}

/// Applies a contract migration, if it can be applied now.
pub fn contract(url: &Secret<String>, options: &Options, number: i64) -> Result<bool, StoreError> {
    on_own_thread(|| {
        let hosts = Arc::new(Hosts::new(url, "garson migration", options.limits())?);
        let mut session = PgSession::connect(&hosts, Role::Writer)?;
        migrate::apply_contract(&mut session, options.migrations, number)
    })
}

/// Warns when commits are asynchronous by default on this server: other services that use it may not know.
fn warn_of_asynchronous_commits(session: &mut PgSession) -> Result<(), StoreError> {
    let sql = "SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'";
    let default = Tx::new(session, ()).query_one(sql, &[], |row| row.get::<String>(0))?;
    if default == "off" {
        tracing::warn!("synchronous_commit is off on this server; it is switched on for this service");
    }
    Ok(())
}
