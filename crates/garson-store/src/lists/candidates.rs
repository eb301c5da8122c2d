//! Orders with only the columns that decide whether the board or a search shows them.

use crate::engine::Param;
use crate::tables::orders::IS_OPEN;
use crate::tables::row::{columns, each};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::order::Status;
use garson_core::platform::Provider;

/// An order that may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub position: i64,
    pub id: OrderId,
    pub restaurant_id: RestaurantId,
    pub status: Status,
    pub provider: Provider,
}

columns! {
    pub(crate) const COLUMNS = "" of orders { id, restaurant_id, status, provider }
    fn candidate(position: i64) -> Candidate {
        Ok(Candidate { position, id, restaurant_id, status, provider })
    }
}

/// Reads candidates; `clauses` are what follows `FROM orders`.
pub(crate) fn query(tx: &mut Tx<'_>, clauses: &str, params: &[Param<'_>]) -> Result<Vec<Candidate>> {
    let sql = format!("SELECT position, {COLUMNS} FROM orders {clauses}");
    tx.query(
        &sql,
        params,
        each(|cells| {
            let position = cells.read()?;
            candidate(cells, position)
        }),
    )
}

/// Open orders of the account; an arbitrary subset if there are more than `limit`.
pub(crate) fn open(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<Vec<Candidate>> {
    // An order that only one index has.
    let clauses = format!("WHERE account_id = ?1 AND {IS_OPEN} ORDER BY integration_id LIMIT ?2");
    query(tx, &clauses, params![&account, limit])
}
