//! Removing what hangs on deleted restaurants, in chunks so small that nobody else's writes notice.

use crate::engine::in_list::remove;
use crate::lists::search;
use crate::tables::accounts;
use crate::{Result, Tx, params, totals};
use garson_core::id::{AccountId, EventId, OrderId, RestaurantId};
use uuid::Uuid;

/// A restaurant that waits to be swept, the next one after another of them.
pub fn next_deleted(
    tx: &mut Tx<'_>,
    after: Option<(AccountId, RestaurantId)>,
) -> Result<Option<(AccountId, RestaurantId)>> {
    let (account, restaurant) = after.unwrap_or((AccountId(Uuid::nil()), RestaurantId(Uuid::nil())));
    tx.query_opt(
        "SELECT account_id, id FROM restaurants
         WHERE deleted_at IS NOT NULL AND (account_id > ?1 OR (account_id = ?1 AND id > ?2))
         ORDER BY account_id, id LIMIT 1",
        params![&account, &restaurant],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Removes one chunk of a deleted restaurant's rows; `false` when nothing of it is left.
pub fn chunk(tx: &mut Tx<'_>, account: AccountId, restaurant: RestaurantId, limit: i64) -> Result<bool> {
    // Two nodes may sweep the same restaurant; its sums must be taken out of the account's once.
    accounts::lock(tx, account)?;
    if events(tx, restaurant, limit)? + orders(tx, account, restaurant, limit)? > 0 {
        return Ok(true);
    }
    let inbox = tx.execute(
        "DELETE FROM inbox WHERE id IN
             (SELECT id FROM inbox WHERE restaurant_id = ?1 AND order_id IS NULL LIMIT ?2)",
        params![&restaurant, limit],
    )?;
    if inbox + totals::sweep(tx, account, restaurant, limit)? > 0 {
        return Ok(true);
    }
    tx.execute(
        "DELETE FROM restaurants WHERE id = ?1 AND account_id = ?2 AND deleted_at IS NOT NULL",
        params![&restaurant, &account],
    )?;
    Ok(false)
}

fn events(tx: &mut Tx<'_>, restaurant: RestaurantId, limit: i64) -> Result<usize> {
    let ids: Vec<EventId> = tx.query(
        "SELECT id FROM events WHERE restaurant_id = ?1 ORDER BY position LIMIT ?2",
        params![&restaurant, limit],
        |row| row.get(0),
    )?;
    remove(tx, "attempts", "event_id", &ids)?;
    remove(tx, "events", "id", &ids)?;
    Ok(ids.len())
}

fn orders(tx: &mut Tx<'_>, account: AccountId, restaurant: RestaurantId, limit: i64) -> Result<usize> {
    let found: Vec<(OrderId, i64)> = tx.query(
        "SELECT id, position FROM orders WHERE restaurant_id = ?1 ORDER BY position LIMIT ?2",
        params![&restaurant, limit],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let (ids, places): (Vec<OrderId>, Vec<i64>) = found.into_iter().unzip();
    search::forget(tx, account, &places)?;
    for table in ["order_contents", "order_timeline", "calls", "inbox"] {
        remove(tx, table, "order_id", &ids)?;
    }
    remove(tx, "orders", "id", &ids)?;
    Ok(ids.len())
}
