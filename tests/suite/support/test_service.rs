//! A running service whose clock the test controls.

use super::{ApiClient, Backend, Outcome, TestStorage, command, program_run};
use garson::app::App;
use garson::config::Settings;
use garson::flow::admin::accounts;
use garson::net::Client;
use garson::net::guard::Policy;
use garson::net::resolve::{Resolve, Resolving};
use garson_core::id::AccountId;
use garson_core::testing::SettableClock;
use garson_core::time::Timestamp;
use garson_store::tables::inbox;
use garson_store::tables::inbox::OpenMessage;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The start time of every case: noon in Istanbul.
pub const START: &str = "2026-03-01T09:00:00.000Z";

/// Resolves no name.
struct NoDns;

impl Resolve for NoDns {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        Box::pin(async { Err(std::io::Error::other("no such name")) })
    }
}

/// The service with two accounts.
pub struct TestService {
    pub backend: Backend,
    pub clock: SettableClock,
    pub app: Arc<App>,
    pub addr: SocketAddr,
    /// A client of the first account.
    pub a: ApiClient,
    /// A client of the second account.
    pub b: ApiClient,
    settings: Settings,
    net: Option<Client>,
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    // Last, so that the database is dropped after everything that uses it.
    storage: TestStorage,
}

impl TestService {
    /// A service that resolves no name, so that no case calls another machine.
    pub async fn open(backend: Backend) -> Self {
        let net = Client::with_resolver(Policy::default(), Arc::new(NoDns)).unwrap();
        Self::open_with(backend, |_| {}, Some(net)).await
    }

    /// A service that may call private addresses.
    pub async fn open_private(backend: Backend) -> Self {
        Self::open_with(backend, |settings| settings.allow_private_targets = true, None).await
    }

    pub async fn open_with(
        backend: Backend,
        change: impl FnOnce(&mut Settings),
        net: Option<Client>,
    ) -> Self {
        Self::open_at(backend, START.parse().unwrap(), change, net).await
    }

    /// A service whose clock starts at another time.
    pub async fn open_at(
        backend: Backend,
        start_at: Timestamp,
        change: impl FnOnce(&mut Settings),
        net: Option<Client>,
    ) -> Self {
        // First: the clock counts from here what is skipped later.
        let clock = SettableClock::at(start_at);
        let storage = TestStorage::migrated(backend);
        let mut settings = Settings::load(None, Vec::new(), Vec::new()).unwrap();
        settings.data = storage.data();
        settings.database_url = garson_core::secret::Secret::new(storage.database_url());
        settings.master_key = garson_core::secret::Secret::new("7".repeat(64));
        settings.rate_limit = "off".to_owned();
        settings.server.drain_seconds = 1;
        // Debug builds on a busy machine are overloaded now and then. Cases that want refusals choose a limit.
        settings.server.max_wait_ms = 0;
        settings.storage.readers = 2;
        settings.storage.writers = 2;
        settings.storage.answer_seconds = super::ANSWER_SECONDS;
        // Platforms are read when a case wants it: it would count among the requests to them.
        settings.stores.read_seconds = 0;
        settings.menus.read_hours = 0;
        change(&mut settings);
        let (app, addr, running) = start(&settings, &clock, net.clone()).await;
        let client = |key: String| ApiClient { addr, key };
        let (_, first) = accounts::create(&app, "First".to_owned(), "first@example.com", None)
            .await
            .unwrap();
        let (_, second) = accounts::create(&app, "Second".to_owned(), "second@example.com", None)
            .await
            .unwrap();
        Self {
            backend,
            a: client(first.secret.expose().clone()),
            b: client(second.secret.expose().clone()),
            clock,
            app,
            addr,
            settings,
            net,
            running: Some(running),
            storage,
        }
    }

    /// Restarts the service on the same data.
    pub async fn restart(&mut self) {
        self.restart_with(|_| {}).await;
    }

