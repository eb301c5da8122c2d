//! Orders and other records that come from another service: where their ids are taken, and what an order has besides what a new one
//! has.
//!
//! Lists and periods rely on an account's orders being in the order of their arrival. Orders that arrived elsewhere before an import
//! began get positions that were reserved at its beginning, so that orders which arrive here meanwhile come after them.

use crate::tables::accounts::reserve_positions;
use crate::tables::json::to_json;
use crate::tables::orders::row::sync_columns;
use crate::tables::orders::{COLUMNS, order};
use crate::tables::row::{each, tuple, value};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, IntegrationId, OrderId};
use garson_core::order::{Flag, Order};
use garson_core::time::Timestamp;
use uuid::Uuid;

/// More than any service has orders; positions are far from running out.
const BLOCK: i64 = 1 << 32;

/// A kind of record whose ids are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdOf {
    Business,
    Restaurant,
    Order,
}

/// Whether an id can be used in an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdState {
    Free,
    /// The account has the record.
    Ours,
    /// The account had it, and it is still being removed.
    Deleted,
    /// It is another account's.
    Foreign,
}

pub fn id_state(tx: &mut Tx<'_>, account: AccountId, kind: IdOf, id: Uuid) -> Result<IdState> {
    let sql = match kind {
        IdOf::Business => "SELECT account_id, CAST(NULL AS BIGINT) FROM businesses WHERE id = ?1",
        IdOf::Restaurant => "SELECT account_id, deleted_at FROM restaurants WHERE id = ?1",
        IdOf::Order => {
            "SELECT o.account_id, CASE WHEN r.id IS NULL THEN CAST(0 AS BIGINT) ELSE r.deleted_at END
             FROM orders o LEFT JOIN restaurants r ON r.id = o.restaurant_id WHERE o.id = ?1"
        }
    };
    let bytes: &[u8] = id.as_bytes();
    let found = tx.query_opt(sql, params![bytes], tuple::<(AccountId, Option<i64>)>)?;
    Ok(match found {
        None => IdState::Free,
        Some((owner, _)) if owner != account => IdState::Foreign,
        Some((_, Some(_))) => IdState::Deleted,
        Some(_) => IdState::Ours,
    })
}

/// Positions for orders that arrived elsewhere up to a time.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub first: i64,
    pub end: i64,
    /// Orders that arrive here come later than this.
    pub until: Timestamp,
}

pub fn reserve_block(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<Block> {
    let mut places = reserve_positions(tx, account, BLOCK, now)?;
    let first = places.take();
    Ok(Block {
        first,
        end: first + BLOCK,
        until: places.at,
    })
}

/// The position and the arrival of the last order before a position.
pub fn last_before(tx: &mut Tx<'_>, account: AccountId, position: i64) -> Result<Option<(i64, Timestamp)>> {
    let sql = "SELECT position, created_at FROM orders WHERE account_id = ?1 AND position < ?2
               ORDER BY account_id DESC, position DESC LIMIT 1";
    tx.query_opt(sql, params![&account, position], tuple)
}

/// The account's first order.
pub fn first(tx: &mut Tx<'_>, account: AccountId) -> Result<Option<Order>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM orders o WHERE o.account_id = ?1 ORDER BY o.account_id, o.position LIMIT 1"
    );
    tx.query_opt(&sql, params![&account], each(order))
}

/// An order's content as it is stored, with its hash.
pub fn stored_content(tx: &mut Tx<'_>, id: OrderId) -> Result<Option<(Vec<u8>, String)>> {
    tx.query_opt(
        "SELECT o.content_hash, c.body FROM orders o JOIN order_contents c ON c.order_id = o.id WHERE o.id = ?1",
        params![&id],
        tuple,
    )
}

/// Does the order have an event? An imported one has none until it changes here.
pub fn has_event(tx: &mut Tx<'_>, id: OrderId) -> Result<bool> {
    let sql = "SELECT position FROM events WHERE order_id = ?1 LIMIT 1";
    Ok(tx.query_opt(sql, params![&id], value::<i64>)?.is_some())
}

/// The number of lines of an order's timeline.
pub fn timeline_length(tx: &mut Tx<'_>, id: OrderId) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM order_timeline WHERE order_id = ?1";
    tx.query_one(sql, params![&id], value)
}

/// An integration's order with the platform's id, or with this identity.
pub fn with_platform_id(
    tx: &mut Tx<'_>,
    account: AccountId,
    integration: IntegrationId,
    provider_order_id: &str,
) -> Result<Vec<Order>> {
    let mut found = crate::tables::orders::by_provider_order_id(tx, account, provider_order_id)?;
    found.retain(|order| order.integration_id == integration);
    Ok(found)
}

/// Writes everything of an order's state. `position` is that of the change.
pub fn write_state(tx: &mut Tx<'_>, order: &Order, position: i64) -> Result<()> {
    let (sync_state, sync_due_at, sync_message) = sync_columns(&order.sync);
    let cancellation = order.cancellation.as_ref();
    let cancellation = cancellation.map(|it| to_json("cancellation", it)).transpose()?;
    tx.execute(
        "UPDATE orders SET status = ?2, provider_status = ?3, ready_at = ?4, reported_at = ?5, cancellation = ?6,
             sync_state = ?7, sync_due_at = ?8, sync_message = ?9, flag = ?10, revision = ?11, sequence = ?12,
             updated_at = ?13, changed = ?14
         WHERE id = ?1",
        params![
            &order.id,
            order.status,
            order.provider_status.as_ref(),
            order.ready_at,
            order.reported_at,
            cancellation.as_ref(),
            sync_state,
            sync_due_at,
            sync_message.as_ref(),
            order.flag.map(Flag::as_str),
            order.revision,
            order.sequence,
            order.updated_at,
            position,
        ],
    )?;
    Ok(())
}
