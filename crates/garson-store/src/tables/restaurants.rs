//! Restaurants and their payment matches.

use crate::tables::integrations::version;
use crate::tables::json::{from_json, to_json};
use crate::tables::row::{Cells, columns, insert, tuple, value};
use crate::tables::{integrations, packages, printers, store_settings, store_states};
use crate::vault::Vault;
use crate::{INTEGRATIONS, Result, Tx, params};
use garson_core::escalation::{Step, StepAction};
use garson_core::id::{AccountId, BusinessId, ChannelId, RestaurantId};
use garson_core::restaurant::{PaymentMatch, Restaurant, RestaurantFields};
use garson_core::time::Timestamp;

/// Where the vault says that sealed headers are stored.
pub(crate) const HEADERS: &str = "restaurants/payment_matching_headers";

columns! {
    const COLUMNS = "" of restaurants {
        id: RestaurantId, business_id, name, description, address, lat, lon, config, payment_matching_url,
        payment_matching_headers: Option<Vec<u8>>, created_at, updated_at,
    }
    fn restaurant(vault: &Vault) -> Restaurant {
        let fields = RestaurantFields {
            business_id,
            name,
            description,
            address,
            lat,
            lon,
            config,
            payment_matching_url,
            payment_matching_headers: payment_matching_headers
                .map(|sealed| vault.open_text(HEADERS, id.as_bytes(), &sealed))
                .transpose()?,
        };
        Ok(Restaurant { id, fields, created_at, updated_at, integrations: Vec::new(), packages: Vec::new() })
    }
}

/// Creates or updates a restaurant. Does nothing if the id belongs to another account.
pub fn save(tx: &mut Tx<'_>, vault: &Vault, account: AccountId, restaurant: &Restaurant) -> Result<()> {
    let fields = &restaurant.fields;
    let headers = fields.payment_matching_headers.as_ref();
    let sealed = headers
        .map(|h| vault.seal_text(HEADERS, restaurant.id.as_bytes(), h))
        .transpose()?;
    insert!(
        tx,
        restaurants {
            id: &restaurant.id,
            account_id: &account,
            business_id: fields.business_id.as_ref(),
            name: &fields.name,
            description: fields.description.as_ref(),
            address: fields.address.as_ref(),
            lat: fields.lat,
            lon: fields.lon,
            config: fields.config.as_ref(),
            payment_matching_url: fields.payment_matching_url.as_ref(),
            payment_matching_headers: sealed.as_ref(),
            created_at: restaurant.created_at,
            updated_at: restaurant.updated_at,
        },
        "ON CONFLICT (id) DO UPDATE SET business_id = excluded.business_id, name = excluded.name,
             description = excluded.description, address = excluded.address, lat = excluded.lat, lon = excluded.lon,
             config = excluded.config, payment_matching_url = excluded.payment_matching_url,
             payment_matching_headers = excluded.payment_matching_headers, updated_at = excluded.updated_at
         WHERE restaurants.account_id = excluded.account_id"
    )?;
    version::bump_of_restaurant(tx, restaurant.id)
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
        // PostgreSQL needs a type for the unused parameter.
        "AND CAST(?2 AS {blob}) IS NULL"
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM restaurants WHERE account_id = ?1 AND deleted_at IS NULL {of_business} ORDER BY id"
    );
    let mut restaurants = tx.query(&sql, params![&account, business.as_ref()], |row| {
        restaurant(&mut Cells::new(row), vault)
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
    let found = tx.query_opt(&sql, params![&account, &id], |row| {
        restaurant(&mut Cells::new(row), vault)
    })?;
    let Some(mut found) = found else {
        return Ok(None);
    };
    found.integrations = integrations::of_restaurant(tx, id)?;
    found.packages = packages::of_restaurant(tx, id)?;
    Ok(Some(found))
}

/// The names of an account's restaurants, sorted by name.
pub fn names(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<(RestaurantId, String)>> {
    tx.query(
        "SELECT id, name FROM restaurants WHERE account_id = ?1 AND deleted_at IS NULL ORDER BY name, id",
        params![&account],
        tuple,
    )
}

/// The name of a restaurant; empty if it no longer exists.
pub fn name(tx: &mut Tx<'_>, id: RestaurantId) -> Result<String> {
    let sql = "SELECT name FROM restaurants WHERE id = ?1";
    let name = tx.query_opt(sql, params![&id], value)?;
    Ok(name.unwrap_or_default())
}

pub fn exists(tx: &mut Tx<'_>, account: AccountId, id: RestaurantId) -> Result<bool> {
    let sql = "SELECT created_at FROM restaurants WHERE account_id = ?1 AND id = ?2 AND deleted_at IS NULL";
    let found = tx.query_opt(sql, params![&account, &id], value::<i64>)?;
    Ok(found.is_some())
}

/// Locks the restaurant for this transaction, so that changes to what belongs to it are serialised; `false` when the
/// account has no such restaurant.
pub fn lock(tx: &mut Tx<'_>, account: AccountId, id: RestaurantId) -> Result<bool> {
    let sql =
        "SELECT created_at FROM restaurants WHERE account_id = ?1 AND id = ?2 AND deleted_at IS NULL {lock}";
    let found = tx.query_opt(sql, params![&account, &id], value::<i64>)?;
    Ok(found.is_some())
}

/// The restaurant's `config`, as it was given.
pub fn config(tx: &mut Tx<'_>, id: RestaurantId) -> Result<Option<String>> {
    let sql = "SELECT config FROM restaurants WHERE id = ?1";
    Ok(tx
        .query_opt(sql, params![&id], value::<Option<String>>)?
        .flatten())
}

/// The `config` of each of an account's restaurants that has a key of this name somewhere in it, and how many restaurants the
/// account has.
pub fn configs_with(tx: &mut Tx<'_>, account: AccountId, key: &str) -> Result<(Vec<String>, i64)> {
    let found = tx.query(
        "SELECT config FROM restaurants WHERE account_id = ?1 AND deleted_at IS NULL AND config LIKE ?2",
        params![&account, &format!("%\"{key}\"%")],
        value::<String>,
    )?;
    if found.is_empty() {
        return Ok((found, 0));
    }
    let sql = "SELECT COUNT(*) FROM restaurants WHERE account_id = ?1 AND deleted_at IS NULL";
    Ok((found, tx.query_one(sql, params![&account], value)?))
}

/// The steps of a restaurant's escalation.
pub fn escalation(tx: &mut Tx<'_>, id: RestaurantId) -> Result<Vec<Step>> {
    let sql = "SELECT escalation FROM restaurants WHERE id = ?1";
    let stored = tx
        .query_opt(sql, params![&id], value::<Option<String>>)?
        .flatten();
    stored.map_or(Ok(Vec::new()), |json| {
        from_json("list of escalation steps", &json)
    })
}

/// Replaces the steps of a restaurant's escalation; orders that have arrived before keep theirs.
pub fn set_escalation(tx: &mut Tx<'_>, id: RestaurantId, steps: &[Step]) -> Result<()> {
    let json = to_json("list of escalation steps", steps)?;
    let stored = (!steps.is_empty()).then_some(&json);
    tx.execute(
        "UPDATE restaurants SET escalation = ?2 WHERE id = ?1",
        params![&id, stored],
    )?;
    version::bump_of_restaurant(tx, id)
}

/// The names of the account's restaurants whose escalation sends messages by this channel.
pub fn escalating_by(tx: &mut Tx<'_>, account: AccountId, channel: ChannelId) -> Result<Vec<String>> {
    let found = tx.query(
        "SELECT name, escalation FROM restaurants
         WHERE account_id = ?1 AND deleted_at IS NULL AND escalation IS NOT NULL ORDER BY name, id",
        params![&account],
        tuple::<(String, String)>,
    )?;
    let uses = |json: &str| -> Result<bool> {
        let steps: Vec<Step> = from_json("list of escalation steps", json)?;
        let by_channel =
            |step: &Step| matches!(step.action, StepAction::Message { channel_id } if channel_id == channel);
        Ok(steps.iter().any(by_channel))
    };
    let mut names = Vec::new();
    for (name, json) in found {
        if uses(&json)? {
            names.push(name);
        }
    }
    Ok(names)
}

/// Moves a restaurant to a business.
pub fn set_business(tx: &mut Tx<'_>, id: RestaurantId, business: BusinessId, at: Timestamp) -> Result<()> {
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
        value,
    )
}

/// Marks a restaurant as deleted. It, its integrations and its orders are no longer visible from the commit on; the sweep
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
        printers::remove_of_restaurant(tx, id)?;
        store_states::remove_of_restaurant(tx, id)?;
        store_settings::remove(tx, id)?;
    }
    Ok(marked == 1)
}

