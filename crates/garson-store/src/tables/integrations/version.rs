//! The version of an integration: it grows with every change to the integration or to its restaurant's settings, so that
//! cached copies can be checked when an order is written.

use crate::{INTEGRATIONS, Result, Tx, params};
use garson_core::id::RestaurantId;

/// Records a change that concerns all integrations of a restaurant.
pub(crate) fn bump_of_restaurant(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<()> {
    let sql = "UPDATE integrations SET version = version + 1 WHERE restaurant_id = ?1";
    tx.on(INTEGRATIONS).execute(sql, params![&restaurant])?;
    Ok(())
}
