//! PostgreSQL's own programs for backups. They get the server and the password by environment variables: other users of the machine
//! can read arguments.

use crate::engine::progress::WorkProgress;
use crate::error::StoreError;
use garson_core::secret::Secret;
use std::ffi::OsString;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// How often a running program is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// A dump that has written nothing for so long is given up: its server does not respond.
const STALLED: Duration = Duration::from_secs(600);
/// What is kept of a program's messages.
const MESSAGES: u64 = 16 * 1024;
/// The authorities that servers are checked against, unless PGSSLROOTCERT names others.
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// The programs, and the database that they work on.
pub struct PgTools {
    variables: Vec<(&'static str, String)>,
    database: String,
}

impl PgTools {
    /// For the database of a URL.
    pub fn of(url: &Secret<String>) -> Result<Self, StoreError> {
        // The parser's own message may contain the URL, which contains a password.
        let config: Config = url
            .expose()
            .parse()
            .map_err(|_| StoreError::refused("the database URL cannot be understood"))?;
        let user = config.get_user().unwrap_or_default().to_owned();
        let database = config.get_dbname().unwrap_or(&user).to_owned();
        let mut variables = vec![
            ("PGAPPNAME", "garson backup".to_owned()),
            ("PGCONNECT_TIMEOUT", "10".to_owned()),
        ];
        let mut add = |name, value: String| {
            if !value.is_empty() {
                variables.push((name, value));
            }
        };
        add("PGUSER", user);
        add(
            "PGPASSWORD",
            String::from_utf8_lossy(config.get_password().unwrap_or_default()).into_owned(),
        );
        add("PGOPTIONS", config.get_options().unwrap_or_default().to_owned());
        add(
            "PGHOST",
            list(config.get_hosts().iter().map(|host| match host {
                Host::Tcp(name) => name.clone(),
                Host::Unix(path) => path.display().to_string(),
            })),
        );
        add(
            "PGHOSTADDR",
            list(config.get_hostaddrs().iter().map(ToString::to_string)),
        );
        add("PGPORT", list(config.get_ports().iter().map(ToString::to_string)));
        if config.get_hosts().len() > 1 {
            add("PGTARGETSESSIONATTRS", "read-write".to_owned());
        }
        match config.get_ssl_mode() {
            SslMode::Disable => add("PGSSLMODE", "disable".to_owned()),
            SslMode::Prefer => add("PGSSLMODE", "prefer".to_owned()),
            // As the service itself: a certificate of a known authority for this name.
            _ => {
                add("PGSSLMODE", "verify-full".to_owned());
                if std::env::var_os("PGSSLROOTCERT").is_none() {
                    add("PGSSLROOTCERT", AUTHORITIES.to_owned());
                }
            }
        }
        Ok(Self { variables, database })
    }

    /// For what needs no database.
    pub fn without_server() -> Self {
        Self {
            variables: Vec::new(),
            database: String::new(),
        }
    }

    /// Writes an archive of the database: one snapshot of it.
    pub fn dump(&self, to: &Path, progress: &WorkProgress) -> Result<(), StoreError> {
        let arguments = [
            "--format=custom".into(),
            "--no-owner".into(),
            "--no-privileges".into(),
            "--no-password".into(),
            "--lock-wait-timeout=60s".into(),
            self.target(),
            with_path("--file=", to),
        ];
        self.run("pg_dump", &arguments, Some(to), progress)
    }

    /// Reads an archive to its end.
    pub fn read_through(&self, archive: &Path, progress: &WorkProgress) -> Result<(), StoreError> {
        let arguments = ["--file=/dev/null".into(), "--".into(), archive.into()];
        self.run("pg_restore", &arguments, None, progress)
    }

    /// Restores an archive in one transaction.
    pub fn restore(&self, archive: &Path, progress: &WorkProgress) -> Result<(), StoreError> {
        let arguments = [
            "--single-transaction".into(),
            "--exit-on-error".into(),
            "--no-owner".into(),
            "--no-privileges".into(),
            "--no-password".into(),
            self.target(),
            "--".into(),
            archive.into(),
        ];
        self.run("pg_restore", &arguments, None, progress)
    }

