//! The running service as its parts see it: storage, vault, clock, the door outward, and who is to be woken.

use crate::config::{Settings, Terms, parse_key, terms};
use crate::flow::deliver::Figures;
use crate::flow::kept::Kept;
use crate::flow::line::Lines;
use crate::flow::membership::Lease;
use crate::flow::menu::FetchedMenu;
use crate::flow::poll::Hurry;
use crate::flow::vitals::Vitals;
use crate::net;
use crate::telemetry::Metrics;
use garson_core::clock::{SharedClock, SystemClock};
use garson_core::id::{IntegrationId, OrderId};
use garson_core::integration::Credentials;
use garson_core::order::Reason;
use garson_core::platform::Provider;
use garson_core::retry::Schedule;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::calls::Maker;
use garson_store::integrations::Served;
use garson_store::lock::ServerLock;
use garson_store::{Engine, Lane, Location, StoreError, Vault, vault};
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::io::Write;
use std::path::Path;
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
    pub served: Kept<[u8; 32], Arc<Vec<Served>>>,
    /// Calls to platforms have been written.
    pub wake_calls: Notify,
    /// An integration was connected or changed: it may have to prove its branch.
    pub branch_claims_changed: Notify,
    /// Calls to platforms have ended.
    pub calls_ended: Notify,
    /// Platforms that should be asked for orders before their time.
    pub hurry: Hurry,
    /// Something may be due that the dispatcher does not know of, or the clock was moved.
    pub wake_deliver: Notify,
    /// Up to when this node may begin something.
    pub lease: Lease,
    /// How delivering stands.
    pub delivering: Figures,
    /// What is asked of storage by those who watch.
    pub vitals: Vitals,
    /// The pauses before each retry of a delivery.
    pub schedule: Schedule,
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

    /// Opens it with another clock, or another door outward; for tests.
    pub fn open_with(
        settings: Settings,
        clock: SharedClock,
        net: Option<net::Client>,
    ) -> Result<Arc<Self>, StartError> {
        let location = settings.location();
        prepare_folder(&settings.data)?;
        require_key(&settings)?;
        let store = Engine::open(&location, &settings.storage_options()).map_err(start_error)?;
        let vault = Arc::new(open_vault(&settings, &store)?);
        let certificates = settings.certificates().map_err(StartError)?;
        let net = match net {
            Some(net) => net,
            None => net::Client::new(settings.policy().map_err(StartError)?)
                .and_then(|client| client.trusting(&certificates))
                .map_err(start_error)?,
        };
        let terms = terms(&settings.platforms);
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
            calls_ended: Notify::new(),
            hurry: Hurry::default(),
            schedule: settings.schedule(),
            settings,
            store,
            vault,
            clock,
            net,
            metrics: Metrics::default(),
            wake_calls: Notify::new(),
            branch_claims_changed: Notify::new(),
            wake_deliver: Notify::new(),
            lease: Lease::default(),
            delivering: Figures::default(),
            wake_resend: Notify::new(),
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
    pub fn maker(&self) -> Option<Maker> {
        Some(Maker {
            node: self.store.desk().node()?,
            watch: i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX),
        })
    }
}

/// Makes sure that no other server works on the data folder. PostgreSQL takes any number.
pub fn lock_data(settings: &Settings) -> Result<Option<ServerLock>, StartError> {
    match settings.location() {
        Location::Postgres(_) => Ok(None),
        Location::Sqlite(path) => {
            prepare_folder(&settings.data)?;
            // The folder may have several names; the lock must be the same under each.
            let folder = settings.data.canonicalize().map_err(start_error)?;
            let file = path
                .file_name()
                .map_or_else(|| folder.clone(), |name| folder.join(name));
            ServerLock::take(&file).map(Some).map_err(start_error)
        }
    }
}

fn prepare_folder(data: &Path) -> Result<(), StartError> {
    std::fs::create_dir_all(data).map_err(|error| {
        StartError(format!(
            "the data folder {} cannot be made: {error}",
            data.display()
        ))
    })
}

/// Nodes that share a database cannot share a key file.
fn require_key(settings: &Settings) -> Result<(), StartError> {
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
    let vault = Vault::new(&master_key(settings, is_sealed)?);
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

/// The operator's master key, or the key file of the data folder, made when there is none and nothing is sealed yet.
fn master_key(settings: &Settings, is_sealed: bool) -> Result<Secret<[u8; 32]>, StartError> {
    let given = settings.master_key.expose();
    if !given.is_empty() {
        return parse_key(given)
            .ok_or_else(|| StartError("master_key must be 64 hexadecimal digits".to_owned()));
    }
    let path = settings.data.join("master.key");
    if !path.exists() {
        if is_sealed {
            return Err(StartError(format!(
                "the database is sealed, but its key file {} is missing: put it back, or set GARSON_MASTER_KEY",
                path.display()
            )));
        }
        make_key_file(&path)?;
    }
    let text = std::fs::read_to_string(&path)
        .map_err(|error| StartError(format!("the key file {} cannot be read: {error}", path.display())))?;
    parse_key(text.trim()).ok_or_else(|| {
        StartError(format!(
            "the key file {} does not hold 64 hexadecimal digits",
            path.display()
        ))
    })
}

/// Writes a fresh key, complete or not at all: two programs may start at the same time on an empty folder.
fn make_key_file(path: &Path) -> Result<(), StartError> {
    let cannot = |error: std::io::Error| {
        StartError(format!("the key file {} cannot be made: {error}", path.display()))
    };
    let mut key = Secret::new([0u8; 32]);
    let mut bytes = *key.expose();
    getrandom::fill(&mut bytes).map_err(start_error)?;
    key = Secret::new(bytes);
    let hex = Secret::new(
        key.expose()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>(),
    );
    let draft = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&draft).map_err(cannot)?;
    file.write_all(format!("{}\n", hex.expose()).as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(cannot)?;
    // A hard link fails if the key is there already: whoever was first wins.
    let linked = std::fs::hard_link(&draft, path);
    std::fs::remove_file(&draft).map_err(cannot)?;
    match linked {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(cannot(error)),
        _ => Ok(()),
    }
}
