//! Claims due rows for sending, and records the results.

use super::row::{COLUMNS, DesiredItem, DesiredItemState, Timer, desired_item};
use crate::tables::row::each;
use crate::{Result, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::{IntegrationId, NodeId};
use garson_core::time::Timestamp;

/// Claims due rows of an integration for this node, oldest first; rows held by another live node are left out. The rows are returned
/// as they were before: `sending` is set where a request was interrupted.
pub fn claim(
    tx: &mut Tx<'_>,
    integration: IntegrationId,
    node: NodeId,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<DesiredItem>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM desired_items d
         WHERE d.integration_id = ?1 AND d.due_at IS NOT NULL AND d.due_at <= ?2
           AND (d.node IS NULL OR d.node NOT IN (SELECT id FROM nodes)) AND ?3 IN (SELECT id FROM nodes)
         ORDER BY d.integration_id, d.due_at LIMIT ?4"
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = tx.query(&sql, params![&integration, now, &node, limit], each(desired_item))?;
    for desired in &found {
        tx.execute(
            "UPDATE desired_items SET node = ?5, sending = version
             WHERE restaurant_id = ?1 AND provider = ?2 AND is_option = ?3 AND remote_id = ?4",
            &desired.params(params![&node]),
        )?;
    }
    Ok(found)
}

/// Releases a row that this node has claimed and not sent; it is due again at `due_at`.
pub fn release(tx: &mut Tx<'_>, desired: &DesiredItem, node: NodeId, due_at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE desired_items SET node = NULL, sending = NULL,
                due_at = CASE WHEN version = ?6 THEN ?7 ELSE due_at END
         WHERE restaurant_id = ?1 AND provider = ?2 AND is_option = ?3 AND remote_id = ?4 AND node = ?5",
        &desired.params(params![&node, desired.version, due_at]),
    )?;
    Ok(())
}

/// The result of a row that this node has claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conclusion {
    pub state: DesiredItemState,
    pub message: Option<Explanation>,
    /// The platform has accepted it now.
    pub accepted_at: Option<Timestamp>,
    /// A read of the platform has confirmed it.
    pub confirmed_at: Option<Timestamp>,
    pub timer: Option<Timer>,
    pub attempts: i64,
    pub due_at: Option<Timestamp>,
}

/// Records a result; `false` if a later version was written in the meantime, which stays pending.
pub fn conclude(tx: &mut Tx<'_>, desired: &DesiredItem, node: NodeId, end: &Conclusion) -> Result<bool> {
    let claimed = desired.params(params![&node, desired.version]);
    let mut params = claimed.clone();
    let message = end.message.as_ref().map(Explanation::stored);
    params.extend_from_slice(params![
        end.state.as_str(),
        message.as_ref(),
        end.accepted_at,
        end.confirmed_at,
        end.timer.map(Timer::as_str),
        end.attempts,
        end.due_at,
    ]);
    let rows = tx.execute(
        "UPDATE desired_items SET node = NULL, sending = NULL, state = ?7, message = ?8,
                accepted_version = CASE WHEN CAST(?9 AS BIGINT) IS NULL THEN accepted_version ELSE ?6 END,
                accepted_at = COALESCE(CAST(?9 AS BIGINT), accepted_at), confirmed_at = ?10, timer = ?11, attempts = ?12,
                due_at = ?13
         WHERE restaurant_id = ?1 AND provider = ?2 AND is_option = ?3 AND remote_id = ?4 AND node = ?5
           AND version = ?6",
        &params,
    )?;
    if rows == 0 {
        tx.execute(
            "UPDATE desired_items SET node = NULL, sending = NULL
             WHERE restaurant_id = ?1 AND provider = ?2 AND is_option = ?3 AND remote_id = ?4 AND node = ?5
               AND version <> ?6",
            &claimed,
        )?;
    }
    Ok(rows > 0)
}

/// Releases a row whose request may have been carried out; `sending` stays, so that the platform is read before the request is repeated.
pub fn release_unclear(
    tx: &mut Tx<'_>,
    desired: &DesiredItem,
    node: NodeId,
    message: &Explanation,
    due_at: Timestamp,
) -> Result<()> {
    tx.execute(
        "UPDATE desired_items SET node = NULL, attempts = attempts + 1,
                message = CASE WHEN version = ?6 THEN ?7 ELSE message END,
                due_at = CASE WHEN version = ?6 THEN ?8 ELSE due_at END
         WHERE restaurant_id = ?1 AND provider = ?2 AND is_option = ?3 AND remote_id = ?4 AND node = ?5",
        &desired.params(params![&node, desired.version, &message.stored(), due_at]),
    )?;
    Ok(())
}
