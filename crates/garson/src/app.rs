//! The running service: storage, vault, clock, outgoing HTTP client, and the state that workers and requests share.

pub mod attention;
pub(crate) mod backup_folder;
pub(crate) mod call_waiters;
pub(crate) mod call_waker;
pub(crate) mod calls_in_flight;
pub(crate) mod delivery_gauges;
pub(crate) mod endpoint_stats;
pub(crate) mod exposure;
pub(crate) mod fetched_menu;
pub(crate) mod health_probes;
pub(crate) mod key_file;
pub(crate) mod missing_orders;
pub(crate) mod node_lease;
pub(crate) mod order_checks;
pub(crate) mod order_document;
pub(crate) mod password_threads;
pub(crate) mod platform_limits;
pub(crate) mod platform_sessions;
pub(crate) mod poll_requests;
pub mod presence;
pub(crate) mod product_work;
pub(crate) mod refused_addresses;
pub(crate) mod request_log;
pub(crate) mod sign_in_limits;
pub(crate) mod start_error;
pub mod store_overview;
pub(crate) mod store_signals;

pub use delivery_gauges::DeliveryGauges;
pub use start_error::StartError;

use self::endpoint_stats::EndpointStats;
use self::missing_orders::MissingOrders;
use self::order_checks::OrderChecks;
use self::order_document::OrderDocument;
use self::poll_requests::PollRequests;
use self::request_log::RequestLog;
use crate::config::{Settings, Terms, terms};
use crate::fair_slots::{FairSlots, SlotLimits};
use crate::net;
use crate::supervisor::{Workers, supervise};
use crate::telemetry::{Metrics, Traces};
use crate::ttl_cache::TtlCache;
use attention::Attention;
use backup_folder::NewestBackup;
use call_waiters::CallWaiters;
use call_waker::CallWaker;
use calls_in_flight::CallsInFlight;
use fetched_menu::FetchedMenu;
use garson_core::catalog::CatalogLogEntry;
use garson_core::clock::{SharedClock, SystemClock};
use garson_core::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use garson_core::integration::Credentials;
use garson_core::order::Reason;
use garson_core::platform::Provider;
use garson_core::retry::Schedule;
use garson_core::time::Timestamp;
use garson_store::engine::Opener;
use garson_store::engine::server_lock::ServerLock;
use garson_store::tables::calls::{DueCall, LeaseHolder};
use garson_store::tables::integrations::InboundIntegration;
use garson_store::tables::key_rotation;
use garson_store::tables::key_rotation::MasterKey;
use garson_store::{Engine, Location, Options, Partition, StoreError, Vault, vault};
use health_probes::HealthProbes;
use node_lease::NodeLease;
use platform_limits::PlatformLimits;
use platform_sessions::PlatformSessions;
use presence::PresenceRegistry;
use product_work::ProductWork;
use refused_addresses::RefusedAddresses;
use sign_in_limits::SignInLimits;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use store_overview::StoreOverview;
use store_signals::StoreSignals;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// Entries of each cache.
const CACHE_CAPACITY: usize = 2_000;
/// Accounts whose stores are kept for boards of all restaurants.
const MAX_OVERVIEWS: usize = 200;
/// Events sent by hand, and tills queried for their payment types, at the same time: in total and per account.
const MANUAL_SEND_SLOTS: SlotLimits = SlotLimits {
    total: 64,
    per_account: 4,
    failing: 64,
};

