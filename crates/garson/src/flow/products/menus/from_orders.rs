//! Collects the products of platforms whose menus cannot be read from orders. There, the platform's product id is the restaurant's own
//! code.

use super::reconcile::{Found, reconcile};
use crate::app::App;
use garson_core::id::RestaurantId;
use garson_core::money::Currency;
use garson_core::order::Item;
use garson_core::platform::Provider;
use garson_core::product::{ItemKey, ListedItem};
use garson_store::tables::menus::MenuRead;
use garson_store::tables::orders;
use garson_store::tables::platform_items::ItemSource;
use garson_store::{StoreError, Tx};
use std::collections::{BTreeMap, BTreeSet};

/// Orders in one read job.
const ORDERS: i64 = 200;
/// Read jobs in one run; the next run continues.
const JOBS: usize = 50;

/// Adds the products of orders that have arrived since the last run.
pub async fn collect(app: &App, read: &mut MenuRead) -> Result<(), StoreError> {
    let (restaurant, provider) = (read.restaurant_id, read.provider);
    let mut found: BTreeMap<ItemKey, ListedItem> = BTreeMap::new();
    for _ in 0..JOBS {
        let after = read.order_position;
        let (items, last) = app
            .store
            .read(move |tx| ordered(tx, restaurant, provider, after))
            .await?;
        found.extend(items.into_iter().map(|item| (item.key.clone(), item)));
        match last {
            Some(last) => read.order_position = last,
            None => break,
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    let found = Found {
        account: read.account_id,
        restaurant,
        provider,
        source: ItemSource::Order,
        is_complete: false,
        seen_at: app.now(),
        items: found.into_values().collect(),
    };
    reconcile(app, found).await?;
    Ok(())
}

/// The products of the next orders of a restaurant, and the position of the last order, if there was one.
fn ordered(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    provider: Provider,
    after: i64,
) -> Result<(Vec<ListedItem>, Option<i64>), StoreError> {
    let orders = orders::after_position(tx, restaurant, after, ORDERS)?;
    let last = orders.last().map(|(_, position, _)| *position);
    let mut items = Vec::new();
    for (id, _, _) in orders.iter().filter(|(_, _, of)| *of == provider) {
        let content = orders::content(tx, *id)?;
        let currency = content.amount.currency;
        items.extend(
            content
                .items
                .iter()
                .filter_map(|item| listed(provider, item, currency)),
        );
    }
    Ok((items, last))
}

fn listed(provider: Provider, item: &Item, currency: Currency) -> Option<ListedItem> {
    let id = item.product_id.clone().filter(|id| !id.is_empty())?;
    Some(ListedItem {
        key: ItemKey {
            provider,
            is_option: false,
            id: id.clone(),
        },
        code: Some(id),
        name: item.name.clone(),
        category: None,
        price: Some(item.unit_price),
        currency,
        image_url: None,
        is_available: None,
        traits: BTreeSet::new(),
        places: Vec::new(),
    })
}