    pub async fn restart_with(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.settings);
        self.restart_meanwhile(|_| {}).await;
    }

    /// Restarts the service and changes its clock in between.
    pub async fn restart_meanwhile(&mut self, happen: impl FnOnce(&SettableClock)) {
        if let Some((stop, done)) = self.running.take() {
            // The server may have ended already.
            let _ = stop.send(());
            done.await.unwrap();
        }
        happen(&self.clock);
        let (app, addr, running) = start(&self.settings, &self.clock, self.net.clone()).await;
        self.app = app;
        self.addr = addr;
        self.a.addr = addr;
        self.b.addr = addr;
        self.running = Some(running);
    }

    /// Stops the service; its database is closed.
    pub async fn stop(&mut self) {
        if let Some((stop, done)) = self.running.take() {
            // The server may have ended already.
            let _ = stop.send(());
            done.await.unwrap();
        }
    }

    /// Another node on the same database, which runs until the test ends.
    pub async fn second_node(&self) -> Arc<App> {
        let (app, _, (stop, serving)) = start(&self.settings, &self.clock, self.net.clone()).await;
        tokio::spawn(async move {
            serving.await.unwrap();
            drop(stop);
        });
        app
    }

    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
        self.app.call_waker.wake_all();
        self.app.wake_deliver.notify_one();
    }

    /// The id of the first account.
    pub async fn first_account(&self) -> AccountId {
        let found = self
            .app
            .store
            .read(|tx| garson_store::tables::accounts::by_email(tx, "first@example.com"))
            .await;
        found.unwrap().unwrap().id
    }

    /// Messages that were stored but not applied.
    pub async fn open_messages(&self) -> Vec<OpenMessage> {
        self.app.store.read(|tx| inbox::list_open(tx, 100)).await.unwrap()
    }

    /// Its database, for another process.
    pub fn storage(&self) -> &TestStorage {
        &self.storage
    }

    /// Runs the sweeper until nothing is left.
    pub async fn sweep(&self) {
        while garson::flow::upkeep::sweep::step(&self.app).await.unwrap() {}
    }
}

type Running = (oneshot::Sender<()>, JoinHandle<()>);

async fn start(
    settings: &Settings,
    clock: &SettableClock,
    net: Option<Client>,
) -> (Arc<App>, SocketAddr, Running) {
    let app = App::open_with(settings.clone(), Arc::new(clock.clone()), net).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let serving = garson::server::serve(Arc::clone(&app), listener, async {
        // A dropped sender stops it as well.
        let _ = stopped.await;
    });
    (app, addr, (stop, tokio::spawn(serving)))
}

impl TestService {
    /// Executes SQL directly on the database.
    pub fn execute_sql(&self, sql: &str) {
        match self.backend {
            Backend::Sqlite => rusqlite::Connection::open(self.storage.data().join("garson.db"))
                .unwrap()
                .execute_batch(sql)
                .unwrap(),
            Backend::Postgres => super::storage::on_postgres(&self.storage.database_url(), |client| {
                client.batch_execute(sql).unwrap();
            }),
        }
    }

    /// Overwrites the stored credentials of integrations with these bytes, given in hexadecimal.
    pub fn corrupt_credentials(&self, hexadecimal: &str, which: &str) {
        let bytes = match self.backend {
            Backend::Sqlite => format!("X'{hexadecimal}'"),
            Backend::Postgres => format!("'\\x{hexadecimal}'::bytea"),
        };
        self.execute_sql(&format!(
            "UPDATE integrations SET credentials = {bytes} WHERE {which}"
        ));
    }

    /// Runs a command of the program on the data of this service.
    pub fn command(&self, arguments: &[&str]) -> Outcome {
        let mut command = command();
        command
            .current_dir(self.storage.folder())
            .args(arguments)
            .envs(self.storage.variables())
            .env("GARSON_MASTER_KEY", "7".repeat(64));
        program_run(command)
    }

    /// The number of rows of a table.
    pub fn count(&self, table: &str) -> i64 {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        match self.backend {
            Backend::Sqlite => rusqlite::Connection::open(self.storage.data().join("garson.db"))
                .unwrap()
                .query_row(&sql, [], |row| row.get(0))
                .unwrap(),
            Backend::Postgres => super::storage::on_postgres(&self.storage.database_url(), |client| {
                client.query_one(&sql, &[]).unwrap().get(0)
            }),
        }
    }
}