/// Shared by everything in the service.
pub struct App {
    pub settings: Settings,
    pub store: Engine,
    pub vault: Arc<Vault>,
    /// The master key that this process was started with; while it is rotated, the vault has another one too.
    pub master_key: MasterKey,
    pub clock: SharedClock,
    pub net: net::Client,
    pub metrics: Metrics,
    pub traces: Traces,
    /// The settings of each platform.
    terms: BTreeMap<Provider, Arc<Terms>>,
    /// When this process started, on a clock that is never set.
    began: Instant,
    pub platform_sessions: PlatformSessions,
    pub platform_limits: PlatformLimits,
    pub refused_addresses: RefusedAddresses,
    pub reasons: TtlCache<OrderId, Vec<Reason>>,
    pub menus: TtlCache<IntegrationId, Arc<FetchedMenu>>,
    /// The platforms' logs of imported menus.
    pub catalog_logs: TtlCache<IntegrationId, Arc<Vec<CatalogLogEntry>>>,
    /// What of accounts needs attention, as the banner of every page shows it.
    pub attention: TtlCache<AccountId, Arc<Attention>>,
    /// The stores of accounts, as boards of all restaurants show them.
    pub store_overviews: TtlCache<AccountId, Arc<StoreOverview>>,
    /// The orders that accounts may take in a day.
    pub order_quotas: TtlCache<AccountId, Option<i64>>,
    /// The integrations that platforms' messages have led to, by what they presented.
    pub inbound_integrations: TtlCache<[u8; 32], Arc<Vec<InboundIntegration>>>,
    /// An integration was connected or changed and may have to prove its branch.
    pub branch_claims_changed: Notify,
    pub call_waker: CallWaker,
    pub call_waiters: CallWaiters,
    pub store_signals: StoreSignals,
    /// Requests that wait for the stores of a restaurant.
    pub store_waiters: CallWaiters<RestaurantId>,
    pub calls_in_flight: Arc<CallsInFlight>,
    pub poll_requests: PollRequests,
    /// A message was stored without its order, which may have been written at the same time.
    pub early_message_stored: Notify,
    /// Orders that are being fetched from platforms which are not polled.
    pub order_checks: OrderChecks,
    /// Open orders that their platforms no longer list.
    pub missing_orders: MissingOrders,
    /// Deliveries may be due that the dispatcher does not know of, or the clock was set.
    pub wake_deliver: Notify,
    pub node_lease: NodeLease,
    pub workers: Arc<Workers>,
    pub delivery_gauges: DeliveryGauges,
    /// Numbers about attempts at endpoints that are not stored yet.
    pub endpoint_stats: EndpointStats,
    /// API calls that are not stored yet.
    pub request_log: RequestLog,
    /// Writes an order as the API answers it, for events that carry their order; set once by the API.
    pub order_document: OnceLock<OrderDocument>,
    pub sign_in_limits: SignInLimits,
    /// The boards, streams and pollers that are connected to this process.
    pub presence: Arc<PresenceRegistry>,
    /// The mail server, if the operator has configured one.
    pub mail_server: Option<net::MailServer>,
    /// The OpenID Connect provider, if the operator has configured one.
    pub openid: Option<Arc<net::OpenIdProvider>>,
    /// Wakes the workers of availability, menus and prices.
    pub product_work: ProductWork,
    /// Escalations are due, or messages are to be sent.
    pub wake_messages: Notify,
    pub health_probes: HealthProbes,
    /// When the newest scheduled backup was made.
    pub newest_backup: NewestBackup,
    /// The pauses before each retry of a delivery.
    pub schedule: Schedule,
    pub manual_sends: Arc<FairSlots>,
    /// Events are to be sent again.
    pub wake_resend: Notify,
    /// Rows were deleted and are to be swept.
    pub wake_sweep: Notify,
    pub wake_privacy: Notify,
    /// The service is stopping: streams and other endless tasks end.
    pub stopping: watch::Sender<bool>,
}

impl App {
    /// Opens storage and prepares all shared state, for commands.
    pub fn open(settings: Settings) -> Result<Arc<Self>, StartError> {
        Self::open_with(settings, Arc::new(SystemClock), None)
    }

    /// Opens it for a server, which checks the data after a crash.
    pub fn open_server(settings: Settings, lock: Option<&mut ServerLock>) -> Result<Arc<Self>, StartError> {
        exposure::warn(&settings);
        if let Some(trouble) = lock.as_ref().and_then(|lock| lock.trouble()) {
            refuse_trouble(trouble, settings.storage.accept_damage)?;
        }
        let mut options = settings.storage_options();
        options.crash_check.opener = match &lock {
            Some(lock) if lock.is_after_crash() => Opener::ServerAfterCrash,
            _ => Opener::Server,
        };
        let app = Self::open_all(settings, &options, Arc::new(SystemClock), None)?;
        if let Some(lock) = lock {
            lock.begin().map_err(StartError::new)?;
            app.store.watch_lock(lock).map_err(StartError::new)?;
        }
        Ok(app)
    }

    /// Opens it with another clock or HTTP client, for tests.
    pub fn open_with(
        settings: Settings,
        clock: SharedClock,
        net: Option<net::Client>,
    ) -> Result<Arc<Self>, StartError> {
        let options = settings.storage_options();
        Self::open_all(settings, &options, clock, net)
    }

