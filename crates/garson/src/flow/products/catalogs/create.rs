//! Creates a push: the newest version of another platform's menu, with the ids of the restaurant's products.

use super::read::get;
use super::target::target_integration;
use super::translate::ItemIds;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::products::menus::{pack, unpack};
use crate::flow::products::record;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::catalog::{CatalogProgress, CatalogStage};
use garson_core::explanation::PlatformFailure;
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, CatalogPushId, RestaurantId};
use garson_core::platform::{Platform, Provider};
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_control::Requester;
use garson_core::store_status::StoreActor;
use garson_core::time::Timestamp;
use garson_store::StoreError;
use garson_store::tables::catalogs::PushedCatalog;
use garson_store::tables::menus::MenuVersion;
use garson_store::tables::{catalogs, menus, platform_items, restaurants};
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

/// How long a client waits for the platform's answer.
const WAIT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(250);
/// The number of catalogs kept for a restaurant.
const KEEP: i64 = 100;

/// Sends the newest menu of `source` to another platform, and waits until the platform has answered or the time is up.
pub async fn create(
    app: &App,
    by: By,
    restaurant: RestaurantId,
    (id, requester): (CatalogPushId, Requester),
    source: Provider,
    target: &'static dyn Platform,
) -> Result<PushedCatalog, Fault> {
    let account = by.account;
    let integration = target_integration(app, account, restaurant, target)
        .await?
        .integration
        .id;
    if source == target.provider() {
        return Err(Fault::invalid("from", FieldProblem::NotOtherPlatform));
    }
    let now = app.now();
    let (version, menu) = menu_to_send(app, restaurant, source, target.provider(), now).await?;
    let catalog = PushedCatalog {
        id,
        account_id: account,
        restaurant_id: restaurant,
        integration_id: integration,
        source,
        source_version: version,
        provider: target.provider(),
        products: menu.products,
        progress: CatalogProgress::new(),
        attempts: 0,
        is_sending: false,
        created_at: now,
        finished_at: None,
        due_at: Some(now),
    };
    store(app, by, catalog, menu.body, requester).await?;
    app.product_work.catalogs.notify_one();
    wait(app, account, restaurant, id).await
}

/// The newest menu of a platform, compressed, with the ids of its items on another platform, and its version.
async fn menu_to_send(
    app: &App,
    restaurant: RestaurantId,
    source: Provider,
    target: Provider,
    now: Timestamp,
) -> Result<(i64, MenuVersion), Fault> {
    let (version, of_source, of_target) = app
        .store
        .read(move |tx| {
            let version = menus::version_at(tx, restaurant, source, now)?;
            let of_source = platform_items::of_provider(tx, restaurant, source)?;
            let of_target = platform_items::of_provider(tx, restaurant, target)?;
            Ok::<_, StoreError>((version, of_source, of_target))
        })
        .await?;
    let Some(version) = version else {
        return Err(Fault::invalid("from", FieldProblem::NoMenu));
    };
    let number = version.number;
    let translated = tokio::task::spawn_blocking(move || {
        let menu = unpack(&version)?;
        pack(
            &ItemIds::new(source, &of_source, &of_target).translate(&menu),
            now,
        )
    });
    let packed = translated
        .await
        .map_err(|error| StoreError::internal(format!("a menu could not be translated: {error}")))?
        .map_err(|error| StoreError::corrupt(error.to_string()))?;
    if packed.products == 0 {
        return Err(Fault::invalid("from", FieldProblem::EmptyMenu));
    }
    Ok((number, packed))
}

async fn store(
    app: &App,
    by: By,
    catalog: PushedCatalog,
    body: Vec<u8>,
    requester: Requester,
) -> Result<(), Fault> {
    let (account, restaurant) = (catalog.account_id, catalog.restaurant_id);
    app.store
        .write(account, move |tx| {
            if !restaurants::lock(tx, account, restaurant)? {
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            // The id exists if an earlier run of the same idempotent request got this far.
            if catalogs::find(tx, account, restaurant, catalog.id)?.is_some() {
                return Ok(());
            }
            let now = catalog.created_at;
            let replaced = PlatformFailure::Withdrawn.into();
            catalogs::replace_older(tx, catalog.integration_id, catalog.id, &replaced, now)?;
            catalogs::add(tx, &catalog, &body)?;
            catalogs::remove_beyond(tx, restaurant, KEEP)?;
            let detail = json!({ "from": catalog.source, "products": catalog.products });
            let sent = Recorded::new(RecordKind::Menu, Verb::Sent).id(catalog.provider);
            by.record(tx, sent.restaurant(restaurant).after(detail.clone()), now);
            let whose = (StoreActor::Account, requester);
            let action = HistoryAction::CatalogRequested;
            let entry = HistoryEntry::new(restaurant, now, whose, action, detail).on(catalog.provider);
            record::history(tx, account, entry)?;
            Ok(())
        })
        .await
}

async fn wait(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    id: CatalogPushId,
) -> Result<PushedCatalog, Fault> {
    let until = Instant::now() + WAIT;
    loop {
        let found = get(app, account, restaurant, id).await?;
        if found.progress.stage != CatalogStage::Pending || Instant::now() >= until {
            return Ok(found);
        }
        // After either a result or the pause, the database is read again.
        let _ = tokio::time::timeout(PAUSE, app.product_work.settled.notified()).await;
    }
}
