//! Orders: taken once, found by either id, changed under a lock, listed by place.

mod progress;

pub use self::progress::{set_progress, set_sync, set_sync_unread};
pub use crate::lists::order_changes::{ChangedOrder, Changes, list_changed};
pub use crate::lists::orders::{
    Narrowed, OrderSummary, list, list_between, list_lines, list_narrowed, list_pending,
};

use crate::engine::in_list::{filled, marks};
use crate::engine::{Insert, Param, Row};
use crate::tables::order_line;
use crate::{Result, StoreError, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, IntegrationId, OrderId};
use garson_core::order::{Amount, Cancellation, Flag, Order, OrderContent, Payment, ProviderSync};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use serde::Deserialize;

pub use crate::tables::timeline::{add_timeline, append_timeline, timeline, timelines};

pub(crate) const COLUMNS: &str = "o.id, o.account_id, o.restaurant_id, o.integration_id, o.provider, o.provider_order_id, \
                       o.identity, o.short_code, o.status, o.provider_status, o.provider_data, o.sequence, o.total, \
                       o.currency, o.payment_type, o.payment_code, o.placed_at, o.accept_by, o.scheduled_for, \
                       o.ready_at, o.reported_at, o.created_at, o.updated_at, o.cancellation, o.sync_state, \
                       o.sync_due_at, o.sync_message, o.flag, o.revision, o.content_version";
/// So many orders are asked for with one statement.
pub(crate) const AT_ONCE: usize = 32;
/// The number of the first column behind these.
pub(crate) const NEXT_COLUMN: usize = 30;
/// Orders of restaurants that are being deleted are gone.
pub(crate) const LIVE: &str =
    "FROM orders o JOIN restaurants r ON r.id = o.restaurant_id AND r.deleted_at IS NULL";

pub(crate) fn order(row: &Row<'_>) -> Result<Order> {
    let cancellation: Option<String> = row.get(23)?;
    let flag: Option<String> = row.get(27)?;
    Ok(Order {
        id: row.get(0)?,
        account_id: row.get(1)?,
        restaurant_id: row.get(2)?,
        integration_id: row.get(3)?,
        provider: row.get(4)?,
        provider_order_id: row.get(5)?,
        identity: row.get(6)?,
        short_code: row.get(7)?,
        status: row.get(8)?,
        provider_status: row.get(9)?,
        provider_data: row.get(10)?,
        sequence: row.get(11)?,
        total: row.get(12)?,
        currency: row.get(13)?,
        payment_type: row.get(14)?,
        payment_code: row.get(15)?,
        placed_at: row.get(16)?,
        accept_by: row.get(17)?,
        scheduled_for: row.get(18)?,
        ready_at: row.get(19)?,
        reported_at: row.get(20)?,
        created_at: row.get(21)?,
        updated_at: row.get(22)?,
        cancellation: cancellation
            .map(|json| from_json::<Cancellation>(&json))
            .transpose()?,
        sync: sync(&row.get::<String>(24)?, row.get(25)?, row.get(26)?)?,
        flag: flag.and_then(|name| Flag::named(&name)),
        revision: row.get(28)?,
        content_version: row.get(29)?,
    })
}

pub(crate) fn from_json<T: serde::de::DeserializeOwned>(json: &str) -> Result<T> {
    serde_json::from_str(json)
        .map_err(|error| StoreError::corrupt(format!("a stored order is damaged: {error}")))
}

pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| StoreError::internal(format!("an order does not serialise: {error}")))
}

fn sync(state: &str, due_at: Option<Timestamp>, message: Option<Explanation>) -> Result<ProviderSync> {
    match (state, due_at) {
        ("done", _) => Ok(ProviderSync::Done),
        ("not_needed", _) => Ok(ProviderSync::NotNeeded),
        ("pending", Some(due_at)) => Ok(ProviderSync::Pending { due_at }),
        ("failed", _) => Ok(ProviderSync::Failed {
            message: message.unwrap_or_default(),
        }),
        _ => Err(StoreError::corrupt("a stored order has an unknown sync state")),
    }
}

