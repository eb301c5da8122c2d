//! How far an order's platform knows of it: `providerSync`, the platform's word for the state, and when the food was ready.

use super::{sync_columns, update};
use crate::tables::accounts::reserve;
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, OrderId};
use garson_core::order::{Order, ProviderSync};
use garson_core::time::Timestamp;

/// Writes how far the platform knows of a locked order; `stored` is the order as its row has it. What clients can see of the
/// difference is a change of the order: it takes a place, so that lists of changes show it. That the next try is due at another
/// moment is none: an order whose platform is away would come up in those lists with every try.
pub fn set_progress(tx: &mut Tx<'_>, stored: &Order, order: &mut Order, now: Timestamp) -> Result<()> {
    if is_same(stored, order) {
        return match stored.sync == order.sync {
            true => Ok(()),
            false => set_sync(tx, order.id, &order.sync),
        };
    }
    let mut places = reserve(tx, order.account_id, 1, now)?;
    order.updated_at = places.at;
    update(tx, order, places.take())
}

/// Writes `providerSync` of an order that this transaction has written, with a place for the change.
pub fn set_sync(tx: &mut Tx<'_>, id: OrderId, sync: &ProviderSync) -> Result<()> {
    let (state, due_at, message) = sync_columns(sync);
    tx.execute(
        "UPDATE orders SET sync_state = ?2, sync_due_at = ?3, sync_message = ?4 WHERE id = ?1",
        params![&id, state, due_at, message.as_ref()],
    )?;
    Ok(())
}

/// Writes `providerSync` of an order whose row may be damaged: nothing else of it is read.
pub fn set_sync_unread(tx: &mut Tx<'_>, id: OrderId, sync: &ProviderSync, now: Timestamp) -> Result<()> {
    let account = tx.query_opt(
        "SELECT account_id FROM orders WHERE id = ?1 {lock}",
        params![&id],
        |row| row.get::<AccountId>(0),
    )?;
    let Some(account) = account else {
        return Ok(());
    };
    let mut places = reserve(tx, account, 1, now)?;
    let (state, due_at, message) = sync_columns(sync);
    tx.execute(
        "UPDATE orders SET sync_state = ?2, sync_due_at = ?3, sync_message = ?4, updated_at = ?5, changed = ?6
         WHERE id = ?1",
        params![&id, state, due_at, message.as_ref(), places.at, places.take()],
    )?;
    Ok(())
}

fn is_same(stored: &Order, order: &Order) -> bool {
    let is_same_sync = match (&stored.sync, &order.sync) {
        (ProviderSync::Failed { message: before }, ProviderSync::Failed { message: after }) => {
            before == after
        }
        (before, after) => before.as_str() == after.as_str(),
    };
    is_same_sync && stored.provider_status == order.provider_status && stored.ready_at == order.ready_at
}
