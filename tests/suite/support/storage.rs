//! A new database for one test, on either engine. Dropping it removes the database.

use super::postgres_template;
use garson_core::secret::Secret;
use garson_store::{Engine, Location, Options};
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
        Self::with(backend, |client, name| {
            client.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        })
    }

    /// One whose PostgreSQL database has all tables already.
    pub fn migrated(backend: Backend) -> Self {
        Self::with(backend, |client, name| {
            let template = postgres_template::name(client, |name| {
                let location = Location::Postgres(Secret::new(url_of(name)));
                drop(Engine::open(&location, &Options::default()).unwrap());
            });
            client
                .batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}"))
                .unwrap();
        })
    }

    fn with(backend: Backend, create: impl FnOnce(&mut ::postgres::Client, &str) + Send) -> Self {
        let database = (backend == Backend::Postgres).then(|| {
            let name = format!("garson_e2e_{}", Uuid::now_v7().simple());
            on_postgres(&server(), |client| create(client, &name));
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
        self.database.as_deref().map_or_else(String::new, url_of)
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

fn url_of(database: &str) -> String {
    let server = server();
    let (base, _) = server.rsplit_once('/').expect("the URL names a database");
    format!("{base}/{database}")
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
