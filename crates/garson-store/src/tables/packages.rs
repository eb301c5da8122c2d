//! Packages of restaurants, and the settings that decide which orders a restaurant accepts.

use crate::engine::Row;
use crate::tables::integrations::version;
use crate::tables::json::{from_json, to_json};
use crate::tables::row::{Cells, columns, insert};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, PackageId, RestaurantId};
use garson_core::restaurant::Package;
use garson_core::time::Timestamp;
use std::collections::HashMap;

columns! {
    /// A package, or NULLs where an outer join found none.
    const COLUMNS = "p." of packages {
        id: Option<PackageId>, restaurant_id: Option<RestaurantId>, name: Option<String>, providers: Option<String>,
        starts_at: Option<Timestamp>, ends_at
    }
    fn optional_package() -> Option<(RestaurantId, Package)> {
        let (Some(id), Some(restaurant), Some(name), Some(starts_at)) = (id, restaurant_id, name, starts_at) else {
            return Ok(None);
        };
        let providers = providers.map(|json| from_json("list of a package's providers", &json)).transpose()?;
        Ok(Some((restaurant, Package { id, name, providers, starts_at, ends_at })))
    }
}

fn package(row: &Row<'_>) -> Result<Option<(RestaurantId, Package)>> {
    optional_package(&mut Cells::new(row))
}

pub fn of_restaurant(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<Vec<Package>> {
    let sql = format!("SELECT {COLUMNS} FROM packages p WHERE p.restaurant_id = ?1 ORDER BY p.id");
    let found = tx.query(&sql, params![&restaurant], package)?;
    Ok(found.into_iter().flatten().map(|(_, package)| package).collect())
}

/// A restaurant's settings that decide which orders it accepts.
#[derive(Clone, Debug, Default)]
pub struct RestaurantSettings {
    pub packages: Vec<Package>,
    /// The restaurant's `config`, as it was given.
    pub config: Option<String>,
    /// The steps of its escalation, as they are stored.
    pub escalation: Option<String>,
}

impl RestaurantSettings {
    /// The columns of a restaurant `r` outer-joined with a package `p`, which [`Self::add`] reads.
    pub(crate) fn columns() -> String {
        format!("r.config, r.escalation, {COLUMNS}")
    }

    /// Adds the package of a joined row, if it has one.
    pub(crate) fn add(&mut self, cells: &mut Cells<'_, '_>) -> Result<()> {
        self.config = cells.read()?;
        self.escalation = cells.read()?;
        self.packages
            .extend(optional_package(cells)?.map(|(_, package)| package));
        Ok(())
    }
}

pub fn settings(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<RestaurantSettings> {
    let sql = format!(
        "SELECT {} FROM restaurants r LEFT JOIN packages p ON p.restaurant_id = r.id
         WHERE r.id = ?1 ORDER BY p.id",
        RestaurantSettings::columns()
    );
    let mut settings = RestaurantSettings::default();
    tx.query(&sql, params![&restaurant], |row| {
        settings.add(&mut Cells::new(row))
    })?;
    Ok(settings)
}

pub(crate) fn of_account(tx: &mut Tx<'_>, account: AccountId) -> Result<HashMap<RestaurantId, Vec<Package>>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM packages p JOIN restaurants r ON r.id = p.restaurant_id
         WHERE r.account_id = ?1 ORDER BY p.id"
    );
    let mut by_restaurant: HashMap<_, Vec<_>> = HashMap::new();
    for (restaurant, package) in tx.query(&sql, params![&account], package)?.into_iter().flatten() {
        by_restaurant.entry(restaurant).or_default().push(package);
    }
    Ok(by_restaurant)
}

/// Replaces a restaurant's packages.
pub fn replace(tx: &mut Tx<'_>, restaurant: RestaurantId, packages: &[Package]) -> Result<()> {
    tx.execute(
        "DELETE FROM packages WHERE restaurant_id = ?1",
        params![&restaurant],
    )?;
    for package in packages {
        let providers = package.providers.as_ref();
        let providers = providers
            .map(|list| to_json("list of a package's providers", list))
            .transpose()?;
        insert!(
            tx,
            packages {
                id: &package.id,
                restaurant_id: &restaurant,
                name: &package.name,
                providers: providers.as_ref(),
                starts_at: package.starts_at,
                ends_at: package.ends_at,
            }
        )?;
    }
    version::bump_of_restaurant(tx, restaurant)
}
