//! The running service as its parts see it: storage, vault, clock, the door outward, and who is to be woken.

pub(crate) mod exposure;
pub(crate) mod key_file;

use crate::config::{Settings, Terms, terms};
use crate::fair_slots::FairSlots;
use crate::flow::admin::menu::FetchedMenu;
use crate::flow::admin::sessions::SignIns;
use crate::flow::deliver::Figures;
use crate::flow::deliver::resend;
use crate::flow::intake::order_checks::Looks;
use crate::flow::intake::poll::Hurry;
use crate::flow::order_actions::calls::{CallWaker, InFlight, OrderWaiters};
use crate::flow::platform_client::Lines;
use crate::flow::upkeep::health::Vitals;
use crate::flow::upkeep::membership::Lease;
use crate::net;
use crate::server::Workers;
use crate::telemetry::Metrics;
use crate::ttl_cache::Kept;
use garson_core::clock::{SharedClock, SystemClock};
use garson_core::id::{IntegrationId, OrderId};
use garson_core::integration::Credentials;
use garson_core::order::Reason;
use garson_core::platform::Provider;
use garson_core::retry::Schedule;
use garson_core::time::Timestamp;
use garson_store::engine::Opener;
use garson_store::engine::server_lock::ServerLock;
use garson_store::tables::calls::{DueCall, LeaseHolder};
use garson_store::tables::integrations::InboundIntegration;
use garson_store::{Engine, Lane, Location, Options, StoreError, Vault, vault};
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Notify, watch};

/// What everything in the service shares.
pub struct App {
    pub settings: Settings,
    pub store: Engine,
    pub vault: Arc<Vault>,
    pub clock: SharedClock,
    pub net: net::Client,
    pub metrics: Metrics,
    /// On which terms each platform is spoken with.
    terms: BTreeMap<Provider, Arc<Terms>>,
    /// When this process began: a watch that nobody sets.
    began: Instant,
    pub lines: Lines,
    pub reasons: Kept<OrderId, Vec<Reason>>,
    pub menus: Kept<IntegrationId, Arc<FetchedMenu>>,
    /// The integrations that platforms' messages have led to, by what they presented.
    pub served: Kept<[u8; 32], Arc<Vec<InboundIntegration>>>,
    /// An integration was connected or changed: it may have to prove its branch.
    pub branch_claims_changed: Notify,
    /// Calls to platforms have been written.
    pub wake_calls: CallWaker,
    /// Clients that wait for the end of calls to platforms.
    pub calls_ended: OrderWaiters,
    /// Calls to platforms that are under way.
    pub in_flight: Arc<InFlight>,
    /// Platforms that should be asked for orders before their time.
    pub hurry: Hurry,
    /// A message was kept that may have missed its order.
    pub early_kept: tokio::sync::Notify,
    /// Orders that are being read from platforms which are not polled.
    pub looks: Looks,
    /// Something may be due that the dispatcher does not know of, or the clock was moved.
    pub wake_deliver: Notify,
    /// Up to when this node may begin something.
    pub lease: Lease,
    /// How the service's workers stand.
    pub workers: Arc<Workers>,
    /// How delivering stands.
    pub delivering: Figures,
    /// Who tries to sign in.
    pub sign_ins: SignIns,
    /// What is asked of storage by those who watch.
    pub vitals: Vitals,
    /// The pauses before each retry of a delivery.
    pub schedule: Schedule,
    /// Events that are being sent by hand.
    pub manual_sends: Arc<FairSlots>,
    /// Something is to be sent again.
    pub wake_resend: Notify,
    /// Something has been deleted.
    pub wake_sweep: Notify,
    /// The service has been asked to stop: what would go on for ever ends.
    pub stopping: watch::Sender<bool>,
}

/// Why the service cannot start.
#[derive(Debug)]
pub struct StartError(pub String);

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

fn start_error(error: impl fmt::Display) -> StartError {
    StartError(error.to_string())
}

impl App {
    /// Opens storage and makes everything ready; commands and the server both start with it.
    pub fn open(settings: Settings) -> Result<Arc<Self>, StartError> {
        Self::open_with(settings, Arc::new(SystemClock), None)
    }

