//! Search over an account's orders: newest first, page by page, with bounded work for each page.
//!
//! Indexes find orders by restaurant, period and prefixes of words. The remaining filters are applied order by order, to at most
//! [`MAX_EXAMINED`] of them: the page then has a cursor where the next one continues. So a page costs the same among a thousand
//! orders and among a million.

mod index;
mod query;
mod source;
mod word_index;

pub use index::{Backlog, accounts_behind, index, indexed_up_to, is_behind, reindex, remove};
pub use query::{MAX_EXAMINED, SearchQuery};

use crate::lists::candidates::Candidate;
use crate::lists::feed::{Direction, PageRequest};
use crate::tables::restaurants;
use crate::tables::row::value;
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, OrderId};
use garson_core::time::Timestamp;
use source::Source;

/// The most orders that one statement reads.
const MAX_CHUNK: usize = 250;

/// A page of search results, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPage {
    pub orders: Vec<OrderId>,
    /// The cursors towards older and newer orders.
    pub older: Option<i64>,
    pub newer: Option<i64>,
    /// Set when the page ended at the limit of examined orders: the age of the last one.
    pub examined_to: Option<Timestamp>,
}

/// The progress of a search.
struct Walk {
    matches: Vec<Candidate>,
    /// The position of the last examined order.
    last: Option<i64>,
    end: WalkEnd,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WalkEnd {
    /// There are no more orders.
    NoMore,
    /// The page is full, and there are more orders.
    PageFull,
    /// [`MAX_EXAMINED`] orders were examined.
    LimitReached,
}

/// Finds a page of orders.
pub fn find(
    tx: &mut Tx<'_>,
    account: AccountId,
    query: &SearchQuery,
    request: PageRequest,
) -> Result<SearchPage> {
    let (low, high) = query.between;
    let is_older = request.direction == Direction::Older;
    let between = match (request.cursor, is_older) {
        (None, _) => (low, high),
        (Some(cursor), true) => (low, high.min(cursor)),
        (Some(cursor), false) => (low.max(cursor), high),
    };
    let walk = walk(tx, account, query, between, is_older, request.limit)?;
    let onward = match walk.end {
        WalkEnd::NoMore => None,
        WalkEnd::PageFull => walk.matches.last().map(|it| it.position),
        WalkEnd::LimitReached => walk.last,
    };
    let first = walk.matches.first().map(|it| it.position);
    // A page that started at a cursor has a neighbour on the other side.
    let back = match (request.cursor, is_older) {
        (None, _) => None,
        (Some(cursor), true) => Some(first.unwrap_or_else(|| cursor.saturating_sub(1))),
        (Some(cursor), false) => Some(first.unwrap_or_else(|| cursor.saturating_add(1))),
    };
    let mut orders: Vec<OrderId> = walk.matches.iter().map(|it| it.id).collect();
    if !is_older {
        orders.reverse();
    }
    let (older, newer) = if is_older { (onward, back) } else { (back, onward) };
    Ok(SearchPage {
        orders,
        older,
        newer,
        examined_to: match walk.last.filter(|_| walk.end == WalkEnd::LimitReached) {
            Some(position) => created_at(tx, account, position)?,
            None => None,
        },
    })
}

/// When the order at a position arrived.
fn created_at(tx: &mut Tx<'_>, account: AccountId, position: i64) -> Result<Option<Timestamp>> {
    // Selects the id too, so that the planner does not prefer the index by time, which covers everything else.
    let sql = "SELECT created_at, id FROM orders WHERE account_id = ?1 AND position = ?2";
    tx.query_opt(sql, params![&account, position], value)
}

fn walk(
    tx: &mut Tx<'_>,
    account: AccountId,
    query: &SearchQuery,
    between: (i64, i64),
    is_older: bool,
    limit: usize,
) -> Result<Walk> {
    let deleted = restaurants::pending_sweep(tx, account)?;
    let source = Source::choose(tx, account, query, between, is_older)?;
    let (mut low, mut high) = between;
    let mut walk = Walk {
        matches: Vec::new(),
        last: None,
        end: WalkEnd::NoMore,
    };
    let (mut examined, mut chunk_size) = (0, limit + 1);
    while low < high {
        let chunk = source.next(tx, &query.words, (low, high), chunk_size, is_older)?;
        let candidates = chunk.candidates.into_iter();
        for it in candidates.filter(|it| query.matches(it) && !deleted.contains(&it.restaurant_id)) {
            if walk.matches.len() == limit {
                walk.end = WalkEnd::PageFull;
                return Ok(walk);
            }
            walk.matches.push(it);
        }
        if chunk.examined < chunk_size {
            return Ok(walk);
        }
        walk.last = chunk.last;
        examined += chunk.examined;
        if examined >= MAX_EXAMINED {
            walk.end = WalkEnd::LimitReached;
            return Ok(walk);
        }
        let reached = chunk.last.unwrap_or(low);
        (low, high) = if is_older { (low, reached) } else { (reached, high) };
        chunk_size = (chunk_size * 2).min(MAX_CHUNK);
    }
    Ok(walk)
}
