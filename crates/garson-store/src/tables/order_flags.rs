//! Flags that mark orders for attention.

use crate::tables::accounts::reserve_positions;
use crate::tables::orders::{append_timeline, lock};
use crate::{Result, Tx, params};
use garson_core::id::OrderId;
use garson_core::order::{Actor, Flag, TimelineLine, TimelineReason};
use garson_core::time::Timestamp;

/// Sets or clears the flag of an open order and records it in the timeline; `false` when nothing changes or the order is over.
pub fn set(
    tx: &mut Tx<'_>,
    id: OrderId,
    flag: Option<Flag>,
    why: TimelineReason,
    now: Timestamp,
) -> Result<bool> {
    // Locks the order before its account, as every job that changes both does.
    let Some(order) = lock(tx, id)? else {
        return Ok(false);
    };
    if order.flag == flag || order.status.is_over() {
        return Ok(false);
    }
    let mut positions = reserve_positions(tx, order.account_id, 1, now)?;
    tx.execute(
        "UPDATE orders SET flag = ?2, updated_at = ?3, changed = ?4 WHERE id = ?1",
        params![&id, flag.map(Flag::as_str), positions.at, positions.take()],
    )?;
    let line = TimelineLine {
        at: positions.at,
        from: Some(order.status),
        to: order.status,
        by: Actor::System,
        why: Some(why),
        revision: None,
    };
    append_timeline(tx, id, &[line])?;
    Ok(true)
}
