//! Products and options of restaurants, across all platforms.

use crate::engine::Insert;
use crate::engine::Param;
use crate::engine::in_list::{filled, marks};
use crate::tables::row::{column_list, columns, each, value};
use crate::tables::{catalogs, declined_matches};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, ProductId, RestaurantId};
use garson_core::product::name_key;
use garson_core::time::Timestamp;

/// A product or option of a restaurant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    pub id: ProductId,
    pub restaurant_id: RestaurantId,
    pub is_option: bool,
    pub name: String,
    /// A user has separated it, so items are no longer matched to it automatically.
    pub is_closed: bool,
    /// It can be ordered on every platform that has it.
    pub is_available: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

columns! {
    const COLUMNS = "p." of products {
        id, restaurant_id, is_option, name, is_closed, is_available, created_at, updated_at
    }
    fn product() -> Product {
        Ok(Product { id, restaurant_id, is_option, name, is_closed, is_available, created_at, updated_at })
    }
}

const INSERT: Insert<'_> = Insert {
    on_conflict: "ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at",
    ..Insert::into(
        "products",
        column_list!(products {
            id,
            account_id,
            restaurant_id,
            is_option,
            name,
            name_key,
            is_closed,
            is_available,
            created_at,
            updated_at
        }),
    )
};

/// Adds a product unless it exists.
pub fn add(tx: &mut Tx<'_>, account: AccountId, product: &Product) -> Result<()> {
    let key = name_key(&product.name);
    tx.insert_now(
        &INSERT,
        params![
            &product.id,
            &account,
            &product.restaurant_id,
            product.is_option,
            &product.name,
            &key,
            product.is_closed,
            product.is_available,
            product.created_at,
            product.updated_at,
        ],
    )?;
    Ok(())
}

pub fn find(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    id: ProductId,
) -> Result<Option<Product>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM products p WHERE p.id = ?1 AND p.restaurant_id = ?2 AND p.account_id = ?3"
    );
    tx.query_opt(&sql, params![&id, &restaurant, &account], each(product))
}

/// All products and options of a restaurant.
pub fn of_restaurant(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<Vec<Product>> {
    let sql = format!("SELECT {COLUMNS} FROM products p WHERE p.restaurant_id = ?1");
    tx.query(&sql, params![&restaurant], each(product))
}

/// The products with these ids that the restaurant has.
pub fn by_ids(tx: &mut Tx<'_>, restaurant: RestaurantId, ids: &[ProductId]) -> Result<Vec<Product>> {
    const AT_ONCE: usize = 50;
    let sql = format!(
        "SELECT {COLUMNS} FROM products p WHERE p.restaurant_id = ?1 AND p.id IN ({})",
        marks(2, AT_ONCE)
    );
    let mut found = Vec::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        let mut params: Vec<Param<'_>> = vec![Param::from(&restaurant)];
        params.extend(filled(some, AT_ONCE).map(Param::from));
        found.extend(tx.query(&sql, &params, each(product))?);
    }
    Ok(found)
}

/// Products with a normalised name.
pub fn named(tx: &mut Tx<'_>, restaurant: RestaurantId, name_key: &str) -> Result<Vec<Product>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM products p
         WHERE p.restaurant_id = ?1 AND p.is_option IN (0, 1) AND p.name_key = ?2 ORDER BY p.id"
    );
    tx.query(&sql, params![&restaurant, name_key], each(product))
}

/// Which products a list shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductFilter {
    /// Normalised words that the name contains, in any order.
    pub search: Option<String>,
    pub is_available: Option<bool>,
    pub is_option: Option<bool>,
}

/// The largest number of words in a search.
const MAX_WORDS: usize = 8;

/// A page of a restaurant's products, products before options, sorted by name; `after` is the last one of the page before.
pub fn page(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    filter: &ProductFilter,
    after: Option<ProductId>,
    limit: i64,
) -> Result<Vec<Product>> {
    let mut sql = format!("SELECT {COLUMNS} FROM products p WHERE p.restaurant_id = ?1");
    let words = filter.search.iter().flat_map(|words| words.split_whitespace());
    let patterns: Vec<String> = words.take(MAX_WORDS).map(|word| format!("%{word}%")).collect();
    let mut params: Vec<Param<'_>> = params![&restaurant].to_vec();
    for pattern in &patterns {
        params.push(Param::from(pattern));
        sql.push_str(&format!(" AND p.name_key LIKE ?{}", params.len()));
    }
    if let Some(is_available) = filter.is_available {
        params.push(Param::from(is_available));
        sql.push_str(&format!(" AND p.is_available = ?{}", params.len()));
    }
    if let Some(is_option) = filter.is_option {
        params.push(Param::from(is_option));
        sql.push_str(&format!(" AND p.is_option = ?{}", params.len()));
    }
    if let Some(after) = &after {
        params.push(Param::from(after));
        sql.push_str(&format!(
            " AND (p.is_option, p.name_key, p.id) > (SELECT q.is_option, q.name_key, q.id FROM products q WHERE q.id = ?{})",
            params.len()
        ));
    }
    params.push(Param::from(limit));
    sql.push_str(&format!(
        " ORDER BY p.restaurant_id, p.is_option, p.name_key, p.id LIMIT ?{}",
        params.len()
    ));
    tx.query(&sql, &params, each(product))
}

