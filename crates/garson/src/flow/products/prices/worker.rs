//! The worker that finds integrations with due prices.

use super::send::send_integration;
use crate::app::App;
use crate::fair_slots::SlotLimits;
use crate::flow::products::due_work::{self, DueWork};
use garson_core::id::{AccountId, IntegrationId};
use garson_core::time::Timestamp;
use garson_store::tables::prices;
use garson_store::{Partition, StoreError, Tx};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Integrations in a turn.
const INTEGRATIONS: usize = 1_000;
/// How often old price changes are removed, and how old they are.
const CLEAN_INTERVAL: Duration = Duration::from_secs(3_600);
const KEEP: Duration = Duration::from_secs(90 * 86_400);

/// Sends prices, and reads their results, until the service stops.
pub async fn run(app: Arc<App>) {
    let clean_at = Instant::now() + CLEAN_INTERVAL;
    due_work::run(app, DuePrices { clean_at }).await;
}

struct DuePrices {
    clean_at: Instant,
}

impl DueWork for DuePrices {
    const NAME: &'static str = "prices";
    const SLOTS: SlotLimits = SlotLimits {
        total: 16,
        per_account: 4,
        failing: 16,
    };
    type Id = IntegrationId;
    type Error = StoreError;

    fn signal(app: &App) -> &Notify {
        &app.product_work.prices
    }

    async fn prepare(&mut self, app: &App) -> Result<(), StoreError> {
        if Instant::now() >= self.clean_at {
            self.clean_at = Instant::now() + CLEAN_INTERVAL;
            let before = app.now().minus(KEEP);
            let remove = move |tx: &mut Tx<'_>| prices::remove_old(tx, before);
            while app.store.write(Partition::COMMON, remove).await? {}
        }
        Ok(())
    }

    fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, StoreError> {
        prices::next_due(tx)
    }

    async fn due(
        &mut self,
        app: &App,
        now: Timestamp,
    ) -> Result<Vec<(IntegrationId, AccountId)>, StoreError> {
        let due = move |tx: &mut Tx<'_>| prices::due_integrations(tx, now, INTEGRATIONS);
        app.store.read(due).await
    }

    async fn work(app: &Arc<App>, account: AccountId, id: IntegrationId) -> Result<(), StoreError> {
        send_integration(app, account, id).await
    }
}
