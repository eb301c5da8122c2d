//! The worker that finds due catalogs.

use super::send::work_on;
use crate::app::App;
use crate::fair_slots::SlotLimits;
use crate::flow::products::due_work::{self, DueWork};
use garson_core::id::{AccountId, CatalogPushId};
use garson_core::time::Timestamp;
use garson_store::tables::catalogs;
use garson_store::{Partition, StoreError, Tx};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Catalogs in a turn.
const CATALOGS: i64 = 200;
/// How often old catalogs are removed, how old they are, and how many in one transaction.
const CLEAN_INTERVAL: Duration = Duration::from_secs(3_600);
const KEEP: Duration = Duration::from_secs(90 * 86_400);
const REMOVED_AT_ONCE: i64 = 20;
/// The pause before a catalog is released after a storage failure.
const FAILED_PAUSE: Duration = Duration::from_secs(5);

/// Sends catalogs, and links their items, until the service stops.
pub async fn run(app: Arc<App>) {
    let clean_at = Instant::now() + CLEAN_INTERVAL;
    due_work::run(app, DueCatalogs { clean_at }).await;
}

struct DueCatalogs {
    clean_at: Instant,
}

impl DueWork for DueCatalogs {
    const NAME: &'static str = "catalogs";
    const SLOTS: SlotLimits = SlotLimits {
        total: 8,
        per_account: 2,
        failing: 8,
    };
    type Id = CatalogPushId;
    type Error = StoreError;

    fn signal(app: &App) -> &Notify {
        &app.product_work.catalogs
    }

    async fn prepare(&mut self, app: &App) -> Result<(), StoreError> {
        if Instant::now() >= self.clean_at {
            self.clean_at = Instant::now() + CLEAN_INTERVAL;
            let before = app.now().minus(KEEP);
            let remove = move |tx: &mut Tx<'_>| catalogs::remove_old(tx, before, REMOVED_AT_ONCE);
            while app.store.write(Partition::COMMON, remove).await? > 0 {}
        }
        Ok(())
    }

    fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, StoreError> {
        catalogs::next_due(tx)
    }

    async fn due(
        &mut self,
        app: &App,
        now: Timestamp,
    ) -> Result<Vec<(CatalogPushId, AccountId)>, StoreError> {
        app.store.read(move |tx| catalogs::due(tx, now, CATALOGS)).await
    }

    async fn work(app: &Arc<App>, account: AccountId, id: CatalogPushId) -> Result<(), StoreError> {
        work_on(app, account, id).await
    }

    /// Releases the catalog for the next turn after a storage failure, as soon as storage works again.
    async fn clean_up(app: &App, account: AccountId, id: CatalogPushId) {
        while let Some(node) = app.store.node_id().filter(|_| !*app.stopping.borrow()) {
            tokio::time::sleep(FAILED_PAUSE).await;
            let release = move |tx: &mut Tx<'_>| catalogs::release_unclear(tx, id, node);
            if app.store.write(account, release).await.is_ok() {
                return;
            }
        }
    }
}
