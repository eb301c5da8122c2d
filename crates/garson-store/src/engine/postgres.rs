//! PostgreSQL: several writers with group commit, any number of nodes.

use super::batch::{Connection, read_loop, write_loop};
use super::bell::{Belfry, Bell};
use super::migrate::{self, Migrator, Schema};
use super::pipe::{Pipe, words};
use super::stack::{Stacks, Writer};
use super::tx::Session;
use super::value::{Owned, Row};
use super::workers::Workers;
use super::{Bulletin, Options, Param, Stats, Tx};
use crate::error::StoreError;
use garson_core::secret::Secret;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::config::SslMode;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

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

/// Connects on a thread of its own: one cannot wait where an async runtime runs.
pub fn open(
    url: &Secret<String>,
    options: &Options,
    stats: &Arc<Stats>,
    bulletin: &Arc<Bulletin>,
) -> Result<(Vec<Workers>, Workers), StoreError> {
    std::thread::scope(|scope| scope.spawn(|| open_here(url, options, stats, bulletin)).join())
        .unwrap_or_else(|_| Err(StoreError::internal("connecting to PostgreSQL panicked")))
}

fn open_here(
    url: &Secret<String>,
    options: &Options,
    stats: &Arc<Stats>,
    bulletin: &Arc<Bulletin>,
) -> Result<(Vec<Workers>, Workers), StoreError> {
    let config = parse(url)?;
    let mut first = PgSession::connect(&config, false)?;
    migrate::run(&mut first, options.purpose)?;
    drop(first);
    let mut writers = Vec::new();
    for _ in 0..options.writers.max(1) {
        let session = PgSession::connect(&config, false)?;
        let (stats, bulletin, delay) = (Arc::clone(stats), Arc::clone(bulletin), options.commit_delay);
        let body = move |jobs| write_loop(session, &jobs, delay, &stats, &bulletin);
        writers.push(Workers::start("garson-writer", options.max_waiting, vec![body])?);
    }
    let mut bodies = Vec::new();
    for _ in 0..options.readers.max(1) {
        let session = PgSession::connect(&config, true)?;
        let stats = Arc::clone(stats);
        bodies.push(move |jobs| read_loop(session, &jobs, &stats));
    }
    Ok((
        writers,
        Workers::start("garson-reader", options.max_waiting, bodies)?,
    ))
}

/// Opens a database to look at it only.
pub fn inspect(url: &Secret<String>, stats: &Arc<Stats>) -> Result<(Workers, Schema), StoreError> {
    let connect = || -> Result<(Workers, Schema), StoreError> {
        let mut session = PgSession::connect(&parse(url)?, true)?;
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

/// Starts to ring and to listen, side by side with everything else: nothing waits for it.
pub fn start_bell(url: &Secret<String>, belfry: Belfry, bulletin: &Bulletin) -> Result<Bell, StoreError> {
    let mut config = parse(url)?;
    config.application_name("garson bell");
    let tls = tls(config.get_ssl_mode())?;
    Bell::start(
        config,
        tls,
        belfry,
        Arc::clone(&bulletin.news),
        Arc::clone(&bulletin.desk),
    )
}

fn parse(url: &Secret<String>) -> Result<Config, StoreError> {
    // The parser's own message may repeat the URL, which holds a password.
    let mut config: Config = url
        .expose()
        .parse()
        .map_err(|_| StoreError::refused("the database URL cannot be understood"))?;
    config.connect_timeout(Duration::from_secs(5));
    config.tcp_user_timeout(Duration::from_secs(10));
    config.keepalives_idle(Duration::from_secs(10));
    config.application_name("garson");
    Ok(config)
}

/// How connections are encrypted. `sslmode=require` in the URL wants a certificate that the public authorities vouch
/// for. Without it (`prefer`) a server may also speak in clear, so checking its certificate would protect nobody; a
/// self-signed one, as Debian makes it, is taken.
fn tls(mode: SslMode) -> Result<MakeRustlsConnect, StoreError> {
    let roots = rustls::RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::internal(error.to_string()))?;
    let client = match mode {
        SslMode::Prefer => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
        _ => builder.with_root_certificates(roots),
    };
    Ok(MakeRustlsConnect::new(client.with_no_client_auth()))
}

/// Takes any certificate, but still wants the server to hold its key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// A connection with its prepared statements.
pub struct PgSession {
    pipe: Pipe,
    config: Config,
    is_reader: bool,
    statements: HashMap<String, Statement>,
    /// Rows that are to be added before anything else is done.
    stacks: Stacks<Statement>,
    /// Answers that are not in doubt are looked at before the commit.
    is_bold: bool,
}

impl PgSession {
    /// A reader cannot write, not even without a transaction.
    fn connect(config: &Config, is_reader: bool) -> Result<Self, StoreError> {
        let pipe = Pipe::connect(config, tls(config.get_ssl_mode())?).map_err(|error| {
            if error.is_temporary() {
                error
            } else {
                StoreError::refused(format!("cannot connect: {error}"))
            }
        })?;
        let mut session = Self {
            pipe,
            config: config.clone(),
            is_reader,
            statements: HashMap::new(),
            stacks: Stacks::default(),
            is_bold: false,
        };
        session.command(MANNERS)?;
        if is_reader {
            session.command("SET default_transaction_read_only TO on")?;
        }
        Ok(session)
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
        if self.pipe.is_closed() {
            tracing::warn!("the connection to PostgreSQL is gone, connecting again");
            *self = Self::connect(&self.config, self.is_reader)?;
        }
        Ok(())
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
        self.pipe
            .wait(|client| async move { client.batch_execute(&text).await })
    }

    fn transaction(&mut self) -> Tx<'_> {
        self.tx()
    }
}