/// Gives a product the name that most of its platforms use.
pub fn rename(tx: &mut Tx<'_>, id: ProductId, name: &str, at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE products SET name = ?2, name_key = ?3, updated_at = ?4 WHERE id = ?1",
        params![&id, name, &name_key(name), at],
    )?;
    Ok(())
}

/// Recomputes whether a product can be ordered on every platform that has it; `true` if that has changed.
pub fn refresh(tx: &mut Tx<'_>, id: ProductId, at: Timestamp) -> Result<bool> {
    let sql = "SELECT COUNT(*) FROM platform_items i WHERE i.product_id = ?1 AND i.gone_at IS NULL AND i.is_available = 0";
    let off = tx.query_one(sql, params![&id], value::<i64>)?;
    let is_available = off == 0;
    let changed = tx.execute(
        "UPDATE products SET is_available = ?2, updated_at = ?3 WHERE id = ?1 AND is_available <> ?2",
        params![&id, is_available, at],
    )?;
    Ok(changed > 0)
}

/// A user has separated the product: items are no longer matched to it automatically.
pub fn close(tx: &mut Tx<'_>, id: ProductId, at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE products SET is_closed = 1, updated_at = ?2 WHERE id = ?1",
        params![&id, at],
    )?;
    Ok(())
}

/// Removes the products among these that have no items left.
pub fn remove_empty_of(tx: &mut Tx<'_>, restaurant: RestaurantId, ids: &[ProductId]) -> Result<()> {
    for id in ids {
        let removed = tx.execute(
            "DELETE FROM products WHERE id = ?1 AND restaurant_id = ?2
               AND NOT EXISTS (SELECT 1 FROM platform_items i WHERE i.product_id = ?1)",
            params![id, &restaurant],
        )?;
        if removed > 0 {
            declined_matches::remove_of(tx, restaurant, *id)?;
        }
    }
    Ok(())
}

/// Removes the products of a restaurant that have no items left, at most `limit`.
pub fn remove_empty(tx: &mut Tx<'_>, restaurant: RestaurantId, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM products WHERE id IN
             (SELECT p.id FROM products p WHERE p.restaurant_id = ?1
              AND NOT EXISTS (SELECT 1 FROM platform_items i WHERE i.product_id = p.id) LIMIT ?2)",
        params![&restaurant, limit],
    )
}

/// Removes a chunk of the products and menus of a deleted restaurant; returns the number of rows.
pub(crate) fn sweep(tx: &mut Tx<'_>, restaurant: RestaurantId, limit: i64) -> Result<u64> {
    let mut removed = 0;
    for (table, key) in [
        ("desired_items", "provider, is_option, remote_id"),
        ("platform_items", "provider, is_option, remote_id"),
        ("menu_versions", "provider, number"),
        ("declined_matches", "product_id, other_id"),
    ] {
        removed += tx.execute(
            &format!(
                "DELETE FROM {table} WHERE restaurant_id = ?1 AND ({key}) IN
                     (SELECT {key} FROM {table} WHERE restaurant_id = ?1 LIMIT ?2)"
            ),
            params![&restaurant, limit],
        )?;
    }
    removed += tx.execute(
        "DELETE FROM price_items WHERE push_id IN
             (SELECT id FROM price_pushes WHERE restaurant_id = ?1 ORDER BY restaurant_id, id LIMIT 1)",
        params![&restaurant],
    )?;
    removed += tx.execute(
        "DELETE FROM price_pushes WHERE id IN
             (SELECT id FROM price_pushes WHERE restaurant_id = ?1 ORDER BY restaurant_id, id LIMIT 1)",
        params![&restaurant],
    )?;
    removed += catalogs::sweep(tx, restaurant, limit)?;
    removed += tx.execute(
        "DELETE FROM products WHERE id IN (SELECT id FROM products WHERE restaurant_id = ?1 LIMIT ?2)",
        params![&restaurant, limit],
    )?;
    removed += tx.execute(
        "DELETE FROM menu_reads WHERE restaurant_id = ?1",
        params![&restaurant],
    )?;
    Ok(removed)
}
