//! The items of platforms, by the platform's own id, with the product that each belongs to.

use crate::engine::in_list::{filled, marks};
use crate::engine::{Insert, Param};
use crate::tables::json::{from_json, to_json};
use crate::tables::row::{column_list, columns, each};
use crate::{Result, StoreError, Tx, params};
use garson_core::id::{AccountId, ProductId, RestaurantId};
use garson_core::platform::Provider;
use garson_core::product::{ItemKey, ListedItem};
use garson_core::time::Timestamp;

/// How an item became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemSource {
    Menu,
    /// It was ordered; the platform's menu cannot be read.
    Order,
    /// A user has entered it.
    Manual,
}

impl ItemSource {
    const ALL: [Self; 3] = [Self::Menu, Self::Order, Self::Manual];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Menu => "menu",
            Self::Order => "order",
            Self::Manual => "manual",
        }
    }

    fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|source| source.as_str() == name);
        found.ok_or_else(|| StoreError::corrupt("an item has an unknown source"))
    }
}

/// An item of a platform with the product that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformItem {
    pub item: ListedItem,
    pub product_id: ProductId,
    /// A user has linked it.
    pub is_manual: bool,
    pub source: ItemSource,
    /// When its availability was observed.
    pub available_at: Timestamp,
    /// The platform's menu no longer has it.
    pub gone_at: Option<Timestamp>,
}

columns! {
    const COLUMNS = "i." of platform_items {
        provider, is_option, remote_id, product_id, is_manual, source: String, code, name, category, price, currency, image_url,
        is_available, available_at, traits: String, places: String, gone_at
    }
    fn item() -> PlatformItem {
        let item = ListedItem {
            key: ItemKey { provider, is_option, id: remote_id },
            code,
            name,
            category,
            price,
            currency,
            image_url,
            is_available,
            traits: from_json("traits of an item", &traits)?,
            places: from_json("places of an item", &places)?,
        };
        let source = ItemSource::named(&source)?;
        Ok(PlatformItem { item, product_id, is_manual, source, available_at, gone_at })
    }
}

const INSERT: Insert<'_> = Insert {
    on_conflict: "ON CONFLICT (restaurant_id, provider, is_option, remote_id) DO UPDATE SET
         source = excluded.source, code = excluded.code, name = excluded.name, category = excluded.category,
         price = excluded.price, currency = excluded.currency, image_url = excluded.image_url,
         is_available = CASE WHEN excluded.available_at >= platform_items.available_at THEN excluded.is_available
                             ELSE platform_items.is_available END,
         available_at = CASE WHEN excluded.available_at >= platform_items.available_at THEN excluded.available_at
                             ELSE platform_items.available_at END,
         traits = excluded.traits, places = excluded.places, gone_at = excluded.gone_at,
         updated_at = excluded.updated_at",
    ..Insert::into(
        "platform_items",
        column_list!(platform_items {
            restaurant_id,
            provider,
            is_option,
            remote_id,
            account_id,
            product_id,
            is_manual,
            source,
            code,
            name,
            category,
            price,
            currency,
            image_url,
            is_available,
            available_at,
            traits,
            places,
            gone_at,
            updated_at
        }),
    )
};

/// Adds an item, or updates it from the platform. An existing item keeps its product and a newer availability.
pub fn save(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    stored: &PlatformItem,
    at: Timestamp,
) -> Result<()> {
    let item = &stored.item;
    let traits = to_json("traits of an item", &item.traits)?;
    let places = to_json("places of an item", &item.places)?;
    tx.insert_now(
        &INSERT,
        params![
            &restaurant,
            &item.key.provider,
            item.key.is_option,
            &item.key.id,
            &account,
            &stored.product_id,
            stored.is_manual,
            stored.source.as_str(),
            item.code.as_ref(),
            &item.name,
            item.category.as_ref(),
            item.price,
            &item.currency,
            item.image_url.as_ref(),
            item.is_available,
            stored.available_at,
            &traits,
            &places,
            stored.gone_at,
            at,
        ],
    )?;
    Ok(())
}

/// The key of an item as parameters.
const BY_KEY: &str = "restaurant_id = ?1 AND provider = ?2 AND is_option = ?3 AND remote_id = ?4";

pub fn find(tx: &mut Tx<'_>, restaurant: RestaurantId, key: &ItemKey) -> Result<Option<PlatformItem>> {
    let sql = format!("SELECT {COLUMNS} FROM platform_items i WHERE {BY_KEY}");
    tx.query_opt(
        &sql,
        params![&restaurant, &key.provider, key.is_option, &key.id],
        each(item),
    )
}

