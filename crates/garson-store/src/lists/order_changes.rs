//! Lists of orders by their last change, for clients that ask what has changed since a timestamp.
//!
//! The position of an order's last change (`changed`) follows commit order, and so does its timestamp (`updated_at`): a list
//! since a timestamp is a range of positions. Further filters are applied order by order, to a bounded number for each page; a
//! page that ends there has a cursor to continue.

use crate::lists::feed::{ALL_POSITIONS, Direction, Page, PageRequest};
use crate::lists::orders::OrderFilter;
use crate::tables::order_line::OrderLine;
use crate::tables::restaurants;
use crate::tables::row::Cells;
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::order::Status;
use garson_core::platform::Provider;
use garson_core::time::Timestamp;

/// Which changes are requested.
#[derive(Clone, Debug)]
pub struct Changes<'a> {
    /// At this time or later.
    pub since: Timestamp,
    pub restaurant: Option<RestaurantId>,
    pub filter: Option<&'a OrderFilter>,
    /// The positions of the orders themselves, both excluded.
    pub between: (i64, i64),
}

/// An order with its last change.
pub struct ChangedOrder<'a> {
    /// The position of the change.
    pub position: i64,
    pub id: OrderId,
    pub updated_at: Timestamp,
    pub line: OrderLine<'a>,
}

/// The most orders that are examined for a page.
const MAX_EXAMINED: usize = 2_000;
/// How many orders one statement reads.
const PER_STATEMENT: usize = 500;

/// In the order of reading: what most likely rejects an order comes first.
const SELECT: &str = "SELECT changed, updated_at, position, restaurant_id, provider, status, id, reported_at, line FROM orders";

/// The orders examined for a page.
struct Walk<T> {
    found: Vec<(i64, T)>,
    last_examined: Option<i64>,
    /// There are no more orders.
    is_at_end: bool,
}

