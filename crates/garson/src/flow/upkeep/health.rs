//! Readiness and the gauges of the metrics. Storage is queried, but never waited for long.

use super::backups;
use crate::app::App;
use crate::telemetry::{Gauges, StorageCounts};
use garson_core::time::Timestamp;
use garson_store::tables::{accounts, calls, deliveries, endpoint_deliveries, inbox, nodes};
use garson_store::upkeep::disk_space;
use garson_store::{Engine, Partition, StoreError, Tx};
use std::time::Duration;

/// How far rows are counted, so that a scrape stays cheap with any backlog. Ten times as many take SQLite 20 ms.
const MAX_COUNT: i64 = 10_000;

/// Why the service is not ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReady {
    /// Storage does not answer or rejects writes.
    Storage(StoreError),
    /// This node is not among those of its database, so it delivers nothing.
    NotJoined,
    /// A worker keeps ending after every restart.
    WorkerFails(&'static str),
}

/// Is the service ready to accept orders? A node whose lease has just run out still is.
pub async fn check(app: &App) -> Result<(), NotReady> {
    let storage = &app.health_probes.storage;
    storage
        .ask(probe_storage(app.store.clone()))
        .await
        .map_err(NotReady::Storage)?;
    match (app.store.node_id(), app.workers.failing()) {
        (None, _) => Err(NotReady::NotJoined),
        (Some(_), Some(worker)) => Err(NotReady::WorkerFails(worker)),
        (Some(_), None) => Ok(()),
    }
}

/// Reads something; and after a failed transaction, also writes something large. A disk may be full, which neither a read nor
/// a small commit notices.
async fn probe_storage(store: Engine) -> Result<(), StoreError> {
    store.read(accounts::any_exists).await?;
    if store.stats().is_in_doubt() {
        let (losses, probe) = (store.stats().losses(), disk_space::Probe::new());
        store
            .write(Partition::COMMON, move |tx| disk_space::write_probe(tx, probe))
            .await?;
        store
            .write(Partition::COMMON, move |tx| disk_space::remove_probe(tx, probe))
            .await?;
        store.stats().prove(losses);
    }
    Ok(())
}

/// The gauges at scrape time.
pub async fn gauges(app: &App) -> Gauges {
    let (store, now) = (app.store.clone(), app.now());
    let counting = async move { store.read(move |tx| count_rows(tx, now)).await };
    let (up, counts) = tokio::join!(
        app.health_probes.storage.ask(probe_storage(app.store.clone())),
        app.health_probes.counts.ask(counting)
    );
    if let Err(error) = &counts {
        tracing::warn!(%error, "rows could not be counted for the metrics");
    }
    let oldest_at = app.delivery_gauges.oldest_at();
    Gauges {
        storage_is_up: up.is_ok() && counts.is_ok(),
        storage_counts: counts.ok(),
        has_joined: app.store.node_id().is_some(),
        lease_is_valid: app.node_lease.is_valid(),
        dispatcher: app.delivery_gauges.memory(),
        waiting_accounts: app.delivery_gauges.waiting_accounts(),
        oldest_age: oldest_at.map_or(Duration::ZERO, |at| app.now().since(at)),
        polled_integrations: app.poll_requests.polled_integrations(),
        backup_overdue: backups::overdue(app),
    }
}

fn count_rows(tx: &mut Tx<'_>, now: Timestamp) -> Result<StorageCounts, StoreError> {
    let (open_calls, first_due_at) = calls::count_open(tx, MAX_COUNT)?;
    Ok(StorageCounts {
        undelivered: deliveries::count_pending(tx, MAX_COUNT)?
            + endpoint_deliveries::count_pending(tx, MAX_COUNT)?,
        open_calls,
        calls_overdue: first_due_at.map_or(Duration::ZERO, |due_at| now.since(due_at)),
        kept_messages: inbox::count_open(tx, MAX_COUNT)?,
        nodes: nodes::count(tx)?,
    })
}