    fn open_all(
        settings: Settings,
        options: &Options,
        clock: SharedClock,
        net: Option<net::Client>,
    ) -> Result<Arc<Self>, StartError> {
        let location = settings.location();
        key_file::prepare_folder(&settings.data)?;
        require_key(&settings)?;
        key_file::refuse_exposed(&settings)?;
        key_file::refuse_missing_database(&settings)?;
        let store = Engine::open(&location, options).map_err(StartError::new)?;
        let (vault, master_key) = open_vault(&settings, &store)?;
        let vault = Arc::new(vault);
        let certificates = settings.certificates().map_err(StartError)?;
        let net = match net {
            Some(net) => net,
            None => net::Client::new(settings.policy().map_err(StartError)?)
                .and_then(|client| client.trusting(&certificates))
                .map_err(StartError::new)?,
        };
        let presence = PresenceRegistry::new(clock.now());
        let mail_server = settings.smtp.server(&certificates).map_err(StartError)?;
        let openid = settings.openid.provider(&settings.public_url);
        let openid = openid.map(|provider| net::OpenIdProvider::new(provider, net.clone()).map(Arc::new));
        let openid = openid.transpose().map_err(StartError::new)?;
        let terms = terms(&settings.platforms);
        let workers = Arc::new(Workers::default());
        let traces = Traces::new(if settings.traces.is_on() {
            settings.traces.percent
        } else {
            0
        });
        Ok(Arc::new(Self {
            terms: terms
                .into_iter()
                .map(|(provider, terms)| (provider, Arc::new(terms)))
                .collect(),
            began: Instant::now(),
            platform_sessions: PlatformSessions::default(),
            platform_limits: PlatformLimits::default(),
            refused_addresses: RefusedAddresses::default(),
            reasons: TtlCache::new(CACHE_CAPACITY),
            menus: TtlCache::new(CACHE_CAPACITY),
            catalog_logs: TtlCache::new(CACHE_CAPACITY),
            attention: TtlCache::new(CACHE_CAPACITY),
            store_overviews: TtlCache::new(MAX_OVERVIEWS),
            order_quotas: TtlCache::new(CACHE_CAPACITY),
            inbound_integrations: TtlCache::new(CACHE_CAPACITY),
            call_waiters: CallWaiters::default(),
            store_signals: StoreSignals::default(),
            store_waiters: CallWaiters::default(),
            calls_in_flight: Arc::default(),
            poll_requests: PollRequests::default(),
            early_message_stored: Notify::new(),
            order_checks: OrderChecks::default(),
            missing_orders: MissingOrders::default(),
            schedule: settings.schedule(),
            settings,
            store,
            vault,
            master_key,
            clock,
            net,
            branch_claims_changed: Notify::new(),
            metrics: Metrics::new(&workers, &traces),
            traces,
            workers,
            call_waker: CallWaker::default(),
            wake_deliver: Notify::new(),
            node_lease: NodeLease::default(),
            delivery_gauges: DeliveryGauges::default(),
            endpoint_stats: EndpointStats::default(),
            request_log: RequestLog::default(),
            order_document: OnceLock::new(),
            manual_sends: FairSlots::new(MANUAL_SEND_SLOTS),
            wake_resend: Notify::new(),
            sign_in_limits: SignInLimits::default(),
            presence,
            mail_server,
            openid,
            product_work: ProductWork::default(),
            wake_messages: Notify::new(),
            health_probes: HealthProbes::default(),
            newest_backup: NewestBackup::default(),
            wake_sweep: Notify::new(),
            wake_privacy: Notify::new(),
            stopping: watch::Sender::new(false),
        }))
    }

    /// The settings of a platform.
    #[must_use]
    pub fn terms(&self, provider: Provider) -> Arc<Terms> {
        self.terms.get(&provider).cloned().unwrap_or_default()
    }

    /// An integration's credentials, completed with the operator's.
    #[must_use]
    pub fn credentials(&self, provider: Provider, own: &Credentials) -> Credentials {
        let mut merged = self.terms(provider).credentials.clone();
        merged.extend(own.iter().map(|(name, value)| (name.clone(), value.clone())));
        merged
    }

