//! The worker that finds restaurants with due menus, and plans the reads of new integrations.

use super::read::read_restaurant;
use super::request::make_due;
use super::schedule::{NEVER, spread};
use crate::app::App;
use crate::fair_slots::SlotLimits;
use crate::flow::Fault;
use crate::flow::products::due_work::{self, DueWork};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::time::Timestamp;
use garson_store::tables::menus;
use garson_store::{Partition, StoreError, Tx};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How often integrations without a plan are searched.
const PLAN_INTERVAL: Duration = Duration::from_secs(30);
/// Restaurants in a turn.
const RESTAURANTS: i64 = 1_000;
/// Integrations that are planned in a transaction.
const PLANNED: i64 = 200;
/// The menu of a new integration is read within this time; with very many of them within the longer one.
const FIRST_READ: Duration = Duration::from_secs(20);
const FIRST_READ_OF_MANY: Duration = Duration::from_secs(3_600);
const MANY: usize = 50;

/// Reads menus until the service stops.
pub async fn run(app: Arc<App>) {
    let plan_at = Instant::now();
    due_work::run(app, DueMenus { plan_at }).await;
}

struct DueMenus {
    plan_at: Instant,
}

impl DueWork for DueMenus {
    const NAME: &'static str = "menus";
    /// Menus are large: few are in memory at the same time.
    const SLOTS: SlotLimits = SlotLimits {
        total: 4,
        per_account: 2,
        failing: 4,
    };
    type Id = RestaurantId;
    type Error = Fault;

    fn signal(app: &App) -> &Notify {
        &app.product_work.menus
    }

    async fn prepare(&mut self, app: &App) -> Result<(), StoreError> {
        if Instant::now() >= self.plan_at {
            plan(app).await?;
            self.plan_at = Instant::now() + PLAN_INTERVAL;
        }
        make_requested_due(app).await?;
        if app.store.read(menus::has_interrupted).await? {
            let now = app.now();
            app.store
                .write(Partition::COMMON, move |tx| menus::release_interrupted(tx, now))
                .await?;
        }
        Ok(())
    }

    fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, StoreError> {
        menus::next_due(tx)
    }

    async fn due(&mut self, app: &App, now: Timestamp) -> Result<Vec<(RestaurantId, AccountId)>, StoreError> {
        let due = move |tx: &mut Tx<'_>| menus::due_restaurants(tx, now, RESTAURANTS);
        let due = app.store.read(due).await?.into_iter();
        Ok(due.map(|(account, restaurant)| (restaurant, account)).collect())
    }

    async fn work(app: &Arc<App>, account: AccountId, id: RestaurantId) -> Result<(), Fault> {
        read_restaurant(app, account, id).await
    }
}

/// Makes the menus due that readers have requested without waiting.
async fn make_requested_due(app: &App) -> Result<(), StoreError> {
    for (account, restaurant, provider) in app.product_work.take_reads() {
        match make_due(app, account, restaurant, Some(provider)).await {
            Err(Fault::Store(error)) => return Err(error),
            // The restaurant was deleted meanwhile.
            Err(fault) => tracing::debug!(%restaurant, ?fault, "a menu is not read"),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// Plans the first read of new integrations, and removes the plans of those that no longer exist.
async fn plan(app: &App) -> Result<(), StoreError> {
    let reads_daily = app.settings.menus.read_hours > 0;
    let (missing, unplanned, has_orphans) = app
        .store
        .read(move |tx| {
            let missing = menus::without_row(tx, PLANNED)?;
            // Daily reads were switched off before.
            let unplanned = if reads_daily {
                menus::due_exactly(tx, NEVER, PLANNED)?
            } else {
                Vec::new()
            };
            Ok::<_, StoreError>((missing, unplanned, menus::has_orphans(tx)?))
        })
        .await?;
    if missing.is_empty() && unplanned.is_empty() && !has_orphans {
        return Ok(());
    }
    let now = app.now();
    let is_many = missing.len() + unplanned.len() >= MANY;
    let within = if is_many { FIRST_READ_OF_MANY } else { FIRST_READ };
    app.store
        .write(Partition::COMMON, move |tx| {
            for row in &missing {
                let due_at = if reads_daily {
                    spread(now, within, row.0.as_bytes())
                } else {
                    NEVER
                };
                menus::plan(tx, *row, due_at)?;
            }
            for integration in &unplanned {
                menus::make_due(tx, *integration, spread(now, within, integration.as_bytes()))?;
            }
            if has_orphans {
                menus::remove_orphans(tx, PLANNED)?;
            }
            Ok::<_, StoreError>(())
        })
        .await
}
