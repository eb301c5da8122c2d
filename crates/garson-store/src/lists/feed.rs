//! Pages of an account's lists, newest first, by position and never by offset.
//!
//! A list is a set of *arms*: ranges of one index each, merged by position. Most lists have one arm. A filter with several
//! values has one for each. While deleted restaurants wait for the sweep, an account's list has one arm for each live
//! restaurant, so that a million rows to be removed cost a reader nothing. Short lists without an index by restaurant filter
//! these rows instead.

use crate::engine::Param;
use crate::engine::in_list::{marks, shifted};
use crate::tables::restaurants;
use crate::tables::row::{Cells, value};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::time::Timestamp;

/// The direction of a page from its cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Direction {
    #[default]
    Older,
    Newer,
}

/// A requested page.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    pub limit: usize,
    pub cursor: Option<i64>,
    pub direction: Direction,
}

impl PageRequest {
    /// The cursor towards newer rows from an empty page. After an empty older page it includes the row at the page's own cursor,
    /// which is newer than the page. Positions start at 1, so no cursor is negative.
    pub(crate) fn cursor_when_empty(self) -> i64 {
        match self.direction {
            Direction::Older => self.cursor.map_or(0, |cursor| cursor.saturating_sub(1).max(0)),
            Direction::Newer => self.cursor.unwrap_or(0),
        }
    }
}

/// A page, newest first, with the cursors of its neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Towards older rows; `None` at the end.
    pub next: Option<i64>,
    /// Towards newer rows; always set, so that a client can request what has arrived since.
    pub prev: Option<i64>,
}

impl<T> Page<T> {
    /// An empty page.
    #[must_use]
    pub fn empty(request: PageRequest) -> Self {
        Self {
            items: Vec::new(),
            next: None,
            prev: Some(request.cursor_when_empty()),
        }
    }
}

/// The owner of a list's rows.
#[derive(Clone, Copy, Debug)]
pub enum Scope {
    Account(AccountId),
    Restaurant(RestaurantId),
    Order(OrderId),
}

/// A list: its columns, and what narrows it.
pub struct Feed<'a> {
    pub table: &'a str,
    /// What the reader gets, besides the position.
    pub columns: &'a str,
    pub scope: Scope,
    /// Conditions without parameters, each that of a partial index; the list contains the rows that meet any of them.
    pub conditions: &'a [&'a str],
    /// A further filter.
    pub any_of: Option<AnyOf<'a>>,
    /// Filters the rows of deleted restaurants one by one: for lists that are short and have no index by restaurant.
    pub filters_deleted: bool,
    /// Only positions between these, both excluded.
    pub between: (i64, i64),
}

/// Columns and their allowed combinations of values.
pub struct AnyOf<'a> {
    pub columns: &'a [&'a str],
    /// A value for each column.
    pub values: Vec<Vec<Param<'a>>>,
    /// There is an index by restaurant, these columns and position, as there is one by account.
    pub is_indexed_by_restaurant: bool,
}

/// The interval that contains every position.
pub const ALL_POSITIONS: (i64, i64) = (-1, i64::MAX);

/// The rows of an account without those of deleted restaurants.
const LIVE_OF_ACCOUNT: &str = "account_id = ?1 AND restaurant_id NOT IN
    (SELECT id FROM restaurants WHERE account_id = ?1 AND deleted_at IS NOT NULL)";

struct Arm<'a> {
    condition: String,
    params: Vec<Param<'a>>,
    /// The columns before the position in the arm's index; their values are the parameters from the second on.
    index_prefix: &'a [&'a str],
}

impl Arm<'_> {
    /// The statement that reads the arm. If columns precede the position in its index, the statement compares and orders by all
    /// of them together, which only this index supports. With an equality alone, PostgreSQL, which plans for any value, would
    /// search the list of all values for one that may not occur.
    fn sql(&self, feed: &Feed<'_>, newest_first: bool) -> String {
        let way = if newest_first { "DESC" } else { "ASC" };
        let own = self.params.len();
        let (low, high, limit) = (own + 1, own + 2, own + 3);
        let (range, order) = if self.index_prefix.is_empty() {
            (
                format!("position > ?{low} AND position < ?{high}"),
                format!("position {way}"),
            )
        } else {
            let (columns, values) = (self.index_prefix.join(", "), marks(2, self.index_prefix.len()));
            let order: Vec<String> = self.index_prefix.iter().map(|it| format!("{it} {way}")).collect();
            (
                format!(
                    "({columns}, position) > ({values}, ?{low}) AND ({columns}, position) < ({values}, ?{high})"
                ),
                format!("{}, position {way}", order.join(", ")),
            )
        };
        format!(
            "SELECT position, {} FROM {} WHERE {} AND {range} ORDER BY {order} LIMIT ?{limit}",
            feed.columns, feed.table, self.condition
        )
    }
}

/// Reads a page.
pub fn page<T>(
    tx: &mut Tx<'_>,
    feed: &Feed<'_>,
    request: PageRequest,
    mut read: impl FnMut(i64, &mut Cells<'_, '_>) -> Result<T>,
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
    let newest = found.first().map(|(position, _)| *position);
    let oldest = found.last().map(|(position, _)| *position);
    let next = match (request.direction, oldest) {
        (Direction::Older, Some(oldest)) => has_more.then_some(oldest),
        (Direction::Older, None) => None,
        (Direction::Newer, _) => {
            let from = oldest.or(cursor.map(|c| c.saturating_add(1))).unwrap_or(0);
            let older = fetch(tx, feed, &arms, (low, from), 1, true, &mut |_, _| Ok(()))?;
            (!older.is_empty()).then_some(from)
        }
    };
    Ok(Page {
        items: found.into_iter().map(|(_, item)| item).collect(),
        next,
        prev: Some(newest.unwrap_or_else(|| request.cursor_when_empty())),
    })
}

