//! Restaurants and their payment matches.

use crate::engine::Row;
use crate::tables::{integrations, packages};
use crate::vault::Vault;
use crate::{INTEGRATIONS, Result, StoreError, Tx, params};
use garson_core::id::{AccountId, BusinessId, RestaurantId};
use garson_core::restaurant::{PaymentMatch, Restaurant, RestaurantFields};
use garson_core::time::Timestamp;

const HEADERS: &str = "restaurants/payment_matching_headers";
const COLUMNS: &str = "id, business_id, name, description, address, lat, lon, config, payment_matching_url, \
                       payment_matching_headers, created_at, updated_at";

fn restaurant(row: &Row<'_>, vault: &Vault) -> Result<Restaurant> {
    let id: RestaurantId = row.get(0)?;
    let headers: Option<Vec<u8>> = row.get(9)?;
    Ok(Restaurant {
        id,
        fields: RestaurantFields {
            business_id: row.get(1)?,
            name: row.get(2)?,
            description: row.get(3)?,
            address: row.get(4)?,
            lat: row.get(5)?,
            lon: row.get(6)?,
            config: row.get(7)?,
            payment_matching_url: row.get(8)?,
            payment_matching_headers: headers
                .map(|sealed| vault.open_text(HEADERS, id.as_bytes(), &sealed))
                .transpose()?,
        },
        created_at: row.get(10)?,
        updated_at: row.get(11)?,
        integrations: Vec::new(),
        packages: Vec::new(),
    })
}

/// Writes a restaurant, new or changed. An id that belongs to another account is left alone.
pub fn save(tx: &mut Tx<'_>, vault: &Vault, account: AccountId, restaurant: &Restaurant) -> Result<()> {
    let fields = &restaurant.fields;
    let headers = fields.payment_matching_headers.as_ref();
    let sealed = headers
        .map(|h| vault.seal_text(HEADERS, restaurant.id.as_bytes(), h))
        .transpose()?;
    tx.execute(
        "INSERT INTO restaurants (id, account_id, business_id, name, description, address, lat, lon, config,
                                  payment_matching_url, payment_matching_headers, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
         ON CONFLICT (id) DO UPDATE SET business_id = ?3, name = ?4, description = ?5, address = ?6, lat = ?7,
             lon = ?8, config = ?9, payment_matching_url = ?10, payment_matching_headers = ?11, updated_at = ?13
         WHERE restaurants.account_id = ?2",
        params![
            &restaurant.id,
            &account,
            fields.business_id.as_ref(),
            &fields.name,
            fields.description.as_ref(),
            fields.address.as_ref(),
            fields.lat,
            fields.lon,
            fields.config.as_ref(),
            fields.payment_matching_url.as_ref(),
            sealed.as_ref(),
            restaurant.created_at,
            restaurant.updated_at,
        ],
    )?;
    integrations::note_change(tx, restaurant.id)
}

/// All restaurants of an account, or of one of its businesses, with their integrations and packages.
pub fn list(
    tx: &mut Tx<'_>,
    vault: &Vault,
    account: AccountId,
    business: Option<BusinessId>,
) -> Result<Vec<Restaurant>> {
    let of_business = if business.is_some() {
        "AND business_id = ?2"
    } else {
        "AND ?2 IS NULL"
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM restaurants WHERE account_id = ?1 AND deleted_at IS NULL {of_business} ORDER BY id"
    );
    // A typed comparison with nothing: PostgreSQL must know what `?2` would be.
    let sql = sql.replace("?2 IS NULL", "CAST(?2 AS {blob}) IS NULL");
    let mut restaurants = tx.query(&sql, params![&account, business.as_ref()], |row| {
        restaurant(row, vault)
    })?;
    let mut integrations = integrations::of_account(tx, account)?;
    let mut packages = packages::of_account(tx, account)?;
    for restaurant in &mut restaurants {
        restaurant.integrations = integrations.remove(&restaurant.id).unwrap_or_default();
        restaurant.packages = packages.remove(&restaurant.id).unwrap_or_default();
    }
    Ok(restaurants)
}

pub fn find(
    tx: &mut Tx<'_>,
    vault: &Vault,
    account: AccountId,
    id: RestaurantId,
) -> Result<Option<Restaurant>> {
    let sql =
        format!("SELECT {COLUMNS} FROM restaurants WHERE account_id = ?1 AND id = ?2 AND deleted_at IS NULL");
    let Some(mut found) = tx.query_opt(&sql, params![&account, &id], |row| restaurant(row, vault))? else {
        return Ok(None);
    };
    found.integrations = integrations::of_restaurant(tx, id)?;
    found.packages = packages::of_restaurant(tx, id)?;
    Ok(Some(found))
}

