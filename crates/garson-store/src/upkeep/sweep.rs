//! The sweep: removes the rows of deleted restaurants, in chunks so small that other writes do not wait for them.

use crate::engine::in_list::remove;
use crate::lists::search;
use crate::tables::accounts;
use crate::tables::endpoint_deliveries;
use crate::tables::products;
use crate::tables::restaurant_history;
use crate::tables::row::{tuple, value};
use crate::tables::webhook_endpoints;
use crate::{Result, Tx, params, totals};
use garson_core::id::{AccountId, EndpointId, EventId, OrderId, RestaurantId};
use uuid::Uuid;

/// The next deleted restaurant after another one.
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
        tuple,
    )
}

/// Removes one chunk of a deleted restaurant's rows; `false` when none are left.
pub fn remove_chunk(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    limit: i64,
) -> Result<bool> {
    // Two nodes may sweep the same restaurant; its sums must be subtracted from the account's only once.
    accounts::lock(tx, account)?;
    if remove_events(tx, restaurant, limit)? + remove_orders(tx, account, restaurant, limit)? > 0 {
        return Ok(true);
    }
    let inbox = tx.execute(
        "DELETE FROM inbox WHERE id IN
             (SELECT id FROM inbox WHERE restaurant_id = ?1 AND order_id IS NULL LIMIT ?2)",
        params![&restaurant, limit],
    )?;
    let products = products::sweep(tx, restaurant, limit)?;
    let totals = totals::sweep(tx, account, restaurant, limit)?;
    let history = restaurant_history::sweep_restaurant(tx, restaurant, limit)?;
    if inbox + products + totals + history + totals::stats::sweep(tx, account, restaurant, limit)? > 0 {
        return Ok(true);
    }
    tx.execute(
        "DELETE FROM restaurants WHERE id = ?1 AND account_id = ?2 AND deleted_at IS NOT NULL",
        params![&restaurant, &account],
    )?;
    Ok(false)
}

/// Removes one chunk of a deleted endpoint's rows; `false` when none are left.
pub fn remove_endpoint_chunk(
    tx: &mut Tx<'_>,
    account: AccountId,
    endpoint: EndpointId,
    limit: i64,
) -> Result<bool> {
    accounts::lock(tx, account)?;
    if endpoint_deliveries::sweep(tx, endpoint, limit)? {
        return Ok(true);
    }
    webhook_endpoints::remove(tx, endpoint)?;
    Ok(false)
}

fn remove_events(tx: &mut Tx<'_>, restaurant: RestaurantId, limit: i64) -> Result<usize> {
    let ids: Vec<EventId> = tx.query(
        "SELECT id FROM events WHERE restaurant_id = ?1 ORDER BY position LIMIT ?2",
        params![&restaurant, limit],
        value,
    )?;
    remove(tx, "attempts", "event_id", &ids)?;
    endpoint_deliveries::remove_of_events(tx, &ids)?;
    remove(tx, "events", "id", &ids)?;
    Ok(ids.len())
}

fn remove_orders(tx: &mut Tx<'_>, account: AccountId, restaurant: RestaurantId, limit: i64) -> Result<usize> {
    let found: Vec<(OrderId, i64)> = tx.query(
        "SELECT id, position FROM orders WHERE restaurant_id = ?1 ORDER BY position LIMIT ?2",
        params![&restaurant, limit],
        tuple,
    )?;
    let (ids, positions): (Vec<OrderId>, Vec<i64>) = found.into_iter().unzip();
    search::remove(tx, account, &positions)?;
    for table in [
        "order_contents",
        "order_timeline",
        "order_notices",
        "print_jobs",
        "calls",
        "inbox",
        "escalation_steps",
        "messages",
    ] {
        remove(tx, table, "order_id", &ids)?;
    }
    remove(tx, "orders", "id", &ids)?;
    Ok(ids.len())
}
