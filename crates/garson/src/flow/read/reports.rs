//! Lists, the stamp "reported", and sums by payment type.

use super::order_lists::Filter;
use super::period::{Period, scope, zone};
use crate::app::App;
use crate::flow::Fault;
use crate::flow::find_order;
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::order::{Order, Status};
use garson_core::restaurant::{PaymentMatch, matched_id};
use garson_core::time::{Timestamp, Zone};
use garson_store::lists;
use garson_store::lists::feed::{Direction, Page, PageRequest, Scope, positions_between};
use garson_store::lists::orders::OrderSummary;
use garson_store::tables::accounts::reserve_positions;
use garson_store::tables::orders;
use garson_store::tables::orders::Charge;
use garson_store::tables::restaurants;
use garson_store::totals::{self, Sums};
use garson_store::{StoreError, Tx};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Does the account have any order that is still stored?
pub async fn has_orders(app: &App, account: AccountId) -> Result<bool, Fault> {
    let newest = PageRequest {
        limit: 1,
        cursor: None,
        direction: Direction::Older,
    };
    let scope = Scope::Account(account);
    app.store
        .read(move |tx| Ok(!lists::orders::list(tx, scope, newest)?.items.is_empty()))
        .await
}

/// A page of the orders that wait to be reported, as `make` shows them.
pub async fn list_pending<T: Send + 'static>(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    statuses: Vec<Status>,
    period: Period,
    request: PageRequest,
    make: fn(&mut Tx<'_>, Page<OrderSummary>) -> garson_store::Result<Page<T>>,
) -> Result<Page<T>, Fault> {
    list_within(
        app,
        account,
        restaurant,
        period,
        request,
        move |tx, scope, between| {
            let narrowed = Filter::with_statuses(&statuses).narrowed();
            let page = lists::orders::list_pending(tx, scope, narrowed.as_ref(), between, request)?;
            make(tx, page)
        },
    )
    .await
}

/// An order that waits to be reported, with what it costs and how it is paid.
pub struct Pending {
    pub order: OrderSummary,
    pub charge: Charge,
    /// The POS's own id for the way of paying.
    pub matched_id: Option<String>,
}

/// Orders with what each of them costs and how it is paid.
pub fn with_charges(tx: &mut Tx<'_>, page: Page<OrderSummary>) -> garson_store::Result<Page<Pending>> {
    let ids: Vec<OrderId> = page.items.iter().map(|order| order.id).collect();
    let mut charges: BTreeMap<OrderId, Charge> = orders::charges(tx, &ids)?.into_iter().collect();
    let mut matches: BTreeMap<RestaurantId, Vec<PaymentMatch>> = BTreeMap::new();
    let mut items = Vec::with_capacity(page.items.len());
    for order in page.items {
        let restaurant = order.restaurant_id;
        let matched = match matches.entry(restaurant) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(restaurants::payment_matches(tx, restaurant)?),
        };
        let Some(charge) = charges.remove(&order.id) else {
            return Err(StoreError::corrupt("an order has no content"));
        };
        let code = charge.payment.provider_code.as_deref();
        let matched = matched_id(matched, order.provider, order.payment_type, code);
        items.push(Pending {
            matched_id: matched.map(str::to_owned),
            order,
            charge,
        });
    }
    Ok(Page {
        items,
        next: page.next,
        prev: page.prev,
    })
}

/// A page of all orders of a period, reported or not.
pub async fn list_period(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    period: Period,
    request: PageRequest,
) -> Result<Page<OrderSummary>, Fault> {
    list_within(
        app,
        account,
        restaurant,
        period,
        request,
        move |tx, scope, between| lists::orders::list_between(tx, scope, between, request),
    )
    .await
}

/// A page of a list of orders that happened in a period.
async fn list_within<T: Send + 'static>(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    period: Period,
    request: PageRequest,
    list: impl Fn(&mut Tx<'_>, Scope, (i64, i64)) -> garson_store::Result<Page<T>> + Send + 'static,
) -> Result<Page<T>, Fault> {
    app.store
        .read(move |tx| {
            let scope = scope(tx, account, restaurant)?;
            let (from, to) = period.bounds(&zone(tx, restaurant)?)?;
            match positions_between(tx, account, from, to)? {
                Some(between) => Ok(list(tx, scope, between)?),
                None => Ok(Page::empty(request)),
            }
        })
        .await
}

