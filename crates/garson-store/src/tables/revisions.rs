//! Later versions of the content of known orders.

use crate::tables::order_line;
use crate::tables::row::value;
use crate::{Result, Tx, params};
use garson_core::id::OrderId;
use garson_core::order::Order;

/// Reports whether content with this hash was replaced before: a late document without a version number must not restore it.
pub fn was_replaced(tx: &mut Tx<'_>, id: OrderId, hash: &[u8]) -> Result<bool> {
    let sql = "SELECT number FROM order_timeline WHERE order_id = ?1 AND replaced_hash = ?2 LIMIT 1";
    let found = tx.query_opt(sql, params![&id, hash], value::<i64>)?;
    Ok(found.is_some())
}

/// A later version of an order's content.
pub struct Replacement<'a> {
    /// The order as it is after the replacement.
    pub order: &'a Order,
    pub content: &'a str,
    /// The hash of the new document.
    pub content_hash: &'a [u8],
    /// The hash of the replaced content, to recognise it if it comes back.
    pub replaced_hash: &'a [u8],
    /// A position of the account, reserved for this change.
    pub position: i64,
}

/// Replaces the content and the list line of a locked order. The timeline must already have the line of the new version; the
/// caller updates the totals.
pub fn replace(tx: &mut Tx<'_>, replacement: &Replacement<'_>) -> Result<()> {
    let Replacement {
        order,
        content,
        content_hash,
        replaced_hash,
        position,
    } = *replacement;
    tx.execute(
        "UPDATE order_timeline SET replaced_hash = ?3 WHERE order_id = ?1 AND revision = ?2",
        params![&order.id, order.revision, replaced_hash],
    )?;
    tx.execute(
        "UPDATE orders SET revision = ?2, content_version = ?3, content_hash = ?4, total = ?5, currency = ?6,
             payment_type = ?7, payment_code = ?8, line = ?9, provider_data = ?10, sequence = ?11, updated_at = ?12,
             changed = ?13
         WHERE id = ?1",
        params![
            &order.id,
            order.revision,
            order.content_version,
            content_hash,
            order.total,
            &order.currency,
            order.payment_type,
            order.payment_code.as_ref(),
            &order_line::encode(order)?,
            order.provider_data.as_ref(),
            order.sequence,
            order.updated_at,
            position,
        ],
    )?;
    tx.execute(
        "UPDATE order_contents SET body = ?2 WHERE order_id = ?1",
        params![&order.id, content],
    )?;
    Ok(())
}