fn sync_columns(sync: &ProviderSync) -> (&'static str, Option<Timestamp>, Option<String>) {
    let state = sync.as_str();
    match sync {
        ProviderSync::Done | ProviderSync::NotNeeded => (state, None, None),
        ProviderSync::Pending { due_at } => (state, Some(*due_at), None),
        ProviderSync::Failed { message } => (state, None, Some(message.stored())),
    }
}

/// What an integration's platform calls an order.
pub(crate) const BY_IDENTITY: &str = "o.identity = ?1 AND o.account_id = ?2 AND o.integration_id = ?3";

/// An order with its fingerprint, to tell a repeat from another order under the same id.
pub struct Known {
    pub order: Order,
    pub content_hash: Vec<u8>,
}

/// The order that the platform means, locked for a change. One that is likely to be new may not be found: then inserting it
/// fails.
pub fn lock_by_identity(
    tx: &mut Tx<'_>,
    account: AccountId,
    integration: IntegrationId,
    identity: &str,
    is_likely_new: bool,
) -> Result<Option<Known>> {
    if is_likely_new && tx.is_optimistic() {
        // Inserting it tells whether it is.
        return Ok(None);
    }
    let sql = format!("SELECT {COLUMNS}, o.content_hash FROM orders o WHERE {BY_IDENTITY} {{lock}}");
    tx.query_opt(&sql, params![identity, &account, &integration], |row| {
        Ok(Known {
            order: order(row)?,
            content_hash: row.get(NEXT_COLUMN)?,
        })
    })
}

/// The order that a platform means with an identity among some integrations; among all of them when none are named, for
/// a sender who speaks for the whole platform.
pub fn among(
    tx: &mut Tx<'_>,
    provider: Provider,
    identity: &str,
    integrations: &[IntegrationId],
) -> Result<Option<Order>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM orders o WHERE o.identity = ?1 AND o.provider = ?2 ORDER BY o.id DESC LIMIT 20"
    );
    let found = tx.query(&sql, params![identity, &provider], order)?;
    Ok(found
        .into_iter()
        .find(|order| integrations.is_empty() || integrations.contains(&order.integration_id)))
}

/// Where an order of a platform stands, to see whether news are news.
pub fn by_identity(
    tx: &mut Tx<'_>,
    account: AccountId,
    integration: IntegrationId,
    identity: &str,
) -> Result<Option<Order>> {
    let sql = format!("SELECT {COLUMNS} FROM orders o WHERE {BY_IDENTITY}");
    tx.query_opt(&sql, params![identity, &account, &integration], order)
}

/// The orders of an integration that have not come to an end, oldest first; of very many, any.
pub fn open_of_integration(
    tx: &mut Tx<'_>,
    account: AccountId,
    integration: IntegrationId,
    limit: i64,
) -> Result<Vec<Order>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM orders o
         WHERE o.account_id = ?1 AND o.integration_id = ?2 AND o.status < 900 LIMIT ?3"
    );
    let mut open = tx.query(&sql, params![&account, &integration, limit], order)?;
    // Not by the statement, which would lead an engine to look for them in that order, among all that the account ever had.
    open.sort_by_key(|order| (order.created_at, order.id));
    Ok(open)
}

const INSERT: Insert<'_> = Insert {
    on_conflict: "ON CONFLICT (identity, account_id, integration_id) DO NOTHING",
    ..Insert::into(
        "orders",
        "id, account_id, restaurant_id, integration_id, position, provider, provider_order_id, identity, content_hash,
         short_code, status, provider_status, provider_data, sequence, total, currency, payment_type, payment_code, placed_at,
         accept_by, scheduled_for, created_at, updated_at, sync_state, sync_due_at, sync_message, flag, line, content_version,
         changed",
    )
};
const INSERT_CONTENT: Insert<'_> = Insert::into("order_contents", "order_id, body");

