//! Lists of reported and pending orders, and sums by payment type and platform.

use super::order_lists::Filter;
use super::period::{Period, calendar, scope};
use crate::app::App;
use crate::flow::Fault;
use garson_core::calendar::Calendar;
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::money::Currency;
use garson_core::order::{Cancellation, Status};
use garson_core::platform::Provider;
use garson_core::restaurant::{PaymentMatch, matched_id};
use garson_core::time::{Timestamp, Zone};
use garson_store::lists;
use garson_store::lists::feed::{Direction, Page, PageRequest, Scope, positions_between};
use garson_store::lists::orders::OrderSummary;
use garson_store::tables::orders;
use garson_store::tables::orders::{Billing, Charge};
use garson_store::tables::restaurants;
use garson_store::totals::{self, Sums};
use garson_store::{StoreError, Tx};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

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

/// A page of the orders that are marked as reported, whatever their status.
pub async fn list_reported(
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
        move |tx, scope, between| match Filter::with_statuses(&Status::ALL).narrowed() {
            Some(filter) => lists::orders::list_reported(tx, scope, &filter, between, request),
            None => Ok(Page::empty(request)),
        },
    )
    .await
}

/// A page of all orders of a period, reported or not, as `make` shows them.
pub async fn list_period<T: Send + 'static>(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
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
            let page = lists::orders::list_between(tx, scope, between, request)?;
            make(tx, page)
        },
    )
    .await
}

/// An order as files for accounting have it.
pub struct BilledOrder {
    pub order: OrderSummary,
    pub billing: Billing,
    pub cancellation: Option<Cancellation>,
}

/// Orders with what accounting wants to know about each.
pub fn with_billing(tx: &mut Tx<'_>, page: Page<OrderSummary>) -> garson_store::Result<Page<BilledOrder>> {
    let ids: Vec<OrderId> = page.items.iter().map(|order| order.id).collect();
    let mut billings: BTreeMap<OrderId, Billing> = orders::billings(tx, &ids)?.into_iter().collect();
    let mut cancellations: BTreeMap<OrderId, Cancellation> =
        orders::cancellations(tx, &ids)?.into_iter().collect();
    let mut items = Vec::with_capacity(page.items.len());
    for order in page.items {
        let Some(billing) = billings.remove(&order.id) else {
            return Err(StoreError::corrupt("an order has no content"));
        };
        items.push(BilledOrder {
            cancellation: cancellations.remove(&order.id),
            billing,
            order,
        });
    }
    Ok(Page {
        items,
        next: page.next,
        prev: page.prev,
    })
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
            let (from, to) = period.resolve(tx, account, restaurant)?;
            match positions_between(tx, account, from, to)? {
                Some(between) => Ok(list(tx, scope, between)?),
                None => Ok(Page::empty(request)),
            }
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
            let (from, to) = period.resolve(tx, account, restaurant)?;
            Ok(totals::sums(tx, account, restaurant, from, to)?)
        })
        .await
}

/// Sums of whole days by platform and currency: number of orders and amount.
pub type PlatformSums = BTreeMap<(Provider, Currency), (i64, i64)>;

/// Sums by platform and currency from one timestamp to another, which are the bounds of days.
pub async fn platform_payments(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    bounds: (Timestamp, Timestamp),
) -> Result<PlatformSums, Fault> {
    app.store
        .read(move |tx| {
            scope(tx, account, restaurant)?;
            let found = totals::stats::between(tx, account, restaurant, &[bounds.0, bounds.1])?;
            let mut sums = PlatformSums::new();
            for ((provider, _, currency), (count, total)) in found.iter().flat_map(|stats| &stats.sales) {
                let sum = sums.entry((*provider, *currency)).or_default();
                sum.0 += count;
                sum.1 += total;
            }
            Ok(sums)
        })
        .await
}

/// The most days that are summed up one by one.
pub const MOST_DAYS: usize = 62;

/// Business days, today being the last that there can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Days {
    /// So many, with today.
    Last(usize),
    Yesterday,
    ThisMonth,
    LastMonth,
    /// From one to another, both included.
    Between(String, String),
}

impl Days {
    /// Each of them, the earliest first.
    pub(super) fn each(&self, calendar: &Calendar, now: Timestamp) -> Result<Vec<String>, Fault> {
        let today = calendar.day_of(now);
        let before = |day: &str| Zone::day_before(day).unwrap_or_default();
        let month = |day: &str| format!("{}-01", day.get(..7).unwrap_or_default());
        let (first, last) = match self {
            Self::Last(count) => {
                let first = (1..*count).fold(today.clone(), |day, _| before(&day));
                (first, today)
            }
            Self::Yesterday => {
                let yesterday = before(&today);
                (yesterday.clone(), yesterday)
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
            let next = Zone::day_after(day);
            days.push(next.ok_or_else(|| Fault::invalid("from", FieldProblem::NotDay))?);
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
    pub ends_at: Timestamp,
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
            let calendar = calendar(tx, account, restaurant)?;
            let not_a_day = || Fault::invalid("from", FieldProblem::NotDay);
            let days = days.each(&calendar, now)?;
            let mut bounds = Vec::with_capacity(days.len() + 1);
            for day in &days {
                bounds.push(calendar.start_of_day(day).ok_or_else(not_a_day)?);
            }
            if let Some(last) = days.last() {
                bounds.push(calendar.end_of_day(last).ok_or_else(not_a_day)?);
            }
            let sums = totals::sums_between(tx, account, restaurant, &bounds)?;
            let found = days
                .into_iter()
                .zip(bounds.windows(2))
                .zip(sums)
                .map(|((day, bounds), sums)| DaySums {
                    day,
                    starts_at: bounds[0],
                    ends_at: bounds[1],
                    sums,
                })
                .collect();
            Ok((calendar.zone().clone(), found))
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let calendar = Calendar::istanbul();
        // A minute after midnight in Istanbul.
        let now = "2026-02-28T21:01:00Z".parse().unwrap_or_default();
        let each = |days: Days| days.each(&calendar, now).map_err(|_| ());
        assert_eq!(
            each(Days::Last(3)),
            Ok(["2026-02-27", "2026-02-28", "2026-03-01"]
                .map(str::to_owned)
                .to_vec())
        );
        assert_eq!(each(Days::Yesterday), Ok(vec!["2026-02-28".to_owned()]));
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
            let is_day = |day: &String| calendar.start_of_day(day).is_some();
            assert!(
                days.is_err() || !days.unwrap_or_default().iter().all(is_day),
                "{from} {to}"
            );
        }
    }
}
