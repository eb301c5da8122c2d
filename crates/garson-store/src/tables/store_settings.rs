//! The throttle and the opening hours of restaurants.

use crate::tables::json::{from_json, to_json};
use crate::tables::orders::IS_OPEN;
use crate::tables::row::{columns, each, insert, tuple, value};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::opening_hours::OpeningHours;
use garson_core::store_control::{Desired, Throttle, ThrottleState};
use garson_core::time::Timestamp;

/// The settings of a restaurant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreSettings {
    pub throttle: Option<Throttle>,
    pub throttle_state: ThrottleState,
    pub hours: Option<OpeningHours>,
    /// Increases with every change of the hours; 0 before the first one.
    pub hours_version: i64,
    /// The state that the hours currently require of the restaurant's stores.
    pub schedule: Option<Desired>,
    pub schedule_due_at: Option<Timestamp>,
}

columns! {
    const COLUMNS = "" of store_settings {
        throttle: Option<String>, throttle_state: String, hours: Option<String>, hours_version,
        schedule: Option<String>, schedule_due_at,
    }
    fn settings() -> StoreSettings {
        Ok(StoreSettings {
            throttle: throttle.map(|json| from_json("throttle", &json)).transpose()?,
            throttle_state: from_json("state of a throttle", &throttle_state)?,
            hours: hours.map(|json| from_json("opening hours", &json)).transpose()?,
            hours_version,
            schedule: schedule.map(|json| from_json("schedule", &json)).transpose()?,
            schedule_due_at,
        })
    }
}

/// The settings of a restaurant, or the default.
pub fn find(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<StoreSettings> {
    let sql = format!("SELECT {COLUMNS} FROM store_settings WHERE restaurant_id = ?1");
    let found = tx.query_opt(&sql, params![&restaurant], each(settings))?;
    Ok(found.unwrap_or_default())
}

/// Writes the settings of a restaurant, which the caller has locked.
pub fn save(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    settings: &StoreSettings,
) -> Result<()> {
    let text = |json: Option<Result<String>>| json.transpose();
    let throttle = text(settings.throttle.as_ref().map(|it| to_json("throttle", it)))?;
    let hours = text(settings.hours.as_ref().map(|it| to_json("opening hours", it)))?;
    let schedule = text(settings.schedule.as_ref().map(|it| to_json("schedule", it)))?;
    let state = to_json("state of a throttle", &settings.throttle_state)?;
    insert!(
        tx,
        store_settings {
            restaurant_id: &restaurant,
            account_id: &account,
            throttle: throttle.as_ref(),
            throttle_state: &state,
            hours: hours.as_ref(),
            hours_version: settings.hours_version,
            schedule: schedule.as_ref(),
            schedule_due_at: settings.schedule_due_at,
        },
        "ON CONFLICT (restaurant_id) DO UPDATE SET throttle = excluded.throttle,
             throttle_state = excluded.throttle_state, hours = excluded.hours,
             hours_version = excluded.hours_version, schedule = excluded.schedule,
             schedule_due_at = excluded.schedule_due_at"
    )?;
    Ok(())
}

/// Restaurants whose hours are due for evaluation, longest due first.
pub fn schedules_due(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<Vec<(AccountId, RestaurantId)>> {
    tx.query(
        "SELECT account_id, restaurant_id FROM store_settings
         WHERE schedule_due_at IS NOT NULL AND schedule_due_at <= ?1 ORDER BY schedule_due_at LIMIT ?2",
        params![now, limit],
        tuple,
    )
}

/// The restaurants of all accounts that have a throttle, by account.
pub fn throttled(
    tx: &mut Tx<'_>,
    after: Option<(AccountId, RestaurantId)>,
    limit: i64,
) -> Result<Vec<(AccountId, RestaurantId)>> {
    let nil = uuid::Uuid::nil();
    let (account, restaurant) = after.unwrap_or((AccountId(nil), RestaurantId(nil)));
    tx.query(
        "SELECT account_id, restaurant_id FROM store_settings
         WHERE throttle IS NOT NULL AND (account_id > ?1 OR (account_id = ?1 AND restaurant_id > ?2))
         ORDER BY account_id, restaurant_id LIMIT ?3",
        params![&account, &restaurant, limit],
        tuple,
    )
}

/// How many open orders a restaurant has, counted up to a limit.
pub fn count_open_orders(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    limit: i64,
) -> Result<i64> {
    // By integration: open orders have an index by it.
    let sql = format!(
        "SELECT o.status FROM integrations i JOIN orders o ON o.integration_id = i.id
         WHERE i.restaurant_id = ?1 AND o.account_id = ?2 AND o.{IS_OPEN} LIMIT ?3"
    );
    let found =
        tx.on(crate::INTEGRATIONS)
            .query(&sql, params![&restaurant, &account, limit], value::<i64>)?;
    Ok(i64::try_from(found.len()).unwrap_or(i64::MAX))
}

/// How many orders of a restaurant arrived after a time, counted up to a limit.
pub fn count_recent_orders(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    since: Timestamp,
    limit: i64,
) -> Result<i64> {
    // Timestamps follow positions.
    let sql = "SELECT created_at FROM orders WHERE restaurant_id = ?1 ORDER BY position DESC LIMIT ?2";
    let found = tx.query(sql, params![&restaurant, limit], value::<Timestamp>)?;
    let recent = found.into_iter().take_while(|at| *at > since).count();
    Ok(i64::try_from(recent).unwrap_or(i64::MAX))
}

/// Removes the settings of a deleted restaurant.
pub(crate) fn remove(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<()> {
    tx.execute(
        "DELETE FROM store_settings WHERE restaurant_id = ?1",
        params![&restaurant],
    )?;
    Ok(())
}
