//! Pages of an account's lists, newest first, by place and never by offset.
//!
//! A list is a set of *arms*: ranges of one index each, merged by place. Most lists have one arm. A filter that
//! takes several values has one for each; and while restaurants are being swept, an account's list has one for
//! each restaurant that lives on, so that a million rows on their way out cost a reader nothing. Short lists that no
//! index has by restaurant pass over them instead.

use crate::engine::in_list::{marks, shifted};
use crate::engine::{Param, Row};
use crate::tables::restaurants;
use crate::{Result, Tx, params};
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
    /// page includes it. Places begin at 1, so that nothing lies before 0, and no cursor is negative.
    pub(crate) fn cursor_when_empty(self) -> i64 {
        match self.direction {
            Direction::Older => self.cursor.map_or(0, |cursor| cursor.saturating_sub(1).max(0)),
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
    /// Conditions without parameters, each of which a partial index answers; the list is what fulfils any of them.
    pub conditions: &'a [&'a str],
    /// What else narrows it, if anything does.
    pub any_of: Option<AnyOf<'a>>,
    /// While restaurants are being swept, are theirs passed over one by one? For lists that are short by nature, and that no
    /// index has by restaurant.
    pub passes_over: bool,
    /// Places outside of these (both excluded) are not looked at.
    pub between: (i64, i64),
}

/// Columns and the values that they may have together.
pub struct AnyOf<'a> {
    pub columns: &'a [&'a str],
    /// A value for each column.
    pub values: Vec<Vec<Param<'a>>>,
    /// Is there an index by restaurant, these columns and place, as there is by account, these columns and place?
    pub is_indexed_by_restaurant: bool,
}

/// The places that lie between all others.
pub const EVERYWHERE: (i64, i64) = (-1, i64::MAX);

/// The rows of an account without those of restaurants that are being swept.
const LIVE_OF_ACCOUNT: &str = "account_id = ?1 AND restaurant_id NOT IN
    (SELECT id FROM restaurants WHERE account_id = ?1 AND deleted_at IS NOT NULL)";

struct Arm<'a> {
    condition: String,
    params: Vec<Param<'a>>,
    /// The columns whose values, the parameters from the second on, come before the place in the arm's index.
    before_place: &'a [&'a str],
}

impl Arm<'_> {
    /// What is selected from the arm. Where columns come before the place in its index, all are compared and ordered by
    /// together: that only this index can do. With the values alone, PostgreSQL, which plans for any value, would look through
    /// the list of all values for one that may be nowhere in it.
    fn sql(&self, select: &str, newest_first: bool) -> String {
        let way = if newest_first { "DESC" } else { "ASC" };
        let own = self.params.len();
        let (low, high, limit) = (own + 1, own + 2, own + 3);
        let (range, order) = if self.before_place.is_empty() {
            (
                format!("position > ?{low} AND position < ?{high}"),
                format!("position {way}"),
            )
        } else {
            let (columns, values) = (self.before_place.join(", "), marks(2, self.before_place.len()));
            let order: Vec<String> = self.before_place.iter().map(|it| format!("{it} {way}")).collect();
            (
                format!(
                    "({columns}, position) > ({values}, ?{low}) AND ({columns}, position) < ({values}, ?{high})"
                ),
                format!("{}, position {way}", order.join(", ")),
            )
        };
        format!(
            "{select} WHERE {} AND {range} ORDER BY {order} LIMIT ?{limit}",
            self.condition
        )
    }
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
    const OF_ACCOUNT: &str = "account_id = ?1";
    const OF_RESTAURANT: &str = "restaurant_id = ?1";
    let scopes: Vec<(&str, Param<'a>)> = match (&feed.scope, live) {
        (Scope::Order(id), _) => vec![("order_id = ?1", id.into())],
        (Scope::Restaurant(id), _) => vec![(OF_RESTAURANT, id.into())],
        (Scope::Account(id), None) => vec![(OF_ACCOUNT, id.into())],
        (Scope::Account(id), Some(_)) if feed.passes_over => vec![(LIVE_OF_ACCOUNT, id.into())],
        (Scope::Account(_), Some(live)) => live.iter().map(|id| (OF_RESTAURANT, id.into())).collect(),
    };
    let mut arms = Vec::new();
    // Arms of the same form stand together, to be read together.
    for condition in feed.conditions {
        for (scope, id) in &scopes {
            let condition = format!("{scope}{condition}");
            let Some(any_of) = &feed.any_of else {
                arms.push(Arm {
                    condition,
                    params: vec![*id],
                    before_place: &[],
                });
                continue;
            };
            let is_indexed = *scope != OF_RESTAURANT || any_of.is_indexed_by_restaurant;
            let condition = match is_indexed {
                true => condition,
                false => {
                    let (columns, values) = (any_of.columns.join(", "), marks(2, any_of.columns.len()));
                    format!("{condition} AND ({columns}) = ({values})")
                }
            };
            arms.extend(any_of.values.iter().map(|values| Arm {
                condition: condition.clone(),
                params: [&[*id], values.as_slice()].concat(),
                before_place: if is_indexed { any_of.columns } else { &[] },
            }));
        }
    }
    arms
}

/// So many arms of the same form are read with one statement; a few lengths, so that each is prepared once.
const TOGETHER: [usize; 3] = [20, 5, 1];

/// A statement that reads several arms of the same form, each with its own parameters, and gives what of all of them comes first.
fn sql_together(one: &str, params_each: usize, arms: usize, newest_first: bool) -> String {
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
    read: &mut impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<(i64, T)>> {
    let limit_param = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut all = Vec::new();
    let mut rest = arms;
    while let Some(first) = rest.first() {
        let is_alike =
            |arm: &&Arm<'_>| arm.condition == first.condition && arm.params.len() == first.params.len();
        let alike = rest.iter().take_while(is_alike).count();
        let count = TOGETHER.into_iter().find(|count| *count <= alike).unwrap_or(1);
        let (some, others) = rest.split_at(count);
        rest = others;
        let mut params = Vec::new();
        for arm in some {
            params.extend_from_slice(&arm.params);
            params.extend_from_slice(params![between.0, between.1, limit_param]);
        }
        let one = first.sql(feed.select, newest_first);
        let sql = sql_together(&one, params.len() / count, count, newest_first);
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
