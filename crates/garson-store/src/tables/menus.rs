//! Menus of integrations: their versions, and when each is read next.

use crate::tables::row::{columns, each, insert, tuple, value};
use crate::{INTEGRATIONS, Result, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, IntegrationId, NodeId, RestaurantId};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;

/// A version of a platform's menu, compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuVersion {
    pub number: i64,
    pub hash: Vec<u8>,
    pub body: Vec<u8>,
    pub products: i64,
    pub read_at: Timestamp,
}

columns! {
    const VERSION = "" of menu_versions { number, hash, body, products, read_at }
    fn version() -> MenuVersion {
        Ok(MenuVersion { number, hash, body, products, read_at })
    }
}

/// The version that was current at a time.
pub fn version_at(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    provider: Provider,
    at: Timestamp,
) -> Result<Option<MenuVersion>> {
    let sql = format!(
        "SELECT {VERSION} FROM menu_versions
         WHERE restaurant_id = ?1 AND provider = ?2 AND read_at <= ?3 ORDER BY number DESC LIMIT 1"
    );
    tx.query_opt(&sql, params![&restaurant, &provider, at], each(version))
}

/// The oldest stored version.
pub fn first_version(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    provider: Provider,
) -> Result<Option<MenuVersion>> {
    let sql = format!(
        "SELECT {VERSION} FROM menu_versions WHERE restaurant_id = ?1 AND provider = ?2 ORDER BY number LIMIT 1"
    );
    tx.query_opt(&sql, params![&restaurant, &provider], each(version))
}

/// The number, time and count of products of the versions of a menu, newest first.
pub fn versions(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    provider: Provider,
    limit: i64,
) -> Result<Vec<(i64, Timestamp, i64)>> {
    tx.query(
        "SELECT number, read_at, products FROM menu_versions
         WHERE restaurant_id = ?1 AND provider = ?2 ORDER BY number DESC LIMIT ?3",
        params![&restaurant, &provider, limit],
        tuple,
    )
}

pub fn find_version(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    provider: Provider,
    number: i64,
) -> Result<Option<MenuVersion>> {
    let sql = format!(
        "SELECT {VERSION} FROM menu_versions WHERE restaurant_id = ?1 AND provider = ?2 AND number = ?3"
    );
    tx.query_opt(&sql, params![&restaurant, &provider, number], each(version))
}

/// Adds a version unless the newest has the same hash; returns its number if it was added.
pub fn add_version(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    provider: Provider,
    new: &MenuVersion,
) -> Result<Option<i64>> {
    let newest: Option<(i64, Vec<u8>)> = tx.query_opt(
        "SELECT number, hash FROM menu_versions WHERE restaurant_id = ?1 AND provider = ?2
         ORDER BY number DESC LIMIT 1",
        params![&restaurant, &provider],
        tuple,
    )?;
    if newest.as_ref().is_some_and(|(_, hash)| *hash == new.hash) {
        return Ok(None);
    }
    let number = newest.map_or(1, |(number, _)| number + 1);
    insert!(
        tx,
        menu_versions {
            restaurant_id: &restaurant,
            provider: &provider,
            number: number,
            account_id: &account,
            hash: &new.hash,
            body: &new.body,
            products: new.products,
            read_at: new.read_at,
        }
    )?;
    Ok(Some(number))
}

/// Removes versions beyond the newest `keep`, and those from before a timestamp, but never the newest.
pub fn remove_old_versions(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    provider: Provider,
    keep: i64,
    before: Timestamp,
) -> Result<u64> {
    let newest: Option<i64> = tx.query_one(
        "SELECT MAX(number) FROM menu_versions WHERE restaurant_id = ?1 AND provider = ?2",
        params![&restaurant, &provider],
        value,
    )?;
    let Some(newest) = newest else { return Ok(0) };
    // A version was current until the next one was read, so the next one must be old too.
    tx.execute(
        "DELETE FROM menu_versions WHERE restaurant_id = ?1 AND provider = ?2 AND number < ?3
           AND (number <= ?4 OR number + 1 IN
                (SELECT v.number FROM menu_versions v
                 WHERE v.restaurant_id = ?1 AND v.provider = ?2 AND v.read_at < ?5))",
        params![&restaurant, &provider, newest, newest - keep, before],
    )
}

/// The reads of an integration's menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuRead {
    pub integration_id: IntegrationId,
    pub account_id: AccountId,
    pub restaurant_id: RestaurantId,
    pub provider: Provider,
    pub due_at: Timestamp,
    pub attempts: i64,
    /// When it was last read.
    pub read_at: Option<Timestamp>,
    /// Why the last read failed.
    pub message: Option<Explanation>,
    /// The position up to which products were collected from orders.
    pub order_position: i64,
    pub is_running: bool,
}

columns! {
    const READ = "" of menu_reads {
        integration_id, account_id, restaurant_id, provider, due_at, attempts, read_at, message, order_position,
        node: Option<NodeId>
    }
    fn menu_read() -> MenuRead {
        Ok(MenuRead {
            integration_id, account_id, restaurant_id, provider, due_at, attempts, read_at, message, order_position,
            is_running: node.is_some(),
        })
    }
}

/// Active integrations of a platform without a row, at most `limit`.
pub fn without_row(
    tx: &mut Tx<'_>,
    limit: i64,
) -> Result<Vec<(IntegrationId, AccountId, RestaurantId, Provider)>> {
    tx.on(INTEGRATIONS).query(
        "SELECT i.id, i.account_id, i.restaurant_id, i.provider FROM integrations i
         WHERE i.is_active = 1 AND i.remote_id IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM menu_reads m WHERE m.integration_id = i.id) LIMIT ?1",
        params![limit],
        tuple,
    )
}

