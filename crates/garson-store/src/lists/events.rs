//! Pages of events, and the events after a position.

use crate::engine::Param;
use crate::lists::feed;
use crate::lists::feed::{ALL_POSITIONS, AnyOf, Direction, Feed, Page, PageRequest, Scope};
use crate::tables::events::{COLUMNS, StoredEvent, event};
use crate::tables::row::{columns, tuple, value};
use crate::{Result, Tx, params};
use garson_core::delivery::DeliveryState;
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::time::Timestamp;

/// A page of an account's events, in one delivery state or in any.
pub fn of_account(
    tx: &mut Tx<'_>,
    account: AccountId,
    state: Option<DeliveryState>,
    request: PageRequest,
) -> Result<Page<StoredEvent>> {
    page(tx, Scope::Account(account), state, request)
}

/// How many events one step of a search by name reads, and how many steps one page takes at most.
const STEP: usize = 200;
const MAX_STEPS: usize = 10;

/// Which events of an account are wanted. What is `None` narrows nothing.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    pub state: Option<DeliveryState>,
    pub name: Option<String>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

impl EventFilter {
    #[must_use]
    pub fn with_state(state: Option<DeliveryState>) -> Self {
        Self {
            state,
            ..Self::default()
        }
    }

    #[must_use]
    pub fn matches(&self, event: &StoredEvent) -> bool {
        self.state.is_none_or(|state| event.state == state)
            && self.name.as_ref().is_none_or(|name| event.name == *name)
            && self.from.is_none_or(|from| event.created_at >= from)
            && self.to.is_none_or(|to| event.created_at < to)
    }
}

/// A page of an account's events that match a filter. There is no index by name: a page examines a bounded number of events and may
/// have fewer than it could, with a cursor to go on from.
pub fn filtered(
    tx: &mut Tx<'_>,
    account: AccountId,
    filter: &EventFilter,
    request: PageRequest,
) -> Result<Page<StoredEvent>> {
    let mut between = ALL_POSITIONS;
    if let Some(from) = filter.from {
        between.0 = first_position_at(tx, account, from)?.saturating_sub(1);
    }
    if let Some(to) = filter.to {
        between.1 = first_position_at(tx, account, to)?;
    }
    if between.0 >= between.1 {
        return Ok(Page::empty(request));
    }
    let feed_of = |between| Feed {
        between,
        ..feed(Scope::Account(account), filter.state)
    };
    let Some(name) = &filter.name else {
        return feed::page(tx, &feed_of(between), request, |_, cells| event(cells));
    };
    // Only towards older events: the way back is the page before.
    let mut step = PageRequest {
        limit: STEP,
        direction: Direction::Older,
        ..request
    };
    let mut found = Page {
        prev: None,
        ..Page::empty(request)
    };
    for _ in 0..MAX_STEPS {
        let page = feed::page(tx, &feed_of(between), step, |position, cells| {
            Ok((position, event(cells)?))
        })?;
        found.next = page.next;
        for (position, event) in page.items {
            if event.name == *name {
                found.items.push(event);
                if found.items.len() == request.limit {
                    found.next = Some(position);
                    return Ok(found);
                }
            }
        }
        let Some(next) = page.next else { break };
        step.cursor = Some(next);
    }
    Ok(found)
}

/// The first position of an account with an event from `at` on. Timestamps follow positions, so the events are searched by halves.
fn first_position_at(tx: &mut Tx<'_>, account: AccountId, at: Timestamp) -> Result<i64> {
    let sql = "SELECT position, created_at FROM events WHERE account_id = ?1 AND position >= ?2 ORDER BY position LIMIT 1";
    let newest = "SELECT position FROM events WHERE account_id = ?1 ORDER BY position DESC LIMIT 1";
    let newest = tx.query_opt(newest, params![&account], value::<i64>)?;
    let (mut low, mut high) = (0, newest.map_or(0, |position| position + 1));
    while low < high {
        let middle = low + (high - low) / 2;
        let next = tx.query_opt(sql, params![&account, middle], tuple::<(i64, Timestamp)>)?;
        match next {
            // From the middle up to this event there is none, and it is too early.
            Some((position, created_at)) if created_at < at => low = position + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// A page of the events of one order.
pub fn of_order(
    tx: &mut Tx<'_>,
    order: OrderId,
    state: Option<DeliveryState>,
    request: PageRequest,
) -> Result<Page<StoredEvent>> {
    page(tx, Scope::Order(order), state, request)
}

fn page(
    tx: &mut Tx<'_>,
    scope: Scope,
    state: Option<DeliveryState>,
    request: PageRequest,
) -> Result<Page<StoredEvent>> {
    feed::page(tx, &feed(scope, state), request, |_, cells| event(cells))
}

fn feed(scope: Scope, state: Option<DeliveryState>) -> Feed<'static> {
    // The conditions are those of the partial indexes.
    let (conditions, any_of): (&[&str], _) = match state {
        None => (&[""], None),
        Some(DeliveryState::Pending) => (&[" AND state = 'pending'"], None),
        Some(other) => (
            &[" AND state <> 'pending'"],
            Some(AnyOf {
                columns: &["state"],
                values: vec![vec![Param::from(other.as_str())]],
                is_indexed_by_restaurant: false,
            }),
        ),
    };
    Feed {
        table: "events",
        columns: COLUMNS,
        scope,
        conditions,
        any_of,
        filters_deleted: matches!(state, Some(DeliveryState::Pending | DeliveryState::Failed)),
        between: ALL_POSITIONS,
    }
}

/// An event as the event feed sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedEvent {
    pub position: i64,
    pub name: String,
    pub body: String,
    pub restaurant_id: RestaurantId,
    /// The order that it is about, if any.
    pub order_id: Option<OrderId>,
}

columns! {
    const FEED_COLUMNS = "" of events { name, body, restaurant_id, order_id }
    fn feed_event(position: i64) -> FeedEvent {
        Ok(FeedEvent { position, name, body, restaurant_id, order_id })
    }
}

/// The account's events after a position, oldest first.
pub fn after(tx: &mut Tx<'_>, account: AccountId, position: i64, limit: usize) -> Result<Vec<FeedEvent>> {
    let feed = Feed {
        table: "events",
        columns: FEED_COLUMNS,
        scope: Scope::Account(account),
        conditions: &[""],
        any_of: None,
        filters_deleted: false,
        between: ALL_POSITIONS,
    };
    feed::after(tx, &feed, position, limit, |position, cells| {
        feed_event(cells, position)
    })
}
