//! Reads of menus on request, and the state of menus.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::fault::Thing;
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use garson_store::tables::{integrations, menus, restaurants};
use std::time::Duration;
use tokio::time::Instant;

/// Versions that are listed.
const VERSIONS: i64 = 100;
/// The pause between reads of the database while a menu is being read; another node may read it.
const PAUSE: Duration = Duration::from_millis(250);

/// The state of an integration's menu.
#[derive(Clone, Debug)]
pub struct MenuState {
    pub provider: Provider,
    /// Whether the platform's menu can be read; otherwise products are collected from orders.
    pub is_readable: bool,
    pub read_at: Option<Timestamp>,
    /// Why the last read failed.
    pub message: Option<Explanation>,
    pub is_due: bool,
}

/// A version of a menu.
#[derive(Clone, Copy, Debug)]
pub struct VersionSummary {
    pub number: i64,
    pub read_at: Timestamp,
    pub products: i64,
}

/// The state of each of the restaurant's menus.
pub async fn states(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
) -> Result<Vec<MenuState>, Fault> {
    let now = app.now();
    let reads = app
        .store
        .read(move |tx| {
            if !restaurants::exists(tx, account, restaurant)? {
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            Ok(menus::of_restaurant(tx, restaurant)?)
        })
        .await?;
    let state = |read: menus::MenuRead| MenuState {
        provider: read.provider,
        is_readable: garson_platforms::of(read.provider).is_some_and(|it| it.capability().menu),
        read_at: read.read_at,
        message: read.message,
        is_due: read.is_running || read.due_at <= now,
    };
    Ok(reads.into_iter().map(state).collect())
}

/// Requests a read of the menus of a restaurant, and waits at most `wait` for it to end.
pub async fn request_read(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    wait: Duration,
) -> Result<Vec<MenuState>, Fault> {
    make_due(app, account, restaurant, None).await?;
    app.product_work.menus.notify_one();
    let until = Instant::now() + wait;
    loop {
        let states = states(app, account, restaurant).await?;
        let is_due = states.iter().any(|state| state.is_due);
        if !is_due || Instant::now() >= until {
            return Ok(states);
        }
        // After either the end or the pause, the database is read again.
        let _ = tokio::time::timeout(PAUSE, app.product_work.settled.notified()).await;
    }
}

/// Makes the menus of a restaurant due, on one platform or all.
pub(super) async fn make_due(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    only: Option<Provider>,
) -> Result<(), Fault> {
    let now = app.now();
    app.store
        .write(account, move |tx| {
            if !restaurants::lock(tx, account, restaurant)? {
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            for integration in integrations::of_restaurant(tx, restaurant)? {
                let is_meant = only.is_none_or(|only| only == integration.provider);
                if is_meant && integration.is_active && integration.remote_id.is_some() {
                    let row = (integration.id, account, restaurant, integration.provider);
                    menus::plan(tx, row, now)?;
                    menus::make_due(tx, integration.id, now)?;
                }
            }
            Ok(())
        })
        .await
}

/// The versions of a restaurant's menu on a platform, newest first.
pub async fn versions(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    provider: Provider,
) -> Result<Vec<VersionSummary>, Fault> {
    let found = app
        .store
        .read(move |tx| {
            if !restaurants::exists(tx, account, restaurant)? {
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            Ok(menus::versions(tx, restaurant, provider, VERSIONS)?)
        })
        .await?;
    let summary = |(number, read_at, products)| VersionSummary {
        number,
        read_at,
        products,
    };
    Ok(found.into_iter().map(summary).collect())
}
