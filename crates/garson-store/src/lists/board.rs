//! What the live board of the control panel shows: orders with their content, found in a few statements.

use crate::engine::Param;
use crate::engine::in_list::{filled, marks};
use crate::lists::candidates;
use crate::lists::candidates::{SELECT, candidate};
use crate::tables::orders::{COLUMNS, LIVE, NEXT_COLUMN, from_json, order};
use crate::tables::restaurants;
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use garson_core::order::{Order, OrderContent};

pub use crate::lists::candidates::Candidate;

/// An order with what a card shows of it.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardOrder {
    pub order: Order,
    pub content: OrderContent,
    pub restaurant: String,
}

/// The newest orders of an account or a restaurant, newest first. Those of restaurants that are being swept count, and are
/// left out.
pub fn newest(
    tx: &mut Tx<'_>,
    account: AccountId,
    only: Option<RestaurantId>,
    limit: i64,
) -> Result<Vec<Candidate>> {
    let (column, id) = match &only {
        None => ("account_id", Param::from(&account)),
        Some(id) => ("restaurant_id", id.into()),
    };
    let sql = format!("{SELECT} WHERE {column} = ?1 ORDER BY position DESC LIMIT ?2");
    let found = tx.query(&sql, &[id, limit.into()], candidate)?;
    live(tx, account, found)
}

/// Orders of the account that have not come to an end; of very many, any.
pub fn open(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<Vec<Candidate>> {
    let found = candidates::open(tx, account, limit)?;
    live(tx, account, found)
}

/// Orders of an integration that have not come to an end; of very many, any.
pub fn open_of_integration(
    tx: &mut Tx<'_>,
    account: AccountId,
    integration: IntegrationId,
    limit: i64,
) -> Result<Vec<Candidate>> {
    let sql = format!("{SELECT} WHERE account_id = ?1 AND integration_id = ?2 AND status < 900 LIMIT ?3");
    tx.query(&sql, params![&account, &integration, limit], candidate)
}

/// Those whose restaurants are not being swept.
fn live(tx: &mut Tx<'_>, account: AccountId, mut found: Vec<Candidate>) -> Result<Vec<Candidate>> {
    let swept = restaurants::being_swept(tx, account)?;
    found.retain(|it| !swept.contains(&it.restaurant_id));
    Ok(found)
}

/// These orders, as far as they are the account's and their restaurants are there, in no order.
pub fn read(tx: &mut Tx<'_>, account: AccountId, ids: &[OrderId]) -> Result<Vec<BoardOrder>> {
    const AT_ONCE: usize = 32;
    let sql = format!(
        "SELECT {COLUMNS}, c.body, r.name {LIVE} JOIN order_contents c ON c.order_id = o.id
         WHERE o.id IN ({})",
        marks(1, AT_ONCE)
    );
    let mut found = Vec::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        let params: Vec<Param<'_>> = filled(some, AT_ONCE).map(Param::from).collect();
        found.extend(tx.query(&sql, &params, |row| {
            Ok(BoardOrder {
                order: order(row)?,
                content: from_json(&row.get::<String>(NEXT_COLUMN)?)?,
                restaurant: row.get(NEXT_COLUMN + 1)?,
            })
        })?);
    }
    // Left out here, not by the statement, which would lead an engine to look through all that the account ever had.
    found.retain(|it: &BoardOrder| it.order.account_id == account);
    Ok(found)
}