/// Stores a new order; `false` when the platform's order is there already.
pub fn insert(
    tx: &mut Tx<'_>,
    order: &Order,
    content: &str,
    content_hash: &[u8; 32],
    place: i64,
) -> Result<bool> {
    let (sync_state, sync_due_at, sync_message) = sync_columns(&order.sync);
    let is_inserted = tx.insert(
        &INSERT,
        params![
            &order.id,
            &order.account_id,
            &order.restaurant_id,
            &order.integration_id,
            place,
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
            &order_line::of(order)?,
            order.content_version,
            place,
        ],
    )?;
    if !is_inserted {
        return Ok(false);
    }
    tx.insert(&INSERT_CONTENT, params![&order.id, content])?;
    Ok(true)
}

/// Writes what has changed about an order; `place` is one of the account's, reserved for this change, and its moment is the
/// order's `updated_at`.
pub fn update(tx: &mut Tx<'_>, order: &Order, place: i64) -> Result<()> {
    let (sync_state, sync_due_at, sync_message) = sync_columns(&order.sync);
    let cancellation = order.cancellation.as_ref().map(to_json).transpose()?;
    tx.execute(
        "UPDATE orders SET status = ?2, provider_status = ?3, provider_data = ?4, sequence = ?5, ready_at = ?6,
             updated_at = ?7, cancellation = ?8, sync_state = ?9, sync_due_at = ?10, sync_message = ?11, changed = ?12
         WHERE id = ?1",
        params![
            &order.id,
            order.status,
            order.provider_status.as_ref(),
            order.provider_data.as_ref(),
            order.sequence,
            order.ready_at,
            order.updated_at,
            cancellation.as_ref(),
            sync_state,
            sync_due_at,
            sync_message.as_ref(),
            place,
        ],
    )?;
    Ok(())
}

/// The orders that an id in a path names: one by our own id, or those by the platform's.
pub fn find(tx: &mut Tx<'_>, account: AccountId, path_id: &str) -> Result<Vec<Order>> {
    if let Ok(id) = path_id.parse::<OrderId>() {
        let sql = format!("SELECT {COLUMNS} {LIVE} WHERE o.account_id = ?1 AND o.id = ?2");
        let by_record = tx.query(&sql, params![&account, &id], order)?;
        if !by_record.is_empty() {
            return Ok(by_record);
        }
    }
    by_provider_order_id(tx, account, path_id)
}

/// The orders that carry a platform's id.
pub fn by_provider_order_id(tx: &mut Tx<'_>, account: AccountId, id: &str) -> Result<Vec<Order>> {
    // Most are called the same by their identity, and have no entry in the other index.
    let sql = format!(
        "SELECT {COLUMNS} {LIVE} WHERE o.id IN
             (SELECT id FROM orders WHERE identity = ?2 AND account_id = ?1 AND provider_order_id = ?2
              UNION ALL
              SELECT id FROM orders WHERE account_id = ?1 AND provider_order_id = ?2 AND provider_order_id <> identity)
         ORDER BY o.id LIMIT 20"
    );
    tx.query(&sql, params![&account, id], order)
}

/// The orders that carry any of these ids of platforms, in no order.
pub fn by_provider_order_ids(tx: &mut Tx<'_>, account: AccountId, ids: &[String]) -> Result<Vec<Order>> {
    let marks = marks(2, AT_ONCE);
    let sql = format!(
        "SELECT {COLUMNS} {LIVE} WHERE o.id IN
             (SELECT id FROM orders WHERE identity IN ({marks}) AND account_id = ?1 AND provider_order_id = identity
              UNION ALL
              SELECT id FROM orders WHERE account_id = ?1 AND provider_order_id IN ({marks})
                  AND provider_order_id <> identity)"
    );
    let mut found = Vec::new();
    for some in ids.chunks(AT_ONCE) {
        let mut params = vec![Param::from(&account)];
        params.extend(filled(some, AT_ONCE).map(Param::from));
        found.extend(tx.query(&sql, &params, order)?);
    }
    Ok(found)
}

