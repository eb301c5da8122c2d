//! Pages of an account's lists, newest first, by place and never by offset.
//!
//! A list is a set of *arms*: ranges of one index each, merged by place. Most lists have one arm. A filter that
//! takes several values has one for each; and while restaurants are being swept, an account's list has one for
//! each restaurant that lives on, so that a million rows on their way out cost a reader nothing.

use crate::engine::{Param, Row, Tx};
use crate::{Result, params, restaurants};
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::time::Timestamp;

/// Which way a page lies from its cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Direction {
    #[default]
    Older,
    Newer,
}

/// What page is wanted.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    pub limit: usize,
    pub cursor: Option<i64>,
    pub direction: Direction,
}

impl PageRequest {
    /// Where newer ones lie from an empty page. Behind an empty older page lies its own cursor: what is newer than the
    /// page includes it.
    fn cursor_when_empty(self) -> i64 {
        match self.direction {
            Direction::Older => self.cursor.map_or(0, |cursor| cursor.saturating_sub(1)),
            Direction::Newer => self.cursor.unwrap_or(0),
        }
    }
}

/// A page, newest first, and where to go from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Towards older ones; `None` at the end.
    pub next: Option<i64>,
    /// Towards newer ones; always there, so that a client can ask for what has come since.
    pub prev: Option<i64>,
}

impl<T> Page<T> {
    /// A page without anything.
    #[must_use]
    pub fn empty(request: PageRequest) -> Self {
        let prev = request.cursor_when_empty();
        Self {
            items: Vec::new(),
            next: None,
            prev: Some(prev),
        }
    }
}

/// Whose rows a list shows.
#[derive(Clone, Copy, Debug)]
pub enum Scope {
    Account(AccountId),
    Restaurant(RestaurantId),
    Order(OrderId),
}

/// A list: what is selected (the place first), and what narrows it.
pub struct Feed<'a> {
    /// `SELECT position, … FROM table`.
    pub select: &'a str,
    pub scope: Scope,
    /// A condition without parameters that a partial index answers.
    pub condition: &'a str,
    /// A column and the values that it may have; none means any.
    pub any_of: Option<(&'a str, Vec<Param<'a>>)>,
    /// Places outside of these (both excluded) are not looked at.
    pub between: (i64, i64),
}

/// The places that lie between all others.
pub const EVERYWHERE: (i64, i64) = (-1, i64::MAX);

struct Arm<'a> {
    condition: String,
    params: Vec<Param<'a>>,
}

