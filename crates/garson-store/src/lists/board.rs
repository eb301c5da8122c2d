//! The orders on the live board of the control panel, with their content, read in a few statements.

use crate::engine::Param;
use crate::engine::in_list::{filled, marks};
use crate::lists::candidates;
use crate::tables::orders::{COLUMNS, IS_OPEN, LIVE, order, parse_content};
use crate::tables::restaurants;
use crate::tables::row::{each, tuple};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use garson_core::order::{Order, OrderContent};
use garson_core::time::Timestamp;

pub use crate::lists::candidates::Candidate;

/// An order with what its card shows.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardOrder {
    pub order: Order,
    pub content: OrderContent,
    pub restaurant: String,
    /// When the escalation made its boards ring urgently.
    pub escalated_at: Option<Timestamp>,
}

/// The newest orders of an account or a restaurant, newest first. Orders of deleted restaurants count towards the limit, and are
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
    let clauses = format!("WHERE {column} = ?1 ORDER BY position DESC LIMIT ?2");
    let found = candidates::query(tx, &clauses, &[id, limit.into()])?;
    without_deleted(tx, account, found)
}

/// Orders that have changed after a position of the account, whether or not by an event, with the positions of the changes.
pub fn changed_after(
    tx: &mut Tx<'_>,
    account: AccountId,
    position: i64,
    limit: i64,
) -> Result<Vec<(i64, OrderId)>> {
    let sql =
        "SELECT changed, id FROM orders WHERE account_id = ?1 AND changed > ?2 ORDER BY changed LIMIT ?3";
    tx.query(sql, params![&account, position, limit], tuple)
}

/// Open orders of the account; an arbitrary subset if there are more than `limit`.
pub fn open(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<Vec<Candidate>> {
    let found = candidates::open(tx, account, limit)?;
    without_deleted(tx, account, found)
}

/// Open orders of an integration; an arbitrary subset if there are more than `limit`.
pub fn open_of_integration(
    tx: &mut Tx<'_>,
    account: AccountId,
    integration: IntegrationId,
    limit: i64,
) -> Result<Vec<Candidate>> {
    let clauses = format!("WHERE account_id = ?1 AND integration_id = ?2 AND {IS_OPEN} LIMIT ?3");
    candidates::query(tx, &clauses, params![&account, &integration, limit])
}

fn without_deleted(tx: &mut Tx<'_>, account: AccountId, mut found: Vec<Candidate>) -> Result<Vec<Candidate>> {
    let deleted = restaurants::pending_sweep(tx, account)?;
    found.retain(|it| !deleted.contains(&it.restaurant_id));
    Ok(found)
}

/// Those of these orders that belong to the account and to live restaurants, unsorted.
pub fn read(tx: &mut Tx<'_>, account: AccountId, ids: &[OrderId]) -> Result<Vec<BoardOrder>> {
    const PER_STATEMENT: usize = 32;
    let sql = format!(
        "SELECT {COLUMNS}, c.body, r.name, o.escalated_at {LIVE} JOIN order_contents c ON c.order_id = o.id
         WHERE o.id IN ({})",
        marks(1, PER_STATEMENT)
    );
    let mut found = Vec::with_capacity(ids.len());
    for chunk in ids.chunks(PER_STATEMENT) {
        let params: Vec<Param<'_>> = filled(chunk, PER_STATEMENT).map(Param::from).collect();
        let read = each(|cells| {
            Ok(BoardOrder {
                order: order(cells)?,
                content: parse_content(cells.text()?)?,
                restaurant: cells.read()?,
                escalated_at: cells.read()?,
            })
        });
        found.extend(tx.query(&sql, &params, read)?);
    }
    // Filtered here: with a condition on the account a planner might read all orders of the account.
    found.retain(|it: &BoardOrder| it.order.account_id == account);
    Ok(found)
}
