//! Lists of orders by their last change, for those who ask what has changed since a moment.
//!
//! The place of an order's last change (`changed`) follows the order of commits, and so does the moment that goes with it
//! (`updated_at`): a list from a moment on is a range of places. What narrows the list further is looked at order by order, of a
//! bounded number for a page; a page that ends there says where to go on.

use crate::engine::Row;
use crate::lists::feed::{Direction, EVERYWHERE, Page, PageRequest};
use crate::tables::order_line::OrderLine;
use crate::tables::orders::Narrowed;
use crate::tables::restaurants;
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::time::Timestamp;

/// What changes are asked for.
#[derive(Clone, Debug)]
pub struct Changes<'a> {
    /// At this moment or later.
    pub since: Timestamp,
    pub restaurant: Option<RestaurantId>,
    pub narrowed: Option<&'a Narrowed>,
    /// The places of the orders themselves, both excluded.
    pub between: (i64, i64),
}

/// An order with its last change.
pub struct ChangedOrder<'a> {
    pub place: i64,
    pub id: OrderId,
    pub updated_at: Timestamp,
    pub line: OrderLine<'a>,
}

/// The most orders that are looked at for a page.
const MOST: usize = 2_000;
/// How many are looked at with one statement.
const AT_ONCE: usize = 500;

const SELECT: &str = "SELECT changed, status, reported_at, line, id, updated_at, position, restaurant_id, provider FROM orders";

/// What was looked at on the way to a page.
struct Walk<T> {
    found: Vec<(i64, T)>,
    last_looked_at: Option<i64>,
    /// Is there nothing left behind what was looked at?
    is_at_end: bool,
}

