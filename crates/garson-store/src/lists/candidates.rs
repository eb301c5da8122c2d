//! Orders as far as it takes to decide which of them are shown: for the board and for search.

use crate::engine::Row;
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::order::Status;
use garson_core::platform::Provider;

/// An order that may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub place: i64,
    pub id: OrderId,
    pub restaurant_id: RestaurantId,
    pub status: Status,
    pub provider: Provider,
}

pub const SELECT: &str = "SELECT position, id, restaurant_id, status, provider FROM orders";

pub fn candidate(row: &Row<'_>) -> Result<Candidate> {
    Ok(Candidate {
        place: row.get(0)?,
        id: row.get(1)?,
        restaurant_id: row.get(2)?,
        status: row.get(3)?,
        provider: row.get(4)?,
    })
}

/// Orders of the account that have not come to an end; of very many, any.
pub fn open(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<Vec<Candidate>> {
    // In an order that only one index has.
    let sql = format!("{SELECT} WHERE account_id = ?1 AND status < 900 ORDER BY integration_id LIMIT ?2");
    tx.query(&sql, params![&account, limit], candidate)
}
