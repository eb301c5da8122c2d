//! Compares rows with what platforms have.

use super::row::{DesiredItem, DesiredItemState};
use crate::{Result, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::RestaurantId;
use garson_core::time::Timestamp;

/// Records what the platform's menu shows of an accepted row; `false` if a later version was written in the meantime.
pub fn record_reading(
    tx: &mut Tx<'_>,
    desired: &DesiredItem,
    state: DesiredItemState,
    message: Option<&Explanation>,
    confirmed_at: Option<Timestamp>,
) -> Result<bool> {
    let rows = tx.execute(
        "UPDATE desired_items SET state = ?6, message = ?7, confirmed_at = ?8
         WHERE restaurant_id = ?1 AND provider = ?2 AND is_option = ?3 AND remote_id = ?4 AND version = ?5
           AND accepted_version = version AND node IS NULL",
        &desired.params(params![
            desired.version,
            state.as_str(),
            message.map(Explanation::stored).as_ref(),
            confirmed_at
        ]),
    )?;
    Ok(rows > 0)
}

/// Removes a row that the platform has overridden; `false` if a later version was written in the meantime.
pub fn remove(tx: &mut Tx<'_>, desired: &DesiredItem) -> Result<bool> {
    let rows = tx.execute(
        "DELETE FROM desired_items
         WHERE restaurant_id = ?1 AND provider = ?2 AND is_option = ?3 AND remote_id = ?4 AND version = ?5
           AND node IS NULL",
        &desired.params(params![desired.version]),
    )?;
    Ok(rows > 0)
}

/// Removes rows of a restaurant whose items are no longer known, at most `limit`.
pub fn remove_orphans(tx: &mut Tx<'_>, restaurant: RestaurantId, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM desired_items WHERE restaurant_id = ?1 AND (provider, is_option, remote_id) IN
             (SELECT d.provider, d.is_option, d.remote_id FROM desired_items d
              WHERE d.restaurant_id = ?1 AND d.node IS NULL
                AND NOT EXISTS (SELECT 1 FROM platform_items i
                                WHERE i.restaurant_id = ?1 AND i.provider = d.provider AND i.is_option = d.is_option
                                  AND i.remote_id = d.remote_id) LIMIT ?2)",
        params![&restaurant, limit],
    )
}
