//! Reads the due menus of one restaurant.

use super::from_orders;
use super::pack::{pack, unpack};
use super::read_back::compare_desired;
use super::reconcile::{Found, reconcile};
use super::schedule::next_read;
use crate::app::App;
use crate::app::fetched_menu::FetchedMenu;
use crate::flow::Fault;
use crate::flow::platform_client::{Contact, read_menu};
use crate::flow::products::record;
use garson_core::event::MenuEvent;
use garson_core::explanation::PlatformFailure;
use garson_core::id::{AccountId, NodeId, RestaurantId};
use garson_core::menu::Menu;
use garson_core::menu_difference::{between_menus, count};
use garson_core::platform::{CallError, Provider};
use garson_core::product::{ListedItem, menu_items};
use garson_core::time::Timestamp;
use garson_store::tables::menus::MenuRead;
use garson_store::tables::platform_items::ItemSource;
use garson_store::tables::{integrations, menus};
use garson_store::{StoreError, Tx};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The time for all requests of one menu.
const DEADLINE: Duration = Duration::from_secs(90);
/// Pauses after failed attempts.
const PAUSES: [u64; 5] = [60, 300, 1_800, 7_200, 21_600];
/// How often products are collected from orders, if the menu cannot be read.
const ORDERS_EVERY: Duration = Duration::from_secs(3_600);

/// Reads the due menus of a restaurant, one after the other.
pub async fn read_restaurant(
    app: &Arc<App>,
    account: AccountId,
    restaurant: RestaurantId,
) -> Result<(), Fault> {
    let Some(node) = app.store.node_id() else {
        return Ok(());
    };
    let now = app.now();
    let claimed = app
        .store
        .write(account, move |tx| menus::claim(tx, restaurant, node, now))
        .await?;
    for mut read in claimed {
        let next_at = match read_one(app, &mut read).await {
            Ok(next_at) => next_at,
            Err(fault) => {
                tracing::warn!(%restaurant, provider = %read.provider, ?fault, "a menu could not be stored");
                read.attempts += 1;
                app.now().plus(pause(read.attempts))
            }
        };
        finish(app, read, node, next_at).await?;
    }
    app.product_work.settled.notify_waiters();
    Ok(())
}

async fn finish(app: &App, read: MenuRead, node: NodeId, next_at: Timestamp) -> Result<(), StoreError> {
    app.store
        .write(read.account_id, move |tx| menus::finish(tx, &read, node, next_at))
        .await
}

fn pause(attempts: i64) -> Duration {
    let index = usize::try_from(attempts.saturating_sub(1)).unwrap_or(0);
    let seconds = PAUSES.get(index).or(PAUSES.last()).copied().unwrap_or(60);
    Duration::from_secs(seconds)
}

/// Reads one menu; returns the time of the next read.
async fn read_one(app: &Arc<App>, read: &mut MenuRead) -> Result<Timestamp, Fault> {
    let (vault, id) = (Arc::clone(&app.vault), read.integration_id);
    let connected = app
        .store
        .read(move |tx| integrations::by_id(tx, &vault, id))
        .await?
        .filter(|connected| connected.integration.is_active);
    let contact = connected.as_ref().and_then(|connected| app.contact(connected));
    let Some(contact) = contact else {
        read.message = Some(PlatformFailure::NotConnected.into());
        return Ok(next_read(app, id.as_bytes()));
    };
    if !contact.platform.capability().menu {
        from_orders::collect(app, read).await?;
        succeed(app, read);
        let is_daily = app.settings.menus.read_hours > 0;
        return Ok(if is_daily {
            app.now().plus(ORDERS_EVERY)
        } else {
            next_read(app, id.as_bytes())
        });
    }
    let started_at = app.now();
    match fetch(app, &contact.for_menus()).await {
        Ok(menu) => {
            store(app, read, menu, started_at).await?;
            succeed(app, read);
            Ok(next_read(app, id.as_bytes()))
        }
        Err(CallError::HeldBack { message, room_in }) => {
            read.message = Some(message);
            Ok(app.now().plus(room_in))
        }
        Err(trouble) => {
            tracing::debug!(restaurant = %read.restaurant_id, provider = %read.provider, %trouble, "a menu could not be read");
            read.attempts += 1;
            read.message = Some(trouble.explanation());
            Ok(app.now().plus(pause(read.attempts)))
        }
    }
}

/// The number of items that have changed since the newest version.
async fn changes_since(
    app: &App,
    restaurant: RestaurantId,
    provider: Provider,
    hash: Vec<u8>,
    items: Vec<ListedItem>,
) -> Result<MenuEvent, Fault> {
    let now = app.now();
    let newest = app
        .store
        .read(move |tx| menus::version_at(tx, restaurant, provider, now))
        .await?;
    let Some(newest) = newest.filter(|newest| newest.hash != hash) else {
        return Ok(MenuEvent::default());
    };
    let counted = tokio::task::spawn_blocking(move || {
        // A damaged version is compared as an empty one.
        let before = unpack(&newest)
            .map(|menu| menu_items(provider, &menu))
            .unwrap_or_default();
        count(&between_menus(&before, &items))
    });
    let counted = counted.await;
    Ok(counted.map_err(|error| StoreError::internal(format!("menus could not be compared: {error}")))?)
}

fn succeed(app: &App, read: &mut MenuRead) {
    read.attempts = 0;
    read.message = None;
    read.read_at = Some(app.now());
}

async fn fetch(app: &App, contact: &Contact) -> Result<Menu, CallError> {
    read_menu(app, contact, Instant::now() + DEADLINE).await
}

/// Stores a menu as a version if it has changed, matches its items, and compares them with their desired availability.
async fn store(app: &Arc<App>, read: &MenuRead, menu: Menu, started_at: Timestamp) -> Result<(), Fault> {
    let (menu, version, items) = {
        let provider = read.provider;
        let packed = tokio::task::spawn_blocking(move || {
            let version = pack(&menu, started_at);
            let items = menu_items(provider, &menu);
            (menu, version, items)
        });
        packed
            .await
            .map_err(|error| StoreError::internal(format!("a menu could not be packed: {error}")))?
    };
    let version = version.map_err(|error| StoreError::internal(error.to_string()))?;
    let found = Found {
        account: read.account_id,
        restaurant: read.restaurant_id,
        provider: read.provider,
        source: ItemSource::Menu,
        is_complete: true,
        seen_at: started_at,
        items,
    };
    let items = reconcile(app, found).await?;
    compare_desired(app, read, &items, started_at).await?;
    let (account, restaurant, provider) = (read.account_id, read.restaurant_id, read.provider);
    let news = changes_since(app, restaurant, provider, version.hash.clone(), items).await?;
    let keep = i64::from(app.settings.menus.keep_versions);
    let days = Duration::from_secs(u64::from(app.settings.menus.keep_days) * 86_400);
    let before = app.now().minus(days);
    app.store
        .write(account, move |tx: &mut Tx<'_>| {
            let number = menus::add_version(tx, account, restaurant, provider, &version)?;
            // The first version is not a change.
            if let Some(number) = number.filter(|number| *number > 1) {
                let news = MenuEvent {
                    version: number,
                    ..news
                };
                record::menu_changed(tx, account, restaurant, provider, &news, started_at)?;
            }
            menus::remove_old_versions(tx, restaurant, provider, keep, before)?;
            Ok::<_, StoreError>(())
        })
        .await?;
    let fetched = Arc::new(FetchedMenu {
        menu,
        fetched_at: started_at,
    });
    app.menus.put(read.integration_id, fetched);
    Ok(())
}
