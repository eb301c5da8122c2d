//! Updates the restaurant's products from the current items of a platform.
//!
//! Changes are computed from one snapshot and written in small transactions. Only one node does this for a restaurant at a time;
//! links that users make in the meantime are kept, because a stored item keeps its product.

use crate::app::App;
use crate::flow::products::record;
use garson_core::id::{AccountId, ProductId, RestaurantId};
use garson_core::platform::Provider;
use garson_core::product::{ItemKey, ListedItem};
use garson_core::product_match::{Assignment, MatchItem, MatchProduct, assign};
use garson_core::store_status::StoreActor;
use garson_core::time::Timestamp;
use garson_store::tables::platform_items::{ItemSource, PlatformItem};
use garson_store::tables::products::Product;
use garson_store::tables::{declined_matches, desired_items, platform_items, products};
use garson_store::{StoreError, Tx};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// Changes in one transaction: a few milliseconds of the writer's time.
const CHANGES: usize = 200;
/// The largest number of events about items that a platform has switched by itself.
const MAX_ANNOUNCED: usize = 100;
/// How long an item that a menu no longer has keeps its product.
const KEEP_GONE: Duration = Duration::from_secs(30 * 86_400);

/// The items that were found on a platform.
pub struct Found {
    pub account: AccountId,
    pub restaurant: RestaurantId,
    pub provider: Provider,
    pub source: ItemSource,
    /// The list is complete: items that are not in it are gone.
    pub is_complete: bool,
    pub seen_at: Timestamp,
    pub items: Vec<ListedItem>,
}

/// A change to be written.
enum Change {
    AddProduct(Product),
    Rename(ProductId, String),
    Remove(ItemKey),
    Save(Box<PlatformItem>),
    Gone(ItemKey),
    Refresh(ProductId),
    /// The platform has switched an item by itself.
    Announce(Box<PlatformItem>, bool),
}

/// Matches the items with the restaurant's products, and returns them.
pub async fn reconcile(app: &App, found: Found) -> Result<Vec<ListedItem>, StoreError> {
    let (account, restaurant, provider) = (found.account, found.restaurant, found.provider);
    let (known, all) = app
        .store
        .read(move |tx| {
            let known = platform_items::of_restaurant(tx, restaurant)?;
            Ok::<_, StoreError>((known, products::of_restaurant(tx, restaurant)?))
        })
        .await?;
    let now = app.now();
    let computed = tokio::task::spawn_blocking(move || {
        let changes = changes(&found, &known, &all, now);
        (changes, found.items)
    });
    let (changes, items) = computed
        .await
        .map_err(|error| StoreError::internal(format!("products could not be matched: {error}")))?;
    let mut left = changes.into_iter().peekable();
    while left.peek().is_some() {
        let some: Vec<Change> = left.by_ref().take(CHANGES).collect();
        app.store
            .write(account, move |tx| {
                some.iter()
                    .try_for_each(|change| apply(tx, account, restaurant, change, now))
            })
            .await?;
    }
    remove_leftovers(app, account, restaurant, now).await?;
    tracing::debug!(%restaurant, %provider, items = items.len(), "products were matched");
    Ok(items)
}

async fn remove_leftovers(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let limit = i64::try_from(CHANGES).unwrap_or(i64::MAX);
    loop {
        let removed = app
            .store
            .write(account, move |tx| {
                let items = platform_items::remove_gone(tx, restaurant, now.minus(KEEP_GONE), limit)?;
                let desired = desired_items::remove_orphans(tx, restaurant, limit)?;
                let empty = products::remove_empty(tx, restaurant, limit)?;
                let pairs = declined_matches::remove_orphans(tx, restaurant, limit)?;
                Ok::<_, StoreError>(items + desired + empty + pairs)
            })
            .await?;
        if removed == 0 {
            return Ok(());
        }
    }
}

fn apply(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    change: &Change,
    now: Timestamp,
) -> Result<(), StoreError> {
    match change {
        Change::AddProduct(product) => products::add(tx, account, product),
        Change::Rename(product, name) => products::rename(tx, *product, name, now),
        Change::Remove(key) => platform_items::remove(tx, restaurant, key),
        Change::Save(item) => platform_items::save(tx, account, restaurant, item, now),
        Change::Gone(key) => platform_items::mark_gone(tx, restaurant, key, now),
        Change::Refresh(product) => products::refresh(tx, *product, now).map(drop),
        Change::Announce(item, is_available) => {
            let news = (*is_available, None, StoreActor::Platform.as_str());
            record::item_changed(tx, account, restaurant, item, news, now)
        }
    }
}

/// The changes to write, in an order in which each transaction is consistent.
fn changes(found: &Found, known: &[PlatformItem], all: &[Product], now: Timestamp) -> Vec<Change> {
    let by_key: HashMap<&ItemKey, &PlatformItem> = known.iter().map(|it| (&it.item.key, it)).collect();
    let by_product: HashMap<ProductId, &Product> = all.iter().map(|it| (it.id, it)).collect();
    let mut planned = Planned::default();
    let mut new = Vec::new();
    for item in &found.items {
        match by_key.get(&item.key) {
            None => new.push(item),
            Some(stored) => planned.update(found, stored, item, by_product.get(&stored.product_id).copied()),
        }
    }
    let placed = place_new(&new, known, all);
    planned.add_new(found, &placed, known, &by_product, now);
    if found.is_complete {
        planned.mark_missing(found, known);
    }
    planned.into_changes()
}

