//! Links the platform's items after an import to the products that they were made from, so that orders and switches find them.

use crate::app::App;
use garson_core::id::{AccountId, ProductId, RestaurantId};
use garson_core::menu::Menu;
use garson_core::product::{ItemKey, ListedItem, menu_items};
use garson_core::time::Timestamp;
use garson_store::tables::catalogs::PushedCatalog;
use garson_store::tables::platform_items::{ItemSource, PlatformItem};
use garson_store::tables::{platform_items, products};
use garson_store::{StoreError, Tx};
use std::collections::BTreeSet;

/// Items in one transaction: a few milliseconds of the writer's time.
const ITEMS: usize = 50;

/// Stores the items that the platform has now. The catalog replaces all earlier items.
pub async fn link(app: &App, catalog: &PushedCatalog, menu: &Menu) -> Result<(), StoreError> {
    let (account, restaurant) = (catalog.account_id, catalog.restaurant_id);
    let provider = catalog.provider;
    // A newer availability of an item is kept.
    let (seen_at, now) = (catalog.created_at, app.now());
    let items = menu_items(provider, menu);
    let there: BTreeSet<ItemKey> = items.iter().map(|item| item.key.clone()).collect();
    for some in items.chunks(ITEMS) {
        let some = some.to_vec();
        app.store
            .write(account, move |tx| {
                some.iter()
                    .try_for_each(|item| link_item(tx, (account, restaurant), item, seen_at, now))
            })
            .await?;
    }
    let known = app
        .store
        .read(move |tx| platform_items::of_provider(tx, restaurant, provider))
        .await?;
    let is_missing = |it: &PlatformItem| {
        it.source == ItemSource::Menu && it.gone_at.is_none() && !there.contains(&it.item.key)
    };
    let missing: Vec<(ItemKey, ProductId)> = known
        .into_iter()
        .filter(is_missing)
        .map(|it| (it.item.key, it.product_id))
        .collect();
    for some in missing.chunks(ITEMS) {
        let some = some.to_vec();
        app.store
            .write(account, move |tx| {
                some.iter().try_for_each(|(key, product)| {
                    platform_items::mark_gone(tx, restaurant, key, now)?;
                    products::refresh(tx, *product, now).map(drop)
                })
            })
            .await?;
    }
    Ok(())
}

fn link_item(
    tx: &mut Tx<'_>,
    (account, restaurant): (AccountId, RestaurantId),
    item: &ListedItem,
    seen_at: Timestamp,
    now: Timestamp,
) -> Result<(), StoreError> {
    let stored = platform_items::find(tx, restaurant, &item.key)?;
    let meant = meant_product(tx, (account, restaurant), &item.key)?;
    let product = match (&stored, meant) {
        // It was found in an earlier order and matched by name.
        (Some(stored), Some(product)) if !stored.is_manual => {
            platform_items::link(tx, restaurant, &item.key, product, false)?;
            products::refresh(tx, stored.product_id, now)?;
            products::remove_empty_of(tx, restaurant, &[stored.product_id])?;
            product
        }
        (Some(stored), _) => stored.product_id,
        (None, Some(product)) => product,
        // It was not a product when the menu was sent; it is collected from orders.
        (None, None) => return Ok(()),
    };
    let saved = PlatformItem {
        item: ListedItem {
            code: Some(item.key.id.clone()),
            ..item.clone()
        },
        product_id: product,
        is_manual: stored.is_some_and(|it| it.is_manual),
        source: ItemSource::Menu,
        available_at: seen_at,
        gone_at: None,
    };
    platform_items::save(tx, account, restaurant, &saved, now)?;
    products::refresh(tx, product, now).map(drop)
}

/// The product whose id the item has, unless the product has another item of the platform.
fn meant_product(
    tx: &mut Tx<'_>,
    (account, restaurant): (AccountId, RestaurantId),
    key: &ItemKey,
) -> Result<Option<ProductId>, StoreError> {
    let Ok(id) = key.id.parse::<ProductId>() else {
        return Ok(None);
    };
    let found = products::find(tx, account, restaurant, id)?;
    if found.is_none_or(|product| product.is_option != key.is_option) {
        return Ok(None);
    }
    let items = platform_items::of_products(tx, &[id])?;
    let is_free = items.iter().all(|it| it.item.key.provider != key.provider);
    Ok(is_free.then_some(id))
}
