//! Later versions of the content of orders that are known.

use crate::tables::order_line;
use crate::tables::orders::{BY_IDENTITY, COLUMNS, Known, NEXT_COLUMN, order};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, IntegrationId, OrderId};
use garson_core::order::Order;

/// The order that the platform means, with the fingerprint of its content, to see whether news are news.
pub fn known(
    tx: &mut Tx<'_>,
    account: AccountId,
    integration: IntegrationId,
    identity: &str,
) -> Result<Option<Known>> {
    let sql = format!("SELECT {COLUMNS}, o.content_hash FROM orders o WHERE {BY_IDENTITY}");
    tx.query_opt(&sql, params![identity, &account, &integration], |row| {
        Ok(Known {
            order: order(row)?,
            content_hash: row.get(NEXT_COLUMN)?,
        })
    })
}

/// Had the order content with this fingerprint before? Documents without a number do not lead back to it.
pub fn was_replaced(tx: &mut Tx<'_>, id: OrderId, hash: &[u8]) -> Result<bool> {
    let sql = "SELECT number FROM order_timeline WHERE order_id = ?1 AND replaced_hash = ?2 LIMIT 1";
    let found = tx.query_opt(sql, params![&id, hash], |row| row.get::<i64>(0))?;
    Ok(found.is_some())
}

/// A later version of an order's content.
pub struct Replacement<'a> {
    /// The order as it is then.
    pub order: &'a Order,
    pub content: &'a str,
    /// The fingerprint of the document that brought it.
    pub content_hash: &'a [u8],
    /// By which the content that it replaces is known when it comes back.
    pub replaced_hash: &'a [u8],
    /// One of the account's, reserved for this change.
    pub place: i64,
}

/// Replaces the content of a locked order, with what lists show of it. Its timeline has the line of the new version already;
/// the caller follows with the totals.
pub fn replace(tx: &mut Tx<'_>, replacement: &Replacement<'_>) -> Result<()> {
    let Replacement {
        order,
        content,
        content_hash,
        replaced_hash,
        place,
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
            &order_line::of(order)?,
            order.provider_data.as_ref(),
            order.sequence,
            order.updated_at,
            place,
        ],
    )?;
    tx.execute(
        "UPDATE order_contents SET body = ?2 WHERE order_id = ?1",
        params![&order.id, content],
    )?;
    Ok(())
}
