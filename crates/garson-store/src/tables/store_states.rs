//! Stores on platforms: desired state, progress of sending it, and the state that the platform reports.

use crate::engine::Param;
use crate::tables::json::{from_json, to_json};
use crate::tables::row::{columns, each, insert, tuple, value};
use crate::{INTEGRATIONS, Result, StoreError, Tx, params};
use garson_core::id::{AccountId, IntegrationId, NodeId, RestaurantId};
use garson_core::platform::Provider;
use garson_core::store_control::{StoreProblem, StoreRecord};
use garson_core::time::Timestamp;

columns! {
    const COLUMNS = "s." of store_states {
        integration_id, account_id, restaurant_id, provider, control: String, version, started_version, finished_version,
        actual: String, checked_at, problem: Option<String>, hours: String,
    }
    fn record() -> StoreRecord {
        let unknown = || StoreError::corrupt("a store has an unknown problem");
        Ok(StoreRecord {
            integration_id,
            account_id,
            restaurant_id,
            provider,
            control: from_json("control of a store", &control)?,
            version,
            started_version,
            finished_version,
            actual: from_json("state of a store", &actual)?,
            checked_at,
            problem: problem
                .map(|name| StoreProblem::named(&name).ok_or_else(unknown))
                .transpose()?,
            hours: from_json("hours of a store", &hours)?,
        })
    }
}

/// The stores of a restaurant.
pub fn of_restaurant(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<Vec<StoreRecord>> {
    let sql =
        format!("SELECT {COLUMNS} FROM store_states s WHERE s.restaurant_id = ?1 ORDER BY s.integration_id");
    tx.query(&sql, params![&restaurant], each(record))
}

/// A store of an integration that is connected and switched on, with everything needed to show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectedStore {
    pub restaurant_id: RestaurantId,
    pub restaurant: String,
    /// The restaurant's configuration as JSON.
    pub config: Option<String>,
    pub integration_id: IntegrationId,
    pub provider: Provider,
}

/// The condition and the parameters of a query for the connected stores of an account, or of one of its restaurants.
fn connected_where<'a>(
    account: &'a AccountId,
    only: Option<&'a RestaurantId>,
    limit: i64,
) -> (String, Vec<Param<'a>>) {
    let mut params = vec![Param::from(account), limit.into()];
    let of_one = match only {
        Some(id) => {
            params.push(id.into());
            "AND r.id = ?3"
        }
        None => "",
    };
    let clause = format!(
        "WHERE r.account_id = ?1 AND r.deleted_at IS NULL AND i.is_active = 1 AND i.remote_id IS NOT NULL {of_one}
         ORDER BY r.name, r.id, i.provider LIMIT ?2"
    );
    (clause, params)
}

/// The integrations of an account, or of one of its restaurants, that are connected and switched on, by the restaurants' names.
pub fn connected(
    tx: &mut Tx<'_>,
    account: AccountId,
    only: Option<RestaurantId>,
    limit: i64,
) -> Result<Vec<ConnectedStore>> {
    let (clause, params) = connected_where(&account, only.as_ref(), limit);
    let sql = format!(
        "SELECT r.id, r.name, r.config, i.id, i.provider
         FROM restaurants r JOIN integrations i ON i.restaurant_id = r.id {clause}"
    );
    let rows = tx.on(INTEGRATIONS).query(&sql, &params, tuple)?;
    let store = |(restaurant_id, restaurant, config, integration_id, provider)| ConnectedStore {
        restaurant_id,
        restaurant,
        config,
        integration_id,
        provider,
    };
    Ok(rows.into_iter().map(store).collect())
}

/// The states of the stores that [`connected`] lists.
pub fn of_connected(
    tx: &mut Tx<'_>,
    account: AccountId,
    only: Option<RestaurantId>,
    limit: i64,
) -> Result<Vec<StoreRecord>> {
    let (clause, params) = connected_where(&account, only.as_ref(), limit);
    let sql = format!(
        "SELECT {COLUMNS} FROM restaurants r JOIN integrations i ON i.restaurant_id = r.id
         JOIN store_states s ON s.integration_id = i.id {clause}"
    );
    tx.on(INTEGRATIONS).query(&sql, &params, each(record))
}