/// Plans the first read of an integration's menu.
pub fn plan(
    tx: &mut Tx<'_>,
    (integration, account, restaurant, provider): (IntegrationId, AccountId, RestaurantId, Provider),
    due_at: Timestamp,
) -> Result<()> {
    insert!(
        tx,
        menu_reads {
            integration_id: &integration,
            account_id: &account,
            restaurant_id: &restaurant,
            provider: &provider,
            due_at: due_at,
            attempts: 0,
            order_position: 0,
        },
        "ON CONFLICT (integration_id) DO NOTHING"
    )?;
    Ok(())
}

/// When the next menu is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>> {
    tx.query_opt(
        "SELECT due_at FROM menu_reads ORDER BY due_at LIMIT 1",
        params![],
        value,
    )
}

/// The restaurants whose menus are due, longest due first.
pub fn due_restaurants(
    tx: &mut Tx<'_>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(AccountId, RestaurantId)>> {
    tx.query(
        "SELECT account_id, restaurant_id FROM menu_reads
         WHERE due_at <= ?1 AND node IS NULL ORDER BY due_at LIMIT ?2",
        params![now, limit],
        tuple,
    )
}

/// While a menu is being read, it is due again only if another read is requested.
const NOT_DUE: i64 = i64::MAX;

/// Claims the due menus of a restaurant for this node, unless a live node reads one of the restaurant's menus: its products are
/// matched by one node at a time.
pub fn claim(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    node: NodeId,
    now: Timestamp,
) -> Result<Vec<MenuRead>> {
    let busy = tx.query_opt(
        "SELECT due_at FROM menu_reads WHERE restaurant_id = ?1 AND node IN (SELECT id FROM nodes) LIMIT 1",
        params![&restaurant],
        value::<i64>,
    )?;
    if busy.is_some() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "UPDATE menu_reads SET node = ?2, due_at = ?4
         WHERE restaurant_id = ?1 AND due_at <= ?3 AND node IS NULL AND ?2 IN (SELECT id FROM nodes)
         RETURNING {READ}"
    );
    tx.write_returning(&sql, params![&restaurant, &node, now, NOT_DUE], each(menu_read))
}

/// Ends a read that this node has claimed. The next read is at `next_at`, or earlier if one was requested in the meantime.
pub fn finish(tx: &mut Tx<'_>, read: &MenuRead, node: NodeId, next_at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE menu_reads SET node = NULL, attempts = ?3, read_at = ?4, message = ?5, order_position = ?6,
                due_at = CASE WHEN due_at < ?7 THEN due_at ELSE ?7 END
         WHERE integration_id = ?1 AND node = ?2",
        params![
            &read.integration_id,
            &node,
            read.attempts,
            read.read_at,
            read.message.as_ref().map(Explanation::stored).as_ref(),
            read.order_position,
            next_at
        ],
    )?;
    Ok(())
}

/// Has a node stopped while it was reading a menu?
pub fn has_interrupted(tx: &mut Tx<'_>) -> Result<bool> {
    let sql =
        "SELECT due_at FROM menu_reads WHERE node IS NOT NULL AND node NOT IN (SELECT id FROM nodes) LIMIT 1";
    Ok(tx.query_opt(sql, params![], value::<i64>)?.is_some())
}

/// Makes menus due again whose reads were interrupted.
pub fn release_interrupted(tx: &mut Tx<'_>, now: Timestamp) -> Result<u64> {
    tx.execute(
        "UPDATE menu_reads SET node = NULL, due_at = ?1
         WHERE node IS NOT NULL AND node NOT IN (SELECT id FROM nodes)",
        params![now],
    )
}

/// Makes a read due at a time, if it is not due earlier.
pub fn make_due(tx: &mut Tx<'_>, integration: IntegrationId, at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE menu_reads SET due_at = ?2 WHERE integration_id = ?1 AND due_at > ?2",
        params![&integration, at],
    )?;
    Ok(())
}

/// The reads of a restaurant's menus.
pub fn of_restaurant(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<Vec<MenuRead>> {
    let sql = format!("SELECT {READ} FROM menu_reads WHERE restaurant_id = ?1 ORDER BY provider");
    tx.query(&sql, params![&restaurant], each(menu_read))
}

/// Integrations whose menus are due at exactly this time, at most `limit`.
pub fn due_exactly(tx: &mut Tx<'_>, at: Timestamp, limit: i64) -> Result<Vec<IntegrationId>> {
    let sql = "SELECT integration_id FROM menu_reads WHERE due_at = ?1 LIMIT ?2";
    tx.query(sql, params![at, limit], value)
}

/// Is there anything for [`remove_orphans`] to do?
pub fn has_orphans(tx: &mut Tx<'_>) -> Result<bool> {
    let found = tx.on(INTEGRATIONS).query_opt(
        "SELECT m.due_at FROM menu_reads m
         WHERE NOT EXISTS (SELECT 1 FROM integrations i WHERE i.id = m.integration_id) LIMIT 1",
        params![],
        value::<i64>,
    )?;
    Ok(found.is_some())
}

/// Removes the rows of integrations that no longer exist, at most `limit`.
pub fn remove_orphans(tx: &mut Tx<'_>, limit: i64) -> Result<u64> {
    tx.on(INTEGRATIONS).execute(
        "DELETE FROM menu_reads WHERE integration_id IN
             (SELECT m.integration_id FROM menu_reads m
              WHERE NOT EXISTS (SELECT 1 FROM integrations i WHERE i.id = m.integration_id) LIMIT ?1)",
        params![limit],
    )
}
