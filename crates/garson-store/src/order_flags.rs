//! Flags that mark orders for attention.

use crate::accounts::reserve;
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, OrderId};
use garson_core::order::Flag;
use garson_core::time::Timestamp;

/// Flags an open order, or takes its flag away; `false` when it is so already, or has ended.
pub fn set(
    tx: &mut Tx<'_>,
    account: AccountId,
    id: OrderId,
    flag: Option<Flag>,
    now: Timestamp,
) -> Result<bool> {
    let mut places = reserve(tx, account, 1, now)?;
    let changed = tx.execute(
        "UPDATE orders SET flag = ?2, updated_at = ?3, changed = ?4
         WHERE id = ?1 AND status < 900 AND COALESCE(flag, '') <> COALESCE(?2, '')",
        params![&id, flag.map(Flag::as_str), places.at, places.take()],
    )?;
    Ok(changed > 0)
}