/// Reads a page.
pub fn page<T>(
    tx: &mut Tx<'_>,
    feed: &Feed<'_>,
    request: PageRequest,
    mut read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Page<T>> {
    let live = live(tx, feed.scope)?;
    let arms = arms(feed, live.as_deref());
    let (low, high) = feed.between;
    let cursor = request.cursor;
    let mut found = match request.direction {
        Direction::Older => {
            let high = cursor.map_or(high, |c| c.min(high));
            fetch(tx, feed, &arms, (low, high), request.limit + 1, true, &mut read)?
        }
        Direction::Newer => {
            let low = cursor.map_or(low, |c| c.max(low));
            fetch(tx, feed, &arms, (low, high), request.limit, false, &mut read)?
        }
    };
    let has_more = found.len() > request.limit;
    found.truncate(request.limit);
    if request.direction == Direction::Newer {
        found.reverse();
    }
    let newest = found.first().map(|(place, _)| *place);
    let oldest = found.last().map(|(place, _)| *place);
    let next = match (request.direction, oldest) {
        (Direction::Older, Some(oldest)) => has_more.then_some(oldest),
        (Direction::Older, None) => None,
        (Direction::Newer, _) => {
            let from = oldest.or(cursor.map(|c| c.saturating_add(1))).unwrap_or(0);
            let older = fetch(tx, feed, &arms, (low, from), 1, true, &mut |_| Ok(()))?;
            (!older.is_empty()).then_some(from)
        }
    };
    Ok(Page {
        items: found.into_iter().map(|(_, item)| item).collect(),
        next,
        prev: Some(newest.unwrap_or_else(|| request.cursor_when_empty())),
    })
}

/// Reads what stands after a place, oldest first: for those who follow a list as it grows.
pub fn after<T>(
    tx: &mut Tx<'_>,
    feed: &Feed<'_>,
    place: i64,
    limit: usize,
    mut read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let live = live(tx, feed.scope)?;
    let arms = arms(feed, live.as_deref());
    let between = (feed.between.0.max(place), feed.between.1);
    let found = fetch(tx, feed, &arms, between, limit, false, &mut read)?;
    Ok(found.into_iter().map(|(_, item)| item).collect())
}

/// Reads a stretch of a list from one of its ends, for those who look at each row themselves.
pub(crate) fn stretch<T>(
    tx: &mut Tx<'_>,
    feed: &Feed<'_>,
    between: (i64, i64),
    limit: usize,
    newest_first: bool,
    mut read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let live = live(tx, feed.scope)?;
    let arms = arms(feed, live.as_deref());
    let found = fetch(tx, feed, &arms, between, limit, newest_first, &mut read)?;
    Ok(found.into_iter().map(|(_, item)| item).collect())
}

fn live(tx: &mut Tx<'_>, scope: Scope) -> Result<Option<Vec<RestaurantId>>> {
    match scope {
        Scope::Account(account) => restaurants::live_while_sweeping(tx, account),
        Scope::Restaurant(_) | Scope::Order(_) => Ok(None),
    }
}

fn arms<'a>(feed: &'a Feed<'a>, live: Option<&'a [RestaurantId]>) -> Vec<Arm<'a>> {
    let scopes: Vec<(&str, Param<'a>)> = match (&feed.scope, live) {
        (Scope::Order(id), _) => vec![("order_id = ?1", id.into())],
        (Scope::Restaurant(id), _) => vec![("restaurant_id = ?1", id.into())],
        (Scope::Account(id), None) => vec![("account_id = ?1", id.into())],
        (Scope::Account(_), Some(live)) => live.iter().map(|id| ("restaurant_id = ?1", id.into())).collect(),
    };
    let mut arms = Vec::new();
    for (scope, id) in scopes {
        match &feed.any_of {
            None => arms.push(Arm {
                condition: format!("{scope}{}", feed.condition),
                params: vec![id],
            }),
            Some((column, values)) => arms.extend(values.iter().map(|value| Arm {
                condition: format!("{scope}{} AND {column} = ?2", feed.condition),
                params: vec![id, *value],
            })),
        }
    }
    arms
}

fn fetch<T>(
    tx: &mut Tx<'_>,
    feed: &Feed<'_>,
    arms: &[Arm<'_>],
    between: (i64, i64),
    limit: usize,
    newest_first: bool,
    read: &mut impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<(i64, T)>> {
    let limit_param = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut all = Vec::new();
    for arm in arms {
        let n = arm.params.len();
        let sql = format!(
            "{} WHERE {} AND position > ?{} AND position < ?{} ORDER BY position {} LIMIT ?{}",
            feed.select,
            arm.condition,
            n + 1,
            n + 2,
            if newest_first { "DESC" } else { "ASC" },
            n + 3,
        );
        let mut params = arm.params.clone();
        params.extend_from_slice(params![between.0, between.1, limit_param]);
        all.extend(tx.query(&sql, &params, |row| Ok((row.get::<i64>(0)?, read(row)?)))?);
    }
    if arms.len() > 1 {
        all.sort_by_key(|(place, _)| if newest_first { -place } else { *place });
        all.truncate(limit);
    }
    Ok(all)
}

/// The places of an account's orders that arrived from `from` on and before `to`; moments follow places.
pub fn places_between(
    tx: &mut Tx<'_>,
    account: AccountId,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<Option<(i64, i64)>> {
    let mut first_at = |moment: Timestamp| {
        tx.query_opt(
            "SELECT position FROM orders WHERE account_id = ?1 AND created_at >= ?2
             ORDER BY created_at, position LIMIT 1",
            params![&account, moment],
            |row| row.get::<i64>(0),
        )
    };
    let (mut low, mut high) = EVERYWHERE;
    if let Some(from) = from {
        match first_at(from)? {
            Some(first) => low = first - 1,
            None => return Ok(None),
        }
    }
    if let Some(to) = to
        && let Some(end) = first_at(to)?
    {
        high = end;
    }
    Ok((low < high).then_some((low, high)))
}