pub fn find(tx: &mut Tx<'_>, integration: IntegrationId) -> Result<Option<StoreRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM store_states s WHERE s.integration_id = ?1");
    tx.query_opt(&sql, params![&integration], each(record))
}

/// A store, locked for a change.
pub fn lock(tx: &mut Tx<'_>, integration: IntegrationId) -> Result<Option<StoreRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM store_states s WHERE s.integration_id = ?1 {{lock}}");
    tx.query_opt(&sql, params![&integration], each(record))
}

/// Is this node a member and responsible for the store?
pub fn is_held_by(tx: &mut Tx<'_>, integration: IntegrationId, node: NodeId) -> Result<bool> {
    let sql = "SELECT version FROM store_states
               WHERE integration_id = ?1 AND node = ?2 AND ?2 IN (SELECT id FROM nodes)";
    let found = tx.query_opt(sql, params![&integration, &node], value::<i64>)?;
    Ok(found.is_some())
}

/// Creates a store, claimed by this node.
pub fn create(tx: &mut Tx<'_>, store: &StoreRecord) -> Result<()> {
    let node = tx.node();
    let (control, actual, hours) = texts(store)?;
    insert!(
        tx,
        store_states {
            integration_id: &store.integration_id,
            account_id: &store.account_id,
            restaurant_id: &store.restaurant_id,
            provider: &store.provider,
            node: node.as_ref(),
            control: &control,
            version: store.version,
            started_version: store.started_version,
            finished_version: store.finished_version,
            actual: &actual,
            checked_at: store.checked_at,
            problem: store.problem.map(StoreProblem::as_str),
            hours: &hours,
            due_at: store.due_at(),
        },
        "ON CONFLICT (integration_id) DO NOTHING"
    )?;
    Ok(())
}

fn texts(store: &StoreRecord) -> Result<(String, String, String)> {
    Ok((
        to_json("control of a store", &store.control)?,
        to_json("state of a store", &store.actual)?,
        to_json("hours of a store", &store.hours)?,
    ))
}

/// Writes a locked store.
pub fn save(tx: &mut Tx<'_>, store: &StoreRecord) -> Result<()> {
    let (control, actual, hours) = texts(store)?;
    tx.execute(
        "UPDATE store_states SET control = ?2, version = ?3, started_version = ?4, finished_version = ?5, actual = ?6, checked_at = ?7,
             problem = ?8, hours = ?9, due_at = ?10 WHERE integration_id = ?1",
        params![
            &store.integration_id,
            &control,
            store.version,
            store.started_version,
            store.finished_version,
            &actual,
            store.checked_at,
            store.problem.map(StoreProblem::as_str),
            &hours,
            store.due_at(),
        ],
    )?;
    Ok(())
}

/// Claims a store for this node unless another member holds it.
pub fn claim(tx: &mut Tx<'_>, integration: IntegrationId) -> Result<()> {
    let Some(node) = tx.node() else { return Ok(()) };
    tx.execute(
        "UPDATE store_states SET node = ?2 WHERE integration_id = ?1
           AND (node IS NULL OR node NOT IN (SELECT id FROM nodes)) AND ?2 IN (SELECT id FROM nodes)",
        params![&integration, &node],
    )?;
    Ok(())
}

const IS_UNCLAIMED: &str = "(node IS NULL OR node NOT IN (SELECT id FROM nodes))";

/// Reports whether an active integration of a platform has no store yet.
pub fn has_unknown(tx: &mut Tx<'_>, provider: Provider) -> Result<bool> {
    let found = tx.on(INTEGRATIONS).query_opt(
        "SELECT i.id FROM integrations i
         WHERE i.provider = ?1 AND i.is_active = 1 AND i.remote_id IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM store_states s WHERE s.integration_id = i.id) LIMIT 1",
        params![&provider],
        value::<IntegrationId>,
    )?;
    Ok(found.is_some())
}

/// Active integrations of a platform that have no store yet.
pub fn unknown(
    tx: &mut Tx<'_>,
    provider: Provider,
    limit: i64,
) -> Result<Vec<(IntegrationId, AccountId, RestaurantId)>> {
    tx.on(INTEGRATIONS).query(
        "SELECT i.id, i.account_id, i.restaurant_id FROM integrations i
         WHERE i.provider = ?1 AND i.is_active = 1 AND i.remote_id IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM store_states s WHERE s.integration_id = i.id) LIMIT ?2",
        params![&provider, limit],
        tuple,
    )
}

