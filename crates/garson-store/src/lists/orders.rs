//! Lists of orders, by position.

use crate::engine::Param;
use crate::lists::feed::{ALL_POSITIONS, AnyOf, Feed, Page, PageRequest, Scope, page};
use crate::tables::order_line;
use crate::tables::order_line::OrderLine;
use crate::tables::row::columns;
use crate::{Result, Tx};
use garson_core::id::{OrderId, RestaurantId};
use garson_core::money::{Currency, Minor};
use garson_core::order::Status;
use garson_core::payment::PaymentType;
use garson_core::platform::Provider;
use garson_core::time::Timestamp;

/// The fields of an order that lists return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSummary {
    pub position: i64,
    pub id: OrderId,
    pub restaurant_id: RestaurantId,
    pub provider: Provider,
    pub provider_order_id: String,
    pub short_code: Option<String>,
    pub status: Status,
    pub is_report: bool,
    pub total: Minor,
    pub currency: Currency,
    pub payment_type: PaymentType,
    pub placed_at: Timestamp,
    pub accept_by: Option<Timestamp>,
    pub created_at: Timestamp,
}

columns! {
    const SUMMARY = "" of orders {
        id, restaurant_id, provider, provider_order_id, short_code, status, reported_at: Option<i64>, total, currency,
        payment_type, placed_at, accept_by, created_at,
    }
    fn summary(position: i64) -> OrderSummary {
        Ok(OrderSummary {
            position,
            id,
            restaurant_id,
            provider,
            provider_order_id,
            short_code,
            status,
            is_report: reported_at.is_some(),
            total,
            currency,
            payment_type,
            placed_at,
            accept_by,
            created_at,
        })
    }
}

/// A page of all orders.
pub fn list(tx: &mut Tx<'_>, scope: Scope, request: PageRequest) -> Result<Page<OrderSummary>> {
    page(tx, &all(scope, SUMMARY), request, |position, cells| {
        summary(cells, position)
    })
}

/// A page of all orders with positions between two.
pub fn list_between(
    tx: &mut Tx<'_>,
    scope: Scope,
    between: (i64, i64),
    request: PageRequest,
) -> Result<Page<OrderSummary>> {
    let feed = Feed {
        between,
        ..all(scope, SUMMARY)
    };
    page(tx, &feed, request, |position, cells| summary(cells, position))
}

/// A page of all orders, each converted from its row without a copy.
pub fn list_lines<T>(
    tx: &mut Tx<'_>,
    scope: Scope,
    request: PageRequest,
    mut make: impl FnMut(&OrderLine<'_>) -> T,
) -> Result<Page<T>> {
    let feed = all(scope, order_line::COLUMNS);
    page(tx, &feed, request, |_, cells| Ok(make(&OrderLine::read(cells)?)))
}

fn all(scope: Scope, columns: &'static str) -> Feed<'static> {
    Feed {
        table: "orders",
        columns,
        scope,
        conditions: &[""],
        any_of: None,
        filters_deleted: false,
        between: ALL_POSITIONS,
    }
}

/// Orders with one of these statuses from one of these platforms. The indexes have both columns before the position, so a filter
/// by one of them must name all values of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderFilter {
    pub statuses: Vec<Status>,
    pub providers: Vec<Provider>,
}

impl OrderFilter {
    fn any_of(&self) -> AnyOf<'_> {
        // A duplicate would list its orders twice.
        let mut codes: Vec<i64> = self.statuses.iter().map(|status| status.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        let mut providers: Vec<&Provider> = self.providers.iter().collect();
        providers.sort_unstable();
        providers.dedup();
        let of = |code: &i64| {
            let code = *code;
            providers
                .iter()
                .map(move |provider| vec![Param::from(code), Param::from(*provider)])
                .collect::<Vec<_>>()
        };
        AnyOf {
            columns: &["status", "provider"],
            values: codes.iter().flat_map(of).collect(),
            is_indexed_by_restaurant: true,
        }
    }
}

const NOT_REPORTED: &str = " AND reported_at IS NULL";
const REPORTED: &str = " AND reported_at IS NOT NULL";

/// A page of the orders that are not reported.
pub fn list_pending(
    tx: &mut Tx<'_>,
    scope: Scope,
    filter: Option<&OrderFilter>,
    between: (i64, i64),
    request: PageRequest,
) -> Result<Page<OrderSummary>> {
    let feed = Feed {
        conditions: &[NOT_REPORTED],
        any_of: filter.map(OrderFilter::any_of),
        between,
        ..all(scope, SUMMARY)
    };
    page(tx, &feed, request, |position, cells| summary(cells, position))
}

/// A page of the orders that are reported and match the filter.
pub fn list_reported(
    tx: &mut Tx<'_>,
    scope: Scope,
    filter: &OrderFilter,
    between: (i64, i64),
    request: PageRequest,
) -> Result<Page<OrderSummary>> {
    let feed = Feed {
        conditions: &[REPORTED],
        any_of: Some(filter.any_of()),
        between,
        ..all(scope, SUMMARY)
    };
    page(tx, &feed, request, |position, cells| summary(cells, position))
}

/// A page of the orders that match the filter, or of all without one, each converted from its row without a copy.
pub fn list_filtered<T>(
    tx: &mut Tx<'_>,
    scope: Scope,
    filter: Option<&OrderFilter>,
    between: (i64, i64),
    request: PageRequest,
    mut make: impl FnMut(i64, OrderId, &OrderLine<'_>) -> T,
) -> Result<Page<T>> {
    let feed = Feed {
        conditions: match filter {
            Some(_) => &[NOT_REPORTED, REPORTED],
            None => &[""],
        },
        any_of: filter.map(OrderFilter::any_of),
        between,
        ..all(scope, order_line::COLUMNS_WITH_ID)
    };
    page(tx, &feed, request, |position, cells| {
        Ok(make(position, cells.read()?, &OrderLine::read(cells)?))
    })
}
