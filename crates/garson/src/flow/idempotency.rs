//! `Idempotency-Key`: a keyed request runs once, and its answer is stored for repeats.

use crate::app::App;
use crate::flow::Fault;
use garson_core::id::uuid_at;
use garson_store::StoreError;
use garson_store::tables::idempotency;
use garson_store::tables::idempotency::Reservation;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// How long the answer to an idempotent request is kept.
pub const KEEP_ANSWERS: Duration = Duration::from_secs(24 * 60 * 60);

pub use garson_store::tables::idempotency::KeyedRequest;

/// What stored answers are sealed for.
const SEAL_CONTEXT: &str = garson_store::tables::sealed::RESPONSES;
/// Longer than any request runs. It applies where nothing else shows that a run is dead: see [`idempotency::reserve`].
const LEASE: Duration = Duration::from_secs(60);
/// The pause before a failed write is retried.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// The keyed requests that run in this process.
#[derive(Debug, Default)]
pub struct ActiveRuns(Mutex<HashSet<Uuid>>);

impl ActiveRuns {
    fn lock(&self) -> MutexGuard<'_, HashSet<Uuid>> {
        self.0.lock()
    }
}

/// What to do with a keyed request.
pub enum Start {
    /// Run it. What it creates gets this id.
    Run { run: Run, reserved_id: Uuid },
    /// It was answered before.
    Answered { status: i64, body: Vec<u8> },
    /// Another request with this key is running.
    Running,
    /// The key was used for another request.
    OtherRequest,
}

/// A run of a keyed request, until it is dropped.
pub struct Run {
    id: Uuid,
    app: Arc<App>,
    active: Arc<ActiveRuns>,
    request: Arc<KeyedRequest>,
}

impl Drop for Run {
    fn drop(&mut self) {
        self.active.lock().remove(&self.id);
    }
}

/// Reserves the key of a request, or finds the answer to an earlier one.
pub async fn begin(
    app: &Arc<App>,
    active: &Arc<ActiveRuns>,
    request: Arc<KeyedRequest>,
) -> Result<Start, Fault> {
    let run = Run {
        id: Uuid::now_v7(),
        app: Arc::clone(app),
        active: Arc::clone(active),
        request,
    };
    active.lock().insert(run.id);
    Ok(match run.reserve().await? {
        Reservation::Run { reserved_id } => Start::Run { run, reserved_id },
        Reservation::Answered { status, body } => {
            let body = app.vault.open(SEAL_CONTEXT, &run.request.key_hash, &body)?;
            Start::Answered {
                status,
                body: body.expose().clone(),
            }
        }
        Reservation::Running => Start::Running,
        Reservation::OtherRequest => Start::OtherRequest,
    })
}

impl Run {
    async fn reserve(&self) -> Result<Reservation, StoreError> {
        let now = self.app.now();
        let run = idempotency::Run {
            id: self.id,
            node: self.app.store.node_id(),
            now,
            leased_until: now.plus(LEASE),
            fresh_id: uuid_at(now),
        };
        let (request, active) = (Arc::clone(&self.request), Arc::clone(&self.active));
        let reserved = self
            .app
            .store
            .write(request.account, move |tx| {
                let is_running_here = |id| active.lock().contains(&id);
                idempotency::reserve(tx, &request, &run, now.minus(KEEP_ANSWERS), &is_running_here)
            })
            .await;
        if reserved.as_ref().is_err_and(StoreError::is_temporary) {
            // The transaction may have been committed all the same.
            tokio::spawn(release(Arc::clone(&self.app), Arc::clone(&self.request), self.id));
        }
        reserved
    }

    /// Ends the run without an answer, so that a repeat runs again.
    pub async fn release(self) {
        // Once this run is dropped, this node knows that it has ended. Other nodes know when the release is written; the client
        // does not wait long for that.
        let released = tokio::spawn(release(Arc::clone(&self.app), Arc::clone(&self.request), self.id));
        let _ = tokio::time::timeout(RETRY_PAUSE, released).await;
    }

    /// Ends the run with an answer that repeats will get.
    pub async fn store_answer(self, status: u16, body: &[u8]) -> Result<(), Fault> {
        // An answer may contain a new API key, so it is sealed like one.
        let sealed = self.app.vault.seal(SEAL_CONTEXT, &self.request.key_hash, body)?;
        let (sealed, status) = (Arc::new(sealed), i64::from(status));
        let (store, request) = (self.app.store.clone(), Arc::clone(&self.request));
        let write = move || {
            let (store, request, sealed) = (store.clone(), Arc::clone(&request), Arc::clone(&sealed));
            async move {
                let account = request.account;
                store
                    .write(account, move |tx| {
                        idempotency::store_response(tx, &request, status, &sealed)
                    })
                    .await
            }
        };
        match write().await {
            Ok(()) => {}
            Err(error) if StoreError::is_temporary(&error) => {
                // The request was executed: a repeat has to find its answer instead of running again.
                tokio::spawn(async move {
                    let _run = self;
                    if let Err(error) = retry(write).await {
                        tracing::warn!(%error, "an answer was not stored under its idempotency key");
                    }
                });
            }
            Err(error) => tracing::warn!(%error, "an answer was not stored under its idempotency key"),
        }
        Ok(())
    }
}

/// Releases a key as soon as storage permits: other nodes do not know that the run has ended.
async fn release(app: Arc<App>, request: Arc<KeyedRequest>, run_id: Uuid) {
    let write = || {
        let request = Arc::clone(&request);
        app.store.write(request.account, move |tx| {
            idempotency::release(tx, &request, run_id)
        })
    };
    if let Err(error) = retry(write).await {
        tracing::warn!(%error, "an idempotency key was not released");
    }
}

/// Repeats a write while storage is unavailable, until the lease of the run has expired.
async fn retry<F: Future<Output = Result<(), StoreError>>>(write: impl Fn() -> F) -> Result<(), StoreError> {
    let began = tokio::time::Instant::now();
    loop {
        match write().await {
            Err(error) if error.is_temporary() && began.elapsed() < LEASE => {
                tokio::time::sleep(RETRY_PAUSE).await;
            }
            done => return done,
        }
    }
}
