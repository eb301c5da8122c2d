//! Flags that mark orders for attention.

use crate::tables::accounts::reserve;
use crate::tables::orders::{append_timeline, lock};
use crate::{Result, Tx, params};
use garson_core::id::OrderId;
use garson_core::order::{Actor, Flag, Status, TimelineLine, TimelineReason};
use garson_core::time::Timestamp;

/// Flags an open order, or takes its flag away, and says so in its timeline; `false` when it is so already, or has ended.
pub fn set(
    tx: &mut Tx<'_>,
    id: OrderId,
    flag: Option<Flag>,
    why: TimelineReason,
    now: Timestamp,
) -> Result<bool> {
    // The order before its account, as in every job that changes both.
    let Some(order) = lock(tx, id)? else {
        return Ok(false);
    };
    if order.flag == flag || order.status.code() >= Status::Delivered.code() {
        return Ok(false);
    }
    let mut places = reserve(tx, order.account_id, 1, now)?;
    tx.execute(
        "UPDATE orders SET flag = ?2, updated_at = ?3, changed = ?4 WHERE id = ?1",
        params![&id, flag.map(Flag::as_str), places.at, places.take()],
    )?;
    let line = TimelineLine {
        at: places.at,
        from: Some(order.status),
        to: order.status,
        by: Actor::System,
        why: Some(why),
        revision: None,
    };
    append_timeline(tx, id, &[line])?;
    Ok(true)
}