/// Reads the rows after a position, oldest first: for clients that follow a list.
pub fn after<T>(
    tx: &mut Tx<'_>,
    feed: &Feed<'_>,
    position: i64,
    limit: usize,
    mut read: impl FnMut(i64, &mut Cells<'_, '_>) -> Result<T>,
) -> Result<Vec<T>> {
    let live = live(tx, feed.scope)?;
    let arms = arms(feed, live.as_deref());
    let between = (feed.between.0.max(position), feed.between.1);
    let found = fetch(tx, feed, &arms, between, limit, false, &mut read)?;
    Ok(found.into_iter().map(|(_, item)| item).collect())
}

/// Reads a chunk of a list from one of its ends, for callers that filter the rows themselves.
pub(crate) fn chunk<T>(
    tx: &mut Tx<'_>,
    feed: &Feed<'_>,
    between: (i64, i64),
    limit: usize,
    newest_first: bool,
    mut read: impl FnMut(i64, &mut Cells<'_, '_>) -> Result<T>,
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
    const OF_ACCOUNT: &str = "account_id = ?1";
    const OF_RESTAURANT: &str = "restaurant_id = ?1";
    let scopes: Vec<(&str, Param<'a>)> = match (&feed.scope, live) {
        (Scope::Order(id), _) => vec![("order_id = ?1", id.into())],
        (Scope::Restaurant(id), _) => vec![(OF_RESTAURANT, id.into())],
        (Scope::Account(id), None) => vec![(OF_ACCOUNT, id.into())],
        (Scope::Account(id), Some(_)) if feed.filters_deleted => vec![(LIVE_OF_ACCOUNT, id.into())],
        (Scope::Account(_), Some(live)) => live.iter().map(|id| (OF_RESTAURANT, id.into())).collect(),
    };
    let mut arms = Vec::new();
    // Arms of the same form are adjacent, so that one statement can read them.
    for condition in feed.conditions {
        for (scope, id) in &scopes {
            let condition = format!("{scope}{condition}");
            let Some(any_of) = &feed.any_of else {
                arms.push(Arm {
                    condition,
                    params: vec![*id],
                    index_prefix: &[],
                });
                continue;
            };
            let is_indexed = *scope != OF_RESTAURANT || any_of.is_indexed_by_restaurant;
            let condition = if is_indexed {
                condition
            } else {
                let (columns, values) = (any_of.columns.join(", "), marks(2, any_of.columns.len()));
                format!("{condition} AND ({columns}) = ({values})")
            };
            arms.extend(any_of.values.iter().map(|values| Arm {
                condition: condition.clone(),
                params: [&[*id], values.as_slice()].concat(),
                index_prefix: if is_indexed { any_of.columns } else { &[] },
            }));
        }
    }
    arms
}

/// How many arms of the same form one statement reads; few sizes, so that each statement is prepared once.
const ARMS_PER_STATEMENT: [usize; 3] = [20, 5, 1];

/// The statement that reads several arms of the same form, each with its own parameters, and merges them.
fn merged_sql(one: &str, params_each: usize, arms: usize, newest_first: bool) -> String {
    if arms == 1 {
        return one.to_owned();
    }
    let way = if newest_first { "DESC" } else { "ASC" };
    let each: Vec<String> = (0..arms)
        .map(|n| format!("SELECT * FROM ({}) AS arm{n}", shifted(one, n * params_each)))
        .collect();
    // The limit is the last parameter of every arm.
    format!(
        "SELECT * FROM ({}) AS arms ORDER BY position {way} LIMIT ?{params_each}",
        each.join(" UNION ALL ")
    )
}

fn fetch<T>(
    tx: &mut Tx<'_>,
    feed: &Feed<'_>,
    arms: &[Arm<'_>],
    between: (i64, i64),
    limit: usize,
    newest_first: bool,
    read: &mut impl FnMut(i64, &mut Cells<'_, '_>) -> Result<T>,
) -> Result<Vec<(i64, T)>> {
    let limit_param = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut all = Vec::new();
    let mut rest = arms;
    while let Some(first) = rest.first() {
        let has_same_form =
            |arm: &&Arm<'_>| arm.condition == first.condition && arm.params.len() == first.params.len();
        let same = rest.iter().take_while(has_same_form).count();
        let count = ARMS_PER_STATEMENT
            .into_iter()
            .find(|count| *count <= same)
            .unwrap_or(1);
        let (batch, others) = rest.split_at(count);
        rest = others;
        let mut params = Vec::new();
        for arm in batch {
            params.extend_from_slice(&arm.params);
            params.extend_from_slice(params![between.0, between.1, limit_param]);
        }
        let one = first.sql(feed, newest_first);
        let sql = merged_sql(&one, params.len() / count, count, newest_first);
        all.extend(tx.query(&sql, &params, |row| {
            let mut cells = Cells::new(row);
            let position = cells.read()?;
            Ok((position, read(position, &mut cells)?))
        })?);
    }
    if arms.len() > 1 {
        all.sort_by_key(|(position, _)| if newest_first { -position } else { *position });
        all.truncate(limit);
    }
    Ok(all)
}

/// The positions of an account's orders that arrived from `from` on and before `to`; timestamps follow positions.
pub fn positions_between(
    tx: &mut Tx<'_>,
    account: AccountId,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<Option<(i64, i64)>> {
    let mut first_at = |at: Timestamp| {
        tx.query_opt(
            "SELECT position FROM orders WHERE account_id = ?1 AND created_at >= ?2
             ORDER BY created_at, position LIMIT 1",
            params![&account, at],
            value::<i64>,
        )
    };
    let (mut low, mut high) = ALL_POSITIONS;
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