    /// Creates an empty database on the same server, which is removed when the result is dropped.
    pub fn create(self, name: &str) -> Result<TemporaryDatabase, StoreError> {
        let arguments = [
            "--no-password".into(),
            "--template=template0".into(),
            "--encoding=UTF8".into(),
            name.into(),
        ];
        self.run("createdb", &arguments, None, &WorkProgress::default())?;
        Ok(TemporaryDatabase(Self {
            variables: self.variables,
            database: name.to_owned(),
        }))
    }

    /// The database as an argument. The name is given as part of a connection string, in which it needs quotes.
    fn target(&self) -> OsString {
        let quoted = self.database.replace('\\', "\\\\").replace('\'', "\\'");
        format!("--dbname=dbname='{quoted}'").into()
    }

    /// Runs a program to its end. `grows` is the file that it writes.
    fn run(
        &self,
        program: &'static str,
        arguments: &[OsString],
        grows: Option<&Path>,
        progress: &WorkProgress,
    ) -> Result<(), StoreError> {
        let mut child = Command::new(program)
            .args(arguments)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| cannot_run(program, error))?;
        let messages = child.stderr.take();
        let (ended, text) = std::thread::scope(|scope| {
            let reading = scope.spawn(|| messages.map(read_messages).unwrap_or_default());
            let ended = wait(&mut child, program, grows, progress);
            (ended, reading.join().unwrap_or_default())
        });
        if ended? {
            return Ok(());
        }
        // It begins with the name of the program.
        let text = text.trim().trim_start_matches(program).trim_start_matches(": ");
        let message = if text.is_empty() {
            "it failed without a message"
        } else {
            text
        };
        Err(StoreError::unavailable(format!("{program}: {message}")))
    }
}

/// A database that exists for as long as this does.
pub struct TemporaryDatabase(PgTools);

impl TemporaryDatabase {
    pub fn tools(&self) -> &PgTools {
        &self.0
    }
}

impl Drop for TemporaryDatabase {
    fn drop(&mut self) {
        let arguments = [
            "--no-password".into(),
            "--if-exists".into(),
            "--force".into(),
            OsString::from(&self.0.database),
        ];
        if let Err(error) = self.0.run("dropdb", &arguments, None, &WorkProgress::default()) {
            tracing::error!(%error, database = self.0.database, "a temporary database could not be removed");
        }
    }
}

/// Waits until a program has ended, and returns whether it has succeeded. It is killed if it is stopped, or if its file stops growing.
fn wait(
    child: &mut Child,
    program: &'static str,
    grows: Option<&Path>,
    progress: &WorkProgress,
) -> Result<bool, StoreError> {
    let size = || {
        grows
            .and_then(|file| std::fs::metadata(file).ok())
            .map_or(0, |about| about.len())
    };
    let (mut known, mut since) = (size(), Instant::now());
    loop {
        if let Some(status) = child.try_wait().map_err(|error| cannot_run(program, error))? {
            return Ok(status.success());
        }
        if size() != known {
            (known, since) = (size(), Instant::now());
            progress.set(known, None);
        }
        let is_stalled = grows.is_some() && since.elapsed() >= STALLED;
        if is_stalled || progress.is_stopping() {
            // It may have ended meanwhile.
            let _ = child.kill();
            child.wait().map_err(|error| cannot_run(program, error))?;
            let why = if is_stalled {
                "has written nothing for ten minutes"
            } else {
                "was interrupted"
            };
            return Err(StoreError::unavailable(format!("{program} {why}")));
        }
        std::thread::sleep(LOOK);
    }
}

/// The beginning of what a program says. The rest is read too, because a full pipe would stop it.
fn read_messages(mut from: impl Read) -> String {
    let mut text = Vec::new();
    // What could not be read is missing in a message only.
    let _ = from.by_ref().take(MESSAGES).read_to_end(&mut text);
    let _ = std::io::copy(&mut from, &mut std::io::sink());
    String::from_utf8_lossy(&text).into_owned()
}

fn cannot_run(program: &'static str, error: std::io::Error) -> StoreError {
    if error.kind() == ErrorKind::NotFound {
        return StoreError::refused(format!(
            "{program} is not installed: backups of PostgreSQL need its client programs (Debian: postgresql-client)"
        ));
    }
    StoreError::unavailable(format!("{program} cannot be run")).caused_by(error)
}

fn with_path(option: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(path);
    argument
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(",")
}
