//! A new database for one test, on either engine. Dropping it removes the database.

use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The URL of the PostgreSQL server for tests.
const SERVER: &str = "GARSON_TEST_POSTGRES";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Sqlite,
    Postgres,
}

/// A data folder, and a database if the backend is PostgreSQL.
pub struct TestStorage {
    pub backend: Backend,
    folder: tempfile::TempDir,
    database: Option<String>,
}

impl TestStorage {
    pub fn new(backend: Backend) -> Self {
        let database = (backend == Backend::Postgres).then(|| {
            let name = format!("garson_e2e_{}", Uuid::now_v7().simple());
            admin(&format!("CREATE DATABASE {name}"));
            name
        });
        Self {
            backend,
            folder: tempfile::tempdir().unwrap(),
            database,
        }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The value of `database_url`: empty for SQLite.
    pub fn database_url(&self) -> String {
        self.database.as_ref().map_or_else(String::new, |name| {
            let server = server();
            let (base, _) = server.rsplit_once('/').expect("the URL names a database");
            format!("{base}/{name}")
        })
    }

    /// The environment variables with which a program uses it.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let mut variables = vec![("GARSON_DATA", self.data().display().to_string())];
        if self.backend == Backend::Postgres {
            variables.push(("GARSON_DATABASE_URL", self.database_url()));
            variables.push(("GARSON_MASTER_KEY", "7".repeat(64)));
        }
        variables
    }
}

impl Drop for TestStorage {
    fn drop(&mut self) {
        if let Some(name) = &self.database {
            admin(&format!("DROP DATABASE {name} WITH (FORCE)"));
        }
    }
}

fn server() -> String {
    std::env::var(SERVER).unwrap_or_else(|_| {
        panic!(
            "{SERVER} is not set: it must name a PostgreSQL server and a superuser, such as \
             postgres://garson@127.0.0.1:5432/postgres; `scripts/postgres start DIR` prints one"
        )
    })
}

fn admin(sql: &str) {
    on_postgres(&server(), |client| client.batch_execute(sql).unwrap());
}

/// Runs a blocking client on its own thread, because it must not run within an async runtime.
pub fn on_postgres<T: Send>(url: &str, work: impl FnOnce(&mut ::postgres::Client) -> T + Send) -> T {
    let run = || {
        let mut client = ::postgres::Client::connect(url, ::postgres::NoTls).unwrap();
        work(&mut client)
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap())
}
