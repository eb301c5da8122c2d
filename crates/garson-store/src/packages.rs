//! Packages of restaurants.

use crate::engine::{Row, Tx};
use crate::{Result, StoreError, params};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::restaurant::Package;
use std::collections::HashMap;

const COLUMNS: &str = "p.restaurant_id, p.id, p.name, p.providers, p.starts_at, p.ends_at";

fn package(row: &Row<'_>) -> Result<(RestaurantId, Package)> {
    let providers: Option<String> = row.get(3)?;
    let providers = providers
        .map(|json| {
            serde_json::from_str(&json).map_err(|_| StoreError::corrupt("stored providers are damaged"))
        })
        .transpose()?;
    let package = Package {
        id: row.get(1)?,
        name: row.get(2)?,
        providers,
        starts_at: row.get(4)?,
        ends_at: row.get(5)?,
    };
    Ok((row.get(0)?, package))
}

pub fn of_restaurant(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<Vec<Package>> {
    let sql = format!("SELECT {COLUMNS} FROM packages p WHERE p.restaurant_id = ?1 ORDER BY p.id");
    tx.query(&sql, params![&restaurant], |row| {
        package(row).map(|(_, package)| package)
    })
}

/// A restaurant's packages, and its `config` as it was given.
pub fn with_config(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<(Vec<Package>, Option<String>)> {
    let sql = format!(
        "SELECT {COLUMNS}, r.config FROM restaurants r LEFT JOIN packages p ON p.restaurant_id = r.id
         WHERE r.id = ?1 ORDER BY p.id"
    );
    let (mut packages, mut config) = (Vec::new(), None);
    tx.query(&sql, params![&restaurant], |row| {
        config = row.get(6)?;
        if row.get::<Option<RestaurantId>>(0)?.is_some() {
            packages.push(package(row)?.1);
        }
        Ok(())
    })?;
    Ok((packages, config))
}

pub(crate) fn of_account(tx: &mut Tx<'_>, account: AccountId) -> Result<HashMap<RestaurantId, Vec<Package>>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM packages p JOIN restaurants r ON r.id = p.restaurant_id
         WHERE r.account_id = ?1 ORDER BY p.id"
    );
    let mut grouped: HashMap<_, Vec<_>> = HashMap::new();
    for (restaurant, package) in tx.query(&sql, params![&account], package)? {
        grouped.entry(restaurant).or_default().push(package);
    }
    Ok(grouped)
}

/// Replaces a restaurant's packages.
pub fn replace(tx: &mut Tx<'_>, restaurant: RestaurantId, packages: &[Package]) -> Result<()> {
    tx.execute(
        "DELETE FROM packages WHERE restaurant_id = ?1",
        params![&restaurant],
    )?;
    for package in packages {
        let providers = package
            .providers
            .as_ref()
            .map(|list| {
                serde_json::to_string(list).map_err(|_| StoreError::internal("providers do not serialise"))
            })
            .transpose()?;
        tx.execute(
            "INSERT INTO packages (id, restaurant_id, name, providers, starts_at, ends_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                &package.id,
                &restaurant,
                &package.name,
                providers.as_ref(),
                package.starts_at,
                package.ends_at
            ],
        )?;
    }
    Ok(())
}
