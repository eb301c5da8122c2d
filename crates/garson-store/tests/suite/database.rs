//! A fresh database for one case, on either engine, and the means to reach it from outside.

use crate::postgres_template;
use garson_core::secret::Secret;
use garson_store::{Engine, Location, Options, Result, StoreError, Tx, Vault};
use std::future::Future;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Names the PostgreSQL server that the suite may use.
const SERVER: &str = "GARSON_TEST_POSTGRES";
/// No case takes this long unless something hangs.
const TEST_TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
}

/// An open engine on a database of its own. The engine closes before its database goes.
pub struct Bench {
    pub kind: Kind,
    pub engine: Engine,
    pub vault: Vault,
    pub location: Location,
    _home: TestDatabase,
}

/// Where a case's database lives; dropping it removes the database.
pub enum TestDatabase {
    Folder(tempfile::TempDir),
    Database { name: String },
}

impl TestDatabase {
    pub fn new(kind: Kind) -> Self {
        Self::with(kind, |client, name| {
            client.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        })
    }

    /// One whose PostgreSQL database has all tables already.
    fn migrated(kind: Kind) -> Self {
        Self::with(kind, |client, name| {
            let template = postgres_template::name(client, |name| {
                let location = Location::Postgres(Secret::new(url_of(name)));
                drop(Engine::open(&location, &Options::default()).unwrap());
            });
            client
                .batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}"))
                .unwrap();
        })
    }

    fn with(kind: Kind, create: impl FnOnce(&mut ::postgres::Client, &str) + Send) -> Self {
        match kind {
            Kind::Sqlite => Self::Folder(tempfile::tempdir().unwrap()),
            Kind::Postgres => {
                let name = format!("garson_test_{}", Uuid::now_v7().simple());
                on_postgres(&server(), |client| create(client, &name));
                Self::Database { name }
            }
        }
    }

    pub fn location(&self) -> Location {
        match self {
            Self::Folder(folder) => Location::Sqlite(folder.path().join("garson.db")),
            Self::Database { name } => Location::Postgres(Secret::new(url_of(name))),
        }
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let Self::Database { name } = self {
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

/// Uses a blocking client, on a thread of its own since it must not meet an async runtime.
pub fn on_postgres<T: Send>(url: &str, work: impl FnOnce(&mut ::postgres::Client) -> T + Send) -> T {
    let run = || {
        let mut client = ::postgres::Client::connect(url, ::postgres::NoTls).unwrap();
        work(&mut client)
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap())
}

pub fn vault() -> Vault {
    Vault::new(&Secret::new([7; 32]))
}

impl Bench {
    pub fn new(kind: Kind) -> Self {
        let home = TestDatabase::migrated(kind);
        let location = home.location();
        Self {
            kind,
            engine: Engine::open(&location, &Options::default()).unwrap(),
            vault: vault(),
            location,
            _home: home,
        }
    }

    /// Another engine on the same database, as another node would have it.
    pub fn second_engine(&self) -> Engine {
        Engine::open(&self.location, &Options::default()).unwrap()
    }

    pub async fn write<T: Send + 'static>(
        &self,
        job: impl Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> T {
        self.engine
            .write(garson_store::Partition::COMMON, job)
            .await
            .unwrap()
    }

    pub async fn read<T: Send + 'static>(
        &self,
        job: impl Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> T {
        self.engine.read(job).await.unwrap()
    }

    pub async fn try_write<T: Send + 'static>(
        &self,
        job: impl Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.engine.write(garson_store::Partition::COMMON, job).await
    }

    pub fn sqlite_path(&self) -> PathBuf {
        match &self.location {
            Location::Sqlite(path) => path.clone(),
            Location::Postgres(_) => panic!("not a SQLite database"),
        }
    }

    pub fn postgres_url(&self) -> String {
        match &self.location {
            Location::Postgres(url) => url.expose().clone(),
            Location::Sqlite(_) => panic!("not a PostgreSQL database"),
        }
    }

    /// How often PostgreSQL had to give up one transaction for another.
    pub fn deadlocks(&self) -> i64 {
        let sql = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
        on_postgres(&self.postgres_url(), |client| {
            client.query_one(sql, &[]).unwrap().get(0)
        })
    }

    /// Runs statements past the engine, the way an operator with a shell would.
    pub fn execute_directly(&self, sql: &str) {
        execute_directly(&self.location, sql);
    }
}

/// Runs statements in a database that need not be anybody's yet.
pub fn execute_directly(location: &Location, sql: &str) {
    match location {
        Location::Sqlite(path) => rusqlite::Connection::open(path)
            .unwrap()
            .execute_batch(sql)
            .unwrap(),
        Location::Postgres(url) => on_postgres(url.expose(), |client| client.batch_execute(sql).unwrap()),
    }
}

/// Runs a case on a fresh database, and fails instead of hanging.
pub fn run(kind: Kind, case: impl AsyncFnOnce(&Bench)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let bench = Bench::new(kind);
    runtime.block_on(within(TEST_TIMEOUT, case(&bench)));
}

/// The future's answer, which must come in time.
pub async fn within<T>(time: Duration, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(time, future).await.expect("took too long")
}

/// Waits for a condition, and fails if it does not come true.
pub async fn until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(30), "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// An error that a job can fail with on purpose.
pub fn intentional_error() -> StoreError {
    StoreError::refused("on purpose")
}