pub fn of_restaurant(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<Vec<PlatformItem>> {
    let sql = format!("SELECT {COLUMNS} FROM platform_items i WHERE i.restaurant_id = ?1");
    tx.query(&sql, params![&restaurant], each(item))
}

pub fn of_provider(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    provider: Provider,
) -> Result<Vec<PlatformItem>> {
    let sql =
        format!("SELECT {COLUMNS} FROM platform_items i WHERE i.restaurant_id = ?1 AND i.provider = ?2");
    tx.query(&sql, params![&restaurant, &provider], each(item))
}

/// The items of these products, sorted by product and platform.
pub fn of_products(tx: &mut Tx<'_>, products: &[ProductId]) -> Result<Vec<PlatformItem>> {
    const AT_ONCE: usize = 50;
    let sql = format!(
        "SELECT {COLUMNS} FROM platform_items i WHERE i.product_id IN ({}) ORDER BY i.product_id, i.provider",
        marks(1, AT_ONCE)
    );
    let mut found = Vec::new();
    for some in products.chunks(AT_ONCE) {
        let params: Vec<Param<'_>> = filled(some, AT_ONCE).map(Param::from).collect();
        found.extend(tx.query(&sql, &params, each(item))?);
    }
    Ok(found)
}

/// Moves an item to a product.
pub fn link(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    key: &ItemKey,
    product: ProductId,
    is_manual: bool,
) -> Result<()> {
    let sql = format!("UPDATE platform_items SET product_id = ?5, is_manual = ?6 WHERE {BY_KEY}");
    tx.execute(
        &sql,
        params![
            &restaurant,
            &key.provider,
            key.is_option,
            &key.id,
            &product,
            is_manual
        ],
    )?;
    Ok(())
}

/// Records the availability of an item unless a newer one is known; `true` if it has changed.
pub fn set_available(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    key: &ItemKey,
    is_available: bool,
    at: Timestamp,
) -> Result<bool> {
    let sql = format!(
        "UPDATE platform_items SET is_available = ?5, available_at = ?6
         WHERE {BY_KEY} AND available_at <= ?6 AND (is_available IS NULL OR is_available <> ?5)"
    );
    let rows = tx.execute(
        &sql,
        params![
            &restaurant,
            &key.provider,
            key.is_option,
            &key.id,
            is_available,
            at
        ],
    )?;
    Ok(rows > 0)
}

/// Records a price that the platform has accepted.
pub fn set_price(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    key: &ItemKey,
    price: garson_core::money::Minor,
    at: Timestamp,
) -> Result<()> {
    let sql = format!("UPDATE platform_items SET price = ?5, updated_at = ?6 WHERE {BY_KEY}");
    tx.execute(
        &sql,
        params![&restaurant, &key.provider, key.is_option, &key.id, price, at],
    )?;
    Ok(())
}

/// Marks an item that the platform's menu no longer has.
pub fn mark_gone(tx: &mut Tx<'_>, restaurant: RestaurantId, key: &ItemKey, at: Timestamp) -> Result<()> {
    let sql =
        format!("UPDATE platform_items SET gone_at = ?5, updated_at = ?5 WHERE {BY_KEY} AND gone_at IS NULL");
    tx.execute(
        &sql,
        params![&restaurant, &key.provider, key.is_option, &key.id, at],
    )?;
    Ok(())
}

/// The restaurant is no longer connected to a platform: the items of its menu are gone, and the availability of ordered and entered items
/// is unknown.
pub fn disconnect(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    provider: Provider,
    at: Timestamp,
) -> Result<()> {
    tx.execute(
        "UPDATE platform_items SET gone_at = ?3 WHERE restaurant_id = ?1 AND provider = ?2 AND source = 'menu' AND gone_at IS NULL",
        params![&restaurant, &provider, at],
    )?;
    tx.execute(
        "UPDATE platform_items SET is_available = NULL, available_at = ?3
         WHERE restaurant_id = ?1 AND provider = ?2 AND source <> 'menu'",
        params![&restaurant, &provider, at],
    )?;
    tx.execute(
        "UPDATE products SET is_available = 1, updated_at = ?2
         WHERE restaurant_id = ?1 AND is_available = 0
           AND NOT EXISTS (SELECT 1 FROM platform_items i
                           WHERE i.product_id = products.id AND i.gone_at IS NULL AND i.is_available = 0)",
        params![&restaurant, at],
    )?;
    tx.execute(
        "DELETE FROM desired_items WHERE restaurant_id = ?1 AND provider = ?2",
        params![&restaurant, &provider],
    )?;
    Ok(())
}

pub fn remove(tx: &mut Tx<'_>, restaurant: RestaurantId, key: &ItemKey) -> Result<()> {
    let sql = format!("DELETE FROM platform_items WHERE {BY_KEY}");
    tx.execute(&sql, params![&restaurant, &key.provider, key.is_option, &key.id])?;
    Ok(())
}

/// Removes items that have been gone since before a timestamp and were not linked by a user, at most `limit`.
pub fn remove_gone(tx: &mut Tx<'_>, restaurant: RestaurantId, before: Timestamp, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM platform_items WHERE restaurant_id = ?1 AND (provider, is_option, remote_id) IN
             (SELECT provider, is_option, remote_id FROM platform_items
              WHERE restaurant_id = ?1 AND gone_at < ?2 AND is_manual = 0 LIMIT ?3)",
        params![&restaurant, before, limit],
    )
}