/// The names of an account's restaurants, in their order.
pub fn names(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<(RestaurantId, String)>> {
    tx.query(
        "SELECT id, name FROM restaurants WHERE account_id = ?1 AND deleted_at IS NULL ORDER BY name, id",
        params![&account],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// The name of a restaurant; nothing if it is gone.
pub fn name(tx: &mut Tx<'_>, id: RestaurantId) -> Result<String> {
    let sql = "SELECT name FROM restaurants WHERE id = ?1";
    let name = tx.query_opt(sql, params![&id], |row| row.get(0))?;
    Ok(name.unwrap_or_default())
}

pub fn exists(tx: &mut Tx<'_>, account: AccountId, id: RestaurantId) -> Result<bool> {
    let sql = "SELECT created_at FROM restaurants WHERE account_id = ?1 AND id = ?2 AND deleted_at IS NULL";
    Ok(tx
        .query_opt(sql, params![&account, &id], |row| row.get::<i64>(0))?
        .is_some())
}

/// Holds the restaurant for this transaction, so that changes to what belongs to it do not pass each other;
/// `false` when the account has no such restaurant.
pub fn lock(tx: &mut Tx<'_>, account: AccountId, id: RestaurantId) -> Result<bool> {
    let sql =
        "SELECT created_at FROM restaurants WHERE account_id = ?1 AND id = ?2 AND deleted_at IS NULL {lock}";
    Ok(tx
        .query_opt(sql, params![&account, &id], |row| row.get::<i64>(0))?
        .is_some())
}

/// The restaurant's `config`, as it was given.
pub fn config(tx: &mut Tx<'_>, id: RestaurantId) -> Result<Option<String>> {
    let sql = "SELECT config FROM restaurants WHERE id = ?1";
    Ok(tx
        .query_opt(sql, params![&id], |row| row.get::<Option<String>>(0))?
        .flatten())
}

/// Moves a restaurant to a business.
pub fn link(tx: &mut Tx<'_>, id: RestaurantId, business: BusinessId, at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE restaurants SET business_id = ?2, updated_at = ?3 WHERE id = ?1",
        params![&id, &business, at],
    )?;
    Ok(())
}

pub(crate) fn ids_of_business(
    tx: &mut Tx<'_>,
    account: AccountId,
    business: BusinessId,
) -> Result<Vec<RestaurantId>> {
    tx.query(
        "SELECT id FROM restaurants WHERE account_id = ?1 AND business_id = ?2 AND deleted_at IS NULL",
        params![&account, &business],
        |row| row.get(0),
    )
}

/// Marks a restaurant as deleted: it, its integrations and its orders are gone at once for everybody; the sweep
/// removes the rows in small chunks.
pub fn delete(tx: &mut Tx<'_>, account: AccountId, id: RestaurantId, at: Timestamp) -> Result<bool> {
    let marked = tx.execute(
        "UPDATE restaurants SET deleted_at = ?3 WHERE account_id = ?1 AND id = ?2 AND deleted_at IS NULL",
        params![&account, &id, at],
    )?;
    if marked == 1 {
        tx.on(INTEGRATIONS)
            .execute("DELETE FROM integrations WHERE restaurant_id = ?1", params![&id])?;
        tx.execute("DELETE FROM packages WHERE restaurant_id = ?1", params![&id])?;
    }
    Ok(marked == 1)
}

/// The restaurants that still take part in the account's lists, if some others are being swept; `None` when none is.
pub fn live_while_sweeping(tx: &mut Tx<'_>, account: AccountId) -> Result<Option<Vec<RestaurantId>>> {
    if being_swept(tx, account)?.is_empty() {
        return Ok(None);
    }
    let live = tx.query(
        "SELECT id FROM restaurants WHERE account_id = ?1 AND deleted_at IS NULL",
        params![&account],
        |row| row.get(0),
    )?;
    Ok(Some(live))
}

/// The restaurants of an account that are deleted but not swept yet.
pub fn being_swept(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<RestaurantId>> {
    tx.query(
        "SELECT id FROM restaurants WHERE account_id = ?1 AND deleted_at IS NOT NULL",
        params![&account],
        |row| row.get(0),
    )
}

pub fn payment_matches(tx: &mut Tx<'_>, id: RestaurantId) -> Result<Vec<PaymentMatch>> {
    let sql = "SELECT payment_matches FROM restaurants WHERE id = ?1";
    let stored = tx
        .query_opt(sql, params![&id], |row| row.get::<Option<String>>(0))?
        .flatten();
    let Some(json) = stored else { return Ok(Vec::new()) };
    serde_json::from_str(&json).map_err(|_| StoreError::corrupt("stored payment matches are damaged"))
}

pub fn set_payment_matches(tx: &mut Tx<'_>, id: RestaurantId, matches: &[PaymentMatch]) -> Result<()> {
    let json =
        serde_json::to_string(matches).map_err(|_| StoreError::internal("matches do not serialise"))?;
    tx.execute(
        "UPDATE restaurants SET payment_matches = ?2 WHERE id = ?1",
        params![&id, &json],
    )?;
    Ok(())
}