/// Stamps orders as reported, by our ids; says how many were not before. What is not there any more is left out.
pub async fn mark_each(app: &App, account: AccountId, ids: Vec<OrderId>) -> Result<usize, Fault> {
    let now = app.now();
    app.store
        .write(account, move |tx| {
            let mut marked = 0;
            for id in &ids {
                let found = orders::by_id(tx, *id)?.filter(|order| order.account_id == account);
                if let Some(order) = found.filter(|order| order.reported_at.is_none()) {
                    stamp(tx, &order, now)?;
                    marked += 1;
                }
            }
            Ok(marked)
        })
        .await
}

/// Stamps an order unless it is stamped.
fn stamp(tx: &mut Tx<'_>, order: &Order, now: Timestamp) -> Result<(), Fault> {
    if order.reported_at.is_none() {
        let mut places = reserve_positions(tx, order.account_id, 1, now)?;
        orders::mark_reported(tx, order.id, places.at, places.take())?;
    }
    Ok(())
}

/// Stamps an order as reported, by the platform's id or, where that names several, by ours; says the platform's.
pub async fn mark(app: &App, account: AccountId, id: String) -> Result<String, Fault> {
    let now = app.now();
    app.store
        .write(account, move |tx| {
            // What accounting names is the platform's id; ours is for orders that it cannot tell apart.
            let order = match orders::by_provider_order_id(tx, account, &id)? {
                none if none.is_empty() => find_order::find_one(tx, account, &id)?,
                found => find_order::only_one(found, &id)?,
            };
            stamp(tx, &order, now)?;
            Ok(order.provider_order_id)
        })
        .await
}

/// What came of stamping one of many orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stamping {
    Marked(OrderId),
    /// It was stamped before.
    AlreadyMarked(OrderId),
    /// There is no such order in the account.
    Unknown,
    /// The platform's id names several orders.
    Ambiguous(Vec<OrderId>),
}

/// Stamps many orders as reported in one transaction, each by the platform's id or, where no order carries that, by ours. What
/// cannot be stamped hinders nobody else.
pub async fn mark_many(
    app: &App,
    account: AccountId,
    ids: Vec<String>,
) -> Result<Vec<(String, Stamping)>, Fault> {
    let now = app.now();
    app.store
        .write(account, move |tx| {
            let mut named: BTreeMap<String, Vec<Order>> = BTreeMap::new();
            for order in orders::by_provider_order_ids(tx, account, &ids)? {
                named
                    .entry(order.provider_order_id.clone())
                    .or_default()
                    .push(order);
            }
            let mut stamped = BTreeSet::new();
            let mut results = Vec::with_capacity(ids.len());
            for id in &ids {
                let found = match named.get(id) {
                    Some(found) => found.clone(),
                    None => orders::find(tx, account, id)?,
                };
                let stamping = match found.as_slice() {
                    [] => Stamping::Unknown,
                    [order] if order.reported_at.is_some() || !stamped.insert(order.id) => {
                        Stamping::AlreadyMarked(order.id)
                    }
                    [order] => {
                        stamp(tx, order, now)?;
                        Stamping::Marked(order.id)
                    }
                    several => Stamping::Ambiguous(several.iter().map(|order| order.id).collect()),
                };
                results.push((id.clone(), stamping));
            }
            Ok(results)
        })
        .await
}

/// Sums by payment type and currency.
pub async fn payments(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    period: Period,
) -> Result<Sums, Fault> {
    app.store
        .read(move |tx| {
            scope(tx, account, restaurant)?;
            let (from, to) = period.bounds(&zone(tx, restaurant)?)?;
            Ok(totals::sums(tx, account, restaurant, from, to)?)
        })
        .await
}

/// The most days that are summed up one by one.
pub const MOST_DAYS: usize = 62;
/// A time that is shorter than any day and longer than any change of the clock.
const HALF_A_DAY: Duration = Duration::from_secs(12 * 60 * 60);
/// Calendar days are named like this.
const DAY: &str = "%Y-%m-%d";

/// Days of the calendar where the restaurant is, today being the last that there can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Days {
    /// So many, with today.
    Last(usize),
    ThisMonth,
    LastMonth,
    /// From one to another, both included.
    Between(String, String),
}

