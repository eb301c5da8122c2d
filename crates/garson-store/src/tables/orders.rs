//! Orders: stored once, found by our id or the platform's, changed under a lock.

mod content;
pub(crate) mod row;
mod update;

pub use crate::tables::timeline::{add_timeline, append_timeline, timeline, timelines};
pub use content::{Billing, Charge, billings, charges, content, content_sizes};
pub use update::{mark_reported, set_progress, set_sync, set_sync_unread, unmark_reported, update};

pub(crate) use content::parse as parse_content;
pub(crate) use row::{COLUMNS, IS_NOT_CANCELLED, IS_OPEN, LIVE, order};

use crate::engine::in_list::{filled, marks};
use crate::engine::{Insert, Param};
use crate::tables::json::from_json;
use crate::tables::order_line;
use crate::tables::row::{column_list, each, tuple};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use garson_core::order::{Cancellation, Flag, Order};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use row::sync_columns;

/// How many orders one statement reads.
const PER_STATEMENT: usize = 32;

/// An integration's order, by the platform's name for it.
const BY_IDENTITY: &str = "o.identity = ?1 AND o.account_id = ?2 AND o.integration_id = ?3";

/// An order with the hash of its content, to tell a repetition from another order under the same id.
pub struct HashedOrder {
    pub order: Order,
    pub content_hash: Vec<u8>,
}

/// An integration's order by identity, locked for a change. When `is_likely_new`, an optimistic transaction skips the lookup:
/// the insert fails if the order exists.
pub fn lock_by_identity(
    tx: &mut Tx<'_>,
    account: AccountId,
    integration: IntegrationId,
    identity: &str,
    is_likely_new: bool,
) -> Result<Option<HashedOrder>> {
    if is_likely_new && tx.is_optimistic() {
        return Ok(None);
    }
    find_hashed(tx, account, integration, identity, "{lock}")
}

/// An integration's order by identity, not locked.
pub fn hashed_by_identity(
    tx: &mut Tx<'_>,
    account: AccountId,
    integration: IntegrationId,
    identity: &str,
) -> Result<Option<HashedOrder>> {
    find_hashed(tx, account, integration, identity, "")
}

fn find_hashed(
    tx: &mut Tx<'_>,
    account: AccountId,
    integration: IntegrationId,
    identity: &str,
    lock: &str,
) -> Result<Option<HashedOrder>> {
    let sql = format!("SELECT {COLUMNS}, o.content_hash FROM orders o WHERE {BY_IDENTITY} {lock}");
    let read = each(|cells| {
        Ok(HashedOrder {
            order: order(cells)?,
            content_hash: cells.read()?,
        })
    });
    tx.query_opt(&sql, params![identity, &account, &integration], read)
}

/// The newest order with an identity among some integrations of a platform, or among all of them when none are named: some
/// senders speak for the whole platform.
pub fn find_among(
    tx: &mut Tx<'_>,
    provider: Provider,
    identity: &str,
    integrations: &[IntegrationId],
) -> Result<Option<Order>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM orders o WHERE o.identity = ?1 AND o.provider = ?2 ORDER BY o.id DESC LIMIT 20"
    );
    let found = tx.query(&sql, params![identity, &provider], each(order))?;
    Ok(found
        .into_iter()
        .find(|order| integrations.is_empty() || integrations.contains(&order.integration_id)))
}

/// An integration's order by identity.
pub fn by_identity(
    tx: &mut Tx<'_>,
    account: AccountId,
    integration: IntegrationId,
    identity: &str,
) -> Result<Option<Order>> {
    let sql = format!("SELECT {COLUMNS} FROM orders o WHERE {BY_IDENTITY}");
    tx.query_opt(&sql, params![identity, &account, &integration], each(order))
}

