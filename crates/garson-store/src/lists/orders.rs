//! Lists of orders, by place.

use crate::engine::{Param, Row};
use crate::lists::feed::{AnyOf, EVERYWHERE, Feed, Page, PageRequest, Scope, page};
use crate::tables::order_line;
use crate::tables::order_line::OrderLine;
use crate::{Result, Tx};
use garson_core::id::{OrderId, RestaurantId};
use garson_core::money::{Currency, Minor};
use garson_core::order::Status;
use garson_core::payment::PaymentType;
use garson_core::platform::Provider;
use garson_core::time::Timestamp;

/// An order as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSummary {
    pub place: i64,
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

const SUMMARY: &str = "SELECT position, id, restaurant_id, provider, provider_order_id, short_code, status, \
                       reported_at, total, currency, payment_type, placed_at, accept_by, created_at FROM orders";

fn summary(row: &Row<'_>) -> Result<OrderSummary> {
    Ok(OrderSummary {
        place: row.get(0)?,
        id: row.get(1)?,
        restaurant_id: row.get(2)?,
        provider: row.get(3)?,
        provider_order_id: row.get(4)?,
        short_code: row.get(5)?,
        status: row.get(6)?,
        is_report: row.get::<Option<i64>>(7)?.is_some(),
        total: row.get(8)?,
        currency: row.get(9)?,
        payment_type: row.get(10)?,
        placed_at: row.get(11)?,
        accept_by: row.get(12)?,
        created_at: row.get(13)?,
    })
}

/// A page of all orders.
pub fn list(tx: &mut Tx<'_>, scope: Scope, request: PageRequest) -> Result<Page<OrderSummary>> {
    page(tx, &all(scope, SUMMARY), request, summary)
}

/// A page of all orders whose places lie between two.
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
    page(tx, &feed, request, summary)
}

/// A page of all orders, each made into something without a copy of it.
pub fn list_lines<T>(
    tx: &mut Tx<'_>,
    scope: Scope,
    request: PageRequest,
    mut make: impl FnMut(&OrderLine<'_>) -> T,
) -> Result<Page<T>> {
    let feed = all(scope, order_line::SELECT);
    page(tx, &feed, request, |row| Ok(make(&OrderLine::read(row)?)))
}

fn all(scope: Scope, select: &'static str) -> Feed<'static> {
    Feed {
        select,
        scope,
        conditions: &[""],
        any_of: None,
        passes_over: false,
        between: EVERYWHERE,
    }
}

/// What narrows a list of orders: those that have one of these statuses and came from one of these platforms. The indexes have
/// both in front of the place, so all of both must be named where only the other is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowed {
    pub statuses: Vec<Status>,
    pub providers: Vec<Provider>,
}

impl Narrowed {
    fn any_of(&self) -> AnyOf<'_> {
        // What is named twice would list its orders twice.
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

/// A page of the orders that are not stamped as reported.
pub fn list_pending(
    tx: &mut Tx<'_>,
    scope: Scope,
    narrowed: Option<&Narrowed>,
    between: (i64, i64),
    request: PageRequest,
) -> Result<Page<OrderSummary>> {
    let feed = Feed {
        conditions: &[NOT_REPORTED],
        any_of: narrowed.map(Narrowed::any_of),
        between,
        ..all(scope, SUMMARY)
    };
    page(tx, &feed, request, summary)
}

/// A page of the orders, reported or not, that have what is asked for, or of all where nothing is; each made into something
/// without a copy of it.
pub fn list_narrowed<T>(
    tx: &mut Tx<'_>,
    scope: Scope,
    narrowed: Option<&Narrowed>,
    between: (i64, i64),
    request: PageRequest,
    mut make: impl FnMut(i64, OrderId, &OrderLine<'_>) -> T,
) -> Result<Page<T>> {
    let feed = Feed {
        conditions: match narrowed {
            Some(_) => &[NOT_REPORTED, REPORTED],
            None => &[""],
        },
        any_of: narrowed.map(Narrowed::any_of),
        between,
        ..all(scope, order_line::SELECT_WITH_ID)
    };
    page(tx, &feed, request, |row| {
        Ok(make(row.get(0)?, row.get(4)?, &OrderLine::read(row)?))
    })
}