impl Days {
    /// Each of them, the earliest first.
    fn each(&self, zone: &Zone, now: Timestamp) -> Result<Vec<String>, Fault> {
        let today = zone.write(now, DAY);
        let before = |day: &str| {
            let start = zone.start_of_day(day);
            start.map_or_else(String::new, |start| zone.write(start.minus(HALF_A_DAY), DAY))
        };
        let month = |day: &str| format!("{}-01", day.get(..7).unwrap_or_default());
        let (first, last) = match self {
            Self::Last(count) => {
                let first = (1..*count).fold(today.clone(), |day, _| before(&day));
                (first, today)
            }
            Self::ThisMonth => (month(&today), today),
            Self::LastMonth => {
                let last = before(&month(&today));
                (month(&last), last)
            }
            Self::Between(first, last) => (first.clone(), last.clone()),
        };
        let mut days = vec![first];
        while let Some(day) = days.last().filter(|day| **day < last) {
            if days.len() == MOST_DAYS {
                return Err(Fault::invalid(
                    "to",
                    FieldProblem::PeriodTooLong { days: MOST_DAYS },
                ));
            }
            let end = zone.end_of_day(day);
            let end = end.ok_or_else(|| Fault::invalid("from", FieldProblem::NotDay))?;
            days.push(zone.write(end, DAY));
        }
        match days.last() {
            Some(day) if *day == last => Ok(days),
            _ => Err(Fault::invalid("to", FieldProblem::EndsBeforeFrom)),
        }
    }
}

/// The sums of one day.
#[derive(Clone, Debug)]
pub struct DaySums {
    /// The day as it is called where the restaurant is, such as `2026-03-01`.
    pub day: String,
    pub starts_at: Timestamp,
    pub sums: Sums,
}

/// Sums by payment type and currency, day by day.
pub async fn daily_payments(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    days: Days,
) -> Result<(Zone, Vec<DaySums>), Fault> {
    let now = app.now();
    app.store
        .read(move |tx| {
            scope(tx, account, restaurant)?;
            let zone = zone(tx, restaurant)?;
            let not_a_day = || Fault::invalid("from", FieldProblem::NotDay);
            let days = days.each(&zone, now)?;
            let mut moments = Vec::with_capacity(days.len() + 1);
            for day in &days {
                moments.push(zone.start_of_day(day).ok_or_else(not_a_day)?);
            }
            if let Some(last) = days.last() {
                moments.push(zone.end_of_day(last).ok_or_else(not_a_day)?);
            }
            let sums = totals::sums_between(tx, account, restaurant, &moments)?;
            let found = days
                .into_iter()
                .zip(moments)
                .zip(sums)
                .map(|((day, starts_at), sums)| DaySums { day, starts_at, sums })
                .collect();
            Ok((zone, found))
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let zone = Zone::istanbul();
        // A minute after midnight in Istanbul.
        let now = "2026-02-28T21:01:00Z".parse().unwrap_or_default();
        let each = |days: Days| days.each(&zone, now).map_err(|_| ());
        assert_eq!(
            each(Days::Last(3)),
            Ok(["2026-02-27", "2026-02-28", "2026-03-01"]
                .map(str::to_owned)
                .to_vec())
        );
        assert_eq!(each(Days::ThisMonth), Ok(vec!["2026-03-01".to_owned()]));
        let month = each(Days::LastMonth).unwrap_or_default();
        assert_eq!(
            (month.len(), month[0].as_str(), month[27].as_str()),
            (28, "2026-02-01", "2026-02-28")
        );
        let between = |from: &str, to: &str| each(Days::Between(from.to_owned(), to.to_owned()));
        assert_eq!(between("2026-01-01", "2026-03-03").map(|days| days.len()), Ok(62));
        for (from, to) in [
            ("2026-01-01", "2026-03-04"),
            ("2026-01-02", "2026-01-01"),
            ("2026-02-30", "2026-03-01"),
            ("2026-02-28", "2026-02-30"),
            ("", ""),
        ] {
            let days = between(from, to);
            let is_day = |day: &String| zone.start_of_day(day).is_some();
            assert!(
                days.is_err() || !days.unwrap_or_default().iter().all(is_day),
                "{from} {to}"
            );
        }
    }
}