/// Open orders of an integration, oldest first; an arbitrary subset if there are more than `limit`.
pub fn open_of_integration(
    tx: &mut Tx<'_>,
    account: AccountId,
    integration: IntegrationId,
    limit: i64,
) -> Result<Vec<Order>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM orders o
         WHERE o.account_id = ?1 AND o.integration_id = ?2 AND o.{IS_OPEN} LIMIT ?3"
    );
    let mut open = tx.query(&sql, params![&account, &integration, limit], each(order))?;
    // Sorted here: with ORDER BY a planner might walk all orders of the account in that order.
    open.sort_by_key(|order| (order.created_at, order.id));
    Ok(open)
}

const INSERT: Insert<'_> = Insert {
    on_conflict: "ON CONFLICT (identity, account_id, integration_id) DO NOTHING",
    ..Insert::into(
        "orders",
        column_list!(orders {
            id,
            account_id,
            restaurant_id,
            integration_id,
            position,
            provider,
            provider_order_id,
            identity,
            content_hash,
            short_code,
            status,
            provider_status,
            provider_data,
            sequence,
            total,
            currency,
            payment_type,
            payment_code,
            placed_at,
            accept_by,
            scheduled_for,
            created_at,
            updated_at,
            sync_state,
            sync_due_at,
            sync_message,
            flag,
            line,
            content_version,
            changed
        }),
    )
};
const INSERT_CONTENT: Insert<'_> =
    Insert::into("order_contents", column_list!(order_contents { order_id, body }));

/// Stores a new order; `false` when it already exists.
pub fn insert(
    tx: &mut Tx<'_>,
    order: &Order,
    content: &str,
    content_hash: &[u8; 32],
    position: i64,
) -> Result<bool> {
    let (sync_state, sync_due_at, sync_message) = sync_columns(&order.sync);
    let is_inserted = tx.insert(
        &INSERT,
        params![
            &order.id,
            &order.account_id,
            &order.restaurant_id,
            &order.integration_id,
            position,
            &order.provider,
            &order.provider_order_id,
            &order.identity,
            content_hash,
            order.short_code.as_ref(),
            order.status,
            order.provider_status.as_ref(),
            order.provider_data.as_ref(),
            order.sequence,
            order.total,
            &order.currency,
            order.payment_type,
            order.payment_code.as_ref(),
            order.placed_at,
            order.accept_by,
            order.scheduled_for,
            order.created_at,
            order.updated_at,
            sync_state,
            sync_due_at,
            sync_message.as_ref(),
            order.flag.map(Flag::as_str),
            &order_line::encode(order)?,
            order.content_version,
            position,
        ],
    )?;
    if !is_inserted {
        return Ok(false);
    }
    tx.insert(&INSERT_CONTENT, params![&order.id, content])?;
    Ok(true)
}

/// The orders that an id in a URL names: one by our own id, or those with that id on their platform.
pub fn find(tx: &mut Tx<'_>, account: AccountId, path_id: &str) -> Result<Vec<Order>> {
    if let Ok(id) = path_id.parse::<OrderId>() {
        let sql = format!("SELECT {COLUMNS} {LIVE} WHERE o.account_id = ?1 AND o.id = ?2");
        let own = tx.query(&sql, params![&account, &id], each(order))?;
        if !own.is_empty() {
            return Ok(own);
        }
    }
    by_provider_order_id(tx, account, path_id)
}

/// The orders with an id of a platform.
pub fn by_provider_order_id(tx: &mut Tx<'_>, account: AccountId, id: &str) -> Result<Vec<Order>> {
    // For most orders this id is the identity, and they have no entry in the index of the others.
    let sql = format!(
        "SELECT {COLUMNS} {LIVE} WHERE o.id IN
             (SELECT id FROM orders WHERE identity = ?2 AND account_id = ?1 AND provider_order_id = ?2
              UNION ALL
              SELECT id FROM orders WHERE account_id = ?1 AND provider_order_id = ?2 AND provider_order_id <> identity)
         ORDER BY o.id LIMIT 20"
    );
    tx.query(&sql, params![&account, id], each(order))
}

