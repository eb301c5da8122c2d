//! What a database contains, in a few numbers: to see whether a backup is the right one, and complete.

use crate::error::Result;
use crate::{ACCOUNTS, Engine, Tx};
use garson_core::time::Timestamp;

/// The numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    pub accounts: i64,
    pub restaurants: i64,
    pub orders: i64,
    pub events: i64,
    pub newest_order_at: Option<Timestamp>,
    /// Orders whose contents are missing: there must be none.
    pub incomplete_orders: i64,
}

/// Counts everything in one snapshot. This reads much of the database.
pub async fn read(engine: &Engine) -> Result<Contents> {
    engine.read_long(count).await
}

fn count(tx: &mut Tx<'_>) -> Result<Contents> {
    let mut one = |sql: &str| {
        tx.on(ACCOUNTS)
            .query_one(sql, &[], |row| row.get::<Option<i64>>(0))
    };
    Ok(Contents {
        accounts: one("SELECT COUNT(*) FROM accounts")?.unwrap_or_default(),
        restaurants: one("SELECT COUNT(*) FROM restaurants")?.unwrap_or_default(),
        orders: one("SELECT COUNT(*) FROM orders")?.unwrap_or_default(),
        events: one("SELECT COUNT(*) FROM events")?.unwrap_or_default(),
        newest_order_at: one("SELECT MAX(created_at) FROM orders")?.map(Timestamp::from_millis),
        incomplete_orders: one(
            "SELECT COUNT(*) FROM orders WHERE NOT EXISTS (SELECT 1 FROM order_contents WHERE order_id = orders.id)",
        )?
        .unwrap_or_default(),
    })
}
