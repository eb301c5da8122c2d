//! Pairs of products that a person has declared to be different, so that they are not suggested as the same again.

use crate::tables::row::{columns, each, insert};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, ProductId, RestaurantId};
use garson_core::time::Timestamp;

/// Pairs that a restaurant keeps; beyond that the oldest are forgotten.
const MAX_PAIRS: i64 = 5_000;
/// Pairs that are forgotten at once.
const CHUNK: i64 = 100;

/// Two products that are different, the lower id first.
pub type Pair = (ProductId, ProductId);

columns! {
    const COLUMNS = "d." of declined_matches { product_id, other_id }
    fn pair() -> Pair {
        Ok((product_id, other_id))
    }
}

fn ordered(one: ProductId, other: ProductId) -> Pair {
    (one.min(other), one.max(other))
}

/// Keeps that two products are different.
pub fn add(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    (one, other): Pair,
    at: Timestamp,
) -> Result<()> {
    let (product, other) = ordered(one, other);
    insert!(
        tx,
        declined_matches {
            restaurant_id: &restaurant,
            product_id: &product,
            other_id: &other,
            account_id: &account,
            declined_at: at,
        },
        "ON CONFLICT (restaurant_id, product_id, other_id) DO UPDATE SET declined_at = excluded.declined_at"
    )?;
    tx.execute(
        "DELETE FROM declined_matches WHERE restaurant_id = ?1 AND (product_id, other_id) IN
             (SELECT d.product_id, d.other_id FROM declined_matches d WHERE d.restaurant_id = ?1
              ORDER BY d.declined_at DESC, d.product_id, d.other_id LIMIT ?2 OFFSET ?3)",
        params![&restaurant, CHUNK, MAX_PAIRS],
    )?;
    Ok(())
}

/// All pairs of a restaurant.
pub fn of_restaurant(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<Vec<Pair>> {
    let sql = format!("SELECT {COLUMNS} FROM declined_matches d WHERE d.restaurant_id = ?1");
    tx.query(&sql, params![&restaurant], each(pair))
}

/// A product has become part of another: what it differs from, the other differs from. The two themselves are the same now.
pub fn replace(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    from: ProductId,
    to: ProductId,
    at: Timestamp,
) -> Result<()> {
    let sql = format!(
        "SELECT {COLUMNS} FROM declined_matches d
         WHERE d.restaurant_id = ?1 AND (d.product_id = ?2 OR d.other_id = ?2)"
    );
    let pairs = tx.query(&sql, params![&restaurant, &from], each(pair))?;
    remove_of(tx, restaurant, from)?;
    for (one, other) in pairs {
        let third = if one == from { other } else { one };
        if third != to {
            add(tx, account, restaurant, (to, third), at)?;
        }
    }
    Ok(())
}

/// Two products are the same after all.
pub fn remove(tx: &mut Tx<'_>, restaurant: RestaurantId, (one, other): Pair) -> Result<()> {
    let (product, other) = ordered(one, other);
    tx.execute(
        "DELETE FROM declined_matches WHERE restaurant_id = ?1 AND product_id = ?2 AND other_id = ?3",
        params![&restaurant, &product, &other],
    )?;
    Ok(())
}

/// Removes the pairs of a product.
pub fn remove_of(tx: &mut Tx<'_>, restaurant: RestaurantId, product: ProductId) -> Result<()> {
    tx.execute(
        "DELETE FROM declined_matches WHERE restaurant_id = ?1 AND (product_id = ?2 OR other_id = ?2)",
        params![&restaurant, &product],
    )?;
    Ok(())
}

/// Removes pairs of products that are gone, at most `limit`.
pub fn remove_orphans(tx: &mut Tx<'_>, restaurant: RestaurantId, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM declined_matches WHERE restaurant_id = ?1 AND (product_id, other_id) IN
             (SELECT d.product_id, d.other_id FROM declined_matches d
              WHERE d.restaurant_id = ?1
                AND (NOT EXISTS (SELECT 1 FROM products p WHERE p.id = d.product_id)
                     OR NOT EXISTS (SELECT 1 FROM products p WHERE p.id = d.other_id)) LIMIT ?2)",
        params![&restaurant, limit],
    )
}
