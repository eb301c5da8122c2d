//! Search over an account's orders: newest first, page by page, and never more than a bounded look for each page.
//!
//! What can be had from an index alone is: a restaurant, a period, the beginnings of words. What is left of a question is
//! asked of each order on the way, and the way ends after [`LOOK`] orders: the page then says how far it has come, and the
//! next one goes on from there. So a page costs the same beside a thousand orders and beside a million.

mod index;
mod source;

pub use index::{Behind, behind, forget, index, is_behind};

use crate::lists::candidates::Candidate;
use crate::lists::feed::{Direction, PageRequest};
use crate::tables::restaurants;
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::order::Status;
use garson_core::platform::Provider;
use garson_core::search::Asked;
use garson_core::time::Timestamp;
use source::Source;

/// Orders that are looked at for a page.
pub const LOOK: usize = 1_000;
/// Orders that are read at once on a long way.
const STRIDE: usize = 250;

/// What is looked for; nothing means anything.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub words: Vec<Asked>,
    pub statuses: Vec<Status>,
    pub provider: Option<Provider>,
    pub restaurant: Option<RestaurantId>,
    /// Places between which orders are looked for, both excluded.
    pub between: (i64, i64),
}

/// What was found, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub orders: Vec<OrderId>,
    /// Where to go on from, towards older ones and towards newer ones.
    pub older: Option<i64>,
    pub newer: Option<i64>,
    /// Up to here was looked, and no further for now.
    pub looked_to: Option<Timestamp>,
}

impl Wanted {
    /// Is it what is looked for, words aside?
    fn takes(&self, it: &Candidate) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&it.status))
            && self.provider.is_none_or(|provider| provider == it.provider)
            && self.restaurant.is_none_or(|id| id == it.restaurant_id)
    }
}

/// How far a walk has come.
struct Walk {
    taken: Vec<Candidate>,
    /// The place of the last one that was looked at.
    last: Option<i64>,
    end: WalkEnd,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WalkEnd {
    /// There is nothing beyond.
    Nothing,
    /// The page is full, and there is more.
    Full,
    /// It has looked at as many as it may.
    Tired,
}

/// Looks for a page.
pub fn find(tx: &mut Tx<'_>, account: AccountId, wanted: &Wanted, request: PageRequest) -> Result<Found> {
    let (low, high) = wanted.between;
    let is_older = request.direction == Direction::Older;
    let between = match (request.cursor, is_older) {
        (None, _) => (low, high),
        (Some(cursor), true) => (low, high.min(cursor)),
        (Some(cursor), false) => (low.max(cursor), high),
    };
    let walk = walk(tx, account, wanted, between, is_older, request.limit)?;
    let onward = match walk.end {
        WalkEnd::Nothing => None,
        WalkEnd::Full => walk.taken.last().map(|it| it.place),
        WalkEnd::Tired => walk.last,
    };
    let first = walk.taken.first().map(|it| it.place);
    // Behind a page that had to begin somewhere lies what is on its other side.
    let back = match (request.cursor, is_older) {
        (None, _) => None,
        (Some(cursor), true) => Some(first.unwrap_or_else(|| cursor.saturating_sub(1))),
        (Some(cursor), false) => Some(first.unwrap_or_else(|| cursor.saturating_add(1))),
    };
    let mut orders: Vec<OrderId> = walk.taken.iter().map(|it| it.id).collect();
    if !is_older {
        orders.reverse();
    }
    let (older, newer) = if is_older { (onward, back) } else { (back, onward) };
    Ok(Found {
        orders,
        older,
        newer,
        looked_to: match walk.last.filter(|_| walk.end == WalkEnd::Tired) {
            Some(place) => moment(tx, account, place)?,
            None => None,
        },
    })
}

/// When the order at a place came.
fn moment(tx: &mut Tx<'_>, account: AccountId, place: i64) -> Result<Option<Timestamp>> {
    // With the id, so that an index of moments, which has all but that, does not seem to be the shorter way.
    let sql = "SELECT created_at, id FROM orders WHERE account_id = ?1 AND position = ?2";
    tx.query_opt(sql, params![&account, place], |row| row.get(0))
}

fn walk(
    tx: &mut Tx<'_>,
    account: AccountId,
    wanted: &Wanted,
    between: (i64, i64),
    is_older: bool,
    limit: usize,
) -> Result<Walk> {
    let gone = restaurants::being_swept(tx, account)?;
    let source = Source::choose(tx, account, wanted, between, is_older)?;
    let (mut low, mut high) = between;
    let mut walk = Walk {
        taken: Vec::new(),
        last: None,
        end: WalkEnd::Nothing,
    };
    let (mut looked, mut stride) = (0, limit + 1);
    while low < high {
        let some = source.next(tx, &wanted.words, (low, high), stride, is_older)?;
        let fitting = some.candidates.into_iter();
        for it in fitting.filter(|it| wanted.takes(it) && !gone.contains(&it.restaurant_id)) {
            if walk.taken.len() == limit {
                walk.end = WalkEnd::Full;
                return Ok(walk);
            }
            walk.taken.push(it);
        }
        if some.looked < stride {
            return Ok(walk);
        }
        walk.last = some.last;
        looked += some.looked;
        if looked >= LOOK {
            walk.end = WalkEnd::Tired;
            return Ok(walk);
        }
        let reached = some.last.unwrap_or(low);
        (low, high) = if is_older { (low, reached) } else { (reached, high) };
        stride = (stride * 2).min(STRIDE);
    }
    Ok(walk)
}
