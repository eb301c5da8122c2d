//! The history of restaurants: who changed what on their platforms, and the results.

use crate::tables::accounts::reserve_positions;
use crate::tables::json::{from_json, to_json};
use crate::tables::row::{columns, insert};
use crate::{Result, StoreError, Tx, params};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_status::StoreActor;
use garson_core::time::Timestamp;

columns! {
    pub(crate) const COLUMNS = "" of restaurant_history {
        restaurant_id, created_at, provider, actor: String, key_id, action: String, detail: String
    }
    fn entry() -> HistoryEntry {
        let unknown = || StoreError::corrupt("an entry of a history has an unknown actor or action");
        Ok(HistoryEntry {
            restaurant_id,
            at: created_at,
            provider,
            by: actor.parse::<StoreActor>().map_err(|_| unknown())?,
            key: key_id,
            action: HistoryAction::named(&action).ok_or_else(unknown)?,
            detail: from_json("detail of a history", &detail)?,
        })
    }
}

/// Adds entries to the history of their restaurants, at the account's next positions. Boards of the account are woken.
pub fn record(tx: &mut Tx<'_>, account: AccountId, entries: &[HistoryEntry], now: Timestamp) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let count = i64::try_from(entries.len()).unwrap_or(i64::MAX);
    let mut positions = reserve_positions(tx, account, count, now)?;
    for entry in entries {
        let detail = to_json("detail of a history", &entry.detail)?;
        insert!(
            tx,
            restaurant_history {
                restaurant_id: &entry.restaurant_id,
                position: positions.take(),
                account_id: &account,
                created_at: positions.at,
                provider: entry.provider.as_ref(),
                actor: entry.by.as_str(),
                key_id: entry.key.as_ref(),
                action: entry.action.as_str(),
                detail: &detail,
            }
        )?;
    }
    Ok(())
}

/// Removes a chunk of entries from before a timestamp, and returns how many.
pub fn sweep(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM restaurant_history WHERE (restaurant_id, position) IN
             (SELECT restaurant_id, position FROM restaurant_history WHERE created_at < ?1 LIMIT ?2)",
        params![before, limit],
    )
}

/// Removes a chunk of the entries of a deleted restaurant, and returns how many.
pub(crate) fn sweep_restaurant(tx: &mut Tx<'_>, restaurant: RestaurantId, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM restaurant_history WHERE restaurant_id = ?1 AND position IN
             (SELECT position FROM restaurant_history WHERE restaurant_id = ?1 ORDER BY position LIMIT ?2)",
        params![&restaurant, limit],
    )
}