/// A page of the orders that have changed since a moment, the newest change first.
pub fn list_changed<T>(
    tx: &mut Tx<'_>,
    account: AccountId,
    changes: &Changes<'_>,
    request: PageRequest,
    mut make: impl FnMut(&ChangedOrder<'_>) -> T,
) -> Result<Page<T>> {
    let swept = restaurants::being_swept(tx, account)?;
    let is_wanted = |row: &Row<'_>| is_wanted(row, changes, &swept);
    let is_selective = changes.restaurant.is_some()
        || changes.narrowed.is_some()
        || changes.between != EVERYWHERE
        || !swept.is_empty();
    let is_older = request.direction == Direction::Older;
    let start = match (request.direction, request.cursor) {
        (Direction::Older, cursor) => cursor.unwrap_or(i64::MAX),
        (Direction::Newer, cursor) => place_before(tx, account, changes.since, cursor.unwrap_or(0))?,
    };
    // One more of older ones shows whether there are any on a next page.
    let wanted = request.limit + usize::from(is_older);
    let at_once = if is_selective { AT_ONCE } else { wanted };
    let mut walk = Walk {
        found: Vec::new(),
        last_looked_at: None,
        is_at_end: false,
    };
    let mut looked_at = 0;
    while walk.found.len() < wanted && !walk.is_at_end && looked_at < MOST.max(wanted) {
        let from = walk.last_looked_at.unwrap_or(start);
        let rows = stretch(tx, account, from, at_once, is_older, |row| {
            if row.get::<Timestamp>(5)? < changes.since {
                return Ok((row.get(0)?, None));
            }
            let made = match is_wanted(row)? {
                true => Some(make(&changed_order(row)?)),
                false => None,
            };
            Ok((row.get(0)?, Some(made)))
        })?;
        walk.is_at_end = rows.len() < at_once;
        looked_at += rows.len();
        for (place, row) in rows {
            match row {
                // Older than asked for; so is everything behind it.
                None if is_older => {
                    walk.is_at_end = true;
                    break;
                }
                Some(Some(made)) if walk.found.len() < wanted => walk.found.push((place, made)),
                // The page is full: what follows belongs to the next one.
                Some(Some(_)) => break,
                None | Some(None) => {}
            }
            walk.last_looked_at = Some(place);
        }
    }
    match is_older {
        true => Ok(older_page(walk, request)),
        false => newer_page(tx, account, changes.since, walk, request),
    }
}

fn older_page<T>(mut walk: Walk<T>, request: PageRequest) -> Page<T> {
    let has_more = walk.found.len() > request.limit;
    walk.found.truncate(request.limit);
    let next = match (has_more, walk.is_at_end) {
        (true, _) => walk.found.last().map(|(place, _)| *place),
        (false, true) => None,
        (false, false) => walk.last_looked_at,
    };
    let newest = walk.found.first().map(|(place, _)| *place);
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
    let oldest = walk.found.last().map(|(place, _)| *place);
    let from = oldest.or(request.cursor.map(|cursor| cursor.saturating_add(1)));
    let mut next = None;
    if let Some(from) = from {
        let before = stretch(tx, account, from, 1, true, |row| row.get::<Timestamp>(5))?;
        next = before.first().filter(|at| **at >= since).and(Some(from));
    }
    Ok(Page {
        // Whatever was looked at is on this page or not in the list.
        prev: Some(walk.last_looked_at.or(request.cursor).unwrap_or(0)),
        items: walk.found.into_iter().map(|(_, made)| made).collect(),
        next,
    })
}

/// Reads a stretch of an account's orders by their last change.
fn stretch<T>(
    tx: &mut Tx<'_>,
    account: AccountId,
    from: i64,
    limit: usize,
    newest_first: bool,
    read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let (side, way) = if newest_first { ("<", "DESC") } else { (">", "ASC") };
    let sql = format!("{SELECT} WHERE account_id = ?1 AND changed {side} ?2 ORDER BY changed {way} LIMIT ?3");
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    tx.query(&sql, params![&account, from, limit], read)
}

fn is_wanted(row: &Row<'_>, changes: &Changes<'_>, swept: &[RestaurantId]) -> Result<bool> {
    let (place, restaurant): (i64, RestaurantId) = (row.get(6)?, row.get(7)?);
    let (low, high) = changes.between;
    let is_here = low < place
        && place < high
        && changes.restaurant.is_none_or(|only| only == restaurant)
        && !swept.contains(&restaurant);
    let Some(narrowed) = changes.narrowed.filter(|_| is_here) else {
        return Ok(is_here);
    };
    Ok(narrowed.statuses.contains(&row.get(1)?) && narrowed.providers.contains(&row.get(8)?))
}

fn changed_order<'a>(row: &'a Row<'_>) -> Result<ChangedOrder<'a>> {
    Ok(ChangedOrder {
        place: row.get(0)?,
        id: row.get(4)?,
        updated_at: row.get(5)?,
        line: OrderLine::read(row)?,
    })
}

/// A place, not before the given one, behind which all changes are since a moment: found by halving, since moments follow places.
fn place_before(tx: &mut Tx<'_>, account: AccountId, since: Timestamp, from: i64) -> Result<i64> {
    let mut first_after = |place: i64| -> Result<Option<(i64, Timestamp)>> {
        let read = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<Timestamp>(5)?));
        Ok(stretch(tx, account, place, 1, false, read)?.first().copied())
    };
    let is_old = |found: Option<(i64, Timestamp)>| found.filter(|(_, at)| *at < since);
    let Some((mut low, _)) = is_old(first_after(from)?) else {
        return Ok(from);
    };
    let mut high = i64::MAX;
    // Doubling first: an account's places are far from the end of all numbers.
    let mut step = 1024_i64;
    while high == i64::MAX {
        let ahead = low.saturating_add(step);
        match is_old(first_after(ahead)?) {
            Some((place, _)) => (low, step) = (place, step.saturating_mul(2)),
            None => high = ahead,
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        match is_old(first_after(middle)?) {
            Some((place, _)) => low = place,
            None => high = middle,
        }
    }
    Ok(low)
}
