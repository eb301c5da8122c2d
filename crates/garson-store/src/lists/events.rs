//! Pages of events, and the events after a position.

use crate::engine::Param;
use crate::lists::feed;
use crate::lists::feed::{ALL_POSITIONS, AnyOf, Feed, Page, PageRequest, Scope};
use crate::tables::events::{COLUMNS, StoredEvent, event};
use crate::tables::row::columns;
use crate::{Result, Tx};
use garson_core::delivery::DeliveryState;
use garson_core::id::{AccountId, OrderId};

/// A page of an account's events, in one delivery state or in any.
pub fn of_account(
    tx: &mut Tx<'_>,
    account: AccountId,
    state: Option<DeliveryState>,
    request: PageRequest,
) -> Result<Page<StoredEvent>> {
    page(tx, Scope::Account(account), state, request)
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
    // The conditions are those of the partial indexes.
    let (condition, any_of) = match state {
        None => ("", None),
        Some(DeliveryState::Pending) => (" AND state = 'pending'", None),
        Some(other) => (
            " AND state <> 'pending'",
            Some(AnyOf {
                columns: &["state"],
                values: vec![vec![Param::from(other.as_str())]],
                is_indexed_by_restaurant: false,
            }),
        ),
    };
    let feed = Feed {
        table: "events",
        columns: COLUMNS,
        scope,
        conditions: &[condition],
        any_of,
        filters_deleted: matches!(state, Some(DeliveryState::Pending | DeliveryState::Failed)),
        between: ALL_POSITIONS,
    };
    feed::page(tx, &feed, request, |_, cells| event(cells))
}

/// An event as the event feed sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedEvent {
    pub position: i64,
    pub name: String,
    pub body: String,
    /// The order that it is about, if any.
    pub order_id: Option<OrderId>,
}

columns! {
    const FEED_COLUMNS = "" of events { name, body, order_id }
    fn feed_event(position: i64) -> FeedEvent {
        Ok(FeedEvent { position, name, body, order_id })
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
