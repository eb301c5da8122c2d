//! The worker that finds integrations with due items.

use super::apply::apply_due;
use crate::app::App;
use crate::fair_slots::SlotLimits;
use crate::flow::products::due_work::{self, DueWork};
use garson_core::id::{AccountId, IntegrationId};
use garson_core::time::Timestamp;
use garson_store::tables::desired_items;
use garson_store::{StoreError, Tx};
use std::sync::Arc;
use tokio::sync::Notify;

/// Integrations in a turn; the next turn continues after them.
const INTEGRATIONS: usize = 500;

/// Applies the desired availability of items until the service stops.
pub async fn run(app: Arc<App>) {
    due_work::run(app, DueItems { after: None }).await;
}

struct DueItems {
    /// The last integration of the last turn.
    after: Option<IntegrationId>,
}

impl DueWork for DueItems {
    const NAME: &'static str = "availability";
    const SLOTS: SlotLimits = SlotLimits {
        total: 64,
        per_account: 16,
        failing: 64,
    };
    type Id = IntegrationId;
    type Error = StoreError;

    fn signal(app: &App) -> &Notify {
        &app.product_work.availability
    }

    fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, StoreError> {
        desired_items::next_due(tx)
    }

    async fn due(
        &mut self,
        app: &App,
        now: Timestamp,
    ) -> Result<Vec<(IntegrationId, AccountId)>, StoreError> {
        let after = self.after;
        let (due, last) = app
            .store
            .read(move |tx| desired_items::due_integrations(tx, after, now, INTEGRATIONS))
            .await?;
        self.after = last;
        Ok(due)
    }

    async fn work(app: &Arc<App>, account: AccountId, id: IntegrationId) -> Result<(), StoreError> {
        apply_due(app, account, id).await
    }
}