/// The product of each new item, with the product's row if it is new.
fn place_new<'a>(
    new: &[&'a ListedItem],
    known: &[PlatformItem],
    all: &[Product],
) -> Vec<(&'a ListedItem, Assignment, Option<ProductId>)> {
    if new.is_empty() {
        return Vec::new();
    }
    let index: HashMap<ProductId, usize> = all.iter().enumerate().map(|(n, it)| (it.id, n)).collect();
    let matched = known
        .iter()
        .filter(|it| it.gone_at.is_none() || it.is_manual)
        .map(|it| MatchItem {
            product: index.get(&it.product_id).copied(),
            ..MatchItem::new(&it.item)
        });
    let items: Vec<MatchItem> = matched.chain(new.iter().map(|it| MatchItem::new(it))).collect();
    let kinds: Vec<MatchProduct> = all
        .iter()
        .map(|it| MatchProduct {
            is_closed: it.is_closed,
        })
        .collect();
    let assigned = assign(&items, &kinds);
    let id_of = |to: Assignment| match to {
        Assignment::Product(index) => all.get(index).map(|it| it.id),
        Assignment::New(_) => None,
    };
    new.iter()
        .filter_map(|item| {
            let to = *assigned.get(&item.key)?;
            Some((*item, to, id_of(to)))
        })
        .collect()
}

#[derive(Default)]
struct Planned {
    products: Vec<Change>,
    removals: Vec<Change>,
    saves: Vec<Change>,
    refreshed: BTreeSet<ProductId>,
    announced: Vec<Change>,
}

impl Planned {
    /// A known item: stored again if it has changed.
    fn update(&mut self, found: &Found, stored: &PlatformItem, item: &ListedItem, product: Option<&Product>) {
        if stored.item == *item && stored.gone_at.is_none() && stored.source == found.source {
            return;
        }
        if stored.item.name != item.name
            && let Some(product) = product
            && product.name == stored.item.name
        {
            self.products.push(Change::Rename(product.id, item.name.clone()));
        }
        if let (Some(before), Some(after)) = (stored.item.is_available, item.is_available)
            && before != after
            && stored.available_at <= found.seen_at
        {
            let change = Change::Announce(Box::new(stored.clone()), after);
            self.announced.push(change);
        }
        self.saves.push(Change::Save(Box::new(PlatformItem {
            item: item.clone(),
            source: found.source,
            available_at: found.seen_at,
            gone_at: None,
            ..stored.clone()
        })));
        self.refreshed.insert(stored.product_id);
    }

    fn add_new(
        &mut self,
        found: &Found,
        placed: &[(&ListedItem, Assignment, Option<ProductId>)],
        known: &[PlatformItem],
        by_product: &HashMap<ProductId, &Product>,
        now: Timestamp,
    ) {
        let gone: HashMap<ProductId, &ItemKey> = known
            .iter()
            .filter(|it| it.gone_at.is_some() && it.item.key.provider == found.provider)
            .map(|it| (it.product_id, &it.item.key))
            .collect();
        let mut made: BTreeMap<Assignment, ProductId> = BTreeMap::new();
        for (item, to, existing) in placed {
            let id = match existing {
                Some(id) => {
                    // It may have been removed since.
                    if let Some(product) = by_product.get(id) {
                        self.products.push(Change::AddProduct((*product).clone()));
                    }
                    if let Some(replaced) = gone.get(id) {
                        self.removals.push(Change::Remove((*replaced).clone()));
                    }
                    *id
                }
                None => *made.entry(*to).or_insert_with(|| {
                    let product = new_product(found.restaurant, item, false, now);
                    let id = product.id;
                    self.products.push(Change::AddProduct(product));
                    id
                }),
            };
            self.saves.push(Change::Save(Box::new(PlatformItem {
                item: (*item).clone(),
                product_id: id,
                is_manual: false,
                source: found.source,
                available_at: found.seen_at,
                gone_at: None,
            })));
            self.refreshed.insert(id);
        }
    }

    fn mark_missing(&mut self, found: &Found, known: &[PlatformItem]) {
        let there: BTreeSet<&ItemKey> = found.items.iter().map(|item| &item.key).collect();
        let of_menu = known.iter().filter(|it| {
            it.item.key.provider == found.provider && it.source == ItemSource::Menu && it.gone_at.is_none()
        });
        for missing in of_menu.filter(|it| !there.contains(&it.item.key)) {
            self.saves.push(Change::Gone(missing.item.key.clone()));
            self.refreshed.insert(missing.product_id);
        }
    }

    fn into_changes(self) -> Vec<Change> {
        let refreshed = self.refreshed.into_iter().map(Change::Refresh);
        let mut all = self.products;
        all.extend(self.removals);
        all.extend(self.saves);
        all.extend(refreshed);
        // If very many change at once, only the menu event reports it.
        if self.announced.len() <= MAX_ANNOUNCED {
            all.extend(self.announced);
        }
        all
    }
}

/// A product that is named after an item.
pub fn new_product(restaurant: RestaurantId, item: &ListedItem, is_closed: bool, now: Timestamp) -> Product {
    Product {
        id: ProductId::at(now),
        restaurant_id: restaurant,
        is_option: item.key.is_option,
        name: item.name.clone(),
        is_closed,
        is_available: item.is_available != Some(false),
        created_at: now,
        updated_at: now,
    }
}
