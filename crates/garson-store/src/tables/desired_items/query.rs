//! Reads rows, and finds due ones.

use super::row::{COLUMNS, DesiredItem, desired_item};
use crate::engine::Param;
use crate::engine::in_list::{filled, marks};
use crate::tables::row::{each, tuple, value};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, IntegrationId, ProductId, RestaurantId};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;

/// The desired availability of the items of these products.
pub fn of_products(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    products: &[ProductId],
) -> Result<Vec<(ProductId, DesiredItem)>> {
    const AT_ONCE: usize = 50;
    let sql = format!(
        "SELECT i.product_id, {COLUMNS} FROM platform_items i
         JOIN desired_items d ON d.restaurant_id = i.restaurant_id AND d.provider = i.provider
                           AND d.is_option = i.is_option AND d.remote_id = i.remote_id
         WHERE i.restaurant_id = ?1 AND i.product_id IN ({})",
        marks(2, AT_ONCE)
    );
    let mut found = Vec::new();
    for some in products.chunks(AT_ONCE) {
        let mut params: Vec<Param<'_>> = vec![Param::from(&restaurant)];
        params.extend(filled(some, AT_ONCE).map(Param::from));
        let read = each(|cells| Ok((cells.read()?, desired_item(cells)?)));
        found.extend(tx.query(&sql, &params, read)?);
    }
    Ok(found)
}

/// The items of a restaurant on a platform whose desired availability the platform has accepted, to be compared with its menu.
pub fn accepted(tx: &mut Tx<'_>, restaurant: RestaurantId, provider: Provider) -> Result<Vec<DesiredItem>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM desired_items d
         WHERE d.restaurant_id = ?1 AND d.provider = ?2 AND d.accepted_version = d.version"
    );
    tx.query(&sql, params![&restaurant, &provider], each(desired_item))
}

/// When the next row is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>> {
    let sql = "SELECT due_at FROM desired_items WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1";
    tx.query_opt(sql, params![], value)
}

/// Integrations with their accounts, and the last one that was examined if there may be more.
pub type DueIntegrations = (Vec<(IntegrationId, AccountId)>, Option<IntegrationId>);

/// The integrations after `after` that have due rows, with one index step for each integration that has any.
pub fn due_integrations(
    tx: &mut Tx<'_>,
    after: Option<IntegrationId>,
    now: Timestamp,
    limit: usize,
) -> Result<DueIntegrations> {
    let mut last = after.map_or_else(Vec::new, |id| id.as_bytes().to_vec());
    let mut found = Vec::new();
    let sql = "SELECT integration_id, account_id, due_at FROM desired_items
               WHERE due_at IS NOT NULL AND integration_id > ?1 ORDER BY integration_id, due_at LIMIT 1";
    for _ in 0..limit {
        let next: Option<(IntegrationId, AccountId, Timestamp)> = tx.query_opt(sql, params![&last], tuple)?;
        let Some((integration, account, due_at)) = next else {
            return Ok((found, None));
        };
        last = integration.as_bytes().to_vec();
        if due_at <= now {
            found.push((integration, account));
        }
    }
    let last = uuid::Uuid::from_slice(&last).ok().map(IntegrationId);
    Ok((found, last))
}