/// Marks all restaurants of an account as deleted: the account is being removed.
pub(crate) fn hide_all(tx: &mut Tx<'_>, account: AccountId, at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE restaurants SET deleted_at = ?2 WHERE account_id = ?1 AND deleted_at IS NULL",
        params![&account, at],
    )?;
    // Nothing is done for its stores any more.
    tx.execute(
        "DELETE FROM store_states WHERE account_id = ?1",
        params![&account],
    )?;
    tx.execute(
        "DELETE FROM store_settings WHERE account_id = ?1",
        params![&account],
    )?;
    Ok(())
}

/// The account's live restaurants if others wait for the sweep; `None` when no others do, so that lists need no filter.
pub(crate) fn live_while_sweeping(tx: &mut Tx<'_>, account: AccountId) -> Result<Option<Vec<RestaurantId>>> {
    if pending_sweep(tx, account)?.is_empty() {
        return Ok(None);
    }
    let live = tx.query(
        "SELECT id FROM restaurants WHERE account_id = ?1 AND deleted_at IS NULL",
        params![&account],
        value,
    )?;
    Ok(Some(live))
}

/// All restaurants of the account, deleted ones included.
pub fn all_ids(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<RestaurantId>> {
    let sql = "SELECT id FROM restaurants WHERE account_id = ?1";
    tx.query(sql, params![&account], value)
}

/// The account's restaurants that are deleted but not swept yet.
pub fn pending_sweep(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<RestaurantId>> {
    tx.query(
        "SELECT id FROM restaurants WHERE account_id = ?1 AND deleted_at IS NOT NULL",
        params![&account],
        value,
    )
}

pub fn payment_matches(tx: &mut Tx<'_>, id: RestaurantId) -> Result<Vec<PaymentMatch>> {
    let sql = "SELECT payment_matches FROM restaurants WHERE id = ?1";
    let stored = tx
        .query_opt(sql, params![&id], value::<Option<String>>)?
        .flatten();
    stored.map_or(Ok(Vec::new()), |json| from_json("list of payment matches", &json))
}

pub fn set_payment_matches(tx: &mut Tx<'_>, id: RestaurantId, matches: &[PaymentMatch]) -> Result<()> {
    let json = to_json("list of payment matches", matches)?;
    tx.execute(
        "UPDATE restaurants SET payment_matches = ?2 WHERE id = ?1",
        params![&id, &json],
    )?;
    Ok(())
}
