//! Packages of restaurants.

use crate::engine::Row;
use crate::tables::integrations;
use crate::{Result, StoreError, Tx, params};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::restaurant::Package;
use std::collections::HashMap;

const COLUMNS: &str = "p.restaurant_id, p.id, p.name, p.providers, p.starts_at, p.ends_at";
/// Behind these comes the restaurant's.
const PLACE_OF_CONFIG: usize = 6;

fn package(row: &Row<'_>, first: usize) -> Result<(RestaurantId, Package)> {
    let providers: Option<String> = row.get(first + 3)?;
    let providers = providers
        .map(|json| {
            serde_json::from_str(&json).map_err(|_| StoreError::corrupt("stored providers are damaged"))
        })
        .transpose()?;
    let package = Package {
        id: row.get(first + 1)?,
        name: row.get(first + 2)?,
        providers,
        starts_at: row.get(first + 4)?,
        ends_at: row.get(first + 5)?,
    };
    Ok((row.get(first)?, package))
}

pub fn of_restaurant(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<Vec<Package>> {
    let sql = format!("SELECT {COLUMNS} FROM packages p WHERE p.restaurant_id = ?1 ORDER BY p.id");
    tx.query(&sql, params![&restaurant], |row| {
        package(row, 0).map(|(_, package)| package)
    })
}

/// What a restaurant has decided about its orders.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    pub packages: Vec<Package>,
    /// As it was given.
    pub config: Option<String>,
}

impl Standing {
    /// The columns of a restaurant `r` with a package `p`, which [`Standing::add`] reads.
    pub(crate) fn columns() -> String {
        format!("{COLUMNS}, r.config")
    }

    /// Takes a restaurant's row into it, which has its next package, or none.
    pub(crate) fn add(&mut self, row: &Row<'_>, first: usize) -> Result<()> {
        self.config = row.get(first + PLACE_OF_CONFIG)?;
        if row.get::<Option<RestaurantId>>(first)?.is_some() {
            self.packages.push(package(row, first)?.1);
        }
        Ok(())
    }
}

pub fn standing(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<Standing> {
    let sql = format!(
        "SELECT {} FROM restaurants r LEFT JOIN packages p ON p.restaurant_id = r.id
         WHERE r.id = ?1 ORDER BY p.id",
        Standing::columns()
    );
    let mut standing = Standing::default();
    tx.query(&sql, params![&restaurant], |row| standing.add(row, 0))?;
    Ok(standing)
}

pub(crate) fn of_account(tx: &mut Tx<'_>, account: AccountId) -> Result<HashMap<RestaurantId, Vec<Package>>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM packages p JOIN restaurants r ON r.id = p.restaurant_id
         WHERE r.account_id = ?1 ORDER BY p.id"
    );
    let mut grouped: HashMap<_, Vec<_>> = HashMap::new();
    for (restaurant, package) in tx.query(&sql, params![&account], |row| package(row, 0))? {
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
    integrations::note_change(tx, restaurant)
}
