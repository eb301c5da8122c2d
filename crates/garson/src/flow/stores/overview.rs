//! The stores that a board shows: those of a restaurant, or of all restaurants of an account.
//!
//! Boards of all restaurants share one reading, so that many boards of a large account cost as much as one.

use super::set_desired::support_of;
use crate::app::App;
use crate::app::store_overview::{RestaurantStores, ShownStore, StoreOverview};
use crate::flow::Fault;
use garson_core::id::{AccountId, IntegrationId, RestaurantId};
use garson_core::restaurant::Config;
use garson_core::store_control::StoreRecord;
use garson_store::Tx;
use garson_store::tables::store_states;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long boards share a reading, and how long where it has many stores.
const USABLE_FOR: Duration = Duration::from_secs(1);
const LARGE_USABLE_FOR: Duration = Duration::from_secs(5);
const LARGE: usize = 400;
/// Stores that are read at most.
const MAX_STORES: i64 = 8_000;

/// The stores of a board.
pub struct Overview {
    /// Only restaurants with stores that can be controlled, by name.
    pub restaurants: Arc<Vec<RestaurantStores>>,
    /// When it is to be read again, because what was committed just now may be missing.
    pub read_again_at: Option<Instant>,
}

/// The stores of a restaurant, or of all restaurants of an account.
pub async fn overview(app: &App, account: AccountId, only: Option<RestaurantId>) -> Result<Overview, Fault> {
    if only.is_some() {
        let restaurants = app.store.read(move |tx| read(tx, account, only)).await?;
        return Ok(Overview {
            restaurants: Arc::new(restaurants),
            read_again_at: None,
        });
    }
    let cached = app.store_overviews.get(&account, LARGE_USABLE_FOR);
    if let Some(cached) = cached.filter(|it| it.began.elapsed() < it.usable_for) {
        return Ok(Overview {
            restaurants: Arc::clone(&cached.restaurants),
            read_again_at: Some(cached.began + cached.usable_for),
        });
    }
    Ok(Overview {
        restaurants: load_all(app, account).await?,
        read_again_at: None,
    })
}

/// The same, with everything that was committed before.
pub async fn overview_now(
    app: &App,
    account: AccountId,
    only: Option<RestaurantId>,
) -> Result<Arc<Vec<RestaurantStores>>, Fault> {
    match only {
        Some(_) => Ok(overview(app, account, only).await?.restaurants),
        None => load_all(app, account).await,
    }
}

async fn load_all(app: &App, account: AccountId) -> Result<Arc<Vec<RestaurantStores>>, Fault> {
    let began = Instant::now();
    let restaurants = Arc::new(app.store.read(move |tx| read(tx, account, None)).await?);
    let count: usize = restaurants.iter().map(|it| it.stores.len()).sum();
    let overview = StoreOverview {
        restaurants: Arc::clone(&restaurants),
        began,
        usable_for: if count > LARGE {
            LARGE_USABLE_FOR
        } else {
            USABLE_FOR
        },
    };
    app.store_overviews.put(account, Arc::new(overview));
    Ok(restaurants)
}

fn read(
    tx: &mut Tx<'_>,
    account: AccountId,
    only: Option<RestaurantId>,
) -> Result<Vec<RestaurantStores>, Fault> {
    let connected = store_states::connected(tx, account, only, MAX_STORES)?;
    let known: HashMap<IntegrationId, StoreRecord> =
        store_states::of_connected(tx, account, only, MAX_STORES)?
            .into_iter()
            .map(|store| (store.integration_id, store))
            .collect();
    let mut found: Vec<RestaurantStores> = Vec::new();
    for it in connected {
        let Some(support) = support_of(it.provider) else {
            continue;
        };
        let shown = ShownStore::new(it.provider, support, known.get(&it.integration_id));
        match found.last_mut().filter(|last| last.id == it.restaurant_id) {
            Some(last) => last.stores.push(shown),
            None => found.push(RestaurantStores {
                id: it.restaurant_id,
                name: it.restaurant,
                timezone: Config::read(it.config.as_deref()).unwrap_or_default().timezone,
                stores: vec![shown],
            }),
        }
    }
    Ok(found)
}
