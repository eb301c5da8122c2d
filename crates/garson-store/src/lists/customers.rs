//! Finds the orders of a customer, oldest first, in steps of bounded work.

use crate::lists::search;
use crate::tables::orders;
use crate::tables::orders::parse_content;
use crate::tables::row::{each, value};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, OrderId};
use garson_core::order::OrderContent;
use garson_core::privacy::CustomerQuery;

/// An order of the customer.
#[derive(Clone, Debug)]
pub struct Found {
    pub id: OrderId,
    pub position: i64,
    pub content: OrderContent,
}

/// The result of a step.
#[derive(Clone, Debug)]
pub struct Step {
    pub found: Vec<Found>,
    /// All orders up to here were examined.
    pub reached: i64,
    /// There are no more orders to examine.
    pub is_end: bool,
}

/// Examines the next orders after a position, at most `limit`, up to and including `last`. By a phone number or a name, the search
/// index leads to the orders; those that are not indexed yet, and all of them for an e-mail address, are read one by one.
pub fn step(
    tx: &mut Tx<'_>,
    account: AccountId,
    query: &CustomerQuery,
    (after, last): (i64, i64),
    limit: i64,
) -> Result<Step> {
    let indexed = match query.index_word() {
        Some(_) => search::indexed_up_to(tx, account)?.min(last),
        None => 0,
    };
    let (positions, until) = match query.index_word() {
        Some(word) if after < indexed => (by_word(tx, account, word, (after, indexed), limit)?, indexed),
        _ => (all(tx, account, (after, last), limit)?, last),
    };
    let is_full = i64::try_from(positions.len()).is_ok_and(|found| found >= limit);
    let reached = match positions.last() {
        Some(position) if is_full => *position,
        _ => until,
    };
    let mut found = Vec::new();
    for position in positions {
        found.extend(read(tx, account, position)?.filter(|it| query.matches(&it.content)));
    }
    Ok(Step {
        found,
        reached,
        is_end: reached >= last,
    })
}

fn by_word(
    tx: &mut Tx<'_>,
    account: AccountId,
    word: &str,
    (after, last): (i64, i64),
    limit: i64,
) -> Result<Vec<i64>> {
    tx.query(
        "SELECT position FROM word_places WHERE account_id = ?1 AND word = ?2 AND position > ?3 AND position <= ?4
         ORDER BY position LIMIT ?5",
        params![&account, word.as_bytes(), after, last, limit],
        value,
    )
}

fn all(tx: &mut Tx<'_>, account: AccountId, (after, last): (i64, i64), limit: i64) -> Result<Vec<i64>> {
    tx.query(
        "SELECT position FROM orders WHERE account_id = ?1 AND position > ?2 AND position <= ?3
         ORDER BY position LIMIT ?4",
        params![&account, after, last, limit],
        value,
    )
}

/// The order at a position; none if it is gone, or its content cannot be read.
fn read(tx: &mut Tx<'_>, account: AccountId, position: i64) -> Result<Option<Found>> {
    let found = tx.query_opt(
        "SELECT o.id, c.body FROM orders o JOIN order_contents c ON c.order_id = o.id
         WHERE o.account_id = ?1 AND o.position = ?2",
        params![&account, position],
        each(|cells| Ok((cells.read::<OrderId>()?, parse_content(cells.text()?).ok()))),
    )?;
    Ok(found.and_then(|(id, content)| {
        content.map(|content| Found {
            id,
            position,
            content,
        })
    }))
}

/// The orders that arrived before a timestamp, after a position: their ids and positions.
pub fn arrived_before(
    tx: &mut Tx<'_>,
    account: AccountId,
    after: i64,
    before: garson_core::time::Timestamp,
    limit: i64,
) -> Result<Vec<(OrderId, i64)>> {
    let next = orders::positions_after(tx, account, after, limit)?;
    // Timestamps follow positions.
    let old = next.into_iter().take_while(|(_, _, at)| *at < before);
    Ok(old.map(|(id, position, _)| (id, position)).collect())
}