    /// May other nodes work on the same database?
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self.settings.location(), Location::Postgres(_))
    }

    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// This node as a maker of platform calls; none while it has not joined.
    #[must_use]
    pub fn maker(&self) -> Option<LeaseHolder> {
        Some(LeaseHolder {
            node: self.store.node_id()?,
            // In this order: a lease that ends in between is still in flight.
            in_flight_until: self.calls_in_flight.first_lease_end(),
            clock_ms: self.uptime_millis(),
        })
    }

    /// How long this process has been running.
    #[must_use]
    pub fn uptime(&self) -> Duration {
        self.began.elapsed()
    }

    fn uptime_millis(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    /// May a leased call be sent? Not when its lease ran out while this process was suspended, nor when other nodes may have
    /// declared this one dead, nor when this process has joined again under another id since: another node may be making the
    /// call.
    #[must_use]
    pub fn may_make(&self, call: &DueCall) -> bool {
        self.node_lease.is_valid()
            && self.uptime_millis() < call.leased_until
            && call.node.is_some()
            && call.node == self.store.node_id()
    }

    /// Runs a background worker until the service stops, and restarts it whenever it ends before that.
    pub fn spawn_worker<F>(
        self: &Arc<Self>,
        name: &'static str,
        work: impl Fn(Arc<Self>) -> F + Send + Sync + 'static,
    ) -> JoinHandle<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let app = Arc::clone(self);
        let start = move || work(Arc::clone(&app));
        supervise(Arc::clone(&self.workers), self.stopping.subscribe(), name, start)
    }
}

/// Locks the data folder against other servers. PostgreSQL allows any number of them.
pub fn lock_data(settings: &Settings) -> Result<Option<ServerLock>, StartError> {
    match settings.location() {
        Location::Postgres(_) => Ok(None),
        Location::Sqlite(path) => {
            key_file::prepare_folder(&settings.data)?;
            // The folder may have several paths; the lock must be the same for each.
            let folder = settings.data.canonicalize().map_err(StartError::new)?;
            let file = path
                .file_name()
                .map_or_else(|| folder.clone(), |name| folder.join(name));
            ServerLock::take(&file).map(Some).map_err(StartError::new)
        }
    }
}

/// The data may be consistent and still lack orders that the last server acknowledged.
fn refuse_trouble(trouble: &str, accept_damage: bool) -> Result<(), StartError> {
    let what = format!("the last server stopped because {trouble} while it was in use");
    if accept_damage {
        tracing::error!("{what}; storage.accept_damage is on, so the remaining data is used");
        return Ok(());
    }
    Err(StartError(format!(
        "{what}: acknowledged orders may be missing. Restore the file or a backup if there is one; then set \
         storage.accept_damage = true for one start"
    )))
}

/// Nodes that share a database cannot share a key file.
pub(crate) fn require_key(settings: &Settings) -> Result<(), StartError> {
    if key_file::is_own(settings) && matches!(settings.location(), Location::Postgres(_)) {
        return Err(StartError(
            "with PostgreSQL a master key is required, the same on every node: set GARSON_MASTER_KEY to 64 \
             hexadecimal digits (for instance from `openssl rand -hex 32`), or master_key_file to a file that holds them"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Opens the vault. A key that did not seal this database is refused before it can seal anything.
fn open_vault(settings: &Settings, store: &Engine) -> Result<(Vault, MasterKey), StartError> {
    let is_sealed = wait_for(store.read(vault::is_sealed))?;
    let key = key_file::master_key(settings, is_sealed)?;
    let vault = Vault::new(&key);
    if let Some(rotation) = wait_for(store.read(key_rotation::find))? {
        rotation.apply(&vault, &key).map_err(StartError::new)?;
    }
    let checked = vault.clone();
    wait_for(store.write(Partition::COMMON, move |tx| vault::check_key(tx, &checked)))?;
    Ok((vault, key))
}

/// Waits for a storage job on its own thread, since the caller may or may not be inside a runtime.
fn wait_for<T: Send>(job: impl Future<Output = Result<T, StoreError>> + Send) -> Result<T, StartError> {
    let on_thread = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(StartError::new)?;
        runtime.block_on(job).map_err(StartError::new)
    };
    std::thread::scope(|scope| scope.spawn(on_thread).join())
        .unwrap_or_else(|_| Err(StartError("opening the database panicked".to_owned())))
}