    /// Opens it for a server, which checks what a crash may have left of the data.
    pub fn open_server(settings: Settings, lock: Option<&mut ServerLock>) -> Result<Arc<Self>, StartError> {
        key_file::warn_if_exposed(&settings);
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
            lock.begin().map_err(start_error)?;
            app.store.watch_lock(lock).map_err(start_error)?;
        }
        Ok(app)
    }

    /// Opens it with another clock, or another door outward; for tests.
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
        key_file::refuse_missing_database(&settings)?;
        let store = Engine::open(&location, options).map_err(start_error)?;
        let vault = Arc::new(open_vault(&settings, &store)?);
        let certificates = settings.certificates().map_err(StartError)?;
        let net = match net {
            Some(net) => net,
            None => net::Client::new(settings.policy().map_err(StartError)?)
                .and_then(|client| client.trusting(&certificates))
                .map_err(start_error)?,
        };
        let terms = terms(&settings.platforms);
        let workers = Arc::new(Workers::default());
        Ok(Arc::new(Self {
            terms: terms
                .into_iter()
                .map(|(provider, terms)| (provider, Arc::new(terms)))
                .collect(),
            began: Instant::now(),
            lines: Lines::default(),
            reasons: Kept::default(),
            menus: Kept::default(),
            served: Kept::default(),
            calls_ended: OrderWaiters::default(),
            in_flight: Arc::default(),
            hurry: Hurry::default(),
            early_kept: tokio::sync::Notify::new(),
            looks: Looks::default(),
            schedule: settings.schedule(),
            settings,
            store,
            vault,
            clock,
            net,
            branch_claims_changed: Notify::new(),
            metrics: Metrics::of(&workers),
            workers,
            wake_calls: CallWaker::default(),
            wake_deliver: Notify::new(),
            lease: Lease::default(),
            delivering: Figures::default(),
            manual_sends: FairSlots::new(resend::SLOTS),
            wake_resend: Notify::new(),
            sign_ins: SignIns::default(),
            vitals: Vitals::default(),
            wake_sweep: Notify::new(),
            stopping: watch::Sender::new(false),
        }))
    }

    /// On which terms a platform is spoken with.
    #[must_use]
    pub fn terms(&self, provider: Provider) -> Arc<Terms> {
        self.terms.get(&provider).cloned().unwrap_or_default()
    }

    /// An integration's credentials, with the operator's where it has none of its own.
    #[must_use]
    pub fn credentials(&self, provider: Provider, own: &Credentials) -> Credentials {
        let mut merged = self.terms(provider).credentials.clone();
        merged.extend(own.iter().map(|(name, value)| (name.clone(), value.clone())));
        merged
    }

    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// This node as one that makes calls to platforms, if it is one.
    #[must_use]
    pub fn maker(&self) -> Option<LeaseHolder> {
        Some(LeaseHolder {
            node: self.store.desk().node()?,
            // In this order: a lease that ends in between is still under way.
            in_flight_until: self.in_flight.first_end(),
            clock_ms: self.watch(),
        })
    }

    /// Milliseconds since this process began.
    fn watch(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    /// May a call be sent that was leased? Not when this process was stopped until its lease had run out, nor when others may
    /// have given this node up: somebody else may be making it.
    #[must_use]
    pub fn may_make(&self, call: &DueCall) -> bool {
        self.lease.is_valid() && self.watch() < call.leased_until
    }
}

/// Makes sure that no other server works on the data folder. PostgreSQL takes any number.
pub fn lock_data(settings: &Settings) -> Result<Option<ServerLock>, StartError> {
    match settings.location() {
        Location::Postgres(_) => Ok(None),
        Location::Sqlite(path) => {
            key_file::prepare_folder(&settings.data)?;
            // The folder may have several names; the lock must be the same under each.
            let folder = settings.data.canonicalize().map_err(start_error)?;
            let file = path
                .file_name()
                .map_or_else(|| folder.clone(), |name| folder.join(name));
            ServerLock::take(&file).map(Some).map_err(start_error)
        }
    }
}

/// What is left may be sound and yet lack orders that the last server had acknowledged.
fn refuse_trouble(trouble: &str, accept_damage: bool) -> Result<(), StartError> {
    let what = format!("the last server went out of service because {trouble} while it was in use");
    if accept_damage {
        tracing::error!("{what}; storage.accept_damage is on, so what is left is used");
        return Ok(());
    }
    Err(StartError(format!(
        "{what}: acknowledged orders may be missing. Put the file or a backup in its place if there is one; then set \
         storage.accept_damage = true for one start"
    )))
}

/// Nodes that share a database cannot share a key file.
pub(crate) fn require_key(settings: &Settings) -> Result<(), StartError> {
    if settings.master_key.expose().is_empty() && matches!(settings.location(), Location::Postgres(_)) {
        return Err(StartError(
            "with PostgreSQL a master key is required, the same on every node: set GARSON_MASTER_KEY to 64 \
             hexadecimal digits (for instance from `openssl rand -hex 32`)"
                .to_owned(),
        ));
    }
    Ok(())
}

/// The vault with the right key: one that did not seal this database is refused before it can seal anything more.
fn open_vault(settings: &Settings, store: &Engine) -> Result<Vault, StartError> {
    let is_sealed = wait_for(store.read(vault::is_sealed))?;
    let vault = Vault::new(&key_file::master_key(settings, is_sealed)?);
    let checked = vault.clone();
    wait_for(store.write(Lane::COMMON, move |tx| vault::check_key(tx, &checked)))?;
    Ok(vault)
}

/// Waits for a storage job on a thread of its own, since the caller may or may not be inside of a runtime.
fn wait_for<T: Send>(job: impl Future<Output = Result<T, StoreError>> + Send) -> Result<T, StartError> {
    let on_thread = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(start_error)?;
        runtime.block_on(job).map_err(start_error)
    };
    std::thread::scope(|scope| scope.spawn(on_thread).join())
        .unwrap_or_else(|_| Err(StartError("opening the database panicked".to_owned())))
}