/// A page of the orders that have changed since a timestamp, the newest change first.
pub fn list_changed<T>(
    tx: &mut Tx<'_>,
    account: AccountId,
    changes: &Changes<'_>,
    request: PageRequest,
    mut make: impl FnMut(&ChangedOrder<'_>) -> T,
) -> Result<Page<T>> {
    let deleted = restaurants::pending_sweep(tx, account)?;
    let is_selective = changes.restaurant.is_some()
        || changes.filter.is_some()
        || changes.between != ALL_POSITIONS
        || !deleted.is_empty();
    let is_older = request.direction == Direction::Older;
    let start = match (request.direction, request.cursor) {
        (Direction::Older, cursor) => cursor.unwrap_or(i64::MAX),
        (Direction::Newer, cursor) => position_before(tx, account, changes.since, cursor.unwrap_or(0))?,
    };
    // One more than requested shows whether there is an older page.
    let wanted = request.limit + usize::from(is_older);
    let chunk_size = if is_selective { PER_STATEMENT } else { wanted };
    let mut walk = Walk {
        found: Vec::new(),
        last_examined: None,
        is_at_end: false,
    };
    let mut examined = 0;
    while walk.found.len() < wanted && !walk.is_at_end && examined < MAX_EXAMINED.max(wanted) {
        let from = walk.last_examined.unwrap_or(start);
        let rows = chunk(tx, account, from, chunk_size, is_older, |change, cells| {
            if change.at < changes.since {
                return Ok((change.position, None));
            }
            let Some(status) = wanted_status(cells, changes, &deleted)? else {
                return Ok((change.position, Some(None)));
            };
            let made = make(&ChangedOrder {
                position: change.position,
                id: cells.read()?,
                updated_at: change.at,
                line: OrderLine::read_after_status(cells, status)?,
            });
            Ok((change.position, Some(Some(made))))
        })?;
        walk.is_at_end = rows.len() < chunk_size;
        examined += rows.len();
        for (position, row) in rows {
            match row {
                // Older than requested; so is everything after it.
                None if is_older => {
                    walk.is_at_end = true;
                    break;
                }
                Some(Some(made)) if walk.found.len() < wanted => walk.found.push((position, made)),
                // The page is full: the rest belongs to the next one.
                Some(Some(_)) => break,
                None | Some(None) => {}
            }
            walk.last_examined = Some(position);
        }
    }
    if is_older {
        Ok(older_page(walk, request))
    } else {
        newer_page(tx, account, changes.since, walk, request)
    }
}

fn older_page<T>(mut walk: Walk<T>, request: PageRequest) -> Page<T> {
    let has_more = walk.found.len() > request.limit;
    walk.found.truncate(request.limit);
    let next = match (has_more, walk.is_at_end) {
        (true, _) => walk.found.last().map(|(position, _)| *position),
        (false, true) => None,
        (false, false) => walk.last_examined,
    };
    let newest = walk.found.first().map(|(position, _)| *position);
    Page {
        prev: Some(newest.unwrap_or_else(|| request.cursor_when_empty())),
        items: walk.found.into_iter().map(|(_, made)| made).collect(),
        next,
    }
}

fn newer_page<T>(
    tx: &mut Tx<'_>,
    account: AccountId,
    since: Timestamp,
    mut walk: Walk<T>,
    request: PageRequest,
) -> Result<Page<T>> {
    walk.found.reverse();
    let oldest = walk.found.last().map(|(position, _)| *position);
    let from = oldest.or(request.cursor.map(|cursor| cursor.saturating_add(1)));
    let mut next = None;
    if let Some(from) = from {
        let before = chunk(tx, account, from, 1, true, |change, _| Ok(change.at))?;
        next = before.first().filter(|at| **at >= since).and(Some(from));
    }
    Ok(Page {
        // Every examined order is on this page or not in the list.
        prev: Some(walk.last_examined.or(request.cursor).unwrap_or(0)),
        items: walk.found.into_iter().map(|(_, made)| made).collect(),
        next,
    })
}

/// The last change of an order.
#[derive(Clone, Copy)]
struct Change {
    position: i64,
    at: Timestamp,
}

/// Reads a chunk of an account's orders by their last change.
fn chunk<T>(
    tx: &mut Tx<'_>,
    account: AccountId,
    from: i64,
    limit: usize,
    newest_first: bool,
    mut read: impl FnMut(Change, &mut Cells<'_, '_>) -> Result<T>,
) -> Result<Vec<T>> {
    let (side, way) = if newest_first { ("<", "DESC") } else { (">", "ASC") };
    let sql = format!("{SELECT} WHERE account_id = ?1 AND changed {side} ?2 ORDER BY changed {way} LIMIT ?3");
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    tx.query(&sql, params![&account, from, limit], |row| {
        let mut cells = Cells::new(row);
        let change = Change {
            position: cells.read()?,
            at: cells.read()?,
        };
        read(change, &mut cells)
    })
}

/// The status of an order that is asked for; `None` for others. Reads only as many cells as the decision needs.
fn wanted_status(
    cells: &mut Cells<'_, '_>,
    changes: &Changes<'_>,
    deleted: &[RestaurantId],
) -> Result<Option<Status>> {
    let (position, restaurant): (i64, RestaurantId) = (cells.read()?, cells.read()?);
    let (low, high) = changes.between;
    let is_in_scope = low < position
        && position < high
        && changes.restaurant.is_none_or(|only| only == restaurant)
        && !deleted.contains(&restaurant);
    if !is_in_scope {
        return Ok(None);
    }
    let (provider, status): (Provider, Status) = (cells.read()?, cells.read()?);
    let matches_filter =
        |filter: &OrderFilter| filter.statuses.contains(&status) && filter.providers.contains(&provider);
    Ok(changes.filter.is_none_or(matches_filter).then_some(status))
}

/// A position, not before the given one, after which all changes are since a timestamp. Timestamps follow positions, so a binary
/// search finds it.
fn position_before(tx: &mut Tx<'_>, account: AccountId, since: Timestamp, from: i64) -> Result<i64> {
    let mut old_after = |position: i64| -> Result<Option<i64>> {
        let first = chunk(tx, account, position, 1, false, |change, _| Ok(change))?;
        Ok(first.first().filter(|it| it.at < since).map(|it| it.position))
    };
    let Some(mut low) = old_after(from)? else {
        return Ok(from);
    };
    let mut high = i64::MAX;
    // Doubles the step first: positions are far below i64::MAX.
    let mut step = 1024_i64;
    while high == i64::MAX {
        let ahead = low.saturating_add(step);
        match old_after(ahead)? {
            Some(position) => (low, step) = (position, step.saturating_mul(2)),
            None => high = ahead,
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        match old_after(middle)? {
            Some(position) => low = position,
            None => high = middle,
        }
    }
    Ok(low)
}