/// The orders with any of these ids of platforms, unsorted.
pub fn by_provider_order_ids(tx: &mut Tx<'_>, account: AccountId, ids: &[String]) -> Result<Vec<Order>> {
    let marks = marks(2, PER_STATEMENT);
    let sql = format!(
        "SELECT {COLUMNS} {LIVE} WHERE o.id IN
             (SELECT id FROM orders WHERE identity IN ({marks}) AND account_id = ?1 AND provider_order_id = identity
              UNION ALL
              SELECT id FROM orders WHERE account_id = ?1 AND provider_order_id IN ({marks})
                  AND provider_order_id <> identity)"
    );
    let mut found = Vec::new();
    for chunk in ids.chunks(PER_STATEMENT) {
        let mut params = vec![Param::from(&account)];
        params.extend(filled(chunk, PER_STATEMENT).map(Param::from));
        found.extend(tx.query(&sql, &params, each(order))?);
    }
    Ok(found)
}

/// An order by its id, locked for a change.
pub fn lock(tx: &mut Tx<'_>, id: OrderId) -> Result<Option<Order>> {
    tx.query_opt(
        &format!("SELECT {COLUMNS} FROM orders o WHERE o.id = ?1 {{lock}}"),
        params![&id],
        each(order),
    )
}

/// The orders of an account after a position, with their positions and times of arrival, oldest first.
pub fn positions_after(
    tx: &mut Tx<'_>,
    account: AccountId,
    after: i64,
    limit: i64,
) -> Result<Vec<(OrderId, i64, Timestamp)>> {
    tx.query(
        "SELECT id, position, created_at FROM orders WHERE account_id = ?1 AND position > ?2
         ORDER BY account_id, position LIMIT ?3",
        params![&account, after, limit],
        tuple,
    )
}

/// The orders of a restaurant after a position, with their positions and platforms, oldest first.
pub fn after_position(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    after: i64,
    limit: i64,
) -> Result<Vec<(OrderId, i64, Provider)>> {
    tx.query(
        "SELECT id, position, provider FROM orders WHERE restaurant_id = ?1 AND position > ?2
         ORDER BY restaurant_id, position LIMIT ?3",
        params![&restaurant, after, limit],
        tuple,
    )
}

/// An order by its id, of any account.
pub fn by_id(tx: &mut Tx<'_>, id: OrderId) -> Result<Option<Order>> {
    tx.query_opt(
        &format!("SELECT {COLUMNS} {LIVE} WHERE o.id = ?1"),
        params![&id],
        each(order),
    )
}

/// The cancellations of these orders, unsorted; orders without one are left out.
pub fn cancellations(tx: &mut Tx<'_>, ids: &[OrderId]) -> Result<Vec<(OrderId, Cancellation)>> {
    let sql = format!(
        "SELECT id, cancellation FROM orders WHERE cancellation IS NOT NULL AND id IN ({})",
        marks(1, PER_STATEMENT)
    );
    let mut found = Vec::new();
    for chunk in ids.chunks(PER_STATEMENT) {
        let params: Vec<Param<'_>> = filled(chunk, PER_STATEMENT).map(Param::from).collect();
        let read = each(|cells| Ok((cells.read()?, from_json("cancellation", cells.text()?)?)));
        found.extend(tx.query(&sql, &params, read)?);
    }
    Ok(found)
}

/// The codes by which staff know these orders of the account: the short code, or the platform's id where there is none.
pub fn codes(tx: &mut Tx<'_>, account: AccountId, ids: &[OrderId]) -> Result<Vec<(OrderId, String)>> {
    let sql = format!(
        "SELECT o.account_id, o.id, COALESCE(o.short_code, o.provider_order_id) {LIVE} WHERE o.id IN ({})",
        marks(1, PER_STATEMENT)
    );
    let mut codes = Vec::with_capacity(ids.len());
    for chunk in ids.chunks(PER_STATEMENT) {
        let params: Vec<Param<'_>> = filled(chunk, PER_STATEMENT).map(Param::from).collect();
        let found = tx.query(&sql, &params, tuple::<(AccountId, OrderId, String)>)?;
        let own = found.into_iter().filter(|(owner, ..)| *owner == account);
        codes.extend(own.map(|(_, id, code)| (id, code)));
    }
    Ok(codes)
}