/// Is there a store without a live node?
pub fn has_unclaimed(tx: &mut Tx<'_>) -> Result<bool> {
    let sql = format!("SELECT integration_id FROM store_states WHERE {IS_UNCLAIMED} LIMIT 1");
    Ok(tx.query_opt(&sql, params![], value::<IntegrationId>)?.is_some())
}

/// Claims the stores without a live node. A node that is no longer a member gets none.
pub fn claim_all(tx: &mut Tx<'_>, node: NodeId) -> Result<()> {
    // Skips locked rows until the next round: waiting for them while holding many other locks could deadlock.
    let sql = format!(
        "UPDATE store_states SET node = ?1 WHERE integration_id IN
             (SELECT integration_id FROM store_states
              WHERE {IS_UNCLAIMED} AND ?1 IN (SELECT id FROM nodes) {{skip_locked}})"
    );
    tx.execute(&sql, params![&node])?;
    Ok(())
}

/// A store that a node holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldStore {
    pub integration_id: IntegrationId,
    pub account_id: AccountId,
    pub provider: Provider,
    pub checked_at: Option<Timestamp>,
    /// When the integration was last changed.
    pub updated_at: Timestamp,
}

/// The stores of active integrations that a node holds.
pub fn held_by(tx: &mut Tx<'_>, node: NodeId) -> Result<Vec<HeldStore>> {
    let sql = "SELECT s.integration_id, s.account_id, s.provider, s.checked_at, i.updated_at
               FROM store_states s JOIN integrations i ON i.id = s.integration_id
               WHERE s.node = ?1 AND i.is_active = 1 AND i.remote_id IS NOT NULL
                 AND ?1 IN (SELECT id FROM nodes)";
    let rows = tx.on(INTEGRATIONS).query(sql, params![&node], tuple)?;
    let held = |(integration_id, account_id, provider, checked_at, updated_at)| HeldStore {
        integration_id,
        account_id,
        provider,
        checked_at,
        updated_at,
    };
    Ok(rows.into_iter().map(held).collect())
}

/// The due stores that a node holds, longest due first.
pub fn due(
    tx: &mut Tx<'_>,
    node: NodeId,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(IntegrationId, AccountId, Provider)>> {
    tx.on(INTEGRATIONS).query(
        "SELECT s.integration_id, s.account_id, s.provider
         FROM store_states s JOIN integrations i ON i.id = s.integration_id
         WHERE s.node = ?1 AND s.due_at IS NOT NULL AND s.due_at <= ?2
           AND i.is_active = 1 AND i.remote_id IS NOT NULL
         ORDER BY s.due_at LIMIT ?3",
        params![&node, now, limit],
        tuple,
    )
}

/// Records the read times of stores that have not changed. Skips rows that another transaction is changing.
pub fn record_checked(tx: &mut Tx<'_>, checked: &[(IntegrationId, Timestamp)]) -> Result<()> {
    for (id, at) in checked {
        tx.execute(
            "UPDATE store_states SET checked_at = ?2 WHERE integration_id IN
                 (SELECT integration_id FROM store_states WHERE integration_id = ?1 {skip_locked})",
            params![id, *at],
        )?;
    }
    Ok(())
}

/// The account's stores of active integrations that have a problem.
pub fn with_problem(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<Vec<StoreRecord>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM store_states s JOIN integrations i ON i.id = s.integration_id
         WHERE s.account_id = ?1 AND s.problem IS NOT NULL AND i.is_active = 1
         ORDER BY s.integration_id LIMIT ?2"
    );
    tx.on(INTEGRATIONS)
        .query(&sql, params![&account, limit], each(record))
}

/// Removes the store of a deleted integration.
pub(crate) fn remove(tx: &mut Tx<'_>, integration: IntegrationId) -> Result<()> {
    tx.execute(
        "DELETE FROM store_states WHERE integration_id = ?1",
        params![&integration],
    )?;
    Ok(())
}

/// Removes the stores of a deleted restaurant.
pub(crate) fn remove_of_restaurant(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<()> {
    tx.execute(
        "DELETE FROM store_states WHERE restaurant_id = ?1",
        params![&restaurant],
    )?;
    Ok(())
}