/// An order, fresh and locked for a change.
pub fn lock(tx: &mut Tx<'_>, id: OrderId) -> Result<Option<Order>> {
    tx.query_opt(
        &format!("SELECT {COLUMNS} FROM orders o WHERE o.id = ?1 {{lock}}"),
        params![&id],
        order,
    )
}

/// An order by its own id, whoever it belongs to.
pub fn by_id(tx: &mut Tx<'_>, id: OrderId) -> Result<Option<Order>> {
    tx.query_opt(
        &format!("SELECT {COLUMNS} {LIVE} WHERE o.id = ?1"),
        params![&id],
        order,
    )
}

/// What people call these orders of the account: their code, or the platform's id where there is none.
pub fn codes(tx: &mut Tx<'_>, account: AccountId, ids: &[OrderId]) -> Result<Vec<(OrderId, String)>> {
    let sql = format!(
        "SELECT o.id, o.account_id, COALESCE(o.short_code, o.provider_order_id) {LIVE} WHERE o.id IN ({})",
        marks(1, AT_ONCE)
    );
    let mut codes = Vec::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        let params: Vec<Param<'_>> = filled(some, AT_ONCE).map(Param::from).collect();
        let found = tx.query(&sql, &params, |row| Ok((row.get(1)?, (row.get(0)?, row.get(2)?))))?;
        let own = found
            .into_iter()
            .filter(|(of, _): &(AccountId, _)| *of == account);
        codes.extend(own.map(|(_, code)| code));
    }
    Ok(codes)
}

pub fn content(tx: &mut Tx<'_>, id: OrderId) -> Result<OrderContent> {
    let body = tx.query_opt(
        "SELECT body FROM order_contents WHERE order_id = ?1",
        params![&id],
        |row| row.get::<String>(0),
    )?;
    from_json(&body.ok_or_else(|| StoreError::corrupt("an order has no content"))?)
}

/// How long the contents of these orders are, in characters, in no order.
pub fn content_sizes(tx: &mut Tx<'_>, ids: &[OrderId]) -> Result<Vec<(OrderId, i64)>> {
    let sql = format!(
        "SELECT order_id, CAST(LENGTH(body) AS BIGINT) FROM order_contents WHERE order_id IN ({})",
        marks(1, AT_ONCE)
    );
    let mut sizes = Vec::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        let params: Vec<Param<'_>> = filled(some, AT_ONCE).map(Param::from).collect();
        sizes.extend(tx.query(&sql, &params, |row| Ok((row.get(0)?, row.get(1)?)))?);
    }
    Ok(sizes)
}

/// What an order costs and how it is paid.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Charge {
    pub amount: Amount,
    pub payment: Payment,
}

/// What these orders cost and how they are paid, in no order.
pub fn charges(tx: &mut Tx<'_>, ids: &[OrderId]) -> Result<Vec<(OrderId, Charge)>> {
    let sql = format!(
        "SELECT order_id, body FROM order_contents WHERE order_id IN ({})",
        marks(1, AT_ONCE)
    );
    let mut charges = Vec::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        let params: Vec<Param<'_>> = filled(some, AT_ONCE).map(Param::from).collect();
        charges.extend(tx.query(&sql, &params, |row| Ok((row.get(0)?, from_json(row.text(1)?)?)))?);
    }
    Ok(charges)
}

/// Stamps an order as reported; the first stamp stays. `place` is one of the account's, reserved for this change, and `at` is its
/// moment.
pub fn mark_reported(tx: &mut Tx<'_>, id: OrderId, at: Timestamp, place: i64) -> Result<()> {
    tx.write(
        "UPDATE orders SET reported_at = ?2, updated_at = ?2, changed = ?3 WHERE id = ?1 AND reported_at IS NULL",
        params![&id, at, place],
    )?;
    Ok(())
}
