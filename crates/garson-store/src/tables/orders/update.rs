//! Changes to a locked order. Each takes a position of its account, so that lists of changes show it.

use super::row::sync_columns;
use crate::tables::accounts::reserve_positions;
use crate::tables::json::to_json;
use crate::tables::row::value;
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, OrderId};
use garson_core::order::{Order, ProviderSync};
use garson_core::time::Timestamp;

/// Writes what has changed about an order. `position` was reserved for this change, at the order's `updated_at`.
pub fn update(tx: &mut Tx<'_>, order: &Order, position: i64) -> Result<()> {
    let (sync_state, sync_due_at, sync_message) = sync_columns(&order.sync);
    let cancellation = order.cancellation.as_ref();
    let cancellation = cancellation.map(|it| to_json("cancellation", it)).transpose()?;
    tx.execute(
        "UPDATE orders SET status = ?2, provider_status = ?3, provider_data = ?4, sequence = ?5, ready_at = ?6,
             updated_at = ?7, cancellation = ?8, sync_state = ?9, sync_due_at = ?10, sync_message = ?11, changed = ?12,
             preparation_minutes = ?13
         WHERE id = ?1",
        params![
            &order.id,
            order.status,
            order.provider_status.as_ref(),
            order.provider_data.as_ref(),
            order.sequence,
            order.ready_at,
            order.updated_at,
            cancellation.as_ref(),
            sync_state,
            sync_due_at,
            sync_message.as_ref(),
            position,
            order.preparation_minutes.map(i64::from),
        ],
    )?;
    Ok(())
}

/// Marks an order as reported; the first timestamp stays. `position` was reserved for this change, at `at`.
pub fn mark_reported(tx: &mut Tx<'_>, id: OrderId, at: Timestamp, position: i64) -> Result<()> {
    tx.write(
        "UPDATE orders SET reported_at = ?2, updated_at = ?2, changed = ?3 WHERE id = ?1 AND reported_at IS NULL",
        params![&id, at, position],
    )?;
    Ok(())
}

/// Removes the mark that an order is reported. `position` was reserved for this change, at `at`.
pub fn unmark_reported(tx: &mut Tx<'_>, id: OrderId, at: Timestamp, position: i64) -> Result<()> {
    tx.write(
        "UPDATE orders SET reported_at = NULL, updated_at = ?2, changed = ?3 WHERE id = ?1 AND reported_at IS NOT NULL",
        params![&id, at, position],
    )?;
    Ok(())
}

/// Writes how far the platform knows a locked order: `providerSync`, the platform's status, and when the food was ready.
/// `stored` is the order as its row has it.
///
/// A difference that clients can see is a change of the order and takes a position. A new time for the next attempt is not:
/// otherwise an order whose platform is unreachable would show up in lists of changes with every attempt.
pub fn set_progress(tx: &mut Tx<'_>, stored: &Order, order: &mut Order, now: Timestamp) -> Result<()> {
    if has_same_visible_progress(stored, order) {
        if stored.sync == order.sync {
            return Ok(());
        }
        return set_sync(tx, order.id, &order.sync);
    }
    let mut positions = reserve_positions(tx, order.account_id, 1, now)?;
    order.updated_at = positions.at;
    update(tx, order, positions.take())
}

/// Writes `providerSync` of an order that this transaction has already changed, with a position for that change.
pub fn set_sync(tx: &mut Tx<'_>, id: OrderId, sync: &ProviderSync) -> Result<()> {
    let (state, due_at, message) = sync_columns(sync);
    tx.execute(
        "UPDATE orders SET sync_state = ?2, sync_due_at = ?3, sync_message = ?4 WHERE id = ?1",
        params![&id, state, due_at, message.as_ref()],
    )?;
    Ok(())
}

/// Writes `providerSync` of an order whose row may be damaged: reads nothing else of it.
pub fn set_sync_unread(tx: &mut Tx<'_>, id: OrderId, sync: &ProviderSync, now: Timestamp) -> Result<()> {
    let sql = "SELECT account_id FROM orders WHERE id = ?1 {lock}";
    let Some(account) = tx.query_opt(sql, params![&id], value::<AccountId>)? else {
        return Ok(());
    };
    let mut positions = reserve_positions(tx, account, 1, now)?;
    let (state, due_at, message) = sync_columns(sync);
    tx.execute(
        "UPDATE orders SET sync_state = ?2, sync_due_at = ?3, sync_message = ?4, updated_at = ?5, changed = ?6
         WHERE id = ?1",
        params![&id, state, due_at, message.as_ref(), positions.at, positions.take()],
    )?;
    Ok(())
}

fn has_same_visible_progress(stored: &Order, order: &Order) -> bool {
    let visible = |sync: &ProviderSync| match sync {
        ProviderSync::Failed { message } => ("failed", Some(message.clone())),
        other => (other.as_str(), None),
    };
    visible(&stored.sync) == visible(&order.sync)
        && stored.provider_status == order.provider_status
        && stored.ready_at == order.ready_at
}
